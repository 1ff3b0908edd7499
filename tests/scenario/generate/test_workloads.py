"""The shipped workloads do in every transaction what they say."""

from __future__ import annotations

from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from producer.model.event import Op
from producer.scenario.generate.log import generated_changes, generated_rows
from producer.scenario.generate.plan import GeneratePlan
from producer.scenario.load import load_scenario
from producer.scenario.play import play
from tests.scenario.generate.plans import planned
from tests.scenario.generate.test_changes import replayed


def shipped(name: str, transactions: int) -> GeneratePlan:
    sets = [f"steps[1].generate.transactions={transactions}", "steps[1].generate.rows=40"]
    [plan] = play(load_scenario(name, sets)).generated
    return plan


def transactions(spark: SparkSession, plan: GeneratePlan) -> list[list[Row]]:
    """The changes of each commit, in order; all fit the rows before them."""
    changes = generated_changes(spark, plan).orderBy("commit_seq", "row_seq").collect()
    replayed(changes)
    return [list(group) for _, group in groupby(changes, attrgetter("commit_seq"))]


def test_sysbench_runs_its_four_statements(spark: SparkSession) -> None:
    plan = shipped("sysbench", 100)
    load, *rest = transactions(spark, plan)
    assert [change.op for change in load] == [Op.INSERT] * 40
    assert {len(change.after[2]) for change in load} == {119}
    assert len(rest) == 100
    for index_update, other_update, delete, insert in rest:
        assert [index_update.op, other_update.op] == [Op.UPDATE, Op.UPDATE]
        assert [delete.op, insert.op] == [Op.DELETE, Op.INSERT]
        assert int(index_update.after[1]) == int(index_update.before[1]) + 1
        assert other_update.after[2] != other_update.before[2]
        assert other_update.after[:2] == other_update.before[:2]
        assert delete.row_key == insert.row_key


def test_the_bank_never_gains_or_loses(spark: SparkSession) -> None:
    plan = shipped("bank", 150)
    balances: dict[bytes, Decimal] = {}
    moved = 0
    for changes in transactions(spark, plan):
        for change in changes:
            balances[change.row_key] = Decimal(change.after[2].decode())
        assert sum(balances.values()) == 40 * Decimal(1000)
        moved += any(change.op == Op.UPDATE for change in changes)
    assert moved == 150
    assert len(set(balances.values())) > 20
    rows = generated_rows(spark, plan).collect()
    assert {row.row_key: Decimal(row.row[2].decode()) for row in rows} == balances


@pytest.mark.parametrize("adds", ["2", "row * 0 + 2"])
def test_adding_starts_anew_with_each_insert(spark: SparkSession, tmp_path: Path, adds: str) -> None:
    each = [{"does": "update", "columns": ["n"]}, {"does": "replace"}]
    plan = planned(
        tmp_path, rows=4, transactions=60, each=each,
        columns={"n": {"min": 100, "max": 100, "adds": adds}},
    )  # fmt: skip
    for changes in transactions(spark, plan):
        for change in changes:
            if change.op == Op.INSERT:
                assert change.after[2] == b"100"
            elif change.op == Op.UPDATE:
                assert int(change.after[2]) == int(change.before[2]) + 2
