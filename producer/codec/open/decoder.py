"""Strict decoder of Open Protocol: every malformed message is a ``DecodeError`` with its place.

Conditions and codes: spec "Recommended strict decoder". Accepted beyond what the classic program
writes: members in any order, unknown members, several DDL or resolved events, zero events, a resolved
event without value bytes, columns without ``f`` or ``h``; and the dialect of the new program, whose text
may hold bytes that are not UTF-8 and whose updates may have an empty ``p``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import msgspec

from producer.codec.compression import PLAIN_STARTS, Decompressor
from producer.codec.open import values
from producer.codec.open.blocks import Blocks
from producer.codec.open.layout import LENGTH
from producer.codec.open.row_shape import ColumnJSON, ColumnsJSON, Shape, shape_of
from producer.codec.raw_bytes import Marks, readable
from producer.errors import DecodeError
from producer.model.event import DDLEvent, Event, Image, Kind, Op, ResolvedEvent, RowEvent, Value
from producer.model.mysql_type import LOBS

_MAX_TS = (1 << 63) - 1


class _KeyJSON(msgspec.Struct):
    ts: int
    t: int
    scm: str = ""
    tbl: str = ""
    rid: int = 0
    ptn: int | None = None
    ohk: bool = False
    ccl: str = ""


class _RowJSON(msgspec.Struct):
    u: ColumnsJSON | None = None
    p: ColumnsJSON | None = None
    d: ColumnsJSON | None = None


class _DDLJSON(msgspec.Struct):
    q: str
    t: int


_KEY = msgspec.json.Decoder(_KeyJSON)
_ROW = msgspec.json.Decoder(_RowJSON)
_DDL = msgspec.json.Decoder(_DDLJSON)
_VALUE = attrgetter("v")


class OpenDecoder:
    """Messages in, events out.

    :param legacy_varchar_base64: read VARCHAR and CHAR as Base64, as the oldest producers wrote them;
        it cannot be told from the bytes.
    """

    def __init__(self, *, legacy_varchar_base64: bool = False) -> None:
        self._legacy = legacy_varchar_base64

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """The events of one message, in order.

        :raises DecodeError: for anything that is not a message of this protocol.
        """
        keys = Blocks("key", key or b"")
        keys.version()
        blocks, decompressor = Blocks("value", value or b""), Decompressor()
        while not keys.at_end:
            yield self._event(keys, blocks, decompressor)
        if not blocks.at_end:
            raise DecodeError(
                "OPEN-COUNT-MISMATCH", "the end, as in the key", part="value", byte=blocks.place
            )

    def _event(self, keys: Blocks, blocks: Blocks, decompressor: Decompressor) -> Event:
        start = keys.place + LENGTH.size
        head = _parse(_KEY, "OPEN-KEY-JSON", "key", start, keys.next())
        if not 0 <= head.ts <= _MAX_TS:
            raise DecodeError("OPEN-KEY-JSON", "a ts of 0 … 2^63-1", part="key", byte=start)
        if head.t not in (Kind.ROW, Kind.DDL, Kind.RESOLVED):
            raise DecodeError("OPEN-TYPE", "an event type 1, 2 or 3", part="key", byte=start)
        if head.t == Kind.RESOLVED:
            return _resolved(head, blocks)
        if blocks.at_end:
            raise DecodeError("OPEN-COUNT-MISMATCH", "a value for this key", part="value", byte=blocks.place)
        start = blocks.place + LENGTH.size
        block = blocks.next()
        text = block if block.startswith(PLAIN_STARTS) else decompressor.text(block, "value", start)
        if head.t == Kind.DDL:
            return _ddl(head, *_parse_value(_DDL, start, text), start)
        row, marks = _parse_value(_ROW, start, text)
        return self._row(head, row, start, marks, len(text))

    def _row(self, head: _KeyJSON, row: _RowJSON, start: int, marks: Marks | None, size: int) -> RowEvent:
        op = _row_kind(row, start)
        new = row.d if op == Op.DELETE else row.u
        old = None if op == Op.DELETE else row.p
        shape = shape_of(new or {}, self._legacy, size)
        if shape.fault:
            raise DecodeError("OPEN-COLUMN", shape.fault, part="value", byte=start)
        before = None if old is None else _image(old, shape_of(old, self._legacy, size), start, marks)
        image = _image(new or {}, shape, start, marks)
        return RowEvent(
            commit_ts=head.ts,
            schema=head.scm,
            table=head.tbl,
            op=op,
            columns=shape.columns,
            before=image if op == Op.DELETE else before,
            after=None if op == Op.DELETE else image,
            table_id=head.ptn or 0,
            row_id=head.rid,
            handle_key_only=head.ohk or bool(head.ccl),
            claim_check=head.ccl,
        )


def _image(columns: ColumnsJSON, shape: Shape, start: int, marks: Marks | None) -> Image:
    if marks is None:
        try:
            cells = zip(shape.readers, map(_VALUE, columns.values()), strict=True)
            return dict(zip(columns, [None if v is None else read(v) for read, v in cells], strict=True))
        except values.BadValue:
            pass  # the other way tells whose it is
    image: dict[str, Value] = {}
    for (name, column), read in zip(columns.items(), shape.readers, strict=True):
        if marks is not None and marks.stands_in(name):
            raise DecodeError("OPEN-COLUMN", "column names in UTF-8", part="value", byte=start)
        try:
            value = None if column.v is None else read(column.v)
        except values.BadValue as bad:
            expected = f"{bad.expected} in column {name!r}"
            raise DecodeError(bad.code, expected, part="value", byte=start) from None
        image[name] = _unmarked(column, value, marks)
    return image


def _unmarked(column: ColumnJSON, value: Value, marks: Marks | None) -> Value:
    """The value with the bytes that marks stood for; those of a Base64 text are the value's own."""
    if marks is None or value is None or not isinstance(column.v, str) or column.t in LOBS:
        return value
    return marks.restored(value) if marks.stands_in(column.v) else value


