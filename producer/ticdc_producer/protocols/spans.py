"""Named ranges of bytes in a message, for display alone: which bytes hold the value of a column.

They are found without the decoders, which check messages: a message that is no message of the protocol has
no ranges, or those before its error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

ImageName: TypeAlias = Literal["before", "after", ""]
ColumnPath: TypeAlias = tuple[ImageName, str]
"""The image and the column of a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteSpan:
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
_TOKEN = re.compile(rb'[ \t\r\n]*(?:([{}\[\],:])|("(?:[^"\\]|\\.)*+")|([^\s{}\[\],:"]++))', re.DOTALL)
_MOST_DEPTH = 50


def json_scalars(data: bytes, start: int, end: int) -> Iterator[tuple[int, Path, int, int]]:
    """Yield the scalars of JSON values that follow each other, up to an error.

    :return: number of the value, path in it, first byte and end of each scalar.
    """
    path: list[str | int] = []
    kinds: list[bytes] = []
    number, position, name = 0, start, False
    while (match := _TOKEN.match(data, position, end)) is not None:
        position = match.end()
        mark, text, other = match.groups()
        if mark in (b"{", b"["):
            if len(kinds) == _MOST_DEPTH:
                return
            kinds.append(mark)
            path.append("" if mark == b"{" else 0)
            name = mark == b"{"
        elif mark in (b"}", b"]"):
            if not kinds:
                return
            kinds.pop()
            path.pop()
            number += not kinds
        elif mark == b",":
            name = kinds[-1:] == [b"{"]
            if path and not name and isinstance(path[-1], int):
                path[-1] += 1
        elif mark == b":":
            name = False
        elif name and text is not None:
            path[-1] = _text(text)
        else:
            content = text if text is not None else other
            yield number, tuple(path), position - len(content), position
            number += not kinds


def scalar_at(data: bytes | None, *paths: Path) -> bytes:
    """Return the first scalar of a JSON value at one of some paths, as its bytes; empty without one.

    >>> scalar_at(b'{"data": [{"op": "d"}], "op": "u"}', ("op",))
    b'"u"'
    """
    data = data or b""
    scalars = json_scalars(data, 0, len(data))
    return next((data[start:end] for _, path, start, end in scalars if path in paths), b"")


def _text(quoted: bytes) -> str:
    """Return a name; one with invalid escapes as it is written."""
    if b"\\" not in quoted:
        return quoted[1:-1].decode("utf-8", "replace")
    try:
        return str(json.loads(quoted.decode("utf-8", "replace")))
    except ValueError:
        return quoted[1:-1].decode("utf-8", "replace")


def json_spans(
    part: Literal["key", "value"],
    data: bytes | None,
    column_at: Callable[[Path], ColumnPath | None],
    *,
    start: int = 0,
    end: int | None = None,
    event: int | None = None,
) -> Iterator[ByteSpan]:
    """Yield the ranges of the columns' values in JSON.

    :param column_at: the image and the column at a path; None for other values.
    :param event: index of the event; None: that of the JSON value.
    """
    data = data or b""
    for number, path, first, last in json_scalars(data, start, len(data) if end is None else end):
        if (column := column_at(path)) is not None:
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


def member_of(images: Mapping[Path, ImageName], *after: str) -> Callable[[Path], ColumnPath | None]:
    """Return the function for values that are members of objects at fixed paths.

    :param images: the image at each path.
    :param after: names that follow the name of the column.
    """

    def column_at(path: Path) -> ColumnPath | None:
        end = len(path) - len(after)
        image = images.get(path[: end - 1]) if end > 0 and path[end:] == after else None
        return None if image is None else (image, str(path[end - 1]))

    return column_at
