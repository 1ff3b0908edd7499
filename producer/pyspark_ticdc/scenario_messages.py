"""The messages that a scenario gives, simulated by the tasks that read them.

A task simulates one partition, if the scenario's changes are drawn by partition, else the whole scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic

import pyarrow as pa

from pyspark_ticdc.offsets import Partitions
from pyspark_ticdc.options import MAX_LONG, GivenOptions
from ticdc_producer.config import Changefeed
from ticdc_producer.config.sink_uri import default_sink_uri
from ticdc_producer.engine.dataset import Batches
from ticdc_producer.engine.local import LocalDataset, LocalEngine, local
from ticdc_producer.errors import ArgumentError
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.rows.origin import TABLE_DESCRIPTIONS, Origin, known_tables
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.simulate.encode import encoded
from ticdc_producer.simulate.fitted_faults import with_fitted_faults
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import Simulation, estimate_of
from ticdc_producer.targets.kafka.read import OffsetRange


@dataclass
class Pace:
    """The rate at which the messages of a scenario become available.

    :param per_second: messages of all partitions; None: all are available at once.
    :param clock: returns seconds.
    """

    per_second: int | None
    started: tuple[float, int] | None = None
    clock: Callable[[], float] = monotonic

    def ends(self, counts: Partitions, starts: Partitions) -> dict[tuple[str, int], int]:
        """Return how many messages of each partition are available, in proportion to their number.

        The first call starts the clock; what was read before counts as available then.
        """
        if self.per_second is None:
            return dict(counts)
        now = self.clock()
        if self.started is None:
            self.started = now, sum(starts.values())
        total = max(1, sum(counts.values()))
        available = min(total, self.started[1] + int((now - self.started[0]) * self.per_second))
        return {name: max(starts[name], count * available // total) for name, count in counts.items()}


@dataclass(frozen=True)
class ScenarioTopics:
    """The topics of a scenario, as if its messages had been written.

    :param scenario: the loaded scenario.
    :param sink_uri: replaces the scenario's; None: it does not.
    """

    scenario: ScenarioFile
    sink_uri: str | None
    pace: Pace = field(default_factory=lambda: Pace(None))

    @classmethod
    def of(cls, options: GivenOptions) -> ScenarioTopics:
        """Return the scenario that options name.

        :raises ProducerError: for a scenario that cannot be run, or only by Spark.
        """
        scenario = load_scenario(str(options.values["scenario"]), ())
        uri = options.with_parameters(default_sink_uri(scenario.name)) if options.sink_parameters else None
        pace = options.values.get("rowsPerSecond")
        topics = cls(scenario, uri, Pace(None if pace is None else int(pace)))
        if estimate_of(topics.job).requires_spark:
            what = (
                f"scenario {scenario.name} has a step that Spark computes, which a data source cannot start"
            )
            hint = "write it into a topic or folder with ticdc-producer run, and read that"
            raise ArgumentError(what, argument="scenario", hint=hint)
        return topics

    @cached_property
    def job(self) -> Job:
        """The scenario, planned."""
        return with_fitted_faults(prepare(self.scenario, sink_uri=self.sink_uri))

    @property
    def changefeed(self) -> Changefeed:
        """The changefeed of the messages."""
        return self.job.changefeed

    @cached_property
    def names(self) -> Sequence[tuple[str, int]]:
        """The topic and the partition of each part of the stream."""
        partitions = self.job.stream.topic_partitions
        return [partitions.name(index) for index in range(len(partitions))]

    def initial(self) -> Partitions:
        """Return the offsets at which a stream begins."""
        return self.starts()

    def starts(self) -> Partitions:
        """Return the first offset of each partition."""
        return dict.fromkeys(self.names, 0)

    def ends(self) -> Partitions:
        """Return the number of messages of each partition."""
        return self.counts

    def ids(self) -> Mapping[str, str]:
        """Return no ids: the topics do not exist."""
        return {}

    def available(self, starts: Partitions, /) -> Partitions:
        """Return how far a stream can read now."""
        return self.pace.ends(self.counts, starts)

    @cached_property
    def counts(self) -> Partitions:
        """The number of messages of each partition; the scenario is simulated for it."""
        whole = LocalDataset([*self._messages().sources], MESSAGES).select("offset")
        sizes = [sum(batch.num_rows for batch in source()) for source in whole.sources]
        return dict(zip(self.names, sizes, strict=True))

    def origin(self, ranges: Sequence[OffsetRange], descriptions: Sequence[bytes] | None = None) -> Origin:
        """Return the messages in some ranges.

        :param descriptions: as of ``TopicOptions.origin``.
        """
        codec_options = self.changefeed.codec_options()
        if self.changefeed.spec.schemas is not None:
            codec_options["schemas"] = self.job.known_schemas
        if descriptions is not None and self.changefeed.spec.described_versions is not None:
            codec_options[TABLE_DESCRIPTIONS] = tuple(descriptions)
        sources = self._messages().sources
        messages = LocalEngine().of_parts(
            len(ranges),
            lambda part: _between(sources[self.names.index(_name(ranges[part]))](), ranges[part]),
            MESSAGES,
        )
        return Origin(
            changefeed=self.changefeed,
            messages=local(messages),
            options=codec_options,
            tables=known_tables(self.job.catalog),
        )

    def whole(self) -> Origin:
        """Return all messages."""
        ranges = [
            OffsetRange(topic=topic, partition=partition, start=0, end=MAX_LONG)
            for topic, partition in self.names
        ]
        return self.origin(ranges)

    def _messages(self) -> LocalDataset:
        """Return all messages (shape ``MESSAGES``); each part simulates what it needs."""
        scenario, sink_uri = self.scenario, self.sink_uri
        return local(
            LocalEngine().of_parts(
                len(self.names),
                lambda part: _simulated(ScenarioTopics(scenario, sink_uri).job, part),
                MESSAGES,
            )
        )


def _simulated(job: Job, part: int) -> Batches:
    """Yield the messages of one partition."""
    with ExitStack() as stack:
        events = local(Simulation.of(job, LocalEngine()).ordered_events(stack))
        of_part = LocalDataset([events.sources[part]], events.schema)
        stream = stack.enter_context(encoded(job, of_part, messages=True))
        stream.rejected_events()  # raises the error of a rejected row
        yield from stream.messages.select(*MESSAGES.names).batches()


def _name(part: OffsetRange) -> tuple[str, int]:
    return part.topic, part.partition


def _between(batches: Batches, part: OffsetRange) -> Batches:
    """Yield the messages in a range of offsets."""
    for batch in batches:
        offsets = batch.column("offset").to_numpy()
        inside = (offsets >= part.start) & (offsets < part.end)
        if inside.any():
            yield batch.filter(pa.array(inside))
        if offsets[-1] >= part.end - 1:
            return