def _row_kind(row: _RowJSON, start: int) -> Op:
    if row.d:
        if row.u or row.p is not None:
            raise DecodeError("OPEN-ROW-EMPTY", "either d, or u with or without p", part="value", byte=start)
        return Op.DELETE
    if not row.u:
        raise DecodeError("OPEN-ROW-EMPTY", "columns in u or d", part="value", byte=start)
    return Op.INSERT if row.p is None else Op.UPDATE


def _ddl(head: _KeyJSON, ddl: _DDLJSON, marks: Marks | None, start: int) -> DDLEvent:
    if not 0 <= ddl.t <= 0xFF:
        raise DecodeError("OPEN-VALUE-JSON", "a DDL type of one byte", part="value", byte=start)
    query = ddl.q if marks is None else marks.replaced(ddl.q)
    return DDLEvent(commit_ts=head.ts, schema=head.scm, table=head.tbl, query=query, ddl_type=ddl.t)


def _resolved(head: _KeyJSON, blocks: Blocks) -> ResolvedEvent:
    if not blocks.at_end:
        place = blocks.place
        if blocks.next():
            raise DecodeError("OPEN-RESOLVED-VALUE", "a length of 0", part="value", byte=place)
    return ResolvedEvent(commit_ts=head.ts)


def _parse_value(decoder: Any, start: int, text: bytes) -> tuple[Any, Marks | None]:
    """What a value says, and the marks in it; there are none where no byte has to be replaced."""
    try:
        return decoder.decode(text), None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        json, marks = readable("value", text, "OPEN-VALUE-JSON")
        return _parse(decoder, "OPEN-VALUE-JSON", "value", start, json), marks


_PLACE = re.compile(r"\(byte (\d+)\)")


def _parse(decoder: Any, code: str, part: str, start: int, json: bytes) -> Any:
    try:
        return decoder.decode(json)
    except msgspec.ValidationError as error:
        raise DecodeError(_code_of(error, code), _sentence(error), part=part, byte=start) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        found = _PLACE.search(str(error))
        byte = start + int(found[1]) if found else start
        raise DecodeError(code, f"valid JSON ({_sentence(error)})", part=part, byte=byte) from None
    except RecursionError:
        raise DecodeError(code, "JSON of a few levels", part=part, byte=start) from None


def _code_of(error: msgspec.ValidationError, code: str) -> str:
    """A fault inside a column is named as such."""
    if re.search(r"\$\.[upd]\[", str(error)) is None:
        return code
    return "OPEN-RANGE" if "out of range" in str(error) else "OPEN-COLUMN"


def _sentence(error: Exception) -> str:
    return _PLACE.sub("", str(error)).strip().rstrip(":")
