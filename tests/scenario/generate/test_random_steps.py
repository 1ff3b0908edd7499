"""Whatever a step says: its changes are a history, its state is their result, and tasks agree."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.scenario.generate.plans import TABLE, changes_of, plans, read_changes, rows_of
from tests.scenario.generate.test_changes import replayed
from ticdc_producer.errors import ProducerError
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.generate.cells import no_expressions
from ticdc_producer.scenario.generate.change_rows import change_rows
from ticdc_producer.scenario.generate.changes import ChangeSource, TableSpan, part_of_rows
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.row_history import RowFollower
from ticdc_producer.scenario.history import Change

CHILD = "CREATE TABLE c (id BIGINT PRIMARY KEY NONCLUSTERED, t BIGINT NOT NULL, k VARCHAR(9), n INT NOT NULL)"
PARTED = (
    "CREATE TABLE p (id BIGINT, area VARCHAR(9), n INT NOT NULL, PRIMARY KEY (id, area) NONCLUSTERED) "
    "PARTITION BY KEY (area) PARTITIONS 3"
)
MIXES = st.fixed_dictionaries(
    {"insert": st.integers(0, 5), "update": st.integers(0, 5), "delete": st.integers(0, 5)}
).filter(lambda mix: mix["insert"] >= mix["delete"] and sum(mix.values()) > 0)
STATEMENTS = st.sampled_from([{"does": "insert"}, {"does": "replace"}, {"does": "update", "columns": ["n"]}])


@st.composite
def steps(draw: st.DrawFn) -> dict[str, Any]:
    """One table, two tables of which one refers to the other, or statements."""
    step: dict[str, Any] = {
        "transactions": draw(st.integers(1, 60)),
        "rows": draw(st.integers(0, 40)),
        "hot-keys": draw(st.sampled_from([0, 0.5, 1, 2])),
    }
    kind = draw(st.sampled_from(["mix", "each", "two tables"]))
    if kind == "each":
        step["each"] = draw(st.lists(STATEMENTS, min_size=1, max_size=4))
        step["columns"] = {"n": {"min": 0, "max": 9, "adds": draw(st.sampled_from(["1", "pmod(draw, 3)"]))}}
        return {**step, "table": "t"}
    per_row = draw(st.integers(1, 3))
    step |= {"rows-per-transaction": per_row * draw(st.integers(1, 5)), "changes-per-row": per_row}
    if kind == "mix":
        mix = {"mix": draw(MIXES), "key-changes": draw(st.sampled_from([0, 0.3, 1]))}
        return {**step, **mix, "table": draw(st.sampled_from("tp"))}
    parent = {"table": "t", "mix": {"insert": 1, "update": draw(st.integers(0, 4))}}
    column = {"references": "t.id", "distribution": draw(st.sampled_from(["uniform", "zipf", "latest"]))}
    child = {"table": "c", "mix": draw(MIXES), "columns": {"t": column}, "share": draw(st.integers(1, 3))}
    return {**step, "tables": [parent, child]}


def bound(step: dict[str, Any], seed: int) -> tuple[GeneratePlan, ...]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return plans(Path(folder), f"{TABLE}; {CHILD}; {PARTED}", seed, **step)
        except ProducerError:  # such as updates without rows
            assume(False)
            raise


@given(step=steps(), seed=st.integers(0, 99))
@settings(deadline=None)
def test_changes_are_a_history(step: dict[str, Any], seed: int) -> None:
    generated = bound(step, seed)
    every, net = changes_of(*generated), changes_of(*generated, net=True)
    assert len(every) == sum(plan.events for plan in generated)
    assert {change.commit_seq for change in net} <= {change.commit_seq for change in every}
    for plan in generated:
        rows = replayed(of_table(plan, every))
        assert rows_of(plan) == rows
        assert replayed_by_transaction(plan, net) == rows
    if len(generated) == 2:
        check_references(every, *generated)


def of_table(plan: GeneratePlan, changes: list[Change]) -> list[Change]:
    """The changes of a table; each finds its row in the partition where an earlier change left it."""
    ids = {partition.id for partition in plan.table.partitions} or {plan.table.table_id}
    mine = [change for change in changes if change.table_id in ids]
    partition_of: dict[bytes, int] = {}
    for change in mine:
        if change.op != Op.INSERT:
            old = change.old_row_key or change.row_key
            assert partition_of.pop(old) == (change.old_table_id or change.table_id)
        if change.op != Op.DELETE:
            partition_of[change.row_key] = change.table_id
    return mine


def replayed_by_transaction(plan: GeneratePlan, net: list[Change]) -> dict[bytes, object]:
    """The rows at the end; a transaction takes all its rows away before it writes any."""
    rows: dict[bytes, object] = {}
    ids = {partition.id for partition in plan.table.partitions} or {plan.table.table_id}
    mine = [change for change in net if change.table_id in ids]
    keys = Counter((change.commit_seq, change.old_row_key or change.row_key) for change in mine)
    assert set(keys.values()) <= {1}, "a row has one change in a transaction"
    for commit in sorted({change.commit_seq for change in mine}):
        of_commit = [change for change in mine if change.commit_seq == commit]
        for change in of_commit:
            if change.op != Op.INSERT:
                assert rows.pop(change.old_row_key or change.row_key) == change.before
        for change in of_commit:
            if change.op != Op.DELETE:
                assert change.row_key not in rows
                assert change.after != change.before
                rows[change.row_key] = change.after
    return rows


def check_references(changes: list[Change], parent: GeneratePlan, child: GeneratePlan) -> None:
    ids: set[bytes | None] = set()
    for change in changes:
        if change.after is None:
            continue
        if change.table_id == parent.table.table_id:
            ids.add(change.after[0])
        elif change.table_id == child.table.table_id:
            assert change.after[1] in ids


@given(step=steps(), seed=st.integers(0, 99), tasks=st.sampled_from([2, 7]), net=st.booleans())
@settings(deadline=None)
def test_tasks_that_share_the_rows_draw_the_same(
    step: dict[str, Any], seed: int, tasks: int, net: bool
) -> None:
    generated = bound(step, seed)
    shared: list[Change] = []
    for task in range(tasks):
        source = ChangeSource(
            plans=generated,
            expressions=no_expressions,
            rows=part_of_rows(task, tasks),
            share=tasks,
            net=net,
        )
        shared += [change for batch in source.batches() for change in read_changes(batch)]
    shared.sort(key=lambda change: (change.commit_seq, change.row_seq))
    assert shared == changes_of(*generated, net=net)


def test_the_size_of_spans_does_not_matter(tmp_path: Path) -> None:
    step = {"table": "t", "rows": 100_000, "transactions": 20_000, "rows-per-transaction": 7, "hot-keys": 0.7}
    generated = plans(tmp_path, TABLE, **step)
    spans = {
        share: [*ChangeSource(plans=generated, expressions=no_expressions, share=share).batches()]
        for share in (1, 2, 8)
    }
    assert len(spans[1]) > len(spans[2]) > len(spans[8])
    order = [("commit_seq", "ascending"), ("row_seq", "ascending")]
    once, *others = (pa.Table.from_batches(batches).sort_by(order) for batches in spans.values())
    assert all(other.equals(once) for other in others)


@pytest.mark.parametrize("inserts", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_the_first_and_the_last_of_two_billion_inserts(tmp_path: Path, inserts: int) -> None:
    most = 2_000_000_000
    table = "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT NOT NULL)"
    [plan] = plans(tmp_path, table, table="t", transactions=most, mix={"insert": 1})
    history = RowFollower(plan)
    for start in (0, most - inserts):
        part = TableSpan(plan, False, start, start + inserts)
        changes = history.changes(part.events(None), net=True)
        batch = change_rows(plan, plan.table, changes, no_expressions, net=True)
        assert batch.column("row_id").to_pylist() == [*range(start + 1, start + inserts + 1)]
        first = plan.first_transaction + start
        assert batch.column("commit_seq").to_pylist() == [*range(first, first + inserts)]
        assert set(batch.column("op").to_pylist()) == {Op.INSERT}
