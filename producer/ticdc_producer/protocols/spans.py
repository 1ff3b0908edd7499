"""Named ranges of bytes in a message, for display alone: which bytes hold the value of a column.

They are found without the decoders, which check messages: a message that is not a message of the protocol has
no ranges, or those before its error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

ImageName: TypeAlias = Literal["before", "after", ""]
ColumnPath: TypeAlias = tuple[ImageName, str]
"""The image and the column of a value."""


class ByteSpan(NamedTuple):
    """A range of the bytes of a key or value.

    :param part: ``key`` or ``value``.
    :param name: what the bytes are.
    :param event: index of the event in the message.
    :param image: the image that the value of a column belongs to; empty for other ranges.
    :param column: the column; empty for other ranges.
    """

    part: Literal["key", "value"]
    start: int
    end: int
    name: str
    event: int = 0
    image: ImageName = ""
    column: str = ""


Path: TypeAlias = tuple[str | int, ...]
"""The names and indexes that lead to a JSON value."""
_STRING = rb'"(?:[^"\\]|\\.)*+"'
_ITEM = re.compile(
    rb"[ \t\r\n,]*+(?:(%b)[ \t\r\n]*+:[ \t\r\n]*+)?(?:(%b|[^\s{}\[\],:\"]++)|([{\[]))|[ \t\r\n,]*+([}\]])"
    % (_STRING, _STRING),
    re.DOTALL,
)
"""A name and a scalar, a name and the begin of an object or list, or the end of one."""
_SCALAR, _BEGIN, _END = 2, 3, 4
_MOST_DEPTH = 50


_DECODER = json.JSONDecoder(strict=False, parse_int=float)
"""Finds the end of a value. As a float, a long number is not an error."""


def json_scalars(
    data: bytes, start: int, end: int, enters: Callable[[Path], bool] = lambda _path: True
) -> Iterator[tuple[int, Path, int, int]]:
    """Yield the scalars of JSON values that follow each other, up to an error.

    :param enters: whether the scalars in the object or list at a path are wanted; others are passed over,
        which is much faster: a message of Debezium is mostly its schema.
    :return: number of the value, path in it, first byte and end of each scalar.
    """
    text = data[start:end].decode("latin-1")  # a character for each byte
    above: list[tuple[Path, int | None]] = []
    inside: Path = ()
    index: int | None = None  # of the next item of a list; None: in an object
    number, position = 0, start
    while (item := _ITEM.match(data, position, end)) is not None:
        position, name, kind = item.end(), item[1], item.lastindex
        if kind == _END:
            if not above:
                return
            inside, index = above.pop()
            number += not above
            continue
        if (name is not None) != (bool(above) and index is None):
            return
        path = inside
        if name is not None:
            path = (*inside, _text(name))
        elif index is not None:
            path, index = (*inside, index), index + 1
        if kind == _SCALAR:
            yield number, path, item.start(_SCALAR), position
        elif enters(path):
            if len(above) == _MOST_DEPTH:
                return
            above.append((inside, index))
            inside, index = path, None if item[_BEGIN] == b"{" else 0
            continue
        else:
            try:
                position = start + _DECODER.raw_decode(text, position - 1 - start)[1]
            except (ValueError, RecursionError):
                return
        number += not above


def scalar_at(data: bytes | None, *paths: Path) -> bytes:
    """Return the first scalar of a JSON value at one of some paths, as its bytes; empty without one.

    >>> scalar_at(b'{"data": [{"op": "d"}], "op": "u"}', ("op",))
    b'"u"'
    """
    data = data or b""
    above = {path[:length] for path in paths for length in range(len(path))}
    scalars = json_scalars(data, 0, len(data), above.__contains__)
    return next((data[start:end] for _, path, start, end in scalars if path in paths), b"")


def _text(quoted: bytes) -> str:
    """Return a name; one with invalid escapes as it is written."""
    if b"\\" not in quoted:
        return quoted[1:-1].decode("utf-8", "replace")
    try:
        return str(json.loads(quoted.decode("utf-8", "replace")))
    except ValueError:
        return quoted[1:-1].decode("utf-8", "replace")


class ColumnPaths:
    """The paths of the values of columns: members of objects at fixed paths.

    :param images: the image at each path.
    :param after: the names that may follow the name of a column.
    """

    def __init__(self, images: Mapping[Path, ImageName], *after: Path) -> None:
        self._images, self._after = images, after or ((),)
        self._above = {image[:length] for image in images for length in range(len(image) + 1)}
        self._longest = max(map(len, self._after))

    def lead_through(self, path: Path) -> bool:
        """Return whether a column's value may be in the object or list at a path."""
        above = self._above
        return path in above or any(path[:-length] in self._images for length in range(1, self._longest + 1))

    def column_at(self, path: Path) -> ColumnPath | None:
        """Return the image and the column of the value at a path; None for other values."""
        for after in self._after:
            end = len(path) - len(after)
            if end > 0 and path[end:] == after and (image := self._images.get(path[: end - 1])) is not None:
                return image, str(path[end - 1])
        return None


def json_spans(
    part: Literal["key", "value"],
    data: bytes | None,
    paths: ColumnPaths,
    *,
    start: int = 0,
    end: int | None = None,
    event: int | None = None,
) -> Iterator[ByteSpan]:
    """Yield the ranges of the columns' values in JSON.

    :param event: index of the event; None: that of the JSON value.
    """
    data = data or b""
    end = len(data) if end is None else end
    for number, path, first, last in json_scalars(data, start, end, paths.lead_through):
        if (column := paths.column_at(path)) is not None:
            image, name = column
            yield ByteSpan(
                part=part,
                start=first,
                end=last,
                name=".".join(map(str, path)),
                event=number if event is None else event,
                image=image,
                column=name,
            )
