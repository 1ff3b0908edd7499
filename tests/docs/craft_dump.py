"""A Craft message of one row, byte by byte, each stretch with what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ticdc_producer.model.mysql_type import bare_name
from ticdc_producer.protocols.craft.byte_reader import Section
from ticdc_producer.protocols.craft.envelope import opened

Line = tuple[bytes, str]
_GROUPS = {1: "new values", 2: "old values"}


def dumped(data: bytes) -> list[Line]:
    """All of a message's bytes in order, with words about them."""
    message = opened(data)
    (body,) = message.sizes
    dictionary = message.body + body
    lines = _Lines(Section(data, 0, len(data)), message.terms)
    lines.note(lambda s: s.uvarint(), lambda version: f"version {version}")
    lines.header()
    for size in message.groups[0]:
        lines.group(lines.section.place + size)
    lines.dictionary(dictionary)
    lines.note(lambda s: s.take(s.left - 1, ""), lambda _: "size tables: header and dictionary, body, groups")
    lines.note(lambda s: s.uvarint(), lambda length: f"the size tables take {length} bytes")
    return lines.found


class _Lines:
    def __init__(self, section: Section, terms: Any) -> None:
        self.section = section
        self.found: list[Line] = []
        self._terms = terms

    def note(self, read: Callable[[Section], Any], words: Callable[[Any], str]) -> Any:
        """Reads something, and keeps its bytes with the words about it."""
        start = self.section.place
        value = read(self.section)
        self.found.append((self.section.data[start : self.section.place], words(value)))
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
        self.found[-2] = (self.found[-2][0], f"types {', '.join(kinds)}")
        lengths = self.note(lambda s: s.varints(count), lambda _: "lengths, each doubled; 01 is NULL")
        for term, length in zip(terms, lengths, strict=True):
            if length >= 0:
                name = self._terms[term]
                self.note(lambda s, length=length: s.take(length, ""), lambda _, name=name: name)
        assert self.section.place == end

    def dictionary(self, start: int) -> None:
        assert self.section.place == start
        count = self.note(lambda s: s.uvarint(), lambda count: f"dictionary of {count} terms")
        lengths = self.note(lambda s: s.uvarints(count), lambda _: "their lengths")
        self.note(lambda s: s.take(sum(lengths), ""), lambda text: text.decode())


def printed(lines: list[Line]) -> Iterator[str]:
    """Hex, 16 bytes to a line, and the words beside the first of them."""
    for data, words in lines:
        for place in range(0, len(data), 16):
            hexed = data[place : place + 16].hex(" ")
            yield f"{hexed:<48}{'' if place else words}".rstrip()
