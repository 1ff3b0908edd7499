"""Strict decoder of Open Protocol: every malformed message is a ``DecodeError`` with its byte offset.

Conditions and codes: spec "Recommended strict decoder". The decoder also accepts what classic TiCDC
(tiflow) never writes: members in any order, unknown members, several DDL or resolved events, zero events,
a resolved event without value bytes, columns without ``f`` or ``h``. It accepts messages of TiCDC new
architecture, whose text may contain bytes that are not UTF-8 and whose updates may have an empty ``p``.

Compressed values are printed decompressed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from struct import Struct
from typing import Annotated, TypeAlias, TypeVar

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, Kind, Op, ResolvedEvent, RowEvent, Value
from ticdc_producer.model.mysql_type import LOBS
from ticdc_producer.protocols import bytes_in_json as go_quote
from ticdc_producer.protocols.bytes_in_json import Escapes, escape
from ticdc_producer.protocols.compression import DEFAULT_LIMIT, PLAIN_STARTS, Decompressor
from ticdc_producer.protocols.open_protocol.row_layout import ColumnsJSON, LayoutCache
from ticdc_producer.protocols.wire import EventBytes

LENGTH = Struct(">Q")
VERSION = LENGTH.pack(1)


_LENGTH = LENGTH.size
_length = LENGTH.unpack_from


class FrameReader:
    """A reader of the length-prefixed blocks of a key or value.

    :param part: ``key`` or ``value``, for errors.
    """

    __slots__ = ("_data", "_part", "_size", "position")

    def __init__(self, part: str, data: bytes) -> None:
        self._part = part
        self._data = data
        self._size = len(data)
        self.position = 0

    @property
    def at_end(self) -> bool:
        return self.position >= self._size

    def version(self) -> None:
        if self._data.startswith(VERSION):
            self.position = _LENGTH
            return
        if len(self._data) < LENGTH.size:
            raise DecodeError("OPEN-KEY-SHORT", "8 bytes of protocol version", part=self._part, byte=0)
        version = self._number()
        if version != 1:
            raise DecodeError("OPEN-VERSION", f"version 1, not {version}", part=self._part, byte=0)

    def next(self) -> bytes:
        """Read the next block.

        :raises DecodeError: if its length or the block itself is truncated.
        """
        start, data, size = self.position, self._data, self._size
        body = start + _LENGTH
        if size < body:
            raise self._truncated(start, "8 bytes of length")
        (length,) = _length(data, start)
        end = body + length
        if size < end:
            raise self._truncated(start, f"a length of at most {size - body}, not {length}")
        self.position = end
        return data[body:end]

    def _number(self) -> int:
        (number,) = LENGTH.unpack_from(self._data, self.position)
        self.position += LENGTH.size
        return int(number)

    def _truncated(self, byte: int, expected: str) -> DecodeError:
        return DecodeError(f"OPEN-{self._part.upper()}-TRUNCATED", expected, part=self._part, byte=byte)


def event_bytes(key: bytes, value: bytes) -> list[EventBytes]:
    """Return the blocks of each event of a message; the version, and what cannot be divided, are left out.

    >>> block = LENGTH.pack(2) + b"{}"
    >>> event_bytes(VERSION + block + block, block)
    [(b'{}', b'{}'), (b'{}', None)]
    """
    events: list[EventBytes] = []
    at_key, at_value, last_key, last_value = _LENGTH, 0, len(key) - _LENGTH, len(value) - _LENGTH
    while at_key <= last_key:
        start, block = at_key + _LENGTH, None
        at_key = start + _length(key, at_key)[0]
        if at_value <= last_value:
            start_of_value = at_value + _LENGTH
            at_value = start_of_value + _length(value, at_value)[0]
            block = value[start_of_value:at_value]
        events.append((key[start:at_key], block))
    return events


def log_lines(partition: int, key: bytes, value: bytes) -> Iterator[str]:
    """Yield ``[partition=P] [key="…"] [value="…"]`` for every event of a message.

    :raises DecodeError: for a truncated frame.
    """
    keys, values, decompressor = FrameReader("key", key), FrameReader("value", value), Decompressor()
    keys.version()
    while not keys.at_end:
        json, content = keys.next(), b"" if values.at_end else values.next()
        text = _quoted(decompressor.text(content, "value")) if content else ""
        yield f"[partition={partition}] [key={_quoted(json)}] [value={text}]"


def _quoted(json: bytes) -> str:
    return f'"{go_quote.quote(json).decode()}"'


_MAX_TS = (1 << 63) - 1
_Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-_MAX_TS - 1, le=_MAX_TS)]


class _KeyJSON(msgspec.Struct, gc=False):
    ts: int
    t: int
    scm: str = ""
    tbl: str = ""
    rid: _Int64 = 0
    ptn: _Int64 | None = None
    ohk: bool = False
    ccl: str = ""


class _RowJSON(msgspec.Struct, gc=False):
    u: ColumnsJSON | None = None
    p: ColumnsJSON | None = None
    d: ColumnsJSON | None = None


class _DDLJSON(msgspec.Struct):
    q: str
    t: int


_KEY = msgspec.json.Decoder(_KeyJSON)
_ROW = msgspec.json.Decoder(_RowJSON)
_DDL = msgspec.json.Decoder(_DDLJSON)
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_, _DDL_EVENT, _RESOLVED_EVENT = _KINDS = tuple(map(int, Kind))
_INSERT, _UPDATE, _DELETE = Op  # access to a member through its class is slow


class OpenDecoder:
    """A decoder of messages to events.

    :param legacy_varchar_base64: read VARCHAR and CHAR as Base64, as the oldest producers wrote them. The
        bytes do not show which form they are.
    :param max_bytes: limit of the decompressed values of a message.
    """

    def __init__(self, *, legacy_varchar_base64: bool = False, max_bytes: int = DEFAULT_LIMIT) -> None:
        self._max_bytes = max_bytes
        self._layouts = LayoutCache(legacy_base64=legacy_varchar_base64)

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:
        """Yield the events of one message, in order.

        :raises DecodeError: if this is not a message of the protocol.
        """
        keys = FrameReader("key", key or b"")
        keys.version()
        blocks, decompressor = FrameReader("value", value or b""), Decompressor(self._max_bytes)
        while not keys.at_end:
            yield self._event(keys, blocks, decompressor)
        if not blocks.at_end:
            raise DecodeError(
                "OPEN-COUNT-MISMATCH", "the end, as in the key", part="value", byte=blocks.position
            )

    def _event(self, keys: FrameReader, blocks: FrameReader, decompressor: Decompressor) -> Event:
        start = keys.position + _LENGTH
        try:
            head = _KEY.decode(keys.next())
        except _NOT_JSON as error:
            raise _decode_error(error, "OPEN-KEY-JSON", "key", start) from None
        if not 0 <= head.ts <= _MAX_TS:
            raise DecodeError("OPEN-KEY-JSON", "a ts of 0 … 2^63-1", part="key", byte=start)
        kind = head.t
        if kind not in _KINDS:
            raise DecodeError("OPEN-TYPE", "an event type 1, 2 or 3", part="key", byte=start)
        if kind == _RESOLVED_EVENT:
            return _resolved(head, blocks)
        if blocks.at_end:
            raise DecodeError(
                "OPEN-COUNT-MISMATCH", "a value for this key", part="value", byte=blocks.position
            )
        start = blocks.position + _LENGTH
        block = blocks.next()
        text = block if block.startswith(PLAIN_STARTS) else decompressor.text(block, "value", start)
        if kind == _DDL_EVENT:
            return _ddl(head, *_parse_escaped(_DDL, start, text), start)
        return self._row(head, text, start)

    def _row(self, head: _KeyJSON, text: bytes, start: int) -> RowEvent:
        try:
            row, escapes = _ROW.decode(text), None
        except _NOT_JSON:
            row, escapes = _parse_escaped(_ROW, start, text)
        op, columns = _primary_image(row, start)
        layout, image = self._layouts.read(columns, len(text), start)
        old = {} if row.p is None else self._layouts.read(row.p, len(text), start)[1]
        if escapes is not None:
            _unescape(columns, image, start, escapes)
            _unescape(row.p or {}, old, start, escapes)
        return RowEvent(
            commit_ts=head.ts,
            schema=head.scm,
            table=head.tbl,
            op=op,
            columns=layout.columns,
            before=image if op is _DELETE else old if op is _UPDATE else None,
            after=None if op is _DELETE else image,
            table_id=head.ptn or 0,
            row_id=head.rid,
            handle_key_only=head.ohk or head.ccl != "",
            claim_check=head.ccl,
        )


def _unescape(columns: ColumnsJSON, image: dict[str, Value], start: int, escapes: Escapes) -> None:
    """Restore the bytes that escapes replace. Code points in Base64 text are the value's own."""
    for name, column in columns.items():
        if escapes.occur_in(name):
            raise DecodeError("OPEN-COLUMN", "column names in UTF-8", part="value", byte=start)
        value = image[name]
        if value is None or not isinstance(column.v, str) or column.t in LOBS:
            continue
        if escapes.occur_in(column.v):
            image[name] = escapes.unescape(value)


