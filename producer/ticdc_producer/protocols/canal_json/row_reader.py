"""Decodes ``data`` and ``old`` of a row message to images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import EventColumn, Image, Op, RowEvent, Value
from ticdc_producer.model.tso import compose
from ticdc_producer.protocols.canal_json.columns import Columns
from ticdc_producer.protocols.canal_json.envelope import Envelope, Extension, RowJSON
from ticdc_producer.protocols.canal_json.event_type import OPS
from ticdc_producer.protocols.canal_json.row_key import NO_IDS, row_ids
from ticdc_producer.protocols.value_parsers import BadValue

_NO_EXTENSION = Extension()
_, _UPDATE, _DELETE = Op  # access to a member through its class is slow


def row_events(message: Envelope, columns: Columns, start: int) -> Iterator[RowEvent]:
    """The row events of a message.

    :param start: byte offset of the message object, for errors.
    :raises DecodeError: if the rows, their columns or values do not fit together.
    """
    op, tidb = OPS[message.type], message.tidb or _NO_EXTENSION
    table_id, row_id = row_ids(tidb.rowkey, start) if tidb.rowkey else NO_IDS
    if not message.data:
        raise DecodeError("CANAL-ROW-EMPTY", "a row in data", part="value", byte=start)
    old = _old_rows(message.data, message.old, op, start)
    if columns.fault is not None:
        raise _error(columns.fault, columns.fault.expected, start)
    # Without the TiDB extension the commit-ts is the first TSO of the millisecond.
    commit_ts = tidb.commit_ts or compose(message.es)
    for row, old_row in zip(message.data, old, strict=False):
        row_columns, image = _columns(row, columns, start), _image(row, columns, start)
        yield RowEvent(
            commit_ts=commit_ts,
            schema=message.database,
            table=message.table,
            op=op,
            columns=row_columns,
            before=image if op is _DELETE else None if old_row is None else _image(old_row, columns, start),
            after=None if op is _DELETE else image,
            table_id=table_id,
            row_id=row_id,
            handle_key_only=tidb.only_handle_key or tidb.claim_check_location != "",
            claim_check=tidb.claim_check_location,
        )


def _columns(row: RowJSON, columns: Columns, start: int) -> tuple[EventColumn, ...]:
    """The columns of a row, in the row's own order."""
    names = tuple(row)
    if names == columns.names and columns.same_sql_types:
        return columns.columns
    if row.keys() != columns.parsers.keys():
        expected = "the same columns in data and mysqlType"
    elif not columns.same_sql_types:
        expected = "the same columns in data and sqlType"
    else:
        return columns.in_order(names)
    raise DecodeError("CANAL-COLUMN", expected, part="value", byte=start)


def _old_rows(new: list[RowJSON], old: list[RowJSON] | None, op: Op, start: int) -> Iterable[RowJSON | None]:
    """The old row of each new one. Only updates have one; deletes before v5.4.0 repeat the row."""
    if op is _UPDATE:
        if old and len(old) == len(new):
            return old
        expected = f"as many rows in old as in data, {len(new)}"
    elif not old or (op is _DELETE and old == new):
        return repeat(None)
    else:
        expected = (
            "old null in a delete, or the same as data" if op is _DELETE else "no old rows in an insert"
        )
    raise DecodeError("CANAL-OLD", expected, part="value", byte=start)


def _image(row: RowJSON, columns: Columns, start: int) -> Image:
    image: dict[str, Value] = {}
    parsers, name = columns.parsers, ""
    try:
        for name, text in row.items():
            parse = parsers[name]
            image[name] = None if text is None else parse(text)
    except KeyError:
        raise DecodeError("CANAL-COLUMN", f"no column {name!r} in old", part="value", byte=start) from None
    except BadValue as bad:
        raise _error(bad, f"{bad.expected} in column {name!r}", start) from None
    return image


def _error(bad: BadValue, expected: str, start: int) -> DecodeError:
    return DecodeError(f"CANAL-{bad.code}", expected, part="value", byte=start)
