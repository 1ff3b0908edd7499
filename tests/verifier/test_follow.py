"""Streams that are followed: the findings of ``verify``, as they happen, once, and with a bounded state."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from socket import socket
from urllib.request import urlopen

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from ticdc_producer import ProducerError, Scenario, follow, run, verify
from ticdc_producer.config import Changefeed
from ticdc_producer.engine.dataset import Dataset
from ticdc_producer.engine.local import LocalEngine, local
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.rows.origin import golden_folder
from ticdc_producer.runs.following.follow import metrics_server
from ticdc_producer.runs.following.follower import Follower
from ticdc_producer.runs.verify_options import verify_options
from ticdc_producer.verifier.finding import Finding
from ticdc_producer.verifier.follow.followed_stream import FollowedStream
from ticdc_producer.verifier.options import Strictness

BATCH = 20
OPEN = "kafka:///t?partition-num=3&protocol=open-protocol"
SQL = "CREATE TABLE t (id INT PRIMARY KEY, v INT);" + "".join(
    f"INSERT INTO t VALUES ({number}, 0); UPDATE t SET v = v + 1 WHERE id = {number // 2};"
    for number in range(40)
)


def golden(folder: Path, *traps: str, sql: str = SQL, sink: str = OPEN) -> Path:
    rules = "changefeed.sink.dispatchers=[{matcher: ['*.*'], partition: index-value}]"
    run(Scenario("s").sql(sql), sink_uri=sink, out=folder, engine="local", inject=traps, overrides=[rules])
    return folder


def batches(folder: Path) -> list[pa.RecordBatch]:
    """The messages in the order of their times, as a consumer of all partitions gets them."""
    messages = pa.Table.from_batches(local(golden_folder(folder).messages.merged()).batches())
    names = ("timestamp", "topic", "partition", "offset")
    rows = messages.sort_by([(name, "ascending") for name in names])
    in_order = rows.to_pylist()
    at: dict[int, list[dict[str, object]]] = {}
    for row in in_order:
        at.setdefault(row["partition"], []).append(row)
    times = [row["partition"] for row in in_order]
    turns = {partition: iter(sorted(own, key=lambda row: row["offset"])) for partition, own in at.items()}
    table = pa.Table.from_pylist([next(turns[partition]) for partition in times], schema=messages.schema)
    return [
        table.slice(start, BATCH)
        .sort_by([(name, "ascending") for name in names[1:]])
        .combine_chunks()
        .to_batches()[0]
        for start in range(0, table.num_rows, BATCH)
    ]


def dataset(messages: pa.RecordBatch) -> Dataset:
    return LocalEngine().of_batches([messages], messages.schema)


def with_late_partition(folder: Path, partition: int) -> list[pa.RecordBatch]:
    """The messages as a consumer gets them that reads one partition after the others."""
    parts = batches(folder)
    late = [batch.filter(pc.equal(batch.column("partition"), partition)) for batch in parts]
    return [
        *(batch.filter(pc.not_equal(batch.column("partition"), partition)) for batch in parts),
        *(batch for batch in late if batch.num_rows),
    ]


def follower(
    folder: Path, *, window: int = 20_000, from_beginning: bool = False, **files: Path
) -> tuple[Follower, list[Finding]]:
    origin = golden_folder(folder)
    changefeed: Changefeed = origin.changefeed
    strictness = Strictness(from_beginning=from_beginning)
    options = verify_options(changefeed, origin.fidelity, [changefeed.sink_uri.topic], strictness)
    reported: list[Finding] = []
    return Follower(changefeed, FollowedStream(options, window), {}, reported.append, **files), reported


def errors(findings: list[Finding]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for finding in findings:
        if finding.severity == "error":
            counts[finding.id] = counts.get(finding.id, 0) + finding.count
    return counts


def test_an_early_resolved_ts_is_found_within_two_batches(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", "early-resolved:times=1")
    followed, reported = follower(folder)
    of_verify = {finding.id: finding for finding in verify(folder=folder).findings}["INV-RESOLVED"]
    early, row = of_verify.examples[0].events
    arrived = reported_in = 0
    for number, batch in enumerate(batches(folder)):
        positions = zip(
            batch.column("partition").to_pylist(), batch.column("offset").to_pylist(), strict=True
        )
        arrived = number if (row.partition, row.offset) in {*positions} else arrived
        followed.add(dataset(batch))
        if not reported_in and any(finding.id == "INV-RESOLVED" for finding in reported):
            reported_in = number
    assert reported_in - arrived < 2
    (finding,) = (finding for finding in reported if finding.id == "INV-RESOLVED")
    assert [event.location for event in finding.examples[0].events] == [early.location, row.location]
    assert not followed.verdict().ok


@pytest.mark.parametrize(
    "traps",
    [
        pytest.param((), marks=pytest.mark.slow),
        ("replay-suffix:times=2", "duplicate-event:rate=0.3", "resolved-lag:times=1"),
        ("missing-resolved:times=1",),
        ("reordered-key:times=2",),
        pytest.param(("wrong-partition:times=2",), marks=pytest.mark.slow),
        pytest.param(("lost-row:times=1",), marks=pytest.mark.slow),
        pytest.param(("missing-ddl:times=1",), marks=pytest.mark.slow),
    ],
)
def test_what_is_reported_is_what_verify_finds(tmp_path: Path, traps: tuple[str, ...]) -> None:
    sql = (
        SQL
        + "ALTER TABLE t ADD COLUMN w INT; UPDATE t SET v = 9 WHERE id < 5; UPDATE t SET v = 8 WHERE id < 5"
    )
    folder = golden(tmp_path / "golden", *traps, sql=sql)
    followed, reported = follower(folder)
    for batch in batches(folder):
        followed.add(dataset(batch))
    expected = errors([*verify(folder=folder).findings])
    checked = {*followed.verdict().checked}
    assert errors(reported) == {name: count for name, count in expected.items() if name in checked}
    assert followed.verdict().kinds["row"] > 0


@pytest.mark.parametrize("window", [pytest.param(20_000, marks=pytest.mark.slow), 60])
def test_a_killed_run_continues_and_reports_everything_once(tmp_path: Path, window: int) -> None:
    folder = golden(tmp_path / "golden", "early-resolved:times=2", "reordered-key:times=2")
    parts = batches(folder)
    whole, _ = follower(folder, window=window, findings=tmp_path / "whole.jsonl")
    for batch in parts:
        whole.add(dataset(batch))
    files = {"findings": tmp_path / "findings.jsonl", "checkpoint": tmp_path / "checkpoint"}
    for start in range(0, len(parts), 2):  # each life ends without a word, in the batch after its checkpoint
        life, _ = follower(folder, window=window, **files)
        life.add(dataset(parts[start]))
        life.save()
        if start + 1 < len(parts):
            life.add(dataset(parts[start + 1]))
            if start + 2 < len(parts):
                again, _ = follower(folder, window=window, **files)
                again.add(dataset(parts[start + 1]))
                again.save()
    texts = [(tmp_path / name).read_text().splitlines() for name in ("whole.jsonl", "findings.jsonl")]
    assert texts[0] == texts[1]
    assert len(texts[0]) == len({*texts[0]}) > 0
    last, _ = follower(folder, window=window, **files)
    assert last.verdict().findings == whole.verdict().findings
    assert last.offsets == whole.offsets


def test_the_state_is_bounded_by_the_window(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden")
    followed, reported = follower(folder, window=100)
    sizes = []
    for batch in batches(folder):
        followed.add(dataset(batch))
        sizes.append(len(followed.stream.events or ()))
    assert max(sizes) <= 100
    assert not reported
    assert max(followed.stream.lags(0).values() or [0]) == 0


@pytest.mark.parametrize(
    "trap", ["early-resolved:times=2", pytest.param("wrong-partition:times=2", marks=pytest.mark.slow)]
)
def test_violations_that_need_no_other_event_are_reported_from_a_late_partition(
    tmp_path: Path, trap: str
) -> None:
    folder = golden(tmp_path / "golden", trap)
    needs = {"INV-RESOLVED", "INV-ROW-PARTITION"}
    expected = {name: n for name, n in errors([*verify(folder=folder).findings]).items() if name in needs}
    assert expected
    for partition in range(3):
        followed, reported = follower(folder, window=60)
        for batch in with_late_partition(folder, partition):
            followed.add(dataset(batch))
        assert {name: n for name, n in errors(reported).items() if name in needs} == expected


def test_a_row_whose_insert_has_left_the_window_is_no_violation(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden")
    followed, reported = follower(folder, window=60, from_beginning=True)
    for batch in batches(folder):
        followed.add(dataset(batch))
    assert followed.stream.horizon > 0
    assert not reported


def test_the_verdict_names_what_was_not_compared_after_events_left_the_window(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden")
    whole, _ = follower(folder)
    rolled, reported = follower(folder, window=60)
    for batch in with_late_partition(folder, 2):
        whole.add(dataset(batch))
        rolled.add(dataset(batch))
    compare = {*whole.verdict().checked} - {*rolled.verdict().checked}
    assert {"INV-KEY-PARTITION", "INV-ORDER-KEY", "INV-ROW-STATE", "INV-COLLAPSE"} < compare
    assert not compare & {"INV-FRAME", "INV-ROW-PARTITION", "INV-RESOLVED", "INV-ORDER-TABLE"}
    rows = rolled.verdict().kinds["row"]
    counts = {f.id: f.count for f in rolled.verdict().findings if f.id in compare}
    assert counts.keys() == compare
    assert all(0 < count < rows for count in counts.values())
    assert not reported
    assert not rolled.stream.violations.late.total()


def test_rows_that_leave_before_the_resolved_ts_covers_them_are_counted(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden")
    in_order, _ = follower(folder, window=60)
    lagging, _ = follower(folder, window=60)
    for batch in batches(folder):
        in_order.add(dataset(batch))
    for batch in with_late_partition(folder, 2):
        lagging.add(dataset(batch))
    reason = "rows left the window before all partitions had a resolved-ts that covers them"
    assert reason not in {finding.hint for finding in in_order.verdict().findings}
    counts = {finding.id: finding.count for finding in lagging.verdict().findings if finding.hint == reason}
    assert 0 < counts["INV-KEY-PARTITION"] <= lagging.stream.dropped_rows
    assert not counts.keys() & {"INV-RESOLVED", "INV-DDL-BROADCAST", "INV-FRAME"}


def test_repeated_events_whose_copies_have_left_the_window_are_not_reported(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", "replay-suffix:times=1,window=80")
    followed, reported = follower(folder, window=60)
    for batch in batches(folder):
        followed.add(dataset(batch))
    assert not reported
    (late,) = (f for f in followed.verdict().findings if f.id == "INV-RESOLVED")
    assert (late.severity, late.count) == ("not checked", followed.stream.violations.late["INV-RESOLVED"])


@pytest.mark.parametrize("content", [b"", b"ARROW1", b"x" * 1000])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    folder = golden(tmp_path / "golden", sql="CREATE TABLE t (id INT PRIMARY KEY)")
    (tmp_path / "checkpoint").write_bytes(content)
    with pytest.raises(ProducerError, match="checkpoint: the file is not a checkpoint"):
        follower(folder, checkpoint=tmp_path / "checkpoint")


def test_a_checkpoint_with_a_changed_byte_is_refused(tmp_path: Path) -> None:
    folder, path = golden(tmp_path / "golden"), tmp_path / "checkpoint"
    followed, _ = follower(folder, checkpoint=path)
    followed.add(dataset(batches(folder)[0]))
    followed.save()
    content = path.read_bytes()
    for at in range(0, len(content), len(content) // 40):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(ProducerError, match="checkpoint: the file is not a checkpoint"):
            follower(folder, checkpoint=path)
    path.write_bytes(content)
    assert follower(folder, checkpoint=path)[0].offsets == followed.offsets


@pytest.mark.parametrize(
    ("sink", "differs"),
    [
        (OPEN.replace("/t?", "/u?"), "topics"),
        (OPEN.replace("num=3", "num=2"), "numbers of partitions"),
        (OPEN.replace("open-protocol", "simple"), "protocol"),
        (f"{OPEN}&compression=lz4&max-message-bytes=4096", "options"),
    ],
)
def test_a_checkpoint_of_another_stream_is_refused(tmp_path: Path, sink: str, differs: str) -> None:
    sql = "CREATE TABLE t (id INT PRIMARY KEY)"
    path = tmp_path / "checkpoint"
    follower(golden(tmp_path / "first", sql=sql), checkpoint=path)
    content = path.read_bytes()
    other = golden(tmp_path / "other", sql=sql, sink=sink)
    with pytest.raises(ProducerError, match=f"the checkpoint is of a stream with other .*{differs}"):
        follower(other, checkpoint=path)
    with pytest.raises(ProducerError, match="with other options"):
        follower(tmp_path / "first", checkpoint=path, from_beginning=True)
    assert path.read_bytes() == content


def test_a_file_of_something_else_is_not_overwritten_with_findings(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", sql="CREATE TABLE t (id INT PRIMARY KEY)")
    (tmp_path / "notes").write_text("precious")
    follower(folder, checkpoint=tmp_path / "checkpoint", findings=tmp_path / "findings")
    for files in ({}, {"checkpoint": tmp_path / "new"}, {"checkpoint": tmp_path / "checkpoint"}):
        with pytest.raises(ProducerError, match="notes: the file is not empty"):
            follower(folder, findings=tmp_path / "notes", **files)
    assert (tmp_path / "notes").read_text() == "precious"


def test_a_run_that_was_killed_before_its_first_checkpoint_writes_its_findings_once(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", "early-resolved:times=1")
    files = {"findings": tmp_path / "findings", "checkpoint": tmp_path / "checkpoint"}
    for _ in range(2):
        life, _ = follower(folder, **files)
        for batch in batches(folder):
            life.add(dataset(batch))
    lines = (tmp_path / "findings").read_text().splitlines()
    assert len(lines) == len({*lines}) > 0


@pytest.mark.parametrize("name", ["checkpoint", "findings"])
def test_files_that_cannot_be_used_are_refused(tmp_path: Path, name: str) -> None:
    folder = golden(tmp_path / "golden", sql="CREATE TABLE t (id INT PRIMARY KEY)")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "missing" / "file", tmp_path / "folder"):
        with pytest.raises(ProducerError, match="the file cannot be used: "):
            follower(folder, **{name: path})


def test_findings_are_json_lines(tmp_path: Path) -> None:
    followed, reported = follower(
        golden(tmp_path / "golden", "early-resolved:times=1"), findings=tmp_path / "f"
    )
    for batch in batches(tmp_path / "golden"):
        followed.add(dataset(batch))
    lines = [json.loads(line) for line in (tmp_path / "f").read_text().splitlines()]
    assert lines == [json.loads(json.dumps(finding.to_json())) for finding in reported]


def test_a_topic_is_followed_until_silence_and_from_its_checkpoint(
    tmp_path: Path, kafka: EmbeddedKafka
) -> None:
    uri = f"kafka://{kafka.bootstrap}/followed?protocol=open-protocol&partition-num=2"
    files = {"checkpoint": tmp_path / "checkpoint", "findings": tmp_path / "findings"}
    reported: list[Finding] = []
    run(Scenario("s").sql(SQL), sink_uri=uri, engine="local", inject=["early-resolved:times=1"])
    verdict = follow(sink_uri=uri, idle=1, on_finding=reported.append, **files)
    assert not verdict.ok
    assert errors(reported)["INV-RESOLVED"] == 1
    again = follow(sink_uri=uri, idle=1, on_finding=reported.append, **files)
    assert again.findings == verdict.findings
    assert len((tmp_path / "findings").read_text().splitlines()) == len(reported)


@pytest.mark.parametrize(
    ("protocol", "window", "queries"),
    [
        ("open-protocol", 20_000, 1),
        pytest.param("simple", 20_000, 2, marks=pytest.mark.slow),
        pytest.param("open-protocol", 20, 2, marks=pytest.mark.slow),
    ],
)
def test_a_streaming_query_of_spark_reports_what_this_process_reports(
    protocol: str, window: int, queries: int, tmp_path: Path, kafka: EmbeddedKafka, spark: SparkSession
) -> None:
    uri = f"kafka://{kafka.bootstrap}/query-{protocol}-{window}?partition-num=2&protocol={protocol}"
    run(Scenario("s").sql(SQL), sink_uri=uri, engine="local", inject=["early-resolved:times=1"])
    files = {"checkpoint": tmp_path / "checkpoint", "findings": tmp_path / "findings"}

    def interrupt(_finding: Finding) -> None:
        raise KeyboardInterrupt

    assert not follow(sink_uri=uri, window=window, engine="spark", on_finding=interrupt, **files).ok
    if window > 20:  # what comes again after it has left the window is late, which depends on the batches
        run(Scenario("s").sql(SQL), sink_uri=uri, engine="local", append=True, verify_output=False)
    for _ in range(queries):  # nothing is new for the second one
        verdict = follow(sink_uri=uri, idle=1, window=window, engine="spark", **files)
    reported: list[Finding] = []
    expected = follow(sink_uri=uri, idle=1, window=window, on_finding=reported.append)
    assert errors([*verdict.findings]) == errors(reported)
    assert errors(reported)["INV-RESOLVED"]
    assert verdict.kinds == expected.kinds
    if window > sum(verdict.kinds.values()):  # else it depends on the batches which events are compared
        assert verdict.findings == expected.findings
    counts: dict[str, int] = {}
    for line in map(json.loads, (tmp_path / "findings").read_text().splitlines()):
        counts[line["id"]] = counts.get(line["id"], 0) + line["count"]
    assert counts == {finding.id: finding.count for finding in verdict.findings if finding.id in counts}


def garbage(like: pa.RecordBatch, number: int, *, offset: int = 0) -> pa.RecordBatch:
    """Messages of partition 0 that no protocol has, with the columns of another batch."""
    (message,) = like.slice(0, 1).to_pylist()
    rows = [
        {**message, "partition": 0, "offset": offset + at, "key": b"\xff", "value": b"garbage"}
        for at in range(number)
    ]
    return pa.RecordBatch.from_pylist(rows, schema=like.schema)


@pytest.mark.parametrize("window", [20_000, 4])
def test_messages_that_do_not_decode_are_reported(tmp_path: Path, window: int) -> None:
    folder = golden(tmp_path / "golden")
    parts = batches(folder)
    alone, reported = follower(folder, window=window)
    for start in range(0, 10, 5):
        alone.add(dataset(garbage(parts[0], 5, offset=start)))
    assert errors(reported) == {"INV-FRAME": 10}
    assert not alone.verdict().ok
    last, reported = follower(folder, window=window)
    for batch in [*parts, garbage(parts[0], 5, offset=10_000)]:
        last.add(dataset(batch))
    assert errors(reported) == {"INV-FRAME": 5}


def test_an_interruption_gives_the_verdict_so_far(tmp_path: Path, kafka: EmbeddedKafka) -> None:
    uri = f"kafka://{kafka.bootstrap}/interrupted?protocol=open-protocol&partition-num=2"
    run(Scenario("s").sql(SQL), sink_uri=uri, engine="local", inject=["early-resolved:times=1"])

    def interrupt(_finding: Finding) -> None:
        raise KeyboardInterrupt

    verdict = follow(sink_uri=uri, on_finding=interrupt, checkpoint=tmp_path / "checkpoint")
    assert not verdict.ok
    reported: list[Finding] = []  # the batch was not whole: it is verified again
    follow(sink_uri=uri, idle=1, on_finding=reported.append, checkpoint=tmp_path / "checkpoint")
    assert errors(reported)["INV-RESOLVED"] == 1


def test_metrics_are_served_on_this_machine_only_and_a_used_port_is_refused() -> None:
    pytest.importorskip("prometheus_client", reason="not run: the extra metrics is not installed")
    with closing(socket()) as used:
        used.bind(("127.0.0.1", 0))
        used.listen()
        port = used.getsockname()[1]
        with pytest.raises(ProducerError, match=f"127.0.0.1:{port}: `metrics_port` cannot be used"):
            metrics_server(port)
    metrics_server(port)
    with closing(socket()) as here, closing(socket()) as other:
        assert here.connect_ex(("127.0.0.1", port)) == 0
        assert other.connect_ex(("127.0.0.2", port)) != 0


def test_lags_and_counts_are_read_by_prometheus(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client", reason="not run: the extra metrics is not installed")
    followed, _ = follower(golden(tmp_path / "golden", "early-resolved:times=1"))
    with closing(socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    update = metrics_server(port)
    for batch in batches(tmp_path / "golden"):
        followed.add(dataset(batch))
    update(followed)
    with urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    assert 'ticdc_violations{invariant="INV-RESOLVED",severity="error"} 1.0' in text
    assert 'ticdc_resolved_ts_lag_seconds{partition="0",topic="t"}' in text
