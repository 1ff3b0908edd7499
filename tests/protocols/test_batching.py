"""How rows share messages: against the rule said one row at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import ClaimObject
from ticdc_producer.protocols.arrow_text import lengths
from ticdc_producer.protocols.batching import Limits, batched
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowNote, appended, encoded_rows, in_places

Row = tuple[int, str, int]
"""Bytes of its value, its group, and its stretch."""

rows_of_tests = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from("ab"), st.integers(0, 2)), min_size=1, max_size=40
).map(lambda rows: sorted(rows, key=lambda row: row[2]))


def _rows(rows: list[Row]) -> EncodedRows:
    sizes, groups, stretches = zip(*rows, strict=True) if rows else ((), (), ())
    values = pa.array([b"v" * size for size in sizes], pa.binary())
    stamps = pa.array(range(len(rows)), pa.int64())
    encoded = encoded_rows(pa.array([b""] * len(rows), pa.binary()), values, stamps)
    grouped = encoded.with_column("group", pa.array(groups, pa.string()))
    return grouped.with_column("stretch", pa.array(stretches, pa.int64()))


def _sizes(rows: EncodedRows) -> np.ndarray:
    return lengths(rows.column("value"))


def _one_at_a_time(rows: list[Row], limits: Limits, by_group: bool) -> Iterator[list[Row]]:
    """TiCDC's rule: a row joins if it is of the same group, there is a place left, and it fits.

    What was sent between two stretches ended the message before.
    """
    message: list[Row] = []
    for row in rows:
        full = len(message) == limits.rows or sum(size for size, *_ in message) + row[0] > limits.size
        behind = message and row[2] != message[0][2]
        if message and (full or behind or (by_group and row[1] != message[0][1])):
            yield message
            message = []
        message.append(row)
    yield message


@given(rows_of_tests, st.integers(1, 6), st.integers(0, 90), st.booleans(), st.data())
def test_messages_are_the_same_however_the_rows_are_divided(
    rows: list[Row], most: int, size: int, by_group: bool, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(rows)))) | {0, len(rows)})
    parts = [_rows(rows[start:end]) for start, end in pairwise(cuts)]
    limits = Limits(rows=most, size=size)
    counts = [
        count
        for batch in batched(parts, _sizes, limits, by_group=by_group)
        for count in batch.counts.tolist()
    ]
    assert counts == [len(message) for message in _one_at_a_time(rows, limits, by_group)]


def test_a_claim_belongs_to_the_message_of_its_row() -> None:
    claim = ClaimObject("x.json", b"{}")
    whole = EncodedRows(_rows([(1, "a", 0)] * 5).columns, {3: RowNote(claim=claim)})
    claims = [batch.claims for batch in batched([whole], _sizes, Limits(rows=2, size=99), by_group=True)]
    assert claims == [{1: (claim,)}, {}]


def test_a_refused_row_stops_the_batch() -> None:
    refusal = EncodeError("too large", code="CDC:x", table="s.t", commit_ts=1, hint="")
    refused = EncodedRows(_rows([(1, "a", 0)] * 2).columns, {1: RowNote(refusal=refusal)})
    with pytest.raises(EncodeError, match="too large"):
        list(batched([refused], _sizes, Limits(rows=2, size=99), by_group=True))
    (batch,) = batched([refused.without([1])], _sizes, Limits(rows=2, size=99), by_group=True)
    assert batch.counts.tolist() == [1]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=30))
def test_rows_that_were_encoded_apart_stand_in_their_places(kinds: list[int]) -> None:
    places = [np.flatnonzero(np.array(kinds) == kind) for kind in range(3)]
    noted = RowNote(handle_key_only=True)
    parts = [
        EncodedRows(_rows([(int(place), "a", 0) for place in there]).columns, {len(there) - 1: noted})
        for there in places
        if len(there)
    ]
    together = in_places(parts, [there for there in places if len(there)])
    assert _sizes(together).tolist() == list(range(len(kinds)))
    assert set(together.notes) == {int(there[-1]) for there in places if len(there)}


def test_notes_follow_their_rows_through_slices() -> None:
    noted = {1: RowNote(handle_key_only=True), 3: RowNote(handle_key_only=True)}
    rows = EncodedRows(_rows([(size, "a", 0) for size in range(5)]).columns, noted)
    assert list(rows.slice(1, 2).notes) == [0]
    assert list(appended([rows, rows]).notes) == [1, 3, 6, 8]
    assert list(rows.without([0, 3]).notes) == [0]