def _primary_image(row: _RowJSON, start: int) -> tuple[Op, ColumnsJSON]:
    """Return the operation, and the image that contains all columns."""
    if row.d:
        if row.u or row.p is not None:
            raise DecodeError("OPEN-ROW-EMPTY", "either d, or u with or without p", part="value", byte=start)
        return _DELETE, row.d
    if not row.u:
        raise DecodeError("OPEN-ROW-EMPTY", "columns in u or d", part="value", byte=start)
    return _INSERT if row.p is None else _UPDATE, row.u


def _ddl(head: _KeyJSON, ddl: _DDLJSON, escapes: Escapes | None, start: int) -> DDLEvent:
    if not 0 <= ddl.t <= 0xFF:
        raise DecodeError("OPEN-VALUE-JSON", "a DDL type of one byte", part="value", byte=start)
    query = ddl.q if escapes is None else escapes.replaced(ddl.q)
    return DDLEvent(commit_ts=head.ts, schema=head.scm, table=head.tbl, query=query, ddl_type=ddl.t)


def _resolved(head: _KeyJSON, blocks: FrameReader) -> ResolvedEvent:
    if not blocks.at_end:
        position = blocks.position
        if blocks.next():
            raise DecodeError("OPEN-RESOLVED-VALUE", "a length of 0", part="value", byte=position)
    return ResolvedEvent(commit_ts=head.ts)


