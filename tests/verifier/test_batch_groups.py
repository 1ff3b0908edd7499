"""Rows of batching groups on their way between two tasks: what one found is known to the other."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from ticdc_producer.verifier.events import positions
from ticdc_producer.verifier.invariants.registry import INVARIANTS
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.batch_groups import (
    BatchGroups,
    GroupedRows,
    SuspectedGroups,
    duplicate_flags,
    with_duplicate_flags,
)

OPTIONS = VerifyOptions()


def rows(count: int, *, table: str = "t", batch_value: int = -1) -> GroupedRows:
    numbers = np.arange(count)
    return GroupedRows(
        topic=pa.array(["topic"] * count, pa.string()),
        schema=pa.array(["test"] * count, pa.string()),
        table=pa.array([table] * count, pa.string()),
        partition=np.full(count, 3),
        position=positions(numbers // 2, numbers % 2),
        commit_ts=429918007904436226 + numbers,
        table_id=np.full(count, 105),
        op=1 + numbers % 3,
        rule=np.full(count, 1),
        batch_value=np.full(count, batch_value),
    )


def moved(parts: Sequence[GroupedRows], marked: Sequence[pa.RecordBatch]) -> BatchGroups:
    """The rows after a shuffle, in one part."""
    batches = [part.to_groups(np.ones(len(part), bool)) for part in parts]
    rows_of_parts = GroupedRows.of_groups(pa.concat_batches(batches))
    return with_duplicate_flags(rows_of_parts, pa.concat_batches(marked), OPTIONS)


@pytest.mark.parametrize("seed", range(5))
def test_a_mark_finds_its_row(seed: int) -> None:
    random = np.random.default_rng(seed)
    groups = [rows(int(random.integers(1, 40)), table=table) for table in ("a", "b", "c")]
    batches = [
        BatchGroups(events, random.random(len(events)) < 0.5, random.random(len(events)) < 0.5, OPTIONS)
        for events in groups
    ]
    merged = moved([batch.events for batch in batches], [duplicate_flags(batch) for batch in batches])
    for batch in batches:
        own = np.flatnonzero(np.array(merged.events.table.to_pylist()) == batch.events.table[0].as_py())
        assert merged.first_delivery[own].tolist() == batch.first_delivery.tolist()
        assert merged.late_in_key[own].tolist() == batch.late_in_key.tolist()
        taken = merged.events.take(own)
        assert taken.tables[1] == batch.events.tables[1]
        for name in ("partition", "position", "commit_ts", "table_id", "op", "rule", "batch_value", "group"):
            assert getattr(taken, name).tolist() == getattr(batch.events, name).tolist()


@pytest.mark.parametrize("alone", [True, False])
def test_a_mark_without_its_row_marks_no_other_row(alone: bool) -> None:
    """A row that is late in its key need not be late in its batching group, which is then not suspected."""
    marked = duplicate_flags(BatchGroups(rows(4), np.zeros(4, bool), np.ones(4, bool), OPTIONS))
    others = [] if alone else [rows(3, table=table) for table in ("a", "b", "c", "d")]
    merged = moved([rows(0), *others], [marked])
    assert len(merged.events) == 3 * len(others)
    assert merged.first_delivery.all()
    assert not merged.late_in_key.any()
    assert not any(len(invariant.by_batch(merged)) for invariant in INVARIANTS if invariant.by_batch)


def test_suspected_groups_are_those_of_all_tasks() -> None:
    tasks = [SuspectedGroups(), SuspectedGroups()]
    tasks[0].add(rows(3, table="a"))
    tasks[1].add(rows(3, table="b", batch_value=7))
    total = SuspectedGroups()
    assert not total
    total.merge(pickle.loads(pickle.dumps(task)) for task in tasks)
    assert total
    assert total.contain(rows(2, table="a")).all()
    assert total.contain(rows(2, table="b", batch_value=7)).all()
    assert not total.contain(rows(2, table="b", batch_value=8)).any()
