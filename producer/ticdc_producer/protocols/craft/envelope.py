"""A message taken apart: sizes from its tail, then its sections, dictionary and headers.

The order is forced: only the last bytes say how long the size tables are, only these say where anything
else ends, and headers name their tables by terms of the dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ticdc_producer.model.event import Kind
from ticdc_producer.protocols.craft.byte_reader import Section, refused, uvarint_at
from ticdc_producer.protocols.craft.layout import NO_PARTITION, VERSION

_MAX_TS = (1 << 63) - 1
_KINDS = frozenset(Kind)
_HEADER_FIELDS = 5
_LONGEST_TAIL = 10


@dataclass(frozen=True, slots=True)
class Header:
    """What precedes the body of an event."""

    commit_ts: int
    kind: int
    partition: int
    schema: str
    table: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """One message, its bodies still closed.

    :param body: place of the first event's body.
    :param sizes: of each body.
    :param groups: sizes of the column groups of each row event.
    """

    headers: Sequence[Header]
    terms: Sequence[str]
    body: int
    sizes: Sequence[int]
    groups: Sequence[Sequence[int]]


def opened(data: bytes) -> Envelope:
    """Read all of a message but its bodies.

    :raises DecodeError: if its sections do not fit together, or one of them breaks a rule.
    """
    if not data:
        raise refused("CRAFT-EMPTY", "a message", 0)
    version, start = uvarint_at(data, 0, len(data))
    if version != VERSION:
        raise refused("CRAFT-VERSION", f"version {VERSION}, not {version}", 0)
    tables = _tables_section(data, start)
    tables_start = tables.place
    header_size, terms_size = _meta(tables)
    sizes = _size_table(tables)
    body = start + header_size
    dictionary = body + sum(sizes)
    if dictionary + terms_size != tables_start:
        expected = f"sections of {tables_start - start} bytes in all, not {dictionary + terms_size - start}"
        raise refused("CRAFT-LAYOUT", expected, tables_start)
    terms = _terms(Section(data, dictionary, tables_start))
    headers = _headers(Section(data, start, body), len(sizes), terms)
    return Envelope(headers, terms, body, sizes, _group_tables(tables, headers))


def _tables_section(data: bytes, start: int) -> Section:
    """The size tables; their length is read from the last byte backwards."""
    reverse = data[max(start, len(data) - _LONGEST_TAIL) :][::-1]
    for count, byte in enumerate(reverse, start=1):
        if byte < 0x80:
            length, _ = uvarint_at(reverse, 0, count)
            end = len(data) - count
            if length > end - start:
                raise refused("CRAFT-TAIL", f"a length of at most {end - start}, not {length}", end)
            return Section(data, end - length, end)
    raise refused("CRAFT-TAIL", "a number read backwards", len(data) - len(reverse))


def _size_table(tables: Section) -> list[int]:
    start = tables.place
    if not tables.left:
        raise refused("CRAFT-TABLES", "one more size table", start)
    sizes = tables.delta_varints(tables.count(1, "CRAFT-TABLES"))
    if min(sizes) < 0:
        raise refused("CRAFT-TABLES", "sizes of 0 or more", start)
    return sizes


def _meta(tables: Section) -> tuple[int, int]:
    """Sizes of header and dictionary."""
    start = tables.place
    sizes = _size_table(tables)
    if len(sizes) != 2:
        raise refused("CRAFT-TABLES", f"2 sizes, not {len(sizes)}", start)
    return sizes[0], sizes[1]


def _group_tables(tables: Section, headers: Sequence[Header]) -> list[list[int]]:
    """One size table per row event, in their order."""
    groups = []
    for header in headers:
        if header.kind == Kind.ROW:
            if not tables.left:
                raise refused("CRAFT-GROUPS", "a size table for every row event", tables.place)
            groups.append(_size_table(tables))
    tables.finish("CRAFT-GROUPS")
    return groups


def _terms(section: Section) -> list[str]:
    if not section.left:
        return []
    lengths = section.uvarints(section.count(1, "CRAFT-DICT"))
    terms = [section.text(length, "CRAFT-DICT") for length in lengths]
    section.finish("CRAFT-DICT")
    return terms


def _headers(section: Section, count: int, terms: Sequence[str]) -> list[Header]:
    start = section.place
    if count * _HEADER_FIELDS > section.left:
        raise refused("CRAFT-HEADER", f"headers of {count} events", start)
    stamps = section.delta_uvarints(count)
    kinds = section.uvarints(count)
    partitions, schemas, tables = (section.delta_varints(count) for _ in range(3))
    section.finish("CRAFT-HEADER")
    if max(stamps) > _MAX_TS:
        raise refused("CRAFT-HEADER", "a commit-ts of 0 … 2^63-1", start)
    if not _KINDS.issuperset(kinds):
        raise refused("CRAFT-TYPE", "an event type 1, 2 or 3", start)
    if min(partitions) < NO_PARTITION:
        raise refused("CRAFT-HEADER", "a partition id, or -1", start)
    names = ([_name(id_, terms, start) for id_ in ids] for ids in (schemas, tables))
    return list(map(Header, stamps, kinds, partitions, *names))


def _name(term: int, terms: Sequence[str], start: int) -> str:
    """A schema or table name; -1 stands for none."""
    if not -1 <= term < len(terms):
        raise refused("CRAFT-TERM", f"a term id of -1 … {len(terms) - 1}, not {term}", start)
    return terms[term] if term >= 0 else ""
