"""Distribution of rows to messages, compared with the rule applied to one row at a time."""

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
from ticdc_producer.protocols.encoded_rows import (
    EncodedRows,
    MessageLimits,
    RowStatus,
    batched,
    concat_rows,
    encoded_rows,
    merge_by_position,
)

Row = tuple[int, str, int]
"""Bytes of its value, its batch key, and its segment."""

rows_of_tests = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from("ab"), st.integers(0, 2)), min_size=1, max_size=40
).map(lambda rows: sorted(rows, key=lambda row: row[2]))


def _rows(rows: list[Row]) -> EncodedRows:
    sizes, batch_keys, segments = zip(*rows, strict=True) if rows else ((), (), ())
    values = pa.array([b"v" * size for size in sizes], pa.binary())
    commit_ts = pa.array(range(len(rows)), pa.int64())
    encoded = encoded_rows(pa.array([b""] * len(rows), pa.binary()), values, commit_ts)
    keyed = encoded.with_column("batch_key", pa.array(batch_keys, pa.string()))
    return keyed.with_column("segment", pa.array(segments, pa.int64()))


def _sizes(rows: EncodedRows) -> np.ndarray:
    return lengths(rows.column("value"))


def _one_at_a_time(rows: list[Row], limits: MessageLimits, by_batch_key: bool) -> Iterator[list[Row]]:
    """TiCDC's rule: a row joins the message if it has the same batch key, and both limits allow it.

    An event between two segments ends the message before it.
    """
    message: list[Row] = []
    for row in rows:
        full = len(message) == limits.rows or sum(size for size, *_ in message) + row[0] > limits.size
        in_next_segment = message and row[2] != message[0][2]
        if message and (full or in_next_segment or (by_batch_key and row[1] != message[0][1])):
            yield message
            message = []
        message.append(row)
    yield message


@given(rows_of_tests, st.integers(1, 6), st.integers(0, 90), st.booleans(), st.data())
def test_the_division_of_the_rows_does_not_change_the_messages(
    rows: list[Row], max_rows: int, size: int, by_batch_key: bool, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(rows)))) | {0, len(rows)})
    parts = [_rows(rows[start:end]) for start, end in pairwise(cuts)]
    limits = MessageLimits(rows=max_rows, size=size)
    counts = [
        count
        for batch in batched(parts, _sizes, limits, by_batch_key=by_batch_key)
        for count in batch.counts.tolist()
    ]
    assert counts == [len(message) for message in _one_at_a_time(rows, limits, by_batch_key)]


def test_a_claim_belongs_to_the_message_of_its_row() -> None:
    claim = ClaimObject("x.json", b"{}")
    whole = EncodedRows(_rows([(1, "a", 0)] * 5).columns, {3: RowStatus(claim=claim)})
    claims = [
        batch.claims for batch in batched([whole], _sizes, MessageLimits(rows=2, size=99), by_batch_key=True)
    ]
    assert claims == [{1: (claim,)}, {}]


def test_a_rejected_row_stops_the_batch() -> None:
    refusal = EncodeError("too large", code="CDC:x", table="s.t", commit_ts=1, hint="")
    rejected = EncodedRows(_rows([(1, "a", 0)] * 2).columns, {1: RowStatus(refusal=refusal)})
    with pytest.raises(EncodeError, match="too large"):
        list(batched([rejected], _sizes, MessageLimits(rows=2, size=99), by_batch_key=True))
    (batch,) = batched([rejected.without([1])], _sizes, MessageLimits(rows=2, size=99), by_batch_key=True)
    assert batch.counts.tolist() == [1]


@given(st.lists(st.integers(0, 2), min_size=1, max_size=30))
def test_rows_that_were_encoded_separately_are_merged_by_position(kinds: list[int]) -> None:
    positions = [np.flatnonzero(np.array(kinds) == kind) for kind in range(3)]
    status = RowStatus(handle_key_only=True)
    parts = [
        EncodedRows(_rows([(int(row), "a", 0) for row in rows]).columns, {len(rows) - 1: status})
        for rows in positions
        if len(rows)
    ]
    together = merge_by_position(parts, [rows for rows in positions if len(rows)])
    assert _sizes(together).tolist() == list(range(len(kinds)))
    assert set(together.statuses) == {int(rows[-1]) for rows in positions if len(rows)}


def test_statuses_follow_their_rows_through_slices() -> None:
    statuses = {1: RowStatus(handle_key_only=True), 3: RowStatus(handle_key_only=True)}
    rows = EncodedRows(_rows([(size, "a", 0) for size in range(5)]).columns, statuses)
    assert list(rows.slice(1, 2).statuses) == [0]
    assert list(concat_rows([rows, rows]).statuses) == [1, 3, 6, 8]
    assert list(rows.without([0, 3]).statuses) == [0]
