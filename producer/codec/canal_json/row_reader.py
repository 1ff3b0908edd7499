"""``data`` and ``old`` of a row message back to images."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias, TypeVar

from producer.codec.canal_json.envelope import Envelope, RowJSON
from producer.codec.canal_json.values import BadValue, Reader, reader_of
from producer.errors import DecodeError
from producer.model.event import EventColumn, Image, Op
from producer.model.flags import ColumnFlag

Images: TypeAlias = tuple[tuple[EventColumn, ...], Image | None, Image | None]
S = TypeVar("S")
_PRIMARY = int(ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY)


def row_images(message: Envelope, op: Op, start: int) -> Iterator[Images]:
    """Columns, old and new image of every row of a message.

    :param start: byte of the message object, for errors.
    :raises DecodeError: if the rows, their columns or values do not fit together.
    """
    new = message.data or []
    if not new:
        raise DecodeError("CANAL-ROW-EMPTY", "a row in data", part="value", byte=start)
    old = _old_rows(message, op, start)
    types, keys = message.mysql_type or {}, frozenset(message.pk_names or ())
    readers = {name: _placed(reader_of, text, name, start) for name, text in types.items()}
    if not keys <= types.keys():
        raise DecodeError("CANAL-COLUMN", "columns of mysqlType in pkNames", part="value", byte=start)
    for place, row in enumerate(new):
        _check_names(row, message, start)
        columns = tuple(EventColumn(name, types[name], _PRIMARY if name in keys else 0) for name in row)
        image = _image(row, readers, start)
        if op == Op.DELETE:
            yield columns, image, None
        elif op == Op.INSERT:
            yield columns, None, image
        else:
            yield columns, _image(old[place], readers, start), image


def _old_rows(message: Envelope, op: Op, start: int) -> list[RowJSON]:
    """The rows of ``old``, which only updates and the deletes of before v5.4.0 have."""
    new, old = message.data or [], message.old or []
    if op == Op.UPDATE and len(old) != len(new):
        expected = f"as many rows in old as in data, {len(new)}"
    elif op == Op.INSERT and old:
        expected = "no old rows in an insert"
    elif op == Op.DELETE and old and old != new:
        expected = "old null in a delete, or the same as data"
    else:
        return old
    raise DecodeError("CANAL-OLD", expected, part="value", byte=start)


def _check_names(row: RowJSON, message: Envelope, start: int) -> None:
    if row.keys() != (message.mysql_type or {}).keys():
        expected = "the same columns in data and mysqlType"
    elif row.keys() != (message.sql_type or row).keys():
        expected = "the same columns in data and sqlType"
    else:
        return
    raise DecodeError("CANAL-COLUMN", expected, part="value", byte=start)


def _image(row: RowJSON, readers: Mapping[str, Reader], start: int) -> Image:
    image = {}
    for name, text in row.items():
        if name not in readers:
            raise DecodeError("CANAL-COLUMN", f"no column {name!r} in old", part="value", byte=start)
        image[name] = None if text is None else _placed(readers[name], text, name, start)
    return image


def _placed(read: Callable[[str], S], text: str, name: str, start: int) -> S:
    try:
        return read(text)
    except BadValue as bad:
        raise DecodeError(bad.code, f"{bad.expected} in column {name!r}", part="value", byte=start) from None
