"""Expected state at every commit of every golden file, against a replay of real TiCDC's row events.

Between two commits a table's rows differ by just the golden events of the later one. A DDL sends no row
events: there the state is taken as the engine has it, and must keep every row that no DDL removes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.scenario.sql.test_golden import ALL, FIRST_TS, GOLDEN, STEP, forced, golden_events, golden_value
from ticdc_producer.model.catalog import DDLJob
from ticdc_producer.scenario.history import History, State
from ticdc_producer.scenario.sql.session.session import Session

_REMOVES_ROWS = {2, 4, 11, 20, 23, 42}
"""Drop of a database or table, truncate; drop, truncate and exchange of a partition."""


def executed(path: Path) -> History:
    text = path.read_text()
    commits = Session(file=path.name, force_replicate=forced(text))
    commits.run(text)
    session = Session(file=path.name, force_replicate=forced(text), snapshots=range(commits.commits + 1))
    session.run(text)
    return session.history()


def rows_of(state: State, name: tuple[str, str]) -> Counter[Any]:
    return Counter(state[name].rows if name in state else ())


@pytest.mark.parametrize("name", ALL)
def test_state_at_every_commit(name: str) -> None:
    path = next(GOLDEN.glob(f"*/{name}.sql"))
    history = executed(path)
    tables = history.catalog.tables
    replicated = {t.version for t in tables if t.eligible or forced(path.read_text())}
    events = golden_events(path.with_suffix(".events.jsonl"))
    ddls: dict[int, list[DDLJob]] = defaultdict(list)
    for job in history.catalog.ddls:
        ddls[job.commit_seq].append(job)
    for commit in range(history.commits):
        before, after = history.state_at[commit], history.state_at[commit + 1]
        if commit in ddls:
            for job in ddls[commit]:
                old, new = (job.old_schema, job.old_table), (job.schema, job.table)
                if job.job_type not in _REMOVES_ROWS and old in before:  # views have no rows
                    assert len(before[old].rows) == len(after[new].rows)
            continue
        mine = [e for e in events if e["kind"] == "row" and e["commit_ts"] == FIRST_TS + commit * STEP]
        for table in {*before, *after}:
            if after[table].version not in replicated:
                continue
            expected = rows_of(before, table)
            for event in mine:
                if (event["schema"], event["table"]) == table:
                    for side, sign in (("before", -1), ("after", 1)):
                        if event[side]:
                            expected[tuple(golden_value(value) for value in event[side])] += sign
            assert +expected == rows_of(after, table), (commit, table)
            assert all(count >= 0 for count in expected.values())
