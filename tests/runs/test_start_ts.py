"""A changefeed that starts in the middle of a history: its events, its snapshot, and its verdict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from pyspark.sql import SparkSession

import ticdc_producer
from ticdc_producer import Scenario
from ticdc_producer.conformance.fuzz.example import script
from ticdc_producer.conformance.fuzz.random_example import random_history
from ticdc_producer.engine import EngineOption
from ticdc_producer.errors import ProducerError, ScenarioError
from ticdc_producer.scenario.commit_times import clock_of
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import SimulatedTopic, simulated_topic

PROTOCOLS = (
    "open-protocol", "craft", "canal-json", "canal-json&enable-tidb-extension=true", "debezium",
    "debezium&output-ddl=true", "simple", "avro&enable-tidb-extension=true", "maxwell", "canal",
    "open-protocol&profile=new",
)  # fmt: skip
OTHER_MESSAGES = ("open-protocol", "craft", "avro")
"""Protocols whose messages depend on the start: batches, and numbers of schemas."""
SETTINGS = ["clock.build-time=2000-01-01T00:00:00Z", "on-error=skip"]
SHOP = """\
CREATE TABLE gone (id INT PRIMARY KEY);
DROP TABLE gone;
CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(20), price DECIMAL(6,2), day DATE, data VARBINARY(9));
INSERT INTO items VALUES (1, 'a''b\\\\c', 1.5, '2020-02-29', x'00ff'), (2, NULL, NULL, NULL, NULL);
ALTER TABLE items ADD COLUMN stock INT NOT NULL DEFAULT 7;
INSERT INTO items VALUES (3, 'new\\nline', -1, '1999-12-31', '', 8);
"""
LATER = """\
UPDATE items SET stock = 9 WHERE id = 1;
DELETE FROM items WHERE id = 2;
ALTER TABLE items DROP COLUMN price;
UPDATE items SET id = 4 WHERE id = 3;
"""
URI = "kafka:///shop?protocol=open-protocol&partition-num=2"
START = 429918007904436226
SECOND = 1000 << 18


def shop(**settings: Any) -> Scenario:
    return Scenario("shop", **settings).sql(SHOP).snapshot().sql(LATER)


class Cut:
    """A random history in a protocol, whole and cut at random commits."""

    def __init__(self, seed: int, folder: Path) -> None:
        random = Random(seed)
        self.protocol = PROTOCOLS[seed % len(PROTOCOLS)]
        self.uri = f"kafka:///t?protocol={self.protocol}&partition-num={random.choice((1, 3))}"
        rule = random.choice(("default", "index-value", "table"))
        self.config = {"sink": {"dispatchers": [{"matcher": ["*.*"], "partition": rule}]}}
        self.file = folder / "history.sql"
        for _ in range(50):
            ddl = random.choice((0, 0.2, 0.5))
            history = random_history(random, frozenset(), ddl=ddl, length=4 + seed % 30)
            self.file.write_text(script(history.statements))
            with suppress(ScenarioError):  # a value may be wrong for a column that was added
                self.whole = self.job()
                break
        else:
            pytest.fail("no random history runs")
        self.clock, commits = clock_of(self.whole.scenario, self.whole.history), self.whole.history.commits
        first = random.randrange(1, commits)
        self.start = self.clock.ts(first - 1)
        end = random.randrange(first + 1, commits + 1)
        self.target = self.clock.ts(end - 1) if random.random() < 0.5 else None

    @property
    def arguments(self) -> dict[str, Any]:
        return {"sink_uri": self.uri, "config": self.config, "overrides": SETTINGS}

    def job(self, **times: Any) -> Job:
        return prepare(str(self.file), **self.arguments, **times)

    @property
    def cut(self) -> Job:
        return self.job(start_ts=self.start, target_ts=self.target)

    def is_sent(self, commit_ts: int) -> bool:
        return self.start < commit_ts and (self.target is None or commit_ts <= self.target)


def events_of(topic: SimulatedTopic) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """The events of each partition, without their positions."""
    events: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for event in topic.expected_events.drop_columns(["offset", "index"]).to_pylist():
        events.setdefault((event["topic"], event["partition"]), []).append(event)
    return events


def _with_events(partitions: dict[tuple[str, int], list[dict[str, Any]]]) -> dict[tuple[str, int], Any]:
    return {name: events for name, events in partitions.items() if events}


def seeds(first: int) -> list[Any]:
    """Two histories of each protocol; the second one is slow."""
    fast = len(PROTOCOLS)
    return [
        pytest.param(first + number, marks=() if number < fast else pytest.mark.slow)
        for number in range(2 * fast)
    ]


@pytest.mark.parametrize("seed", seeds(0))
def test_the_events_are_those_of_the_whole_history_in_the_range(seed: int, tmp_path: Path) -> None:
    cut = Cut(seed, tmp_path)
    whole, part = simulated_topic(cut.whole), simulated_topic(cut.cut)
    expected = {
        name: [event for event in events if cut.is_sent(event["commit_ts"])]
        for name, events in events_of(whole).items()
    }
    sent = {  # the deletes of Avro have no commit-ts
        name: [event for event in events if event["commit_ts"]] for name, events in events_of(part).items()
    }
    assert _with_events(sent) == _with_events(expected)
    if not cut.protocol.startswith(OTHER_MESSAGES) and cut.target is None:
        for name, messages in part.partitions.items():
            sent, all_sent = (
                [(message.key, message.value) for message in topic if message.type != "bootstrap"]
                for topic in (messages, whole.partitions[name])
            )
            assert all_sent[len(all_sent) - len(sent) :] == sent


@pytest.mark.parametrize("seed", seeds(22))
def test_snapshot_and_events_give_the_rows_at_the_end(seed: int, tmp_path: Path) -> None:
    cut = Cut(seed, tmp_path)
    times: dict[str, Any] = {"start_ts": cut.start, "target_ts": cut.target}
    part, whole = tmp_path / "part", tmp_path / "whole"
    report = ticdc_producer.run(cut.file, out=part, **cut.arguments, **times)
    assert report.ok
    assert report.verdict is not None
    assert not report.verdict.of_severity("warning")
    assert ticdc_producer.verify(folder=part, from_beginning=True).ok
    moments = [ts for ts in (cut.start, cut.target) if ts is not None]
    ticdc_producer.run(cut.file, out=whole, **cut.arguments, state_at=moments, verify_output=False)
    end = whole / "state" if cut.target is None else whole / "state.at" / str(cut.target)
    assert files(part / "state") == files(end)
    snapshot = files(part / "snapshot", "*.*.jsonl")
    assert snapshot == files(whole / "state.at" / str(cut.start))
    if snapshot:
        sql = tmp_path / "snapshot.sql"
        sql.write_bytes(b"".join(path.read_bytes() for path in sorted((part / "snapshot").glob("*.sql"))))
        ticdc_producer.run(sql, sink_uri=cut.uri, out=tmp_path / "loaded", verify_output=False)
        assert files(tmp_path / "loaded" / "state") == snapshot


def files(folder: Path, names: str = "*.jsonl") -> dict[str, list[str]]:
    """The lines of each file; rows of new partitions are in another order."""
    return {path.name: sorted(path.read_text().splitlines()) for path in folder.glob(names)}


def test_a_snapshot_step_starts_the_changefeed(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    report = ticdc_producer.run(shop(), sink_uri=URI, out=folder)
    assert report.ok
    start = START + 5 * SECOND
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["start-ts"], "target-ts" in manifest) == (start, False)
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert min(event["commit_ts"] for event in events) == start + SECOND
    assert {event["query"] for event in events if event["kind"] == "ddl"} == {
        "ALTER TABLE `items` DROP COLUMN `price`"
    }
    assert sorted(path.name for path in (folder / "snapshot").iterdir()) == [
        "events.jsonl", "test.items.jsonl", "test.items.parquet", "test.items.sql",
    ]  # fmt: skip
    rows = pq.read_table(folder / "snapshot" / "test.items.parquet")
    assert [str(kind) for kind in rows.schema.types] == [
        "int32", "string", "decimal128(6, 2)", "date32[day]", "binary", "int32",
    ]  # fmt: skip
    assert rows["data"].to_pylist() == [b"\x00\xff", None, b""]
    assert rows["name"].to_pylist() == ["a'b\\c", None, "new\nline"]
    assert report.verdict is not None
    assert report.verdict.state is not None
    assert (report.verdict.state.tables, report.verdict.state.rows) == (1, 2)


def test_the_folder_of_a_cut_run_is_verified_with_its_scenario(tmp_path: Path) -> None:
    scenario, folder = Scenario("shop").sql(SHOP).sql(LATER), tmp_path / "out"
    start, target = START + 5 * SECOND, START + 7 * SECOND
    times: dict[str, Any] = {"start_ts": str(start), "target_ts": "2021-12-20T13:30:57.196Z"}
    assert ticdc_producer.run(scenario, sink_uri=URI, out=folder, **times).ok
    verdict = ticdc_producer.verify(folder=folder, scenario=scenario, state_at=[target - 1])
    assert verdict.ok
    assert (verdict.states[target - 1].rows, verdict.states[target - 1].tables) == (3, 1)
    assert not ticdc_producer.verify(folder=folder, scenario=scenario, start_ts=start - SECOND).ok


def test_a_time_is_a_tso(tmp_path: Path) -> None:
    scenario = Scenario("shop", start_ts=START + 5 * SECOND).sql(SHOP).sql(LATER)
    job = prepare(scenario, sink_uri=URI)
    assert (job.first_commit, job.history.commits) == (6, 10)
    later = prepare(scenario, sink_uri=URI, start_ts="2021-12-20T13:30:57Z")
    assert later.first_commit == 8


def test_a_lost_update_of_a_row_of_the_snapshot_is_an_error(tmp_path: Path) -> None:
    """Without the snapshot the verifier would not know the values before."""
    folder = tmp_path / "out"
    scenario = Scenario("shop").sql(SHOP).snapshot()
    scenario.sql("UPDATE items SET stock = 9 WHERE id = 1").sql("UPDATE items SET stock = 10 WHERE id = 1")
    ticdc_producer.run(scenario, sink_uri=URI, out=folder)
    lines = (folder / "messages.jsonl").read_text().splitlines()
    first = next(line for line in lines if json.loads(line)["type"] == "row")
    dump = tmp_path / "messages.jsonl"
    dump.write_text("".join(f"{line}\n" for line in lines if line != first))
    verdict = ticdc_producer.verify(
        sink_uri="kafka://localhost:1/shop?protocol=open-protocol&partition-num=2",
        messages=dump,
        scenario=scenario,
    )
    assert "INV-OLD-IMAGE" in {finding.id for finding in verdict.findings}


def test_a_stream_that_starts_in_the_middle_is_legal_without_its_scenario(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    ticdc_producer.run(shop(), sink_uri=URI, out=folder)
    verdict = ticdc_producer.verify(
        sink_uri="kafka://localhost:1/shop?protocol=open-protocol&partition-num=2",
        messages=folder / "messages.jsonl",
    )
    assert verdict.ok


def test_a_row_that_the_snapshot_lacks_is_not_updated(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    ticdc_producer.run(shop(), sink_uri=URI, out=folder)
    other = Scenario("shop").sql(SHOP.replace("(1, ", "(5, ")).snapshot().sql(LATER)
    verdict = ticdc_producer.verify(folder=folder, scenario=other)
    assert verdict.state is not None
    assert not verdict.ok
    assert "INV-ROW-STATE" in {finding.id for finding in verdict.findings}


GENERATED: dict[str, Any] = {
    "version": 1,
    "seed": 3,
    "clock": {"every": "100ms"},
    "resolved": {"every": "700ms"},
    "changefeed": {
        "sink-uri": "kafka:///t?protocol=open-protocol&partition-num=3",
        "sink": {"dispatchers": [{"matcher": ["*.*"], "partition": "index-value"}]},
    },
    "steps": [
        {"sql": "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 2"},
        {
            "generate": {
                "table": "t",
                "rows": 40,
                "transactions": 120,
                "rows-per-transaction": 4,
                "mix": {"insert": 2, "update": 5, "delete": 1},
            }
        },
        {"sql": "ALTER TABLE t ADD COLUMN w INT DEFAULT 3; UPDATE t SET v = 0 WHERE id = 1;"},
    ],
}


def generated(folder: Path, transactions: int = 120) -> str:
    scenario = deepcopy(GENERATED)
    scenario["steps"][1]["generate"]["transactions"] = transactions
    path = folder / "volume.yaml"
    path.write_text(yaml.safe_dump(scenario, sort_keys=False))
    return str(path)


@pytest.mark.parametrize("transactions", [120, 26_000], ids=["sorted", "divided at the source"])
def test_generated_volume_is_cut(transactions: int, tmp_path: Path) -> None:
    if transactions > 1000:
        pytest.importorskip("pyspark")
    path, folder = generated(tmp_path, transactions), tmp_path / "out"
    start, target = (START + number * SECOND // 10 for number in (transactions // 2, transactions - 5))
    whole = events_of(simulated_topic(prepare(path)))
    part = events_of(simulated_topic(prepare(path, start_ts=start, target_ts=target)))
    for name, events in whole.items():
        rows = [event for event in events if event["kind"] != "resolved"]
        expected = [event for event in rows if start < event["commit_ts"] <= target]
        assert [event for event in part[name] if event["kind"] != "resolved"] == expected
        assert part[name][-1]["kind"] == "resolved"
        assert part[name][-1]["commit_ts"] == target - (target - START) % (SECOND // 10)
    if transactions < 1000:
        report = ticdc_producer.run(path, out=folder, start_ts=start, target_ts=target)
        assert report.ok
        assert report.verdict is not None
        assert report.verdict.state is not None
        assert report.verdict.state.rows > 40
        assert ticdc_producer.verify(folder=folder, from_beginning=True).ok


def tree(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.slow  # fast: test_a_data_step_is_cut, and test_engines.py
def test_both_engines_write_the_same_folder(spark: SparkSession, tmp_path: Path) -> None:
    path, start = generated(tmp_path), START + 6 * SECOND
    engines: Sequence[EngineOption] = ("local", "spark")
    for engine in engines:
        assert ticdc_producer.run(path, out=tmp_path / engine, start_ts=start, engine=engine).ok
    trees = [tree(tmp_path / engine) for engine in engines]
    assert trees[0] == trees[1]


def test_a_data_step_is_cut(spark: SparkSession, tmp_path: Path) -> None:
    rows = "n,op,id,v\n0,insert,1,a\n0,insert,2,b\n1,update,1,c\n2,delete,2,b\n"
    (tmp_path / "rows.csv").write_text(rows)
    step = {
        "table": "t",
        "format": "csv",
        "path": str(tmp_path / "rows.csv"),
        "schema": "n INT, op STRING, id INT, v STRING",
        "options": {"header": "true"},
        "order": "n",
        "transactions": 3,
    }
    scenario = Scenario("data").sql("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))").data(**step)
    report = ticdc_producer.run(scenario, sink_uri=URI, out=tmp_path / "out", start_ts=START + SECOND)
    assert report.ok
    assert report.verdict is not None
    assert report.verdict.state is not None
    assert report.verdict.state.rows == 1
    snapshot = (tmp_path / "out" / "snapshot" / "test.t.jsonl").read_text()
    assert snapshot == '{"id": "1", "v": "a"}\n{"id": "2", "v": "b"}\n'
    events = (tmp_path / "out" / "events.jsonl").read_text()
    assert [json.loads(line)["op"] for line in events.splitlines() if '"row"' in line] == ["update", "delete"]


@pytest.mark.parametrize(("profile", "before"), [("classic", 1), ("new", 0)])
def test_schema_files_of_a_storage_have_the_version_of_the_start(
    profile: str, before: int, tmp_path: Path
) -> None:
    """Classic TiCDC reads the definitions of its tables one TSO before its start-ts."""
    uri = f"file://{tmp_path / 'out'}?protocol=csv&profile={profile}"
    report = ticdc_producer.run(shop(), sink_uri=uri)
    assert report.ok
    versions = {path.name for path in (tmp_path / "out" / "test" / "items").iterdir()} - {"meta"}
    start = START + 5 * SECOND
    assert versions == {str(start - before), str(start + 3 * SECOND)}


REJECTED = [
    ({"start_ts": "soon"}, "'soon' is not a time"),
    ({"start_ts": 0}, "0 is not a time stamp"),
    ({"start_ts": START + 9 * SECOND}, "the scenario commits nothing after start-ts"),
    ({"target_ts": START - 1}, "the scenario commits nothing after start-ts [0-9]* up to target-ts"),
    ({"start_ts": START + 5 * SECOND, "target_ts": START + 5 * SECOND}, "the scenario commits nothing after"),
    ({"start_ts": START + 5 * SECOND, "state_at": [START]}, "is before start-ts"),
]


@pytest.mark.parametrize(("options", "message"), REJECTED)
def test_a_range_that_cannot_be_sent_is_refused(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError, match=message):
        ticdc_producer.run(shop(), sink_uri=URI, out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


WRONG = [
    ("start-ts: 5\nsteps: [{sql: CREATE TABLE t (id INT PRIMARY KEY)}, {snapshot: true}]", "remove one"),
    ("steps: [{snapshot: true}, {sql: CREATE TABLE t (id INT PRIMARY KEY)}]", "no commit is before"),
    ("steps: [{sql: CREATE TABLE t (id INT PRIMARY KEY)}, {snapshot: true}]", "commits nothing after"),
    ("steps: [{snapshot: true}, {snapshot: true}]", "at most one snapshot step"),
    ("steps: [{snapshot: false}]", "snapshot"),
    ("steps: [{snapshot: true, commit-ts: 7}]", "takes no commit-ts"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_start_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(f"version: 1\n{text}\n")
    with pytest.raises(ProducerError, match=message):
        ticdc_producer.run(path, out=tmp_path / "out")


def test_rate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="`rate` cannot be combined with start-ts"):
        ticdc_producer.run_realtime(
            generated(tmp_path), "5/s", overrides=[f"start-ts={START + SECOND}", "steps[2]={sql: SELECT 1}"]
        )
