"""A dump of a Craft message with one row: all bytes, each field with a comment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ticdc_producer.model.mysql_type import bare_name
from ticdc_producer.protocols.craft.decoder import parse_envelope
from ticdc_producer.protocols.craft.wire import ByteReader

Line = tuple[bytes, str]
_GROUPS = {1: "new values", 2: "old values"}


def dumped(data: bytes) -> list[Line]:
    """All bytes of a message in order, split into fields with comments."""
    message = parse_envelope(data)
    (body,) = message.sizes
    dictionary = message.body + body
    lines = _Lines(ByteReader(data, 0, len(data)), message.terms)
    lines.note(lambda s: s.uvarint(), lambda version: f"version {version}")
    lines.header()
    for size in message.groups[0]:
        lines.group(lines.section.position + size)
    lines.dictionary(dictionary)
    tables = "size tables: header and dictionary, body, groups"
    lines.note(lambda s: s.take(s.remaining - 1, ""), lambda _: tables)
    lines.note(lambda s: s.uvarint(), lambda length: f"the size tables take {length} bytes")
    return lines.noted


class _Lines:
    def __init__(self, section: ByteReader, terms: Any) -> None:
        self.section = section
        self.noted: list[Line] = []
        self._terms = terms

    def note(self, read: Callable[[ByteReader], Any], comment: Callable[[Any], str]) -> Any:
        """Read a field and record its bytes with a comment."""
        start = self.section.position
        value = read(self.section)
        self.noted.append((self.section.data[start : self.section.position], comment(value)))
        return value

    def header(self) -> None:
        self.note(lambda s: s.uvarint(), lambda ts: f"commit-ts {ts}")
        self.note(lambda s: s.uvarint(), lambda _: "row changed event")
        self.note(lambda s: s.varints(1)[0], lambda _: "table partition: none")
        for what in ("schema", "table"):
            self.note(lambda s: s.varints(1)[0], lambda term, what=what: f"{what}: {self._term(term)}")

    def _term(self, term: int) -> str:
        return f"term {term}, {self._terms[term]}"

    def group(self, end: int) -> None:
        self.note(lambda s: s.take(1, "")[0], lambda kind: _GROUPS[kind])
        count = self.note(lambda s: s.uvarint(), lambda count: f"{count} columns")
        terms = self.note(lambda s: s.delta_varints(count), lambda ids: f"names: {', '.join(map(str, ids))}")
        codes = self.note(lambda s: s.uvarints(count), lambda _: "types")
        flags = self.note(lambda s: s.uvarints(count), lambda flags: f"flags {', '.join(map(str, flags))}")
        kinds = [
            bare_name(code, binary=bool(flag & 1), unsigned=bool(flag & 128))
            for code, flag in zip(codes, flags, strict=True)
        ]
        self.noted[-2] = (self.noted[-2][0], f"types {', '.join(kinds)}")
        lengths = self.note(lambda s: s.varints(count), lambda _: "lengths, each doubled; 01 is NULL")
        for term, length in zip(terms, lengths, strict=True):
            if length >= 0:
                name = self._terms[term]
                self.note(lambda s, length=length: s.take(length, ""), lambda _, name=name: name)
        assert self.section.position == end

    def dictionary(self, start: int) -> None:
        assert self.section.position == start
        count = self.note(lambda s: s.uvarint(), lambda count: f"dictionary of {count} terms")
        lengths = self.note(lambda s: s.uvarints(count), lambda _: "their lengths")
        self.note(lambda s: s.take(sum(lengths), ""), lambda text: text.decode())


def printed(lines: list[Line]) -> Iterator[str]:
    """Hex, 16 bytes to a line; the comment is on the first line of a field."""
    for data, comment in lines:
        for position in range(0, len(data), 16):
            hexed = data[position : position + 16].hex(" ")
            yield f"{hexed:<48}{'' if position else comment}".rstrip()
