"""Each form of a scenario has each feature of the table in docs/python.md, or refuses it by name."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ticdc_producer
from tests.runs.features import FEATURES, FORMS, LARGE, TABLE, History, Source
from tests.tiers import one_in
from ticdc_producer import ProducerError, RunReport, Scenario, Verdict
from ticdc_producer.engine import EngineOption

START = 429918007904436226
SECOND = 1000 << 18
CREATE = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))"
PLAIN = History(
    create=CREATE,
    changes=[
        (0, None, {"id": 1, "v": "a"}),
        (0, None, {"id": 2, "v": "b"}),
        (1, {"id": 1, "v": "a"}, {"id": 1, "v": "c"}),
        (2, {"id": 2, "v": "b"}, {"id": 3, "v": "b"}),
        (3, {"id": 3, "v": "b"}, None),
    ],
)
URI = "kafka:///s?protocol=canal-json&partition-num=2"


class Form:
    """One form of a scenario, whose runs write below a folder."""

    def __init__(self, name: str, folder: Path, engine: EngineOption = "auto") -> None:
        self.name, self.folder, self.engine = name, folder, engine

    def source(self, history: History) -> Source:
        return FORMS[self.name](history, self.folder)

    def run(self, history: History, out: str = "out", **options: object) -> RunReport:
        arguments = {"sink_uri": URI, "out": self.folder / out, "engine": self.engine, **options}
        return ticdc_producer.run(self.source(history), **arguments)  # type: ignore[arg-type]

    def messages(self, history: History, **options: object) -> list[dict[str, str]]:
        """The messages of a run, with keys and values in Base64."""
        assert self.run(history, **options).ok
        lines = (self.folder / "out" / "messages.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    @property
    def nothing_is_written(self) -> bool:
        return not (self.folder / "out").exists()


def verdict_on(form: Form, history: History, **options: Any) -> Verdict:
    """Verify the folder of a run with its scenario, on the engine of the form: ``auto`` would take Spark."""
    options = {"scenario": form.source(history), "engine": form.engine, **options}
    return ticdc_producer.verify(folder=form.folder / "out", **options)


def like_sql(form: Form, history: History, **options: object) -> None:
    """The messages are those of the ``.sql`` file of the same history."""
    sql = Form("SQL", form.folder / "sql")
    sql.folder.mkdir()
    assert form.messages(history, **options) == sql.messages(history, **options)


def rows_and_events(form: Form) -> None:
    report = form.run(PLAIN)
    assert report.ok
    assert report.verdict is not None
    assert report.verdict.comparison is not None
    assert report.verdict.comparison.ok
    assert report.verdict.comparison.expected > 6
    assert report.verdict.state is not None
    assert (report.verdict.state.tables, report.verdict.state.rows) == (1, 1)


def states(form: Form) -> None:
    ts = START + 2 * SECOND
    report = form.run(PLAIN, state_at=[ts])
    assert report.ok
    verdict = verdict_on(form, PLAIN, state_at=[ts])
    assert verdict.ok
    assert (verdict.states[ts].tables, verdict.states[ts].rows) == (1, 2)


def later_start(form: Form) -> None:
    times = {"start_ts": START + 2 * SECOND, "target_ts": START + 3 * SECOND}
    like_sql(form, PLAIN, **times)
    snapshot = form.folder / "out" / "snapshot"
    rows = [json.loads(line) for line in (snapshot / "test.t.jsonl").read_text().splitlines()]
    assert rows == [{"id": "1", "v": "c"}, {"id": "2", "v": "b"}]
    assert "(2, 'b');" in (snapshot / "test.t.sql").read_text()
    verdict = verdict_on(form, PLAIN)
    assert verdict.ok
    assert verdict.state is not None
    assert (verdict.state.tables, verdict.state.rows) == (1, 2)


def traps(form: Form) -> None:
    report = form.run(PLAIN, inject=["lost-row:times=1", "replay-suffix:times=1"])
    assert report.ok
    assert {fault["trap"]: fault["places"] for fault in report.faults.counts}.keys() == {
        "lost-row",
        "replay-suffix",
    }
    assert not report.not_injected


def options_of_run(form: Form) -> None:
    first = form.messages(PLAIN)
    assert form.messages(PLAIN, replace=True, seed=5, verify_output=False) == first
    counted = form.run(PLAIN, dry_run=True, out="none", overrides=["resolved.every=5s"])
    assert counted.counts.by_kind()["row"]["events"] == 6


def verified(form: Form) -> None:
    form.run(PLAIN)
    assert verdict_on(form, PLAIN).ok
    other = replace(PLAIN, changes=[*PLAIN.changes, (4, None, {"id": 9, "v": "z"})])
    assert not verdict_on(form, other).ok


def other_tables(form: Form) -> None:
    create = f"{CREATE}; CREATE TABLE u (a INT PRIMARY KEY); INSERT INTO u VALUES (1)"
    like_sql(
        form, replace(PLAIN, create=create, later="ALTER TABLE u ADD b INT DEFAULT 4; UPDATE u SET b = 5")
    )


def rows_before(form: Form) -> None:
    history = replace(PLAIN, create=f"{CREATE}; INSERT INTO t VALUES (7, 'g'), (8, 'h')")
    like_sql(form, replace(history, changes=[*PLAIN.changes, (4, {"id": 7, "v": "g"}, {"id": 7, "v": "x"})]))


def ddl_after(form: Form) -> None:
    like_sql(form, replace(PLAIN, later="ALTER TABLE t ADD n INT DEFAULT 3; ALTER TABLE t DROP v"))
    assert form.run(PLAIN, dry_run=True, out="none").ok


def rows_after(form: Form) -> None:
    like_sql(
        form, replace(PLAIN, later="ALTER TABLE t ADD n INT DEFAULT 3; UPDATE t SET n = 5; DELETE FROM t")
    )


def several_tables(form: Form) -> None:
    if form.name == TABLE:  # each row would name its table
        path = form.folder / "both.parquet"
        pq.write_table(pa.table({"n": [0], "op": ["insert"], "table": ["u"], "id": [1], "v": ["a"]}), path)
        changes = {"path": path.as_uri(), "table": "t", "order": "n"}
        steps = [{"sql": CREATE}, {"changes": changes}]
        (form.folder / "s.yaml").write_text(json.dumps({"version": 1, "steps": steps}))
        ticdc_producer.run(form.folder / "s.yaml", out=form.folder / "out", engine=form.engine)
        return
    create = f"{CREATE}; CREATE TABLE u (a INT PRIMARY KEY)"
    ddl = "ALTER TABLE u ADD b INT"
    frame = pa.table({
        "txn": [1, 1, 2, 3], "statement": [None, None, ddl, None], "table": ["t", "u", None, "u"],
        "after": ['{"id": 1, "v": "a"}', '{"a": 2}', None, '{"a": 3, "b": 4}'],
    })  # fmt: skip
    if form.name == "DataFrame":
        scenario: Source = Scenario("s").sql(create).changes(frame)
    elif form.name == LARGE:
        pq.write_table(frame, form.folder / "both.parquet")
        changes = {"path": (form.folder / "both.parquet").as_uri()}
        steps = [{"sql": create}, {"changes": changes}]
        (form.folder / "s.yaml").write_text(json.dumps({"version": 1, "name": "s", "steps": steps}))
        scenario = form.folder / "s.yaml"
    else:
        scenario = form.source(History(create=create, changes=[], later=""))
        statements = "INSERT INTO t VALUES (1, 'a'); INSERT INTO u VALUES (2)"
        scenario = Scenario("s").sql(create).txn(statements)
        scenario = scenario.sql(f"{ddl}; INSERT INTO u VALUES (3, 4)")
    report = ticdc_producer.run(scenario, sink_uri=URI, out=form.folder / "out", engine=form.engine)
    assert report.ok
    events = [event for event in ticdc_producer.decode(folder=form.folder / "out") if event["kind"] == "row"]
    first, second, last = sorted(events, key=lambda event: (event["commit_ts"], event["table"]))
    assert first["commit_ts"] == second["commit_ts"] < last["commit_ts"]
    assert [event["table"] for event in (first, second, last)] == ["t", "u", "u"]
    assert last["after"].keys() == {"a", "b"}


def conversions(form: Form) -> None:
    create = "CREATE TABLE t (id INT PRIMARY KEY, v DECIMAL(8,2))"
    like_sql(form, History(create=create, changes=[(0, None, {"id": 1, "v": "3.255"})]))


def partitions(form: Form) -> None:
    kinds = [
        "HASH (id) PARTITIONS 3", "KEY (id) PARTITIONS 3",
        "RANGE (id) (PARTITION p VALUES LESS THAN (2), PARTITION q VALUES LESS THAN (9))",
        "LIST (id) (PARTITION p VALUES IN (1, 3), PARTITION q VALUES IN (2))",
    ]  # fmt: skip
    folder = form.folder
    for number, kind in enumerate(kinds):
        form.folder = folder / str(number)
        form.folder.mkdir()
        like_sql(form, replace(PLAIN, create=f"{CREATE} PARTITION BY {kind}"))


def hidden_ids(form: Form) -> None:
    create = "CREATE TABLE t (id INT PRIMARY KEY NONCLUSTERED, v VARCHAR(20))"
    history, uri = replace(PLAIN, create=create), "kafka:///s?protocol=open-protocol"
    keys = [b64decode(message["key"]) for message in form.messages(history, sink_uri=uri)]
    assert any(b'"rid":2' in key for key in keys)
    like_sql(form, history, sink_uri=uri, replace=True)
    if form.name not in (LARGE, TABLE):
        return
    assert not form.run(history, sink_uri=uri, replace=True).warnings
    shared = replace(history, create=f"{create} SHARD_ROW_ID_BITS = 2")
    assert [
        "the rows of test.t, which has no clustered primary key, have no _tidb_rowid" in text
        for text in form.run(shared, sink_uri=uri, replace=True).warnings
    ] == [True]


def large_transactions(form: Form) -> None:
    """Go's sort is stable up to 12 rows: the order of 40 halves of updates is that of no other sort."""
    rows = [{"id": number, "v": f"v{number}"} for number in range(20)]
    updates = [(1, row, {**row, "v": f"w{row['id']}"}) for row in rows]
    others = [(2, {**row, "v": f"w{row['id']}"}, {**row, "v": f"x{row['id']}"}) for row in rows[:6]]
    folder = form.folder
    for key in ("NONCLUSTERED", "CLUSTERED"):
        create = f"CREATE TABLE t (id INT PRIMARY KEY {key}, v VARCHAR(20) UNIQUE)"
        history = History(create=create, changes=[*((0, None, row) for row in rows), *updates, *others])
        form.folder = folder / key
        form.folder.mkdir()
        like_sql(form, history)
    deleted = [
        event["before"]["id"]
        for event in ticdc_producer.decode(folder=form.folder / "out")
        if event["op"] == "delete"
    ]
    assert sorted(map(int, deleted[:20])) == [*range(20)]
    assert deleted[:20] != sorted(deleted[:20], key=int)


