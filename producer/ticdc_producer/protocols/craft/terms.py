"""The term dictionary: every name of a message once, in order of first use.

First come the schema names of all events, then their table names, then the column names group by group.
Source: tiflow craft ``model.go`` (``termDictionary``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ticdc_producer.protocols.craft.layout import NO_NAME
from ticdc_producer.protocols.craft.plan import GroupPlan
from ticdc_producer.protocols.craft.varint import delta_varint_chunk, uvarint, uvarint_chunk


class TermDictionary:
    """Gives each name its number."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def id(self, term: str) -> int:
        """The term's number; -1 for an empty name, which is no term."""
        return self._ids.setdefault(term, len(self._ids)) if term else NO_NAME

    def encoded(self) -> bytes:
        """The dictionary as written: nothing at all when there is no term, not even a count."""
        if not self._ids:
            return b""
        terms = [term.encode() for term in self._ids]
        return uvarint(len(terms)) + uvarint_chunk(map(len, terms)) + b"".join(terms)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the dictionary of a message makes of the column groups in it.

    :param openings: a group as far as its values: number of columns, name ids, types, flags.
    """

    schemas: Mapping[GroupPlan, int]
    tables: Mapping[GroupPlan, int]
    openings: Mapping[GroupPlan, bytes]
    dictionary: bytes


# Messages of one topic repeat the same few tables; the bound is for topics of very many.
@lru_cache(maxsize=256)
def vocabulary(plans: tuple[GroupPlan, ...]) -> Vocabulary:
    """The vocabulary of a message.

    :param plans: its groups, each once, in order of first use.
    """
    terms = TermDictionary()
    schemas = {plan: terms.id(plan.schema) for plan in plans}
    tables = {plan: terms.id(plan.table) for plan in plans}
    openings = {plan: _opening(plan, terms) for plan in plans}
    return Vocabulary(schemas, tables, openings, terms.encoded())


def _opening(plan: GroupPlan, terms: TermDictionary) -> bytes:
    names = delta_varint_chunk([terms.id(column.name) for column in plan.columns])
    return uvarint(len(plan.columns)) + names + plan.types_and_flags
