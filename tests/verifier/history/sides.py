"""The sides of a comparison: messages of scenarios, simulated in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.shapes import DECODED, MESSAGES
from ticdc_producer.protocols import registry
from ticdc_producer.scenario.scenario import Scenario
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulate
from ticdc_producer.targets.decode import event_decoder
from ticdc_producer.targets.kafka.schema_registry import with_schemas
from ticdc_producer.targets.record_batches import with_table_schemas
from ticdc_producer.verifier.history.history_diff import diff_histories
from ticdc_producer.verifier.history.outcome import HistoryDiff
from ticdc_producer.verifier.history.sides import HistorySide
from ticdc_producer.verifier.messages import Messages

ENGINE = LocalEngine()
OPTIONS = {
    "open-protocol": "protocol=open-protocol",
    "open-protocol, new": "protocol=open-protocol&profile=new",
    "craft": "protocol=craft",
    "canal-json": "protocol=canal-json",
    "canal-json, extension": "protocol=canal-json&enable-tidb-extension=true",
    "canal": "protocol=canal",
    "simple": "protocol=simple",
    "simple, avro": "protocol=simple&encoding-format=avro",
    "avro": "protocol=avro&enable-tidb-extension=true&avro-enable-watermark=true",
    "avro, plain": "protocol=avro",
    "debezium": "protocol=debezium",
    "debezium, extension": "protocol=debezium&enable-tidb-extension=true",
    "debezium, no schema": "protocol=debezium&debezium-disable-schema=true",
    "maxwell": "protocol=maxwell",
}
"""Sink URI parameters by protocol and variant."""


def job_of(
    scenario: str | Path | Scenario,
    protocol: str,
    *,
    partitions: int = 3,
    traps: Sequence[str] = (),
    overrides: Sequence[str] = (),
) -> Job:
    uri = f"kafka:///t?{OPTIONS[protocol]}&partition-num={partitions}&output-ddl=true"
    return prepare(scenario, sink_uri=uri, inject=[*traps], overrides=["on-error=skip", *overrides])


def side_of(job: Job) -> HistorySide:
    """The stream of a job without claim-check."""
    with simulate(job, ENGINE) as simulation:
        batches = [*simulation.encoded.messages.select(*MESSAGES.names).batches()]
    rows = ENGINE.of_batches(batches, MESSAGES)
    changefeed = job.changefeed
    options = with_schemas(changefeed.codec_options(), changefeed, rows, job.known_schemas)
    options = with_table_schemas(rows, changefeed.protocol, options)
    fidelity = registry.fidelity(changefeed.protocol, changefeed.codec_options())
    return HistorySide(
        name=changefeed.protocol,
        protocol=changefeed.protocol,
        profile=changefeed.profile,
        fidelity=fidelity,
        messages=Messages(rows),
        decode=event_decoder(changefeed.protocol, options),
        without_ddls=fidelity.ddl_skip_reason(Action.CREATE_TABLE),
    )


def decoded_of(side: HistorySide) -> pa.Table:
    return pa.Table.from_batches(side.events.batches(), DECODED)


def with_events(side: HistorySide, events: pa.Table) -> HistorySide:
    """The side with other events in place of its messages."""
    typed = events.cast(DECODED).append_column("type", pa.nulls(len(events), pa.string()))
    rows = ENGINE.of_batches(typed.combine_chunks().to_batches(), typed.schema)
    return replace(side, messages=Messages(rows), decode=_events_in)


def _events_in(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The decoder of messages that are events already."""
    return (batch.select(DECODED.names) for batch in batches)


def compared(a: HistorySide, b: HistorySide, tables: Iterable[str] = ()) -> HistoryDiff:
    return diff_histories(ENGINE, (a, b), tables=[*tables])