T = TypeVar("T")


def _parse_escaped(decoder: msgspec.json.Decoder[T], start: int, text: bytes) -> tuple[T, Escapes | None]:
    """Return the parsed value, and the escapes in it; None if it is valid UTF-8."""
    json, escapes = escape("value", text, "OPEN-VALUE-JSON")
    try:
        return decoder.decode(json), escapes
    except _NOT_JSON as error:
        raise _decode_error(error, "OPEN-VALUE-JSON", "value", start) from None


_BYTE_OFFSET = re.compile(r"\(byte (\d+)\)")


def _decode_error(error: Exception, code: str, part: str, start: int) -> DecodeError:
    if isinstance(error, msgspec.ValidationError):
        return DecodeError(_code_of(error, code), _sentence(error), part=part, byte=start)
    if isinstance(error, RecursionError):
        return DecodeError(code, "JSON of a few levels", part=part, byte=start)
    match = _BYTE_OFFSET.search(str(error))
    byte = start + int(match[1]) if match else start
    return DecodeError(code, f"valid JSON ({_sentence(error)})", part=part, byte=byte)


def _code_of(error: msgspec.ValidationError, code: str) -> str:
    """Return the error code; an error inside a column has its own."""
    if re.search(r"\$\.[upd]\[", str(error)) is None:
        return code
    return "OPEN-RANGE" if "out of range" in str(error) else "OPEN-COLUMN"


def _sentence(error: Exception) -> str:
    return _BYTE_OFFSET.sub("", str(error)).strip().rstrip(":")
