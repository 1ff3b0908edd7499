"""SQL in, TiCDC's large and compressed messages out, by the function that the workers run.

Compressors and names of claim-check objects are TiCDC's, as in the codecs' own tests, so that sizes and bytes
can be.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.golden_events import GOLDEN, NOW_OF_GOLDEN
from tests.pipeline.test_golden_streams import without_idle_resolved
from tests.protocols.canal_json_messages import BUILD_TS_MS
from tests.protocols.golden_messages import Compared, GoldenMessage, load_messages
from tests.protocols.large_messages import LargeFile, files, golden_compressor, text_of
from tests.protocols.test_large_messages_golden import NEAR_THE_LIMIT, content_of
from tests.streams import event_stream
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.compression import COMPRESSORS
from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.protocols.spec import Options
from ticdc_producer.simulate.change_log import change_batch
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.targets.encode import PartitionEncoder

PROTOCOLS = {"open": "open-protocol", "canal-json": "canal-json", "debezium": "debezium"}
STEMS = sorted({file.path.name.split(".")[0] for file in files("debezium")})


@pytest.fixture(scope="module", params=STEMS)
def stream(request: pytest.FixtureRequest) -> tuple[Job, pa.RecordBatch]:
    uri = "kafka:///golden?protocol=open-protocol&partition-num=1&batch-by=partition&ddl-text=tidb"
    job = prepare(GOLDEN / "visible" / f"{request.param}.sql", sink_uri=uri, overrides=[NOW_OF_GOLDEN])
    return job, event_stream(change_batch(job.history.changes), job.stream)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_messages_are_ticdcs(
    stream: tuple[Job, pa.RecordBatch], protocol: str, monkeypatch: pytest.MonkeyPatch, compared: Compared
) -> None:
    job, events = stream
    stem = Path(job.scenario.file).stem
    golden = [file for file in files(protocol) if file.path.name.startswith(f"{stem}.")]
    golden = [file for file in golden if file.profile == "classic"]
    assert len(golden) == {"open": 15, "canal-json": 21, "debezium": 2}[protocol]
    for file in golden:
        count = check_file(file, job, events, monkeypatch)
        compared(f"{PROTOCOLS[protocol]}, large, from SQL", count)


def check_file(file: LargeFile, job: Job, events: pa.RecordBatch, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compare what comes of an event stream with one golden file; how many messages it has."""
    with monkeypatch.context() as patch:
        if file.compression != "none":
            patch.setitem(COMPRESSORS, file.compression, golden_compressor(file))
        spec = BUILT_IN[PROTOCOLS[file.protocol]]
        patch.setitem(BUILT_IN, spec.name, replace(spec, encoder=partial(_with_golden_names, file)))
        wanted = without_idle_resolved(events) if ".merge" in file.variant else events
        messages = list(_encoder(job, file).messages([wanted]))
    _check(messages, file)
    return len(messages)


def _check(messages: list[Message], file: LargeFile) -> None:
    # Where TiCDC's encoder panics, ours has a message.
    golden = [m for m in load_messages(file.path) if not m.error or m.error.startswith("PANIC")]
    golden.sort(key=lambda message: message.events)  # errors come first in their transaction
    differ = {
        theirs.events[0]
        for ours, theirs in zip(messages, golden, strict=True)
        if not theirs.error and (ours.key, _comparable(file, ours)) != (theirs.key, _comparable(file, theirs))
    }
    assert differ == NEAR_THE_LIMIT.get(file.id, set())
    objects = {claim.name: _object(file, claim.content) for message in messages for claim in message.claims}
    assert objects == {claim.name: _object(file, claim.content) for claim in file.claims()}


def _encoder(job: Job, file: LargeFile) -> PartitionEncoder:
    plan = job.encode_plan(skip_rejected=True)
    options = {
        **plan.options,
        **file.options,
        "enable_tidb_extension": "tidb-extension" in file.variant,
        "claim_check_raw_value": "raw-value" in file.variant,
        "output_ddl": True,
        "build_ts_ms": BUILD_TS_MS,
    }
    spec = BUILT_IN[PROTOCOLS[file.protocol]]
    return PartitionEncoder(replace(plan, protocol=spec.name, options=spec.select(options)))


def _with_golden_names(file: LargeFile, options: Any, _: Options) -> Encoder:
    """The encoder of a file, which names each object as TiCDC named the one of that content."""
    names = {_object(file, claim.content): claim.name for claim in file.claims()}

    def name(content: bytes) -> str:
        return names[_object(file, content)]

    if file.protocol == "open":
        return OpenEncoder(options, name_claim=name)
    if file.protocol == "canal-json":
        return CanalJSONEncoder(options, name_claim=name)
    return DebeziumEncoder(options)  # it stores nothing


def _object(file: LargeFile, content: bytes) -> object:
    return content_of(content) if file.protocol == "canal-json" else content


def _comparable(file: LargeFile, message: Message | GoldenMessage) -> bytes:
    value = message.value or b""
    return text_of(value) if file.protocol == "canal-json" else value
