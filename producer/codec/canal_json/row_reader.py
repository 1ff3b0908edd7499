"""``data`` and ``old`` of a row message back to images."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

from producer.codec.canal_json.columns import Columns
from producer.codec.canal_json.envelope import Envelope, Extension, RowJSON
from producer.codec.canal_json.event_type import OPS
from producer.codec.canal_json.row_key import NO_IDS, row_ids
from producer.codec.text_values import BadValue
from producer.errors import DecodeError
from producer.model.event import EventColumn, Image, Op, RowEvent, Value
from producer.model.tso import compose

_NO_EXTENSION = Extension()


def row_events(message: Envelope, columns: Columns, start: int) -> Iterator[RowEvent]:
    """The row events of a message.

    :param start: byte of the message object, for errors.
    :raises DecodeError: if the rows, their columns or values do not fit together.
    """
    op, tidb = OPS[message.type], message.tidb or _NO_EXTENSION
    table_id, row_id = row_ids(tidb.rowkey, start) if tidb.rowkey else NO_IDS
    new = message.data or []
    if not new:
        raise DecodeError("CANAL-ROW-EMPTY", "a row in data", part="value", byte=start)
    old = _old_rows(message, op, start)
    if columns.fault is not None:
        raise _error(columns.fault, columns.fault.expected, start)

    def event(row: RowJSON, old_row: RowJSON | None) -> RowEvent:
        shown = _shown(row, columns, start)
        image = _image(row, columns, start)
        return RowEvent(
            # Where no extension tells the commit-ts, it is the first TSO of the millisecond.
            commit_ts=tidb.commit_ts or compose(message.es),
            schema=message.database,
            table=message.table,
            op=op,
            columns=shown,
            before=image if op == Op.DELETE else None if old_row is None else _image(old_row, columns, start),
            after=None if op == Op.DELETE else image,
            table_id=table_id,
            row_id=row_id,
            handle_key_only=tidb.only_handle_key or bool(tidb.claim_check_location),
            claim_check=tidb.claim_check_location,
        )

    return map(event, new, old if op == Op.UPDATE else repeat(None))


def _shown(row: RowJSON, columns: Columns, start: int) -> tuple[EventColumn, ...]:
    """The columns of a row, whose order is its own."""
    names = tuple(row)
    if names == columns.names and columns.same_sql_types:
        return columns.columns
    if row.keys() != columns.readers.keys():
        expected = "the same columns in data and mysqlType"
    elif not columns.same_sql_types:
        expected = "the same columns in data and sqlType"
    else:
        return columns.in_order(names)
    raise DecodeError("CANAL-COLUMN", expected, part="value", byte=start)


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


def _image(row: RowJSON, columns: Columns, start: int) -> Image:
    if len(row) == len(columns.names) and tuple(row) == columns.names:
        readers = columns.readers.values()
        try:
            texts = zip(readers, row.values(), strict=True)
            return dict(zip(row, [text if text is None else read(text) for read, text in texts], strict=True))
        except BadValue:
            pass  # the other way tells whose it is
    return {name: _value(name, text, columns, start) for name, text in row.items()}


def _value(name: str, text: str | None, columns: Columns, start: int) -> Value:
    if name not in columns.readers:
        raise DecodeError("CANAL-COLUMN", f"no column {name!r} in old", part="value", byte=start)
    try:
        return None if text is None else columns.readers[name](text)
    except BadValue as bad:
        raise _error(bad, f"{bad.expected} in column {name!r}", start) from None


def _error(bad: BadValue, expected: str, start: int) -> DecodeError:
    return DecodeError(f"CANAL-{bad.code}", expected, part="value", byte=start)
