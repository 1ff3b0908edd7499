"""SQL in, TiCDC's own bytes out: every golden file through the engine, the Spark stages and the encoder.

The event stream of a file is computed once; every option file of Open Protocol is encoded from it by the
function that the workers run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from producer.jobs.frames import change_log
from producer.jobs.prepare import Job, prepare
from producer.model.event import Kind, Message
from producer.sink.encode import PartitionEncoder
from producer.stream.event_stream import event_stream
from tests.codec.golden_messages import load_messages
from tests.golden_events import GOLDEN, GoldenRow, load_events

FILES = sorted(path for part in ("visible", "fuzz") for path in (GOLDEN / part).glob("*.sql"))
OPTIONS = {
    "open": {},
    "open.max-batch-size-1": {"max_batch_size": 1},
    "open.delete-only-handle-key": {"delete_only_output_handle_key_columns": True},
    "open.max-message-bytes-1024.handle-key-only": {
        "max_message_bytes": 1024,
        "large_message_handle_option": "handle-key-only",
    },
    "open.merge": {},
    "open.merge.max-message-bytes-2048": {"max_message_bytes": 2048},
    "open.only-output-updated-columns": {"only_output_updated_columns": True},
    "open.output-old-value-false": {"output_old_value": False},
}


@dataclass(frozen=True)
class Stream:
    """One golden file's event stream in one partition, in delivery order."""

    path: Path
    job: Job
    events: pa.Table

    def messages(self, variant: str) -> Iterator[Message]:
        events = _without_idle_resolved(self.events) if ".merge" in variant else self.events
        plan = self.job.encode_plan(skip_refused=True)
        encoder = PartitionEncoder(replace(plan, options={**plan.options, **OPTIONS[variant]}))
        return encoder.messages(events.to_batches())


def _without_idle_resolved(events: pa.Table) -> pa.Table:
    """``.merge`` files lack the resolved events that are followed by a row at once."""
    kinds = [*events["kind"].to_pylist(), None]
    pairs = pairwise(kinds)
    return events.filter(pa.array([pair != (Kind.RESOLVED, Kind.ROW) for pair in pairs]))


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.stem)
def stream(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> Stream:
    path: Path = request.param
    force = "-- oracle: force-replicate" in path.read_text()
    uri = "kafka:///golden?protocol=open-protocol&partition-num=1&batch-by=partition&ddl-text=tidb"
    config = tmp_path_factory.mktemp("changefeed") / "changefeed.toml"
    config.write_text(f"force-replicate = {str(force).lower()}\n")
    job = prepare(path, sink_uri=uri, config=config)
    events = event_stream(spark, change_log(spark, job.history), job.stream)
    return Stream(path, job, events.toArrow())


@pytest.mark.parametrize("variant", OPTIONS)
def test_messages_are_ticdcs_bytes(stream: Stream, variant: str) -> None:
    golden = stream.path.with_name(f"{stream.path.stem}.{variant}.jsonl")
    if not golden.exists():
        return  # TiCDC refuses the option for this file, or it was not run
    theirs = [(m.key, m.value) for m in load_messages(golden) if not m.error]
    assert [(m.key, m.value) for m in stream.messages(variant)] == theirs


def test_rows_are_ticdcs_events(stream: Stream) -> None:
    golden = [e for e in load_events(stream.path.with_suffix(".events.jsonl")) if isinstance(e, GoldenRow)]
    rows = stream.events.filter(pa.compute.equal(stream.events["kind"], int(Kind.ROW)))
    ours = zip(
        *(rows[name].to_pylist() for name in ("commit_ts", "table_id", "row_id", "op", "before", "after")),
        strict=True,
    )
    assert [
        (ts, table, row, op, _image(before), _image(after)) for ts, table, row, op, before, after in ours
    ] == [(e.commit_ts, e.table_id, e.row_id, e.op, e.before, e.after) for e in golden]


def _image(values: list[bytes | None] | None) -> tuple[bytes | None, ...] | None:
    return None if values is None else tuple(values)


def test_every_option_file_is_compared() -> None:
    compared = [
        path
        for path in FILES
        for variant in OPTIONS
        if path.with_name(f"{path.stem}.{variant}.jsonl").exists()
    ]
    assert (len(FILES), len(compared)) == (36, 16 * 6 + 15 * 2 + 20 * 2)
