"""Generated changes are a consistent history: every old row is the previous one."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.scenario.generate.plans import changes_of, planned, rows_of
from ticdc_producer.model.event import Op
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.history import Change, RowImage

BUSY = {
    "transactions": 200,
    "rows-per-transaction": 5,
    "rows": 30,
    "hot-keys": 0.8,
    "key-changes": 0.2,
    "mix": {"insert": 20, "update": 65, "delete": 15},
}


def replayed(changes: list[Change]) -> dict[bytes, RowImage | None]:
    """The rows at the end; every change must fit the existing rows."""
    rows: dict[bytes, RowImage | None] = {}
    for change in changes:
        if change.op != Op.INSERT:
            assert rows.pop(change.old_row_key or change.row_key) == change.before
        if change.op != Op.DELETE:
            assert change.row_key not in rows
            rows[change.row_key] = change.after
        assert (change.before is None) == (change.op == Op.INSERT)
        assert (change.after is None) == (change.op == Op.DELETE)
    return rows


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> GeneratePlan:
    return planned(tmp_path_factory.mktemp("busy"), **BUSY)


@pytest.fixture(scope="module")
def changes(busy: GeneratePlan) -> list[Change]:
    return changes_of(busy)


def test_every_change_fits_the_row_before_it(changes: list[Change]) -> None:
    assert replayed(changes)


def test_transactions_have_the_configured_number_of_changes(
    busy: GeneratePlan, changes: list[Change]
) -> None:
    sizes = Counter(change.commit_seq for change in changes)
    first = busy.first_commit
    assert sizes == {first: 30, **dict.fromkeys(range(first + 1, first + 201), 5)}
    positions = [change.row_seq for change in changes if change.commit_seq > first]
    assert positions == list(range(5)) * 200


def test_the_mix_is_met(changes: list[Change]) -> None:
    operations = Counter(change.op for change in changes[30:])
    for op, share in {Op.INSERT: 0.2, Op.UPDATE: 0.65, Op.DELETE: 0.15}.items():
        assert operations[op] / 1000 == pytest.approx(share, abs=0.04)


def test_keys_change_at_the_configured_ratio(changes: list[Change]) -> None:
    updates = [change for change in changes if change.op == Op.UPDATE]
    moved = [change for change in updates if change.old_row_key is not None]
    assert len(moved) / len(updates) == pytest.approx(0.2, abs=0.05)
    assert all(change.before[1] != change.after[1] for change in moved)  # the unique column goes with the key
    assert all(change.before[:2] == change.after[:2] for change in updates if change.old_row_key is None)


def test_unique_values_are_never_used_twice(changes: list[Change]) -> None:
    owners: dict[bytes, set[bytes]] = defaultdict(set)
    for change in changes:
        if change.after is not None:
            owners[change.after[1]].add(change.after[0])
    assert {len(ids) for ids in owners.values()} == {1}


def test_a_row_that_is_inserted_again_retains_its_key(changes: list[Change]) -> None:
    gone: set[bytes] = set()
    inserted_again = 0
    for change in changes:
        if change.op == Op.DELETE:
            gone.add(change.row_key)
        elif change.op == Op.INSERT and change.row_key in gone:
            inserted_again += 1
    assert inserted_again > 0


def test_the_state_is_what_the_changes_leave(busy: GeneratePlan, changes: list[Change]) -> None:
    for commits in (None, busy.first_commit + 1, busy.first_commit + 70):
        wanted = replayed([row for row in changes if commits is None or row.commit_seq < commits])
        assert rows_of(busy, commits) == wanted


def test_another_seed_gives_other_rows(tmp_path: Path, changes: list[Change]) -> None:
    assert changes_of(planned(tmp_path, seed=2, **BUSY)) != changes


def test_hot_rows_are_changed_most(tmp_path: Path) -> None:
    plan = planned(tmp_path, rows=50, transactions=1000, mix={"update": 1}, hot_keys=1.0)
    updates = changes_of(plan)[50:]
    assert {change.op for change in updates} == {Op.UPDATE}
    [(_, most), *_, (_, least)] = Counter(change.row_key for change in updates).most_common()
    assert most > 5 * least


def test_changes_of_one_row_in_succession(tmp_path: Path) -> None:
    plan = planned(tmp_path, transactions=50, rows_per_transaction=6, changes_per_row=3)
    changes = changes_of(plan)
    replayed(changes)
    thirds = [changes[at : at + 3] for at in range(0, len(changes), 3)]
    assert all(len({change.row_key for change in third}) == 1 for third in thirds)


def test_updates_change_the_columns_named(tmp_path: Path) -> None:
    plan = planned(tmp_path, rows=10, transactions=50, mix={"update": 1}, updates=["n", "at"])
    for change in changes_of(plan)[10:]:
        differ = {index for index in range(7) if change.before[index] != change.after[index]}
        assert {4} <= differ <= {2, 4}


def test_only_inserts_are_only_inserts(tmp_path: Path) -> None:
    changes = changes_of(planned(tmp_path, transactions=100, mix={"insert": 1}))
    assert [change.op for change in changes] == [Op.INSERT] * 100
    assert [change.after[0] for change in changes] == [b"%d" % number for number in range(1, 101)]


def test_without_a_clustered_key_an_insert_takes_a_new_row_id(tmp_path: Path) -> None:
    table = "CREATE TABLE t (code VARCHAR(9) PRIMARY KEY NONCLUSTERED, n INT)"
    plan = planned(tmp_path, table, transactions=200, mix={"insert": 3, "update": 4, "delete": 3}, rows=3)
    changes = changes_of(plan)
    replayed(changes)
    assert len({row.row_id for row in changes if row.op == Op.INSERT}) == sum(
        row.op == Op.INSERT for row in changes
    )


@pytest.mark.parametrize(
    ("key", "key_changes", "moves"),
    [("PRIMARY KEY", 0, False), ("PRIMARY KEY", 0.5, True), ("PRIMARY KEY NONCLUSTERED", 0, True)],
)
def test_a_plan_knows_whether_its_rows_move(
    tmp_path: Path, key: str, key_changes: float, moves: bool
) -> None:
    table = f"CREATE TABLE t (id BIGINT {key}, n INT)"
    plan = planned(tmp_path, table, rows=5, transactions=40, rows_per_transaction=4, key_changes=key_changes)
    net = changes_of(plan, net=True)
    assert plan.rows_move == any(change.old_row_key is not None for change in net) == moves