def foreign_keys(form: Form) -> None:
    create = (
        "CREATE TABLE p (v INT PRIMARY KEY);"
        "CREATE TABLE t (id INT PRIMARY KEY, v INT, FOREIGN KEY (v) REFERENCES p (v))"
    )
    history = History(create=create, changes=[(0, None, {"id": 1, "v": 5})])
    if form.name in ("DataFrame", LARGE, TABLE):
        assert ["foreign keys of test.t are not checked" in text for text in form.run(history).warnings] == [
            True
        ]
        return
    with pytest.raises(ProducerError, match=r"(?i)foreign key"):
        form.run(history)
    assert form.nothing_is_written


CHECKS: dict[str, Callable[[Form], None]] = dict(
    zip(
        FEATURES,
        [
            rows_and_events, states, later_start, traps, options_of_run, verified, other_tables, rows_before,
            ddl_after,
            rows_after, several_tables, conversions, partitions, hidden_ids, large_transactions, foreign_keys,
        ],
        strict=True,
    )
)  # fmt: skip
REFUSED = {
    ("several tables in one transaction, and DDL between", TABLE): "has no column 'table'",
}
"""The errors of large DataFrames."""
SMALL = [(feature, form) for feature in FEATURES for form in FORMS if form not in (LARGE, TABLE)]
IN_PROCESS = [(f, form) for f in FEATURES for form in (LARGE, TABLE) if (f, form) not in REFUSED]


@pytest.mark.parametrize(("feature", "form"), one_in(2, SMALL))
def test_a_small_scenario(feature: str, form: str, tmp_path: Path) -> None:
    CHECKS[feature](Form(form, tmp_path))


@pytest.mark.parametrize(("feature", "form"), IN_PROCESS)
def test_a_large_dataframe_has_it(feature: str, form: str, tmp_path: Path) -> None:
    CHECKS[feature](Form(form, tmp_path, "local"))


@pytest.mark.slow
@pytest.mark.parametrize(("feature", "form"), IN_PROCESS)
def test_a_large_dataframe_has_it_on_spark(feature: str, form: str, tmp_path: Path, spark: object) -> None:
    CHECKS[feature](Form(form, tmp_path))


@pytest.mark.parametrize(("feature", "form"), REFUSED)
def test_a_large_dataframe_is_refused(feature: str, form: str, tmp_path: Path) -> None:
    with pytest.raises(ProducerError, match=REFUSED[feature, form]):
        CHECKS[feature](Form(form, tmp_path, "local"))
    assert not (tmp_path / "out").exists()
