"""What the dictionaries of many messages make of the rows in them, worked out once per kind of message.

Rows are looked at in runs: rows of one form in one message, which mostly are all the rows it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from ticdc_producer.model.event import Op
from ticdc_producer.protocols.arrow_text import Numbers, Piece
from ticdc_producer.protocols.craft.layout import NEW_VALUES, OLD_VALUES
from ticdc_producer.protocols.craft.plan import RowForm
from ticdc_producer.protocols.craft.terms import Vocabulary, vocabulary

_NEW, _OLD = bytes((NEW_VALUES,)), bytes((OLD_VALUES,))


@dataclass(frozen=True, slots=True)
class RowWords:
    """What a dictionary makes of the rows of one form.

    :param head: what stands before the values of the first group.
    :param old_head: the same of an update's old values; empty for other rows.
    """

    schema: int
    table: int
    head: bytes
    old_head: bytes


@dataclass(frozen=True, slots=True)
class Wording:
    """Many messages.

    :param words: all there are in these messages.
    :param of_row: the place of each row's among them.
    :param vocabularies: all there are.
    :param of_message: the place of each message's.
    """

    words: Sequence[RowWords]
    of_row: Numbers
    vocabularies: Sequence[Vocabulary]
    of_message: Numbers

    @property
    def schemas(self) -> Numbers:
        """Per row."""
        return _taken((words.schema for words in self.words), self.of_row)

    @property
    def tables(self) -> Numbers:
        """Per row."""
        return _taken((words.table for words in self.words), self.of_row)

    @property
    def heads(self) -> Piece:
        """Per row."""
        return _chosen([words.head for words in self.words], self.of_row)

    @property
    def head_sizes(self) -> Numbers:
        """Per row."""
        return _taken((len(words.head) for words in self.words), self.of_row)

    @property
    def old_heads(self) -> Piece:
        """Per row."""
        return _chosen([words.old_head for words in self.words], self.of_row)

    @property
    def dictionaries(self) -> Piece:
        """Per message."""
        return _chosen([words.dictionary for words in self.vocabularies], self.of_message)

    @property
    def dictionary_sizes(self) -> Numbers:
        """Per message."""
        return _taken((len(words.dictionary) for words in self.vocabularies), self.of_message)


def _chosen(texts: Sequence[bytes], places: Numbers) -> Piece:
    if len(set(texts)) == 1:
        return texts[0]
    return pa.array(texts, pa.binary()).take(pa.array(places))


def _taken(numbers: Iterable[int], places: Numbers) -> Numbers:
    return np.array(list(numbers), np.int64)[places]


def worded(forms: Numbers, starts: Numbers, known: Sequence[RowForm]) -> Wording:
    """The words of messages.

    :param forms: of each row, as a place in ``known``.
    :param starts: place of the first row of each message.
    """
    runs = _runs(forms, starts)
    form = forms[runs]
    first = np.searchsorted(runs, starts)
    vocabularies, of_message = _vocabularies(form, first, known)
    spoken = np.repeat(of_message, np.diff(first, append=len(runs)))
    pairs, of_run = np.unique(spoken * len(known) + form, return_inverse=True)
    words = [
        _row_words(vocabularies[speaker], known[place])
        for speaker, place in (divmod(pair, len(known)) for pair in pairs.tolist())
    ]
    return Wording(words, np.repeat(of_run, np.diff(runs, append=len(forms))), vocabularies, of_message)


def _runs(forms: Numbers, starts: Numbers) -> Numbers:
    """Places where a message starts, or rows of another form."""
    begins = np.diff(forms, prepend=forms[0]) != 0
    begins[starts] = True
    return np.flatnonzero(begins)


def _vocabularies(
    form: Numbers, first: Numbers, known: Sequence[RowForm]
) -> tuple[list[Vocabulary], Numbers]:
    """The vocabularies there are, and which each message has.

    :param form: of each run.
    :param first: place of the first run of each message.
    """
    if len(form) == len(first):  # as nearly always: all rows of a message have one form
        only, of_message = np.unique(form, return_inverse=True)
        return [_vocabulary((one,), known) for one in only.tolist()], of_message
    runs, met = form.tolist(), dict[tuple[int, ...], int]()
    places = [
        met.setdefault(tuple(dict.fromkeys(runs[start:end])), len(met))
        for start, end in pairwise([*first.tolist(), len(runs)])
    ]
    return [_vocabulary(forms, known) for forms in met], np.array(places)


def _vocabulary(forms: tuple[int, ...], known: Sequence[RowForm]) -> Vocabulary:
    return vocabulary(tuple(dict.fromkeys(known[form].plan for form in forms)))


def _row_words(words: Vocabulary, form: RowForm) -> RowWords:
    opening = words.openings[form.plan]
    return RowWords(
        schema=words.schemas[form.plan],
        table=words.tables[form.plan],
        head=(_OLD if form.op == Op.DELETE else _NEW) + opening,
        old_head=_OLD + opening if form.op == Op.UPDATE else b"",
    )
