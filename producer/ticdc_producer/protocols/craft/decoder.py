"""Strict decoder of Craft: every malformed message raises a ``DecodeError`` with its byte offset.

The format requires this order: the last bytes give the length of the size tables, the size tables give the
end of every other section, and headers refer to terms of the dictionary.

TiCDC's own decoder (tiflow ``message_decoder.go``) ignores many of these errors or crashes on them. The
decoder also accepts what classic TiCDC (tiflow) never writes: events of several kinds in one message, and an
update whose old values come first. It refuses what no decoded event has: numbers with needless bytes, and
terms that are unused, repeated, or not in the order of their first use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import DDLEvent, Event, EventColumn, Image, Kind, Op, ResolvedEvent, RowEvent
from ticdc_producer.protocols.craft.group import Description, GroupReader, used_terms
from ticdc_producer.protocols.craft.wire import (
    NEW_VALUES,
    NO_PARTITION,
    OLD_VALUES,
    VERSION,
    ByteReader,
    rejected,
    uvarint_at,
)
from ticdc_producer.protocols.wire import EventBytes

_MAX_TS = (1 << 63) - 1
_KINDS = frozenset(Kind)
_HEADER_FIELDS = 5
_MAX_TAIL_BYTES = 10


@dataclass(frozen=True, slots=True)
class Header:
    """The header of an event."""

    commit_ts: int
    kind: int
    partition: int
    schema: str
    table: str


@dataclass(frozen=True, slots=True)
class CraftEnvelope:
    """One message; the bodies of its events are not parsed.

    :param body: offset of the first event's body.
    :param sizes: bytes of each body.
    :param groups: for each row event, the bytes of its column groups.
    :param named: number of the first terms, which are names of schemas and tables.
    """

    headers: Sequence[Header]
    terms: Sequence[str]
    named: int
    body: int
    sizes: Sequence[int]
    groups: Sequence[Sequence[int]]


def parse_envelope(data: bytes) -> CraftEnvelope:
    """Parse everything except the bodies of the events.

    :raises DecodeError: if the sections do not fit together, or one of them is malformed.
    """
    if not data:
        raise rejected("CRAFT-EMPTY", "a message", 0)
    version, start = uvarint_at(data, 0, len(data))
    if version != VERSION:
        raise rejected("CRAFT-VERSION", f"version {VERSION}, not {version}", 0)
    tables = _tables_section(data, start)
    tables_start = tables.position
    header_size, terms_size = _meta(tables)
    sizes = _size_table(tables)
    body = start + header_size
    dictionary = body + sum(sizes)
    if dictionary + terms_size != tables_start:
        expected = f"sections of {tables_start - start} bytes in all, not {dictionary + terms_size - start}"
        raise rejected("CRAFT-LAYOUT", expected, tables_start)
    terms = _terms(ByteReader(data, dictionary, tables_start))
    headers, named = _headers(ByteReader(data, start, body), len(sizes), terms)
    return CraftEnvelope(headers, terms, named, body, sizes, _group_tables(tables, headers))


def _tables_section(data: bytes, start: int) -> ByteReader:
    """Return the size tables. Their length is at the end of the message, in reverse byte order."""
    reverse = data[max(start, len(data) - _MAX_TAIL_BYTES) :][::-1]
    for count, byte in enumerate(reverse, start=1):
        if byte < 0x80:
            length, _ = uvarint_at(reverse, 0, count)
            end = len(data) - count
            if length > end - start:
                raise rejected("CRAFT-TAIL", f"a length of at most {end - start}, not {length}", end)
            return ByteReader(data, end - length, end)
    raise rejected("CRAFT-TAIL", "a number read backwards", len(data) - len(reverse))


def _size_table(tables: ByteReader) -> list[int]:
    start = tables.position
    if not tables.remaining:
        raise rejected("CRAFT-TABLES", "one more size table", start)
    sizes = tables.delta_varints(tables.count(1, "CRAFT-TABLES"))
    if min(sizes) < 0:
        raise rejected("CRAFT-TABLES", "sizes of 0 or more", start)
    return sizes


def _meta(tables: ByteReader) -> tuple[int, int]:
    """Return the sizes of header and dictionary."""
    start = tables.position
    sizes = _size_table(tables)
    if len(sizes) != 2:
        raise rejected("CRAFT-TABLES", f"2 sizes, not {len(sizes)}", start)
    return sizes[0], sizes[1]


def _group_tables(tables: ByteReader, headers: Sequence[Header]) -> list[list[int]]:
    """Return one size table per row event, in the order of the events."""
    groups = []
    for header in headers:
        if header.kind == Kind.ROW:
            if not tables.remaining:
                raise rejected("CRAFT-GROUPS", "a size table for every row event", tables.position)
            groups.append(_size_table(tables))
    tables.finish("CRAFT-GROUPS")
    return groups


def _terms(section: ByteReader) -> list[str]:
    if not section.remaining:
        return []
    lengths = section.uvarints(section.count(1, "CRAFT-DICT"))
    terms = [section.text(length, "CRAFT-DICT") for length in lengths]
    section.finish("CRAFT-DICT")
    if len(set(terms)) < len(terms) or "" in terms:
        raise rejected("CRAFT-DICT", "terms that are neither equal nor empty", section.position)
    return terms


def _headers(section: ByteReader, count: int, terms: Sequence[str]) -> tuple[list[Header], int]:
    """Return the headers, and the number of terms in them."""
    start = section.position
    if count * _HEADER_FIELDS > section.remaining:
        raise rejected("CRAFT-HEADER", f"headers of {count} events", start)
    commit_ts = section.delta_uvarints(count)
    kinds = section.uvarints(count)
    partitions, schemas, tables = (section.delta_varints(count) for _ in range(3))
    section.finish("CRAFT-HEADER")
    if max(commit_ts) > _MAX_TS:
        raise rejected("CRAFT-HEADER", "a commit-ts of 0 … 2^63-1", start)
    if not _KINDS.issuperset(kinds):
        raise rejected("CRAFT-TYPE", "an event type 1, 2 or 3", start)
    if min(partitions) < NO_PARTITION:
        raise rejected("CRAFT-HEADER", "a partition id, or -1", start)
    names = [[_name(id_, terms, start) for id_ in ids] for ids in (schemas, tables)]
    named = used_terms(tables, used_terms(schemas, 0, start), start)
    return list(map(Header, commit_ts, kinds, partitions, *names)), named


def _name(term: int, terms: Sequence[str], start: int) -> str:
    """Return a schema or table name; empty for -1."""
    if not -1 <= term < len(terms):
        raise rejected("CRAFT-TERM", f"a term id of -1 … {len(terms) - 1}, not {term}", start)
    return terms[term] if term >= 0 else ""


_MAX_GROUPS = 2


class CraftDecoder:
    """A decoder of messages to events."""

    def events(self, key: bytes | None, value: bytes | None) -> Iterator[Event]:  # noqa: ARG002  # no key
        """Yield the events of one message, in order.

        :param key: ignored.
        :raises DecodeError: if this is not a message of the protocol.
        """
        data = value or b""
        message = parse_envelope(data)
        reader = GroupReader(message.terms, message.named)
        groups = iter(message.groups)
        end = message.body
        for header, size in zip(message.headers, message.sizes, strict=True):
            body = ByteReader(data, end, end + size)
            end = body.end
            if header.kind == Kind.ROW:
                yield _row(header, body, next(groups), reader)
            elif header.kind == Kind.DDL:
                yield _ddl(header, body)
            else:
                body.finish("CRAFT-LAYOUT")
                yield ResolvedEvent(commit_ts=header.commit_ts)
        reader.finish(end)


def _row(header: Header, body: ByteReader, sizes: Sequence[int], reader: GroupReader) -> RowEvent:
    if len(sizes) > _MAX_GROUPS or sum(sizes) != body.remaining:
        raise rejected("CRAFT-GROUPS", f"one or two groups of {body.remaining} bytes in all", body.position)
    groups: dict[int, tuple[tuple[EventColumn, ...], Image]] = {}
    end = body.position
    for size in sizes:
        start, end = end, end + size
        kind, columns, image = reader.read(ByteReader(body.data, start, end))
        if kind in groups:
            raise rejected("CRAFT-GROUPS", "groups of two types", start)
        groups[kind] = columns, image
    columns, new = groups.get(NEW_VALUES, ((), None))
    old_columns, old = groups.get(OLD_VALUES, ((), None))
    if columns and old_columns and columns != old_columns:
        raise rejected("CRAFT-GROUPS", "the same columns before and after the update", body.position)
    return RowEvent(
        commit_ts=header.commit_ts,
        schema=header.schema,
        table=header.table,
        op=Op.DELETE if new is None else Op.INSERT if old is None else Op.UPDATE,
        columns=columns or old_columns,
        before=old,
        after=new,
        table_id=max(header.partition, 0),
    )


def _ddl(header: Header, body: ByteReader) -> DDLEvent:
    start = body.position
    ddl_type = body.uvarint()
    if ddl_type > 0xFF:
        raise rejected("CRAFT-DDL", "a DDL type of one byte", start)
    query = body.text(body.uvarint(), "CRAFT-DDL")
    body.finish("CRAFT-DDL")
    return DDLEvent(
        commit_ts=header.commit_ts, schema=header.schema, table=header.table, query=query, ddl_type=ddl_type
    )


_JSON = msgspec.json.Encoder()


def event_texts(key: bytes | None, value: bytes | None) -> Sequence[EventBytes]:
    """Return the key of a message and the text of each event; nothing for a message that does not decode.

    A text has names in place of the ids of terms, which depend on the message's other events.
    """
    data = value or b""
    try:
        return [(key, text) for text in _texts(data, parse_envelope(data))]
    except DecodeError:
        return ()


def _texts(data: bytes, message: CraftEnvelope) -> Iterator[bytes]:
    groups, sizes, position = _GroupTexts(message), iter(message.groups), message.body
    for header, size in zip(message.headers, message.sizes, strict=True):
        end = position + size
        if header.kind == Kind.ROW:
            body = b"[%b]" % b",".join(groups.of_row(data, position, next(sizes)))
        else:
            body = b'"%b"' % data[position:end].hex().encode()
        position = end
        yield b'{"event":%b,"body":%b}' % (_header(header), body)


def _header(header: Header) -> bytes:
    return _JSON.encode({
        "ts": header.commit_ts, "type": header.kind, "partition": header.partition,
        "schema": header.schema, "table": header.table,
    })  # fmt: skip


class _GroupTexts:
    """The texts of column groups; most groups of a message have the same columns."""

    def __init__(self, message: CraftEnvelope) -> None:
        self._reader = GroupReader(message.terms, message.named)
        self._columns: dict[bytes, bytes] = {}

    def of_row(self, data: bytes, position: int, sizes: Sequence[int]) -> Iterator[bytes]:
        """Yield the groups of a row, with the hexadecimal digits of the sizes and bytes of their values."""
        for size in sizes:
            group = ByteReader(data, position, position + size)
            kind, described = self._reader.head(group)
            text = self._columns.get(described.encoded)
            if text is None:
                self._columns[described.encoded] = text = _columns(described)
            values = data[group.position : group.end].hex().encode()
            position = group.end
            yield b'{"type":%d,"columns":%b,"values":"%b"}' % (kind, text, values)


def _columns(described: Description) -> bytes:
    columns = zip(described.columns, described.types, strict=True)
    return _JSON.encode([(column.name, code, column.flag) for column, code in columns])
