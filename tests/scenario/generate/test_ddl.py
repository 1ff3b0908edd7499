"""DDLs between the transactions of a step: every change has the table version of its commit."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from tests.scenario.generate.plans import changes_of, rows_of
from ticdc_producer.errors import ProducerError
from ticdc_producer.model.catalog import Action, DDLJob
from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.history import Change, History, RowImage
from ticdc_producer.scenario.load import load_scenario

TABLE = "CREATE TABLE t (id BIGINT PRIMARY KEY, n INT NOT NULL, note VARCHAR(40))"
SCENARIO = f"""\
version: 1
seed: 5
steps:
  - sql: {TABLE}
  - generate:
      table: t
      rows: 12
      transactions: 240
      rows-per-transaction: 3
      changes-per-row: 3
      key-changes: 0.1
      ddl: {{every: 10, add-column: 3, drop-column: 2, add-index: 1, drop-index: 1, rename-table: 1,
            truncate-table: 1}}
"""


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    path = tmp_path_factory.mktemp("ddl") / "ddl.yaml"
    path.write_text(SCENARIO)
    return execute(load_scenario(path))


@pytest.fixture(scope="module")
def plan(history: History) -> GeneratePlan:
    return history.generated[0]


@pytest.fixture(scope="module")
def changes(plan: GeneratePlan) -> list[Change]:
    return changes_of(plan)


Image = dict[str, bytes | None]


def image(history: History, change: Change, values: RowImage | None) -> Image | None:
    """Values by column name, with the table version of the change."""
    if values is None:
        return None
    names = [column.name for column in history.catalog.tables[change.table_version].sent_columns]
    return dict(zip(names, values, strict=True))


def altered(rows: dict[bytes, Image], job: DDLJob, before: TableInfo, after: TableInfo) -> None:
    """Apply a DDL to the existing rows."""
    if job.job_type == Action.TRUNCATE_TABLE:
        rows.clear()
    columns = {column.name for column in before.columns}
    for row in rows.values():
        for column in after.columns:
            if column.name not in columns:
                row[column.name] = column.origin_default
        for name in columns - {column.name for column in after.columns}:
            del row[name]


def replayed(history: History, changes: list[Change], commits: int) -> dict[bytes, Image]:
    """The rows after a number of commits; every change must fit the existing rows and its table version."""
    rows: dict[bytes, Image] = {}
    tables = history.catalog.tables
    jobs = {job.commit_seq: job for job in history.catalog.ddls if job.version_before >= 0}
    version = 0
    for number in range(commits):
        if number in jobs:
            job = jobs[number]
            altered(rows, job, tables[job.version_before], tables[job.version_after])
            version = job.version_after
        for change in (change for change in changes if change.commit_seq == number):
            assert (change.table_version, change.table_id) == (version, tables[version].table_id)
            if change.op != Op.INSERT:
                existing = rows.pop(change.old_row_key or change.row_key)
                assert image(history, change, change.before) == existing
            left = image(history, change, change.after)
            if left is not None:
                assert change.row_key not in rows
                assert change.op == Op.INSERT or left != image(history, change, change.before)
                rows[change.row_key] = left
            assert (change.before is None, change.after is None) == (
                change.op == Op.INSERT,
                change.op == Op.DELETE,
            )
    return rows


def test_ddls_of_all_kinds_come_between_the_transactions(history: History, plan: GeneratePlan) -> None:
    jobs = [job for job in history.catalog.ddls if job.version_before >= 0]
    first = plan.first_transaction
    assert [job.commit_seq for job in jobs] == [first + 10 + 11 * number for number in range(23)]
    assert history.commits == plan.commits_after == first + 240 + 23
    kinds = Counter(Action(job.job_type) for job in jobs)
    assert set(kinds) == {
        Action.ADD_COLUMN,
        Action.DROP_COLUMN,
        Action.ADD_INDEX,
        Action.DROP_INDEX,
        Action.RENAME_TABLE,
        Action.TRUNCATE_TABLE,
    }
    assert all(job.version_after == other.version_before for job, other in pairwise(jobs))


def test_every_change_fits_the_rows_and_the_table_before_it(history: History, changes: list[Change]) -> None:
    rows = replayed(history, changes, history.commits)
    assert len(rows) > 5


def test_the_state_is_what_changes_and_ddls_leave(
    history: History, plan: GeneratePlan, changes: list[Change]
) -> None:
    truncated = next(job.commit_seq for job in history.catalog.ddls if job.job_type == Action.TRUNCATE_TABLE)
    for commits in (truncated, truncated + 1, truncated + 8, None):
        names = [column.name for column in plan.table_after(commits).sent_columns]
        by_key = rows_of(plan, commits)
        rows = {key: dict(zip(names, row, strict=True)) for key, row in by_key.items()}
        wanted = replayed(history, changes, history.commits if commits is None else commits)
        assert rows == wanted
        assert bool(rows) == (commits != truncated + 1)


def test_net_changes_lead_to_the_same_rows(
    history: History, plan: GeneratePlan, changes: list[Change]
) -> None:
    net = changes_of(plan, net=True)
    assert len(net) < len(changes)
    one_each = Counter((change.commit_seq, change.old_row_key or change.row_key) for change in net)
    assert set(one_each.values()) == {1}
    deletes_first = sorted(net, key=lambda change: (change.commit_seq, -change.op))
    assert replayed(history, deletes_first, history.commits) == replayed(history, changes, history.commits)


def test_columns_that_were_added_are_written_too(history: History, changes: list[Change]) -> None:
    inserted = [image(history, change, change.after) or {} for change in changes if change.op == Op.INSERT]
    added = [row[name] for row in inserted for name in row if name.startswith("added_")]
    assert len(set(added)) > 10


@pytest.mark.parametrize(
    ("ddl", "message"),
    [
        ("{every: 0, add-column: 1}", "ddl.every: "),
        ("{every: 10}", "the weights are all 0"),
        ("{every: 10, drop-index: 1}", "drop-index requires a weight of add-index"),
        ("{every: 1, truncate-table: 1}", "239 DDLs, more than 100"),
        ("{every: 10, add-index: 1}", "s.yaml:12: DDL 3 of test.t: all columns have an index already"),
    ],
)
def test_impossible_ddl_is_rejected(tmp_path: Path, ddl: str, message: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO[: SCENARIO.index("ddl:")] + f"ddl: {ddl}\n")
    with pytest.raises(ProducerError) as caught:
        execute(load_scenario(path))
    assert message in str(caught.value)


def test_ddl_needs_a_single_table_and_a_mix(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    for several in ("table: t, each: [{does: insert}]", "tables: [{table: t}]"):
        step = f"{{{several}, rows: 12, transactions: 240, ddl: {{every: 10, add-column: 1}}}}"
        path.write_text(f"version: 1\nsteps:\n  - sql: {TABLE}\n  - generate: {step}\n")
        with pytest.raises(ProducerError, match="ddl requires a step with one table and a mix"):
            execute(load_scenario(path))
