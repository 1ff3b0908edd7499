"""Strict decoder of Canal-JSON: every malformed message raises a ``DecodeError`` with its byte offset.

The decoder also accepts what classic TiCDC (tiflow) never writes: members in any order, unknown members,
several rows (as Alibaba canal sends them), and the forms of older and newer versions: deletes that repeat
``data`` in ``old``, inserts with an ``old`` of nulls, CRLF after the object, ``mysqlType`` of null,
``_tidb.rowkey``. None of them can mean anything else, so that no option is needed to read them.

Layout: ``t`` table id ``_r`` handle, both as big-endian 64-bit integers with the sign bit flipped. A
clustered key that is not an integer is encoded instead of the handle. A cluster with keyspaces prepends
four bytes. Source: tidb ``pkg/tablecodec``, client-go ``tikv/codec_v2``.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, EventColumn, Image, Op, ResolvedEvent, RowEvent, Value
from ticdc_producer.model.tso import compose, physical
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.canal_json.envelope import (
    DDL_KEYWORDS,
    OPS,
    WATERMARK,
    CanalJSONEnvelope,
    Columns,
    Extension,
    RowJSON,
    action_code,
    parse_envelope,
)
from ticdc_producer.protocols.compression import DEFAULT_LIMIT, plain

NO_IDS = (0, 0)
_RECORD = re.compile(rb"(?:x.{3})?t(.{8})_r(.*)", re.DOTALL)
_SIGN = 1 << 63


def row_ids(rowkey: str) -> tuple[int, int]:
    """Return the physical table id and the integer handle of a row; the handle is 0 if the row has none.

    :raises DecodeError: if this is not the Base64 of a record key.
    """
    try:
        record = _RECORD.fullmatch(b64decode(rowkey, validate=True))
    except ValueError:
        record = None
    if record is None:
        raise DecodeError("CANAL-ROWKEY", "the Base64 of a record key", part="value", byte=0)
    handle = record[2]
    return _id(record[1]), _id(handle) if len(handle) == len(record[1]) else 0


def _id(encoded: bytes) -> int:
    return int.from_bytes(encoded, "big") - _SIGN


_NO_EXTENSION = Extension()
_, _UPDATE, _DELETE = Op  # access to a member through its class is slow


RowHead: TypeAlias = tuple[Op, int, int, int, Sequence[RowJSON | None]]
"""What the rows of a message share: operation, commit-ts, table id and row id; and the old row of each."""


def row_head(message: CanalJSONEnvelope, columns: Columns, *, extended: bool = False) -> RowHead:
    """Return what the rows of a message share.

    :param extended: whether messages have the TiDB extension.
    :raises DecodeError: if the message has no rows, or its members do not fit together.
    """
    op, tidb = OPS[message.type], message.tidb
    table_id, row_id = row_ids(tidb.rowkey) if tidb is not None and tidb.rowkey else NO_IDS
    if not message.data:
        raise DecodeError("CANAL-ROW-EMPTY", "a row in data", part="value", byte=0)
    if message.sql:
        raise DecodeError("CANAL-ROW-SQL", "no statement in sql of a row", part="value", byte=0)
    old = _old_rows(message.data, message.old, op)
    if columns.fault is not None:
        raise _error(columns.fault, columns.fault.expected)
    return op, _commit_ts(message, extended=extended), table_id, row_id, old


def row_events(message: CanalJSONEnvelope, columns: Columns, *, extended: bool = False) -> Iterator[RowEvent]:
    """Yield the row events of a message.

    :param extended: whether messages have the TiDB extension.
    :raises DecodeError: if the rows, their columns or values do not fit together.
    """
    op, commit_ts, table_id, row_id, old = row_head(message, columns, extended=extended)
    tidb = message.tidb or _NO_EXTENSION
    for row, old_row in zip(message.data or (), old, strict=True):
        row_columns, image = columns_of_row(row, columns), _image(row, columns)
        yield RowEvent(
            commit_ts=commit_ts,
            schema=message.database,
            table=message.table,
            op=op,
            columns=row_columns,
            before=image if op is _DELETE else None if old_row is None else _image(old_row, columns),
            after=None if op is _DELETE else image,
            table_id=table_id,
            row_id=row_id,
            handle_key_only=tidb.only_handle_key or tidb.claim_check_location != "",
            claim_check=tidb.claim_check_location,
        )


def columns_of_row(row: RowJSON, columns: Columns) -> tuple[EventColumn, ...]:
    """Return the columns of a row, in the row's own order.

    :raises DecodeError: if the row has other columns than the message describes.
    """
    names = tuple(row)
    if names == columns.names and columns.same_sql_types:
        return columns.columns
    if row.keys() != columns.parsers.keys():
        expected = "the same columns in data and mysqlType"
    elif not columns.same_sql_types:
        expected = "the same columns in data and sqlType"
    else:
        return columns.in_order(names)
    raise DecodeError("CANAL-COLUMN", expected, part="value", byte=0)


def _old_rows(new: list[RowJSON], old: list[RowJSON | None] | None, op: Op) -> Sequence[RowJSON | None]:
    """Return the old row of each new row, None where there is none.

    Only updates have old rows. Deletes before v5.4.0 repeat the new row, and inserts of v5.1 to v5.3 have a
    null in place of each row; both are ignored. Source: tiflow#4597.
    """
    if op is _UPDATE:
        if old and len(old) == len(new) and None not in old:
            return old
        expected = f"as many rows in old as in data, {len(new)}"
    elif not old or old == (new if op is _DELETE else [None] * len(new)):
        return [None] * len(new)
    else:
        expected = (
            "old null in a delete, or the same as data" if op is _DELETE else "no old rows in an insert"
        )
    raise DecodeError("CANAL-OLD", expected, part="value", byte=0)


def _image(row: RowJSON, columns: Columns) -> Image:
    image: dict[str, Value] = {}
    parsers, name = columns.parsers, ""
    try:
        for name, text in row.items():
            parse = parsers[name]
            image[name] = None if text is None else parse(text)
    except KeyError:
        raise DecodeError("CANAL-COLUMN", f"no column {name!r} in old", part="value", byte=0) from None
    except BadValue as bad:
        raise _error(bad, f"{bad.expected} in column {name!r}") from None
    return image


def _error(bad: BadValue, expected: str) -> DecodeError:
    return DecodeError(f"CANAL-{bad.code}", expected, part="value", byte=0)


class CanalJSONDecoder:
    """A decoder of messages to events.

    :param max_bytes: limit of the decompressed value of a message.
    :param extended: whether messages have the TiDB extension: rows and DDLs require ``commitTs``.
    """

    def __init__(self, max_bytes: int = DEFAULT_LIMIT, *, extended: bool = False) -> None:
        self._max_bytes, self._extended = max_bytes, extended

    def events(
        self,
        key: bytes | None,  # noqa: ARG002  # the protocol has no keys
        value: bytes | None,
    ) -> Iterator[Event]:
        """Yield the events of one message, in order.

        :param key: ignored.
        :raises DecodeError: if this is not a message of the protocol.
        """
        message, columns = parse_envelope(plain(value or b"", "value", self._max_bytes))
        if message.type in OPS and not message.is_ddl:
            yield from row_events(message, columns, extended=self._extended)
        else:
            yield _other(message, extended=self._extended)


def _other(message: CanalJSONEnvelope, *, extended: bool) -> Event:
    if message.is_ddl:
        return _ddl(message, extended=extended)
    if message.type == WATERMARK:
        return _watermark(message)
    known = ", ".join([*OPS, WATERMARK])
    raise DecodeError("CANAL-TYPE", f"a type of {known}", part="value", byte=0)


def _ddl(message: CanalJSONEnvelope, *, extended: bool) -> DDLEvent:
    if message.type not in DDL_KEYWORDS:
        known = ", ".join(sorted(DDL_KEYWORDS))
        raise DecodeError("CANAL-TYPE", f"a DDL type of {known}", part="value", byte=0)
    return DDLEvent(
        commit_ts=_commit_ts(message, extended=extended),
        schema=message.database,
        table=message.table,
        query=message.sql,
        ddl_type=action_code(message.type),
    )


def _watermark(message: CanalJSONEnvelope) -> ResolvedEvent:
    if message.tidb is None or not message.tidb.watermark_ts:
        raise DecodeError("CANAL-WATERMARK", "a watermarkTs in _tidb", part="value", byte=0)
    if message.es != physical(message.tidb.watermark_ts):
        raise _wrong_time("watermarkTs")
    return ResolvedEvent(commit_ts=message.tidb.watermark_ts)


def _commit_ts(message: CanalJSONEnvelope, *, extended: bool) -> int:
    """Return the commit-ts; without the TiDB extension the first TSO of the millisecond ``es``.

    :raises DecodeError: if ``es`` is not its millisecond, and if an extended message has none.
    """
    tidb = message.tidb
    if tidb is None or not tidb.commit_ts:
        if extended:
            expected = "a commitTs in _tidb, as enable-tidb-extension=true adds it"
            raise DecodeError("CANAL-EXTENSION", expected, part="value", byte=0)
        return compose(message.es)
    if message.es != physical(tidb.commit_ts):
        raise _wrong_time("commitTs")
    return tidb.commit_ts


def _wrong_time(member: str) -> DecodeError:
    return DecodeError("CANAL-TIME", f"the milliseconds of {member} in es", part="value", byte=0)
