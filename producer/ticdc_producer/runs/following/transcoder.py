"""Writes the steps of a topic that grows.

messages ──▶ resolved-ts of all partitions ──▶ recording of the commits up to it ──▶ messages of the target
                                                        ▲
                                        DDLs of the steps before (checkpoint)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import msgspec
from pyarrow import parquet

from ticdc_producer.config import Changefeed
from ticdc_producer.engine.dataset import Dataset, Engine
from ticdc_producer.hints import counted
from ticdc_producer.recording.definitions import DatabaseSchema
from ticdc_producer.recording.events import EventReader
from ticdc_producer.recording.folder import ROWS
from ticdc_producer.recording.growth import Growth, Increment, PartitionGrowth, increments
from ticdc_producer.recording.selection import Selection
from ticdc_producer.recording.topic_history import DefinitionSource
from ticdc_producer.rows.origin import messages_of_topics
from ticdc_producer.runs.following import transcoding_state
from ticdc_producer.runs.following.growing_messages import GrowingDecoder
from ticdc_producer.runs.following.transcoding_state import TranscodingState, TranscodingStep
from ticdc_producer.runs.recordings.record import record_messages
from ticdc_producer.runs.recordings.record_source import MessageSource
from ticdc_producer.runs.recordings.transcode import check_apart, errors_of_target
from ticdc_producer.runs.run_options import OnStatus
from ticdc_producer.runs.targets.batches import check_ends
from ticdc_producer.runs.targets.existing_topics import brokers_of
from ticdc_producer.runs.targets.run_topics import RunTopics, for_existing_topics
from ticdc_producer.simulate.encode import encoded
from ticdc_producer.simulate.job import Job, with_registered_schemas
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.targets.decode import events_decoder
from ticdc_producer.targets.kafka.read import OffsetRange
from ticdc_producer.targets.kafka.topics import Offsets, Topics

STEP_MESSAGES = 100_000
"""Messages after which a step begins."""
_STEP_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class GrowingTranscoding:
    """The result of a transcoding that followed a topic.

    :param steps: number of steps that this call wrote.
    :param messages: number of messages in them, those of an earlier attempt included.
    :param resolved: the TSO up to which everything is written; 0: nothing is.
    """

    steps: int
    messages: int
    resolved: int

    def to_json(self) -> dict[str, object]:
        """Return the fields as a JSON object."""
        return {"steps": self.steps, "messages": self.messages, "resolved": self.resolved}

    def line(self) -> str:
        """Return the result as text."""
        messages, steps = counted(self.messages, "message"), counted(self.steps, "step")
        return f"wrote {messages} in {steps}, up to resolved-ts {self.resolved}"


@dataclass(kw_only=True)
class Transcoder:
    """A transcoding that follows a topic.

    :param job_of: prepares a recording as a job of the target.
    :param growing: yields the next messages from these offsets on; None: it waits for messages.
    :param engine: returns the engine that runs the recordings.
    :param selection: the tables.
    :param dump: the tables that no message creates; None: the messages have all, or they are known.
    :param append: whether the first step may follow the messages of others.
    :param messages: number of messages in the steps that were written.
    """

    source: Changefeed
    job_of: Callable[[Path], Job]
    growing: Callable[[Offsets], Generator[Dataset | None, None, None]]
    engine: Callable[[], Engine]
    checkpoint: Path
    selection: Selection
    dump: Path | DatabaseSchema | None
    append: bool
    on_status: OnStatus
    state: TranscodingState
    messages: int = 0
    _decoder: GrowingDecoder = field(init=False)

    def __post_init__(self) -> None:
        self._decoder = GrowingDecoder(self.source, self.state.descriptions)

    def run(self, idle: float | None) -> GrowingTranscoding:
        """Write step by step, until Ctrl-C or silence."""
        before = self.state.steps
        if self.state.step is not None:
            self._write(self.state.step)
        topic = self.source.sink_uri.topic
        self.on_status(f"following {topic}")
        try:
            self._follow(idle)
        except KeyboardInterrupt:
            self.on_status("interrupted: the checkpoint records what was written")
        return GrowingTranscoding(
            steps=self.state.steps - before, messages=self.messages, resolved=self.state.resolved
        )

    def _follow(self, idle: float | None) -> None:
        topic, begins = self.source.sink_uri.topic, self.state.offsets
        growth = Growth({number: PartitionGrowth(begin) for number, begin in begins.items()})
        pending, stepped, active = 0, monotonic(), monotonic()
        offsets = {(topic, number): offset for number, offset in begins.items()}
        with closing(self.growing(offsets)) as batches:
            for messages in batches:
                if messages is not None:
                    self._decoder.add(messages)
                    pending += growth.add(self._increments(messages))
                now = monotonic()
                active = active if messages is None else now
                if messages is None or pending >= STEP_MESSAGES or now - stepped >= _STEP_SECONDS:
                    until = growth.complete_ts
                    if until > self.state.resolved:
                        following = growth.offsets_after(until)
                        self._write(TranscodingStep(until=until, ends=growth.ends, following=following))
                    pending, stepped = 0, now
                if idle is not None and now - active >= idle:
                    return

    def _increments(self, messages: Dataset) -> Iterator[Increment]:
        of_parts = messages.results(partial(increments, self._decoder.decode))
        return chain.from_iterable(of_parts)

    def _write(self, step: TranscodingStep) -> None:
        """Write a step, or what an earlier attempt has not written of it.

        :raises ProducerError: as ``transcode_growing``.
        """
        with TemporaryDirectory(prefix="ticdc-producer-transcode-") as temporary, ExitStack() as stack:
            folder = self._recorded(Path(temporary) / "recording", step)
            ddls = [*_statements(folder)]
            with errors_of_target():
                job = for_existing_topics(self.job_of(folder))
            check_apart(self.source, job.changefeed, job.stream.topic_partitions.topics)
            simulation = Simulation.of(job, self.engine())
            events = simulation.ordered_events(stack)
            stream = stack.enter_context(encoded(job, events, messages=not job.changefeed.schema_registry))
            stream.rejected_events()
            job = with_registered_schemas(job)
            starts = self._starts(step, job)
            topics = RunTopics(job.changefeed, job.changefeed.brokers, starts)
            if job.changefeed.schema_registry:
                topics.encode_and_write(job, events)
            else:
                topics.write(stream.messages, job.encode_plan(skip_rejected=True).claim_storage)
            counts = stream.counts
        ends = {**self.state.end_offsets, **counts.offsets_after(starts)}
        self.messages += counts.total
        self._save(
            steps=self.state.steps + 1,
            resolved=step.until,
            offsets=step.following,
            ends=[(*partition, offset) for partition, offset in ends.items()],
            ddls=ddls,
            step=None,
        )
        self.on_status(f"wrote {counted(counts.total, 'message')} up to resolved-ts {step.until}")

    def _save(self, **changes: object) -> None:
        self.state = msgspec.structs.replace(self.state, descriptions=self._decoder.descriptions, **changes)
        transcoding_state.save(self.checkpoint, self.state)

    def _starts(self, step: TranscodingStep, job: Job) -> Offsets:
        """Return the offset of the step's first message in each partition; they are stored once.

        :raises ProducerError: for topics that must not be written.
        """
        if step.starts is not None:
            return {(topic, partition): offset for topic, partition, offset in step.starts}
        topics, written = list(job.stream.topic_partitions.topics), self.state.end_offsets
        starts = Topics(job.changefeed.brokers).prepare(
            job.changefeed, topics, append=self.append or bool(written)
        )
        known = {topic for topic, _ in written}
        check_ends(
            written,
            {position: end for position, end in starts.items() if position[0] in known or not self.append},
        )
        stored = [(*partition, offset) for partition, offset in starts.items()]
        self._save(step=msgspec.structs.replace(step, starts=stored))
        return starts

    def _recorded(self, out: Path, step: TranscodingStep) -> Path:
        """Record the commits of a step."""
        state, topic = self.state, self.source.sink_uri.topic
        ranges = [
            OffsetRange(topic=topic, partition=number, start=state.offsets[number], end=end)
            for number, end in step.ends.items()
        ]
        origin = messages_of_topics(
            self.source, brokers_of(self.source), ranges, descriptions=self._decoder.descriptions
        )
        selection = Selection(
            accepts=self.selection.accepts,
            after=state.resolved,
            ddls_after=state.resolved,
            until=step.until,
        )
        reader = EventReader(
            decode=events_decoder(self.source.protocol, origin.options, origin.claims, row_ids=True),
            selection=selection,
            exact=True,
            skip_damaged=False,
        )
        tables = DefinitionSource(
            dump=None if state.ddls else self.dump,
            describe=self.source.spec.described_tables,
            descriptions=self._decoder.descriptions,
            ddls=state.ddls,
        )
        source = MessageSource(origin, {topic: len(ranges)})
        record_messages(out, source, reader, tables, lambda _line: None, may_be_empty=True)
        return out


def _statements(folder: Path) -> Iterator[tuple[int, str, str, str]]:
    """Yield the DDLs of a recording, those before its rows included: TSO, database, table and text."""
    names = ("commit_ts", "schema", "table", "statement")
    with parquet.ParquetFile(folder / ROWS) as file:
        for batch in file.iter_batches(columns=list(names)):
            ddls = batch.filter(batch.column("statement").is_valid())
            for row in ddls.to_pylist():
                yield row["commit_ts"], row["schema"] or "", row["table"] or "", row["statement"]
