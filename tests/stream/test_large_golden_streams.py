"""SQL in, TiCDC's large and compressed messages out, by the function that the workers run.

Names of claim-check objects are ours, as long as TiCDC's: they are exchanged before bytes are compared. Where
the names themselves are compressed the codec's own tests compare.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from producer.codec.compression import COMPRESSORS
from producer.jobs.frames import change_log
from producer.jobs.prepare import Job, prepare
from producer.model.event import Message
from producer.sink.encode import PartitionEncoder
from producer.stream.event_stream import event_stream
from tests.codec.canal_json_messages import BUILD_TS_MS
from tests.codec.golden_messages import load_messages
from tests.codec.large_messages import LargeFile, files, golden_compressor, text_of
from tests.golden_events import GOLDEN

PROTOCOLS = {"open": "open-protocol", "canal-json": "canal-json", "debezium": "debezium"}
FAST = ("strings",)
STEMS = sorted({file.path.name.split(".")[0] for file in files("debezium")})


@pytest.fixture(
    scope="module",
    params=[pytest.param(stem, marks=() if stem in FAST else pytest.mark.slow) for stem in STEMS],
)
def stream(request: pytest.FixtureRequest, spark: SparkSession) -> tuple[Job, pa.Table]:
    uri = "kafka:///golden?protocol=open-protocol&partition-num=1&batch-by=partition&ddl-text=tidb"
    job = prepare(GOLDEN / "visible" / f"{request.param}.sql", sink_uri=uri)
    return job, event_stream(spark, change_log(spark, job.history), job.stream).toArrow()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_messages_are_ticdcs(
    stream: tuple[Job, pa.Table], protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, events = stream
    chosen = [file for file in files(protocol) if _compared(file, Path(job.scenario.file).stem)]
    assert chosen
    for file in chosen:
        with monkeypatch.context() as patch:
            if file.compression != "none":
                patch.setitem(COMPRESSORS, file.compression, golden_compressor(file))
            made = list(_encoder(job, file).messages(events.to_batches()))
        # Where TiCDC's encoder panics, ours has a message.
        golden = [m for m in load_messages(file.path) if not m.error or m.error.startswith("PANIC")]
        golden.sort(key=lambda message: message.events)  # errors come first in their transaction
        for (key, value), message in zip(_renamed(made, file), golden, strict=True):
            if not message.error:
                assert (key, _comparable(file, value)) == (message.key, _comparable(file, message.value))
        assert sum(len(message.claims) for message in made) == len(file.claims())


def _compared(file: LargeFile, stem: str) -> bool:
    named_inside = file.compression != "none" and file.handle != "none"
    merged = ".merge" in file.variant
    return (
        file.path.name.startswith(f"{stem}.") and file.profile == "classic" and not (named_inside or merged)
    )


def _encoder(job: Job, file: LargeFile) -> PartitionEncoder:
    plan = job.encode_plan(skip_refused=True)
    options = {
        **plan.options,
        **file.options,
        "enable_tidb_extension": "tidb-extension" in file.variant,
        "claim_check_raw_value": "raw-value" in file.variant,
        "output_ddl": True,
        "build_ts_ms": BUILD_TS_MS,
    }
    return PartitionEncoder(replace(plan, protocol=PROTOCOLS[file.protocol], options=options))


def _renamed(made: list[Message], file: LargeFile) -> list[tuple[bytes | None, bytes]]:
    """Keys and values with TiCDC's names of the objects instead of ours."""
    ours = [claim.name for message in made for claim in message.claims]
    names = list(zip(ours, [claim.name for claim in file.claims()], strict=True))

    def renamed(data: bytes) -> bytes:
        return reduce(lambda text, pair: text.replace(pair[0].encode(), pair[1].encode()), names, data)

    return [(message.key and renamed(message.key), renamed(message.value or b"")) for message in made]


def _comparable(file: LargeFile, value: bytes | None) -> bytes:
    return text_of(value or b"") if file.protocol == "canal-json" else value or b""
