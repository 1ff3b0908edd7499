"""The stages on small histories: net changes, splits and order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.streams import event_stream
from ticdc_producer.errors import ChangefeedError, ScenarioError
from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.shapes import DELIVERY_KEY
from ticdc_producer.simulate.change_log import change_batch
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare

CREATE = """
CREATE TABLE test.c (id INT PRIMARY KEY, v VARCHAR(9));
CREATE TABLE test.n (id INT, u INT, v VARCHAR(9), PRIMARY KEY (id) NONCLUSTERED, UNIQUE KEY (u));
INSERT INTO test.c VALUES (1,'a'),(2,'b'),(4,'d');
INSERT INTO test.n VALUES (1,10,'a'),(2,20,'b'),(3,30,'c');
"""
# A transaction and its expected events: docs/stream-semantics.md §2 and docs/stream-semantics.md §4.
TRANSACTIONS: list[tuple[str, list[str]]] = [
    ("INSERT INTO test.c VALUES (9,'x'); UPDATE test.c SET v='y' WHERE id=9;", ["+9y"]),
    ("UPDATE test.c SET v='p' WHERE id=1; UPDATE test.c SET v='q' WHERE id=1;", ["1a>1q"]),
    ("INSERT INTO test.c VALUES (8,'x'); DELETE FROM test.c WHERE id=8;", []),
    ("UPDATE test.c SET v='r' WHERE id=1; DELETE FROM test.c WHERE id=1;", ["-1q"]),
    ("DELETE FROM test.c WHERE id=2; INSERT INTO test.c VALUES (2,'z');", ["2b>2z"]),
    ("DELETE FROM test.c WHERE id=4; UPDATE test.c SET id=4 WHERE id=2;", ["-2z", "4d>4z"]),
    ("UPDATE test.c SET v='t' WHERE id=9; UPDATE test.c SET v='y' WHERE id=9;", []),
    ("UPDATE test.n SET u=11 WHERE id=1; UPDATE test.n SET v='w' WHERE id=2;",
     ["-1,10a", "2,20b>2,20w", "+1,11a"]),
    (("UPDATE test.n SET id=5 WHERE id=3; INSERT INTO test.n VALUES (6,60,'f');"
     " DELETE FROM test.n WHERE id=2;"), ["-2,20w", "-3,30c", "+5,30c", "+6,60f"]),
]  # fmt: skip


@pytest.fixture
def execute(tmp_path: Path) -> Any:
    def _execute(sql: str, **options: Any) -> tuple[Job, pa.RecordBatch]:
        path = tmp_path / "script.sql"
        path.write_text(sql)
        job = prepare(path, **options)
        return job, event_stream(change_batch(job.history.changes), job.stream)

    return _execute


def _of_kind(events: pa.RecordBatch, kind: Kind) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = events.filter(pc.equal(events["kind"], int(kind))).to_pylist()
    return rows


def _as_text(row: dict[str, Any]) -> str:
    before, after = (_image(row[name]) for name in ("before", "after"))
    return {Op.INSERT: f"+{after}", Op.DELETE: f"-{before}", Op.UPDATE: f"{before}>{after}"}[row["op"]]


def _image(values: Sequence[bytes] | None) -> str:
    if values is None:
        return ""
    *numbers, text = (value.decode() for value in values)
    return ",".join(numbers) + text


def test_a_transaction_gives_one_net_change_per_row_in_ticdcs_order(execute: Any) -> None:
    script = CREATE + "".join(f"BEGIN; {sql} COMMIT;\n" for sql, _ in TRANSACTIONS)
    job, events = execute(script, sink_uri="kafka:///t?partition-num=1")
    rows = _of_kind(events, Kind.ROW)
    clock = job.stream.resolved.clock
    for n, (sql, wanted) in enumerate(TRANSACTIONS, start=4):
        assert [_as_text(row) for row in rows if row["commit_ts"] == clock.ts(n)] == wanted, sql


def test_output_raw_change_event_splits_nothing(execute: Any, tmp_path: Path) -> None:
    script = CREATE + "UPDATE test.n SET u = u + 1;\n"
    job, split = execute(script)
    _, raw = execute(script, overrides=["changefeed.sink.kafka-config.output-raw-change-event=true"])
    last = job.stream.resolved.clock.ts(4)
    ops = [
        [row["op"] for row in _of_kind(events, Kind.ROW) if row["commit_ts"] == last]
        for events in (split, raw)
    ]
    assert [sorted(group) for group in ops] == [[Op.INSERT] * 3 + [Op.DELETE] * 3, [Op.UPDATE] * 3]


def test_ddl_and_resolved_events_go_everywhere_and_behind_the_rows_of_their_time(execute: Any) -> None:
    _, events = execute(CREATE, sink_uri="kafka:///t?partition-num=3")
    rows = events.to_pylist()
    for kind in (Kind.DDL, Kind.RESOLVED):
        by_partition = {
            n: sorted(row["commit_ts"] for row in rows if row["kind"] == kind and row["partition"] == n)
            for n in range(3)
        }
        assert by_partition[0] == by_partition[1] == by_partition[2]
        assert len(by_partition[0]) == {Kind.DDL: 2, Kind.RESOLVED: 4}[kind]
    assert {row["kind"]: row["kind_order"] for row in rows} == {Kind.ROW: 0, Kind.DDL: 1, Kind.RESOLVED: 2}


@pytest.mark.parametrize(
    ("every", "wanted"),
    [
        # Commits come every second; 0 and 1 are the DDLs.
        ("2s", ["ddl 0", "ddl 1", "tick 2000", "last 3"]),
        ("1h", ["ddl 0", "ddl 1", "last 3"]),
    ],
)
def test_resolved_every(execute: Any, every: str, wanted: list[str]) -> None:
    job, events = execute(
        CREATE, sink_uri="kafka:///t?partition-num=1", overrides=[f"resolved.every={every}"]
    )
    clock = job.stream.resolved.clock
    start_ms = clock.start >> 18
    names = {clock.ts(n): f"ddl {n}" for n in (0, 1)} | {clock.ts(3): "last 3"}
    times = [row["commit_ts"] for row in _of_kind(events, Kind.RESOLVED)]
    assert [names.get(ts, f"tick {(ts >> 18) - start_ms}") for ts in times] == wanted


def test_timestamps_in_the_changefeeds_time_zone(execute: Any) -> None:
    script = (
        "CREATE TABLE test.t (id INT PRIMARY KEY, t TIMESTAMP(3) NULL, d DATETIME);\n"
        "INSERT INTO test.t VALUES (1, '2021-07-01 12:00:00.5', '2021-07-01 12:00:00'), (2, NULL, NULL),"
        " (3, '2021-01-01 23:30:00', '2021-01-01 23:30:00');\n"
    )
    _, events = execute(script, sink_uri="kafka:///t?partition-num=1&time-zone=Europe/Berlin")
    assert [[value and value.decode() for value in row["after"]] for row in _of_kind(events, Kind.ROW)] == [
        ["1", "2021-07-01 14:00:00.500", "2021-07-01 12:00:00"],
        ["2", None, None],
        ["3", "2021-01-02 00:30:00.000", "2021-01-01 23:30:00"],
    ]


def test_events_come_by_partition_and_delivery_key(execute: Any) -> None:
    script = CREATE + "".join(f"BEGIN; {sql} COMMIT;\n" for sql, _ in TRANSACTIONS)
    rule = "changefeed.sink.dispatchers=[{matcher: ['*.*'], partition: index-value}]"
    _, events = execute(script, sink_uri="kafka:///t?partition-num=3", overrides=[rule])
    keys = [tuple(row[name] for name in ("partition_index", *DELIVERY_KEY)) for row in events.to_pylist()]
    assert keys == sorted(set(keys))
    assert {row["partition_index"] for row in _of_kind(events, Kind.ROW)} == {0, 1, 2}


def test_pinned_commit_ts_and_explicit_resolved() -> None:
    job = prepare("seed_t1")
    events = event_stream(change_batch(job.history.changes), job.stream)
    assert [(row["kind"], row["commit_ts"]) for row in events.to_pylist() if row["partition"] == 0] == [
        (Kind.DDL, 415508856908021766),
        (Kind.RESOLVED, 415508856908021766),
        (Kind.ROW, 415508881418485761),
        (Kind.RESOLVED, 415508881038376963),
        (Kind.RESOLVED, 415508881418485761),
    ]


def test_a_commit_ts_that_does_not_grow_and_a_rule_for_a_missing_column_are_refused(tmp_path: Path) -> None:
    script = tmp_path / "s.yaml"
    script.write_text(
        "version: 1\nsteps:\n  - sql: CREATE TABLE test.t (id INT PRIMARY KEY)\n"
        "  - sql: INSERT INTO test.t VALUES (1)\n    commit-ts: 429918007904436225\n"
    )
    with pytest.raises(ScenarioError, match=r"s.yaml:4: commit-ts 429918007904436225 must be greater"):
        prepare(script)
    rule = "changefeed.sink.dispatchers=[{matcher: ['*.*'], partition: columns, columns: [nix]}]"
    with pytest.raises(ChangefeedError, match="nix"):
        prepare("seed_t1", overrides=[rule])
