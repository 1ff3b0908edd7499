"""The memory of this process as the target of a small run."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from ticdc_producer.model.shapes import CARRIED, MESSAGES
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.targets.target import MessageTarget
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.targets.encode_partition import EVENT, FaultRow
from ticdc_producer.verifier.messages import Messages


class MemoryTarget(MessageTarget):
    """Messages that nothing stores. Claim-check objects are not kept.

    :ivar messages: the written messages (shape ``MESSAGES``), in order.
    :ivar carried: the events that they carry (shape ``CARRIED``).
    :ivar faults: the injected faults, in order.
    """

    holds_expected_events = True
    name = "memory"
    claims = ""

    def __init__(self, job: Job, options: RunOptions) -> None:
        super().__init__(job, options)
        self.messages, self.carried = MESSAGES.empty_table(), CARRIED.empty_table()
        self.faults: list[FaultRow] = []

    def check(self) -> None:
        """Accept every run."""

    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        stream = simulation.encoded
        self.messages = pa.Table.from_batches(
            stream.messages.select(*MESSAGES.names).batches(), MESSAGES
        ).combine_chunks()
        self.carried = pa.Table.from_batches(stream.stored[EVENT].merged().batches(), CARRIED)
        if self.job.faults is not None:
            self.faults = [row for batch in stream.faults.batches() for row in batch.to_pylist()]
        return report

    def read(self, simulation: Simulation) -> Messages:
        return Messages(simulation.engine.of_batches(self.messages.to_batches(), MESSAGES))

    @property
    def schemas(self) -> Mapping[int, str]:
        return self.job.known_schemas if self.job.schemas else {}
