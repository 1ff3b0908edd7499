"""The decoded messages of a scenario, and the comparison of its tables, without Spark or Kafka."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from ticdc_producer.model.shapes import DECODED, MESSAGES
from ticdc_producer.runs.prepare import Job, prepare
from ticdc_producer.runs.simulate import simulate
from ticdc_producer.runs.small_verification import SmallExpected
from ticdc_producer.runs.verify_options import verify_options
from ticdc_producer.targets.decoding.dataframes import with_table_schemas
from ticdc_producer.targets.decoding.decode import event_decoder
from ticdc_producer.verifier.check import CheckedStream
from ticdc_producer.verifier.options import Strictness
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
        sent, changefeed = simulate(self.job), self.job.changefeed
        messages = pa.concat_tables([MESSAGES.empty_table(), *(one.rows() for one in sent.partitions)])
        options = with_table_schemas(messages, changefeed.protocol, changefeed.codec_options())
        decode = event_decoder(changefeed.protocol, options, "")
        events: list[Event] = pa.Table.from_batches(decode(iter(messages.to_batches())), DECODED).to_pylist()
        return events

    def checked(self, events: list[Event]) -> CheckedStream:
        """A stream of these events."""
        topics = self.job.stream.topic_partitions.topics
        fidelity = self.job.encoder.fidelity
        options = verify_options(self.job.changefeed, fidelity, topics, Strictness(), self.job)
        return CheckedStream(pa.Table.from_pylist(events, DECODED), options)

    def states(self, events: list[Event] | None = None) -> dict[int | None, StateComparison]:
        """The comparisons of the tables that these events lead to."""
        checked = self.checked(self.events if events is None else events)
        return SmallExpected(job=self.job).states(checked)

    def state(self, events: list[Event] | None = None) -> StateComparison:
        """The comparison at the end."""
        return self.states(events)[None]
