"""The decoded messages of a scenario, and the comparison of its tables, without Spark or Kafka."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.shapes import DECODED, EXPECTED_EVENTS, MESSAGES
from ticdc_producer.oracle.scenario import ScenarioOracle
from ticdc_producer.runs.verify_options import verify_options
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import Simulation, simulate
from ticdc_producer.targets.decode import event_decoder
from ticdc_producer.targets.record_batches import with_table_schemas
from ticdc_producer.verifier.check import check_messages
from ticdc_producer.verifier.match import ExpectedState, ExpectedStream
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.options import Strictness
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.table_state import StateComparison

URI = "kafka:///replica?protocol={}&partition-num=3&enable-tidb-extension=true&output-ddl=true"
WITH_DDL = ("open-protocol", "craft", "canal-json", "debezium", "simple")

Event = dict[str, Any]


@dataclass(frozen=True)
class DecodedStream:
    """The decoded events of a scenario."""

    job: Job

    @classmethod
    def of(cls, scenario: str | Path, protocol: str, more: str = "") -> DecodedStream:
        return cls(prepare(scenario, sink_uri=URI.format(protocol) + more))

    @classmethod
    def at(cls, scenario: str | Path, protocol: str, ts: int) -> DecodedStream:
        """With the state at a time stamp, too."""
        return cls(prepare(scenario, sink_uri=URI.format(protocol), state_at=[ts]))

    @cached_property
    def events(self) -> list[Event]:
        """The events in the order of their partitions (shape ``DECODED``)."""
        changefeed = self.job.changefeed
        with simulate(self.job, LocalEngine()) as simulation:
            messages = simulation.encoded.messages.select(*MESSAGES.names)
            options = with_table_schemas(messages, changefeed.protocol, changefeed.codec_options())
            decoded = messages.map(event_decoder(changefeed.protocol, options, ""), DECODED)
            return [event for batch in decoded.batches() for event in batch.to_pylist()]

    def states(self, events: list[Event] | None = None) -> dict[int | None, StateComparison]:
        """The comparisons of the tables that these events lead to."""
        engine, job = LocalEngine(), self.job
        decoded = pa.Table.from_pylist(self.events if events is None else events, DECODED)
        topics, fidelity = job.stream.topic_partitions.topics, job.encoder.fidelity
        log = Simulation.of(job, engine).log
        no_events = ExpectedStream(engine.of_batches([], EXPECTED_EVENTS))
        oracle, states = ScenarioOracle(job, engine, log, no_events), list[ExpectedState]()

        def expected_states(stats: StreamStats) -> list[ExpectedState]:
            states.extend(oracle.states(stats))
            return states

        checked = check_messages(
            engine,
            Messages(engine.of_batches(decoded.to_batches(), DECODED)),
            lambda batches: batches,
            verify_options(job.changefeed, fidelity, topics, Strictness(), job),
            None,
            expected_states,
        )
        return {state.until: result for state, result in zip(states, checked.states, strict=True)}

    def state(self, events: list[Event] | None = None) -> StateComparison:
        """The comparison at the end."""
        return self.states(events)[None]
