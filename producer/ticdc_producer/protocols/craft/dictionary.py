"""The term dictionary of a message: every name once, in order of first use.

First come the schema names of all events, then their table names, then the column names group by group.
Source: tiflow craft ``model.go`` (``termDictionary``).

Rows are processed in runs: consecutive rows of one form in one message, usually all rows of the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa

from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import Op
from ticdc_producer.protocols.arrow_text import Fragment
from ticdc_producer.protocols.craft.plan import CraftRowForm, GroupPlan
from ticdc_producer.protocols.craft.wire import (
    NEW_VALUES,
    NO_NAME,
    OLD_VALUES,
    delta_varint_chunk,
    uvarint,
    uvarint_chunk,
)


class TermDictionary:
    """The names of a message with their ids."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def id(self, term: str) -> int:
        """Return the id of a name; -1 for an empty name, which is not in the dictionary."""
        return self._ids.setdefault(term, len(self._ids)) if term else NO_NAME

    def encoded(self) -> bytes:
        """Return the encoded dictionary; empty, without a count, if it has no terms."""
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


# The messages of a topic usually repeat a few tables; the bound is for topics with very many.
@lru_cache(maxsize=256)
def message_terms(plans: tuple[GroupPlan, ...]) -> MessageTerms:
    """Return the terms of a message.

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


_NEW, _OLD = bytes((NEW_VALUES,)), bytes((OLD_VALUES,))


@dataclass(frozen=True, slots=True)
class RowTerms:
    """The terms of one row form in the dictionary of a message.

    :param schema: id of the schema name.
    :param table: id of the table name.
    :param head: the bytes before the values of the first group.
    :param old_head: the bytes before an update's old values; empty for other rows.
    """

    schema: int
    table: int
    head: bytes
    old_head: bytes


@dataclass(frozen=True, slots=True)
class BatchDictionary:
    """The dictionaries of many messages, and the terms of their rows.

    :param row_terms: the distinct terms of rows.
    :param row_terms_index: for each row the index of its terms in ``row_terms``.
    :param dictionary_terms: the distinct dictionaries.
    :param dictionary_index: for each message the index of its dictionary in ``dictionary_terms``.
    """

    row_terms: Sequence[RowTerms]
    row_terms_index: Numbers
    dictionary_terms: Sequence[MessageTerms]
    dictionary_index: Numbers

    @property
    def schemas(self) -> Numbers:
        """Ids of the schema names, per row."""
        return _take_numbers((terms.schema for terms in self.row_terms), self.row_terms_index)

    @property
    def tables(self) -> Numbers:
        """Ids of the table names, per row."""
        return _take_numbers((terms.table for terms in self.row_terms), self.row_terms_index)

    @property
    def heads(self) -> Fragment:
        """The bytes before the values of the first group, per row."""
        return _take_texts([terms.head for terms in self.row_terms], self.row_terms_index)

    @property
    def head_sizes(self) -> Numbers:
        """Bytes of ``heads``, per row."""
        return _take_numbers((len(terms.head) for terms in self.row_terms), self.row_terms_index)

    @property
    def old_heads(self) -> Fragment:
        """The bytes before an update's old values, per row."""
        return _take_texts([terms.old_head for terms in self.row_terms], self.row_terms_index)

    @property
    def dictionaries(self) -> Fragment:
        """The encoded dictionaries, per message."""
        return _take_texts([terms.dictionary for terms in self.dictionary_terms], self.dictionary_index)

    @property
    def dictionary_sizes(self) -> Numbers:
        """Bytes of ``dictionaries``, per message."""
        return _take_numbers(
            (len(terms.dictionary) for terms in self.dictionary_terms), self.dictionary_index
        )


def _take_texts(texts: Sequence[bytes], indices: Numbers) -> Fragment:
    if len(set(texts)) == 1:
        return texts[0]
    return pa.array(texts, pa.binary()).take(pa.array(indices))


def _take_numbers(numbers: Iterable[int], indices: Numbers) -> Numbers:
    return np.array(list(numbers), np.int64)[indices]


def build_dictionary(forms: Numbers, starts: Numbers, known: Sequence[CraftRowForm]) -> BatchDictionary:
    """Build the dictionaries of messages.

    The second of these two messages has rows of two tables:

    >>> plans = [GroupPlan("shop", name, (), b"", 0, 0) for name in ("orders", "items")]
    >>> known = [CraftRowForm(plan, Op.INSERT) for plan in plans]
    >>> dictionary = build_dictionary(np.array([0, 0, 0, 1]), np.array([0, 2]), known)
    >>> dictionary.tables.tolist()
    [1, 1, 1, 2]
    >>> dictionary.dictionaries.to_pylist()
    [b'\\x02\\x04\\x06shoporders', b'\\x03\\x04\\x06\\x05shopordersitems']

    :param forms: for each row the index of its form in ``known``.
    :param starts: index of the first row of each message.
    """
    runs = _runs(forms, starts)
    form = forms[runs]
    first = np.searchsorted(runs, starts)  # every start is the start of a run
    dictionaries, of_message = _dictionaries(form, first, known)
    of_run = np.repeat(of_message, np.diff(first, append=len(runs)))
    pairs, terms_of_run = np.unique(of_run * len(known) + form, return_inverse=True)
    row_terms = [
        _row_terms(dictionaries[dictionary], known[form_index])
        for dictionary, form_index in (divmod(pair, len(known)) for pair in pairs.tolist())
    ]
    return BatchDictionary(
        row_terms, np.repeat(terms_of_run, np.diff(runs, append=len(forms))), dictionaries, of_message
    )


def _runs(forms: Numbers, starts: Numbers) -> Numbers:
    """Return the indices of the rows at which a message or a run of another form starts.

    >>> _runs(np.array([0, 0, 0, 1]), np.array([0, 2])).tolist()
    [0, 2, 3]
    """
    begins = np.diff(forms, prepend=forms[0]) != 0
    begins[starts] = True
    return np.flatnonzero(begins)


def _dictionaries(
    form: Numbers, first: Numbers, known: Sequence[CraftRowForm]
) -> tuple[list[MessageTerms], Numbers]:
    """Return the distinct dictionaries, and the index of each message's dictionary.

    :param form: for each run the index of its form in ``known``.
    :param first: index of the first run of each message.
    """
    if len(form) == len(first):  # nearly always: all rows of a message have one form
        distinct, of_message = np.unique(form, return_inverse=True)
        return [_message_terms((index,), known) for index in distinct.tolist()], of_message
    runs, seen = form.tolist(), dict[tuple[int, ...], int]()
    indexes = [
        seen.setdefault(tuple(dict.fromkeys(runs[start:end])), len(seen))
        for start, end in pairwise([*first.tolist(), len(runs)])
    ]
    return [_message_terms(forms, known) for forms in seen], np.array(indexes)


def _message_terms(forms: tuple[int, ...], known: Sequence[CraftRowForm]) -> MessageTerms:
    return message_terms(tuple(dict.fromkeys(known[form].plan for form in forms)))


def _row_terms(terms: MessageTerms, form: CraftRowForm) -> RowTerms:
    group_head = terms.group_heads[form.plan]
    return RowTerms(
        schema=terms.schemas[form.plan],
        table=terms.tables[form.plan],
        head=(_OLD if form.op == Op.DELETE else _NEW) + group_head,
        old_head=_OLD + group_head if form.op == Op.UPDATE else b"",
    )
