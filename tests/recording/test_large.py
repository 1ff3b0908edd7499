"""Recordings of more events than the SQL session takes: their rows are read by the parts that replay them."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.golden_events import GOLDEN
from tests.recording.test_properties import PROTOCOLS, content, events, in_any_order, recorded, sent
from ticdc_producer import ProducerError
from ticdc_producer.conformance.fuzz.example import script
from ticdc_producer.conformance.fuzz.random_example import random_history
from ticdc_producer.engine.dataset import Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulate

REFUSED = re.compile("has no primary key|come from a large DataFrame")
"""What a large recording cannot have: tables without a key, and DDLs that move rows between partitions."""
OPEN = "kafka:///t?partition-num=2&protocol=open-protocol"


def make_large(recording: Path) -> None:
    """Let the rows of a recording be those of a URI, which are large whatever their number."""
    file = recording / "scenario.yaml"
    location = (recording / "changes.parquet").as_uri()
    file.write_text(file.read_text("utf-8").replace("path: changes.parquet", f"path: {location}"), "utf-8")


def large(recording: Path, uri: str) -> Job:
    """The job of a recording whose rows are large."""
    make_large(recording)
    job = prepare(recording, sink_uri=uri)
    assert [type(plan) for plan in job.history.data] == [FramePlan]
    return job


def messages_of(job: Job, engine: Engine) -> pa.Table:
    with simulate(job, engine) as simulation:
        return pa.Table.from_batches(simulation.encoded.messages.batches())


def by_partition(messages: pa.Table) -> list[dict[str, Any]]:
    return sorted(content(messages), key=lambda row: row["partition"])


def replayed(job: Job, engine: Engine) -> list[dict[str, Any]]:
    return by_partition(messages_of(job, engine))


def recording_of(folder: Path, text: str, uri: str, **options: Any) -> Path:
    """The recording of what a script gives."""
    (folder / "s.sql").write_text(text, "utf-8")
    recorded(sent(prepare(folder / "s.sql", sink_uri=uri)), uri, folder / "first", **options)
    return folder / "first" / "recording"


def check_replays(text: str, uri: str, engine: Engine) -> bool:
    """Compare the messages of a recording as a large and as a small one; False: the large one is refused."""
    with TemporaryDirectory() as temporary:
        recording = recording_of(Path(temporary), text, uri)
        few = prepare(recording, sink_uri=uri)
        expected = messages_of(few, LocalEngine())
        try:
            job = large(recording, uri)
        except ProducerError as error:
            if not REFUSED.search(error.what):
                raise
            return False
        messages = messages_of(job, engine)
        if "open-protocol" in uri:
            assert by_partition(messages) == by_partition(expected)
        else:  # hidden row ids are not known, and they order the rows of a transaction
            assert in_any_order(events(messages, job)) == in_any_order(events(expected, few))
    return True


@pytest.mark.parametrize("name", ["ints", "strings", "seed_t1"])
def test_rows_of_a_large_recording_give_the_same_messages(name: str) -> None:
    assert check_replays((GOLDEN / f"visible/{name}.sql").read_text("utf-8"), OPEN, LocalEngine())


@settings(max_examples=5)
@given(st.integers(0, 1 << 32), st.sampled_from(PROTOCOLS))
@example(100694, "open-protocol")  # a row with the values of the one that it replaces, after a DROP COLUMN
def test_random_large_recordings(seed: int, protocol: str) -> None:
    history = random_history(Random(seed), frozenset(), ddl=0.2, length=8)
    uri = f"kafka:///t?partition-num=2&protocol={protocol}"
    text = f"CREATE TABLE first_table (id INT PRIMARY KEY);{script(history.statements)}"
    check_replays(text, uri, LocalEngine())


def test_rows_without_known_ids_are_replaced() -> None:
    """Simple has no hidden ids: a transaction that replaces a row sends a delete and an insert."""
    text = (
        "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NONCLUSTERED); INSERT INTO t VALUES (1, 1), (2, 2);"
        " BEGIN; DELETE FROM t WHERE k = 1; INSERT INTO t VALUES (1, 1); COMMIT;"
        " BEGIN; UPDATE t SET k = 3 WHERE k = 1; UPDATE t SET k = 1 WHERE k = 2;"
        " UPDATE t SET k = 2 WHERE k = 3; COMMIT"
    )
    assert check_replays(text, "kafka:///t?partition-num=2&protocol=simple", LocalEngine())


def test_a_large_recording_that_begins_in_the_middle(tmp_path: Path) -> None:
    text = "CREATE TABLE t (a INT PRIMARY KEY, b INT);INSERT INTO t VALUES (1, 1);INSERT INTO t VALUES (2, 1)"
    text += ";ALTER TABLE t ADD COLUMN c INT;UPDATE t SET b = 2 WHERE a = 1;DELETE FROM t WHERE a = 2"
    recording = recording_of(tmp_path, text, OPEN, since="0:4,1:4")
    few = replayed(prepare(recording, sink_uri=OPEN), LocalEngine())
    assert few
    assert replayed(large(recording, OPEN), LocalEngine()) == few


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ints", "temporal"])
def test_spark_replays_a_large_recording(spark: SparkSession, name: str) -> None:
    assert check_replays((GOLDEN / f"visible/{name}.sql").read_text("utf-8"), OPEN, SparkEngine(spark))


def test_a_large_recording_in_another_protocol_and_topology(tmp_path: Path) -> None:
    text = (GOLDEN / "visible/seed_t1.sql").read_text("utf-8")
    recording = recording_of(tmp_path, text, OPEN)
    uri = "kafka:///t?partition-num=3&protocol=simple"
    few = replayed(prepare(recording, sink_uri=uri), LocalEngine())
    assert replayed(large(recording, uri), LocalEngine()) == few


def test_a_value_that_contradicts_its_column_is_refused(tmp_path: Path) -> None:
    from pyarrow import parquet

    recording = recording_of(tmp_path, "CREATE TABLE t (a INT PRIMARY KEY);INSERT INTO t VALUES (1)", OPEN)
    rows = parquet.read_table(recording / "changes.parquet")
    images = [row and [("a", b"x")] for row in rows["after"].to_pylist()]
    column = pa.array(images, rows.schema.field("after").type)
    index = rows.schema.get_field_index("after")
    parquet.write_table(rows.set_column(index, "after", column), recording / "changes.parquet")
    with pytest.raises(ProducerError, match="This is not a value of type int for column 'a': 'x'"):
        replayed(large(recording, OPEN), LocalEngine())
