"""Properties of every history, for random tables and transactions."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given, settings

from tests.scenario.sql.random_sql import World, worlds
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.history import Change, History, RowImage
from ticdc_producer.scenario.sql.session.session import Session

RowLocation = tuple[int, bytes]
_MODE = SQLMode(strict=False, zero_dates=True, zero_in_date=True)
_some = settings(max_examples=settings().max_examples // 2)


def session_after(world: World) -> Session:
    """A session after all scripts that succeed; failing scripts are left out, because they end a scenario."""
    good = [world.table]
    session = fresh(good)
    for script in world.scripts:
        try:
            session.run(script)
        except ScenarioError:
            session = fresh(good)
        else:
            good.append(script)
    return session


def fresh(scripts: list[str]) -> Session:
    session = Session(force_replicate=True)
    for script in scripts:
        session.run(script)
    return session


def source(change: Change) -> RowLocation:
    """The location of a row before a change."""
    if change.old_row_key is None or change.old_table_id is None:
        return change.table_id, change.row_key
    return change.old_table_id, change.old_row_key


def target(change: Change) -> RowLocation:
    return change.table_id, change.row_key


def table_of(history: History) -> TableInfo:
    return history.catalog.tables[history.state["test", "t"].version]


def stored(history: History) -> list[RowImage]:
    return list(history.state["test", "t"].rows)


def replay(history: History) -> dict[RowLocation, tuple[int, RowImage]]:
    """The rows after all changes, and the table version that each was written with.

    The old image of a change must equal the current row if both have the same table version.
    """
    rows: dict[RowLocation, tuple[int, RowImage]] = {}
    for change in history.changes:
        if change.before is not None:
            version, image = rows.pop(source(change))
            assert version != change.table_version or image == change.before
        if change.after is not None:
            assert target(change) not in rows
            rows[target(change)] = change.table_version, change.after
    return rows


@_some
@given(worlds())
def test_the_changes_in_order_give_the_state(world: World) -> None:
    history = session_after(world).history()
    left = replay(history)
    assert [left[location][1] for location in sorted(left)] == stored(history)


@_some
@given(worlds(alterations=True))
def test_rows_outlive_changes_of_their_table(world: World) -> None:
    history = session_after(world).history()
    info = table_of(history)
    physical = {part.id for part in info.partitions} or {info.table_id}
    left = sorted((location, row) for location, row in replay(history).items() if location[0] in physical)
    assert len(left) == len(stored(history))
    for (_, (version, image)), row in zip(left, stored(history), strict=True):
        assert len(row) == len(info.sent)
        assert version != info.version or image == row


@_some
@given(worlds())
def test_one_net_change_per_location_and_transaction_gives_the_same_state(world: World) -> None:
    """First old image to last new image; the order of locations in a transaction is irrelevant."""
    history = session_after(world).history()
    commits: dict[int, dict[RowLocation, list[RowImage | None]]] = defaultdict(dict)
    for change in history.changes:
        nets = commits[change.commit_seq]
        if change.before is not None:
            nets.setdefault(source(change), [change.before, None])[1] = None
        if change.after is not None:
            nets.setdefault(target(change), [None, None])[1] = change.after
    rows: dict[RowLocation, RowImage | None] = {}
    for nets in commits.values():
        for location in sorted(nets):
            before, after = nets[location]
            assert rows.get(location) == before
            rows[location] = after
    assert [row for _, row in sorted(rows.items()) if row is not None] == stored(history)


@_some
@given(worlds(alterations=True))
def test_commits_and_rows_are_numbered_in_order(world: World) -> None:
    history = session_after(world).history()
    rows: dict[int, list[int]] = defaultdict(list)
    for change in history.changes:
        rows[change.commit_seq].append(change.row_seq)
    assert list(rows) == sorted(rows)
    assert all(numbers == list(range(len(numbers))) for numbers in rows.values())
    jobs = {job.commit_seq for job in history.catalog.ddls}
    assert not jobs & set(rows)
    assert all(commit < history.commits for commit in {*rows, *jobs})


@_some
@given(worlds(alterations=True))
def test_values_are_canonical(world: World) -> None:
    history = session_after(world).history()
    images = [
        (change.table_version, image)
        for change in history.changes
        for image in (change.before, change.after)
        if image is not None
    ]
    images += [(table_of(history).version, row) for row in stored(history)]
    for version, image in images:
        info = history.catalog.tables[version]
        for offset, value in zip(info.sent, image, strict=True):
            column = info.columns[offset]
            assert value is not None or column.nullable
            assert value is None or coerce(column, read(column, value, _MODE), _MODE) == value


@_some
@given(worlds(undone=3))
def test_a_rollback_leaves_no_trace(world: World) -> None:
    session = session_after(world)
    before = session.history()
    for script in world.undone:
        try:
            session.run(script)
        except ScenarioError:
            session.run("rollback")
        assert session.history() == before


@_some
@given(worlds(alterations=True))
def test_the_same_script_gives_the_same_history(world: World) -> None:
    assert session_after(world).history() == session_after(world).history()
