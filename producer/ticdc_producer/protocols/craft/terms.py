"""The term dictionary of a message: every name once, in order of first use.

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
    """Assigns an id to each name."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def id(self, term: str) -> int:
        """The id of a name; -1 for an empty name, which is not in the dictionary."""
        return self._ids.setdefault(term, len(self._ids)) if term else NO_NAME

    def encoded(self) -> bytes:
        """The encoded dictionary; empty, without even a count, if it has no terms."""
        if not self._ids:
            return b""
        terms = [term.encode() for term in self._ids]
        return uvarint(len(terms)) + uvarint_chunk(map(len, terms)) + b"".join(terms)


@dataclass(frozen=True, slots=True)
class MessageTerms:
    """The dictionary of a message, and the column groups encoded with its term ids.

    :param schemas: id of the schema name, by group.
    :param tables: id of the table name, by group.
    :param group_heads: the bytes of a group before its values: number of columns, name ids, types, flags.
    :param dictionary: the encoded dictionary.
    """

    schemas: Mapping[GroupPlan, int]
    tables: Mapping[GroupPlan, int]
    group_heads: Mapping[GroupPlan, bytes]
    dictionary: bytes


# The messages of a topic repeat the same few tables; the bound is for topics with very many.
@lru_cache(maxsize=256)
def message_terms(plans: tuple[GroupPlan, ...]) -> MessageTerms:
    """The terms of a message.

    :param plans: its distinct column groups, in order of first use.
    """
    terms = TermDictionary()
    schemas = {plan: terms.id(plan.schema) for plan in plans}
    tables = {plan: terms.id(plan.table) for plan in plans}
    group_heads = {plan: _group_head(plan, terms) for plan in plans}
    return MessageTerms(schemas, tables, group_heads, terms.encoded())


def _group_head(plan: GroupPlan, terms: TermDictionary) -> bytes:
    names = delta_varint_chunk([terms.id(column.name) for column in plan.columns])
    return uvarint(len(plan.columns)) + names + plan.types_and_flags
