"""The event stream of a job, encoded once: writers and comparisons read the stored result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from heapq import merge
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Part, Stored
from ticdc_producer.faults.event_traps import integers
from ticdc_producer.faults.illegal_event import DROPPED
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.shapes import EXPECTED_EVENTS, EXPECTED_WIRE, WIRE, CarriedBatch, ExpectedBatch
from ticdc_producer.model.table import max_row_bytes
from ticdc_producer.pipeline.expected_events import ExpectedEvents
from ticdc_producer.simulate.counts import Counts, stop_error
from ticdc_producer.simulate.fault_counts import FaultSummary, PartitionFaults, summarize_faults
from ticdc_producer.simulate.job import Digests, Job
from ticdc_producer.targets.encode import MAX_LISTED_REJECTED, Described, EncodePlan, Rejection
from ticdc_producer.targets.encode_partition import (
    EVENT,
    FAULT,
    KINDS,
    MAX_LISTED_FAULTS,
    MESSAGE,
    FaultLog,
    PartitionSummary,
    Tagged,
    encode_part,
    encoded_events,
    needed_columns,
    split_by_partition,
)
from ticdc_producer.targets.message_rows import STORED_MESSAGES


@dataclass(frozen=True)
class EncodedStream:
    """An encoded event stream; rows that are not needed are missing.

    :param events: the event stream, with the events that faults removed.
    """

    job: Job
    events: Dataset
    stored: Stored[list[PartitionSummary]]

    @property
    def messages(self) -> Dataset:
        """The messages (``message_rows.STORED_MESSAGES``), divided by partition and in order."""
        return self.stored[MESSAGE]

    @property
    def faults(self) -> Dataset:
        """The faults (``encode_partition.FAULTS``) of each partition, in order."""
        return self.stored[FAULT]

    @cached_property
    def compared_events(self) -> Dataset:
        """The events that a reader of the messages must decode, with their digests (shape ``EXPECTED_WIRE``),
        in order.
        """
        return self.stored[EVENT].merged().map(partial(expected, self.job), EXPECTED_WIRE).reused()

    @property
    def expected_events(self) -> Dataset:
        """The same without the digests (shape ``EXPECTED_EVENTS``)."""
        return self.compared_events.select(*EXPECTED_EVENTS.names)

    @cached_property
    def summaries(self) -> Sequence[PartitionSummary]:
        """The summary of each partition, by topic and partition."""
        of_parts = list(self.stored.results)
        summaries = [summary for of_part in of_parts for summary in of_part]
        return sorted(summaries, key=lambda summary: (summary.topic, summary.partition))

    @cached_property
    def counts(self) -> Counts:
        """The counts of all messages, whether or not they are stored."""
        return Counts.of_partitions(self.summaries)

    @property
    def rejected_tables(self) -> frozenset[str]:
        """``schema.table`` of the tables with rejected rows, which the messages lack."""
        return frozenset[str]().union(*(summary.rejected_tables for summary in self.summaries))

    @property
    def rejections(self) -> list[Rejection]:
        """The first rejected events, in the order of their time, topic and partition."""
        return first_rejections(self.summaries)

    def rejected_events(self) -> list[Rejection]:
        """Return the rejected events, which the messages lack.

        :raises EncodeError: for the first of them, if the scenario has ``on-error: stop``.
        """
        rejections = self.rejections
        if rejections and self.job.scenario.on_error == "stop":
            raise stop_error(rejections[0])
        return rejections

    @property
    def fault_summary(self) -> FaultSummary:
        """The number of faults by trap, and the first ones."""
        first = [fault for summary in self.summaries for fault in summary.first_faults][:MAX_LISTED_FAULTS]
        counted = sum((summary.faults for summary in self.summaries), Counter[str]())
        return summarize_faults(self.job, first, counted, self.counts)

    @property
    def fault_numbers(self) -> dict[str, int]:
        """The numbers of illegal faults and of segments with a fault, by trap, over all partitions."""
        of_traps: dict[str, set[int]] = {}
        for summary in self.summaries:
            for name, identities in summary.fault_identities.items():
                of_traps.setdefault(name, set()).update(identities)
        return {name: len(identities) for name, identities in of_traps.items()}


@contextmanager
def encoded(
    job: Job,
    events: Dataset,
    *,
    messages: bool = False,
    expected_events: bool = False,
    faults: bool = True,
    digests: bool = False,
) -> Iterator[EncodedStream]:
    """Encode an event stream once; everything in the block reads the stored result.

    :param events: the ordered event stream; with ``faults`` it includes the events that faults removed.
    :param messages: whether to store the messages.
    :param expected_events: whether to store the events of the messages, from which the expected ones follow.
    :param faults: whether to inject the faults of messages, and to log all faults. Without them the events
        have no illegal faults, and the result is the stream that TiCDC would have sent.
    :param digests: whether the events have the digests of their bytes.
    """
    plan = job.encode_plan(skip_rejected=True, faults=faults, digests="bytes" if digests else None)
    logged = faults and job.faults is not None
    kinds = {MESSAGE: messages, EVENT: expected_events, FAULT: logged}
    stored_kinds = [kind for kind in KINDS if kinds[kind]]
    encode = partial(_encode, plan, frozenset(stored_kinds), PartitionFaults if logged else None)
    with events.select(*needed_columns(faults=logged)).stored(
        encode,
        {kind: KINDS[kind] for kind in stored_kinds or [MESSAGE]},
        in_order=True,
        row_bytes=most_event_bytes(plan.catalog),
    ) as stored:
        yield EncodedStream(job, events, stored)


def _encode(
    plan: EncodePlan,
    kinds: Collection[str],
    fault_log: Callable[[str, int], FaultLog] | None,
    _part: Part,
    batches: Batches,
) -> Generator[Tagged, None, list[PartitionSummary]]:
    return encode_part(plan, kinds, fault_log, batches)


def most_event_bytes(catalog: Catalog) -> int | None:
    """Return the most bytes of an event of any table, with both images; None if an event has no bound."""
    sizes = [max_row_bytes(table) for table in catalog.tables]
    known = [size for size in sizes if size is not None]
    return 2 * max(known, default=0) if len(known) == len(sizes) else None


def expected(job: Job, batches: Iterator[CarriedBatch]) -> Iterator[ExpectedBatch]:
    """Yield the events that a reader of the messages must decode (shape ``EXPECTED_WIRE``).

    :param batches: the events that messages carry (shape ``CARRIED``).
    """
    reader = ExpectedEvents(job.catalog, job.encoder.fidelity)
    for batch in batches:
        if batch.num_rows:
            yield reader.expected(batch).append_column(WIRE, batch.column("wire"))


def reencoded_events(job: Job, events: Dataset, digests: Digests = "bytes") -> Dataset:
    """Return the expected events (shape ``EXPECTED_WIRE``), encoded whenever they are needed.

    For events that are drawn where they are encoded this takes less time than to store and to read them. A
    reader that stops early ends the encoding of the part.

    :param events: the ordered event stream, without illegal faults.
    """
    plan = job.encode_plan(skip_rejected=True, faults=False, digests=digests)

    def encoded_batches(batches: Batches) -> Batches:
        for (topic, partition), of_partition in split_by_partition(batches):
            yield from encoded_events(plan, topic, partition, of_partition)

    rows = events.select(*needed_columns(faults=False))
    return rows.map(lambda batches: expected(job, encoded_batches(batches)), EXPECTED_WIRE).reused()


def reencoded_messages(job: Job, events: Dataset, *, eventless: bool = False) -> Dataset:
    """Return the messages of the expected events (``message_rows.STORED_MESSAGES``), encoded whenever they
    are needed.

    :param events: the ordered event stream, without illegal faults.
    :param eventless: keep only the messages without events.
    """
    plan = job.encode_plan(skip_rejected=True, faults=False)

    def messages(batches: Batches) -> Batches:
        for _, batch in encode_part(plan, frozenset([MESSAGE]), None, batches):
            yield batch.filter(pc.equal(batch.column("events"), 0)) if eventless else batch

    return events.select(*needed_columns(faults=False)).map(messages, STORED_MESSAGES)


def encode_events(
    job: Job,
    events: Dataset,
    write: Callable[[Part, Batches], None],
    *,
    skip_rejected: bool = True,
    described: Described | None = None,
) -> list[PartitionSummary]:
    """Encode an event stream and write its messages in one pass.

    :param events: the ordered event stream.
    :param write: writes the messages (``message_rows.STORED_MESSAGES``) of a part, and is called once for
        each; it reads them to the end.
    :param skip_rejected: skip events that TiCDC's encoder rejects.
    :param described: as of ``EncodePlan``.
    """
    plan = replace(job.encode_plan(skip_rejected=skip_rejected), described=described)

    def encode(part: Part, batches: Batches) -> list[PartitionSummary]:
        summaries: list[PartitionSummary] = []

        def messages() -> Batches:
            loop = encode_part(plan, frozenset([MESSAGE]), None, batches)
            while True:
                try:
                    yield next(loop)[1]
                except StopIteration as end:
                    summaries.extend(end.value)
                    return

        write(part, messages())
        return summaries

    rows = sent_events(job, events).select(*needed_columns(faults=False))
    of_parts = rows.execute(encode, row_bytes=most_event_bytes(plan.catalog))
    return [summary for of_part in of_parts for summary in of_part]


def merged_counts(job: Job, summaries: Sequence[PartitionSummary]) -> tuple[Counts, list[Rejection]]:
    """Return the counts of all partitions, and the skipped events.

    :raises EncodeError: for the first of them, if the scenario has ``on-error: stop``.
    """
    rejections = first_rejections(summaries)
    if rejections and job.scenario.on_error == "stop":
        raise stop_error(rejections[0])
    return Counts.of_partitions(summaries), rejections


def first_rejections(summaries: Sequence[PartitionSummary]) -> list[Rejection]:
    """Return the first rejected events, in the order of their time, topic and partition."""
    in_order = sorted(summaries, key=lambda summary: (summary.topic, summary.partition))
    rejections = merge(*(summary.rejections for summary in in_order), key=itemgetter(0))
    return [entry for _, entry in rejections][:MAX_LISTED_REJECTED]


def sent_events(job: Job, events: Dataset) -> Dataset:
    """Return an event stream without the events that faults removed."""
    return events if job.faults is None else events.map(_sent, events.schema)


def _sent(batches: Batches) -> Batches:
    for batch in batches:
        dropped = integers(batch, "kind") == DROPPED
        yield batch.filter(pa.array(~dropped)) if dropped.any() else batch
