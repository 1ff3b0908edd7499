"""The transactions of the shipped workloads do what their documentation says."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from tests.scenario.generate.plans import planned, rows_of
from tests.scenario.generate.test_tables import checked as transactions
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.load import load_scenario


def shipped(name: str, transactions: int) -> tuple[GeneratePlan, ...]:
    overrides = [f"steps[1].generate.transactions={transactions}", "steps[1].generate.rows=40"]
    return execute(load_scenario(name, overrides)).generated


def test_sysbench_runs_its_four_statements() -> None:
    plans = shipped("sysbench", 100)
    assert len(plans) == 4
    done = transactions(plans)
    loads, rest = done[:4], done[4:]
    assert [change.op for load in loads for change in load] == [Op.INSERT] * 160
    assert {len(change.after[2]) for load in loads for change in load} == {119}
    assert len(rest) == 100
    assert any(len({change.table_id for change in group}) > 1 for group in rest)
    for index_update, other_update, delete, insert in rest:
        assert [index_update.op, other_update.op] == [Op.UPDATE, Op.UPDATE]
        assert [delete.op, insert.op] == [Op.DELETE, Op.INSERT]
        assert int(index_update.after[1]) == int(index_update.before[1]) + 1
        assert other_update.after[2] != other_update.before[2]
        assert other_update.after[:2] == other_update.before[:2]
        assert delete.row_key == insert.row_key


def test_the_bank_never_gains_or_loses() -> None:
    [plan] = shipped("bank", 150)
    balances: dict[bytes, Decimal] = {}
    moved = 0
    for changes in transactions((plan,)):
        for change in changes:
            balances[change.row_key] = Decimal(change.after[2].decode())
        assert sum(balances.values()) == 40 * Decimal(1000)
        moved += any(change.op == Op.UPDATE for change in changes)
    assert moved == 150
    assert len(set(balances.values())) > 20
    assert {key: Decimal((row[2] or b"").decode()) for key, row in rows_of(plan).items()} == balances


def test_every_reference_of_the_orders_names_a_row() -> None:
    overrides = ["steps[1].generate.transactions=25"]
    plans = execute(load_scenario("orders", overrides)).generated
    customers, products, orders, items = (plan.table.table_id for plan in plans)
    *_, last = done = transactions(plans)
    assert len(done) == 2 + 25
    assert [change.table_id for change in last] == [orders, items, items, items, products, orders]
    rows: dict[int, dict[bytes, list[bytes]]] = {plan.table.table_id: {} for plan in plans}
    for change in (change for group in done for change in group):
        rows[change.table_id][change.after[0]] = change.after
        if change.table_id == orders:
            assert change.after[1] in rows[customers]
        if change.table_id == items:
            assert change.after[1] in rows[orders]
            assert change.after[2] in rows[products]
    assert len({row[1] for row in rows[customers].values()}) > 100
    assert Counter(row[1] for row in rows[items].values()) == dict.fromkeys(rows[orders], 3)
    sold = sum(1_000_000 - int(row[3]) for row in rows[products].values())
    assert sold == 25
    assert {tuple(json.loads(row[4])) for row in rows[products].values()} == {("color", "grams", "tags")}


@pytest.mark.parametrize("adds", ["2", "row * 0 + 2"])
def test_adding_starts_anew_with_each_insert(tmp_path: Path, adds: str) -> None:
    each = [{"does": "update", "columns": ["n"]}, {"does": "replace"}]
    plan = planned(
        tmp_path, rows=4, transactions=60, each=each,
        columns={"n": {"min": 100, "max": 100, "adds": adds}},
    )  # fmt: skip
    for changes in transactions((plan,)):
        for change in changes:
            if change.op == Op.INSERT:
                assert change.after[2] == b"100"
            elif change.op == Op.UPDATE:
                assert int(change.after[2]) == int(change.before[2]) + 2
