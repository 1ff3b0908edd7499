"""Steps on several tables: transactions that hit them all, each with a history of its own."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import pytest

from tests.scenario.generate.plans import changes_of, plans, rows_of
from tests.scenario.generate.test_changes import replayed
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.table_schedule import CYCLE, schedules_by_share
from ticdc_producer.scenario.history import Change

TABLES = "; ".join(
    f"CREATE TABLE {name} (id BIGINT PRIMARY KEY, n INT NOT NULL, c VARCHAR(9))" for name in "abc"
)
SHARES = {
    "tables": [
        {"table": "a", "share": 3},
        {"table": "b", "share": 1, "mix": {"insert": 1, "update": 2}, "rows": 0},
        {"table": "c", "share": 0, "rows": 1500},
    ],
    "rows": 20,
    "transactions": 300,
    "rows-per-transaction": 4,
    "changes-per-row": 2,
}


def checked(generated: tuple[GeneratePlan, ...]) -> list[list[Change]]:
    """The transactions, after a check of positions, changes and the rows at the end."""
    changes = changes_of(*generated)
    transactions = [list(group) for _, group in groupby(changes, attrgetter("commit_seq"))]
    first = generated[0].step_commit
    assert [changes[0].commit_seq for changes in transactions] == [*range(first, first + len(transactions))]
    for group in transactions:
        assert [change.row_seq for change in group] == [*range(len(group))]
    for plan in generated:
        of_table = [change for change in changes if change.table_id == plan.table.table_id]
        assert len(of_table) == plan.events
        assert rows_of(plan) == replayed(of_table)
    return transactions


def test_transactions_mix_the_tables(tmp_path: Path) -> None:
    generated = plans(tmp_path, TABLES, **SHARES)
    transactions = checked(generated)
    load_a, load_c, more_c, *rest = transactions
    assert [len(load_a), len(load_c), len(more_c), len(rest)] == [20, 1000, 500, 300]
    a, b, c = (plan.table.table_id for plan in generated)
    counts = Counter(change.table_id for group in rest for change in group)
    assert counts[a] + counts[b] == 1200
    assert counts[c] == 0
    assert counts[b] / 1200 == pytest.approx(0.25, abs=0.04)
    both = [group for group in rest if len({change.table_id for change in group}) == 2]
    assert len(both) > 60
    assert all(len({(change.table_id, change.row_key) for change in group}) <= 2 for group in rest)


def test_shares_come_out() -> None:
    schedules = schedules_by_share([1, 1, 2, 0, 1e-9], "seed")
    assert sorted(position for schedule in schedules for position in schedule.positions) == [*range(CYCLE)]
    assert [len(schedule.positions) for schedule in schedules] == [252, 252, 504, 0, 1]


def test_statements_name_their_tables(tmp_path: Path) -> None:
    each = [
        {"does": "insert", "table": "a"},
        {"does": "update", "table": "b", "columns": ["n"]},
        {"does": "insert", "table": "a"},
        {"does": "replace", "table": "b"},
        {"does": "update", "table": "a", "columns": ["c"]},
    ]
    tables = [{"table": "a", "rows": 0}, {"table": "b"}]
    generated = plans(tmp_path, TABLES, tables=tables, rows=10, transactions=50, each=each)
    a, b = (plan.table.table_id for plan in generated)
    _load, *rest = checked(generated)
    wanted = [
        (a, Op.INSERT), (b, Op.UPDATE), (a, Op.INSERT), (b, Op.DELETE), (b, Op.INSERT), (a, Op.UPDATE),
    ]  # fmt: skip
    assert [[(change.table_id, change.op) for change in group] for group in rest] == [wanted] * 50
    ids = [int(group[index].after[0]) for group in rest for index in (0, 2)]
    assert ids == [*range(1, 101)]


def test_statements_go_to_tables_by_share(tmp_path: Path) -> None:
    each = [{"does": "update", "columns": ["n"]}, {"does": "replace"}]
    tables = [{"table": name} for name in "abc"]
    generated = plans(tmp_path, TABLES, tables=tables, rows=5, transactions=400, each=each)
    *_loads, last = transactions = checked(generated)
    assert len(transactions) == 403
    assert [change.op for change in last] == [Op.UPDATE, Op.DELETE, Op.INSERT]
    pairs = Counter((group[0].table_id, group[1].table_id) for group in transactions[3:])
    assert len(pairs) == 9


def test_one_of_several_tables_is_like_the_only_one(tmp_path: Path) -> None:
    step = {"rows": 10, "transactions": 30, "rows-per-transaction": 3, "changes-per-row": 2}
    [alone] = plans(tmp_path, TABLES, **{"table": "a", **step})
    [listed] = plans(tmp_path, TABLES, **{"tables": [{"table": "a"}], **step})
    assert changes_of(alone) == changes_of(listed)


def test_a_table_that_is_never_picked_stays_empty(tmp_path: Path) -> None:
    tables = [{"table": "a", "share": 1e9}, {"table": "b", "share": 1e-9}]
    generated = plans(tmp_path, TABLES, tables=tables, transactions=1)
    assert sum(plan.events for plan in generated) == 1
    assert len(changes_of(*generated)) == 1
