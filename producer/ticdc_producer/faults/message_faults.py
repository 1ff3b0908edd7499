"""Injects faults into encoded messages: a stage between the encoder and the sink, inside a Spark worker.

The faults of a message depend on its number in its partition and on its commit-ts. Batches without a fault
are passed through unchanged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ticdc_producer.faults.catalogue import trap, traps_of
from ticdc_producer.faults.fault_plan import FaultPlan, IllegalFault, seeded_floats, seeded_integer
from ticdc_producer.faults.message_traps import IllegalMessageTrap, MessageFaultInput, RepeatTrap, Replacement
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import Kind, Message, MessageNote
from ticdc_producer.pipeline.delivery import TopicPartitions
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.arrow_text import as_int64
from ticdc_producer.protocols.message_batch import MessageBatch, from_messages
from ticdc_producer.protocols.spec import Options


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFaults:
    """The faults of a plan that change the messages of each partition; sent to the workers with the task.

    :param partitions: they determine the partition index.
    :param protocol: name of the codec, to check that damaged messages do not decode.
    :param options: options of the codec.
    """

    plan: FaultPlan
    partitions: TopicPartitions
    protocol: str
    options: Options

    @property
    def repeat_distance(self) -> int:
        """An upper limit of the number of messages from the first delivery of a message to the second."""
        return max((trap.distances for trap in _repeats(self.plan)), default=0)

    def __call__(
        self, batches: Iterable[MessageBatch], topic: str, partition: int, notes: list[MessageNote]
    ) -> Iterator[MessageBatch]:
        """Inject the faults into the messages of one partition.

        :param notes: filled by this call: ``trap``, ``offset`` and ``commit_ts`` of each fault; ``offset``
            and ``event_ordinal`` where a message's first event does not follow the last event of the
            message before.
        """
        index = self.partitions.of(topic)[partition]
        return _Partition(self, index, notes).altered(batches)


class _Partition:
    """The state of one partition.

    :ivar _event: ordinal of the next event of the encoded messages.
    :ivar _expected_event: ordinal that a reader of the notes expects for the next event.
    """

    def __init__(self, faults: MessageFaults, partition_index: int, notes: list[MessageNote]) -> None:
        plan = faults.plan
        self._plan, self._notes = plan, notes
        fidelity = registry.encoder(faults.protocol, faults.options).fidelity
        # A reader cannot know that a delete without commit-ts is older than the insert that it follows.
        nearest = fidelity.commit_ts in ("none", "not deletes")
        self._repeats = [_Repeats(trap, plan, partition_index, nearest) for trap in _repeats(plan)]
        self._pending = _illegal_faults(faults, partition_index)
        self._decode = registry.decoder(faults.protocol, faults.options).events
        spec = registry.protocol_spec(faults.protocol)
        needs_tables = any(trap.needs_tables for _, trap in self._pending)
        self._describing = spec.describing if needs_tables and spec.described_versions else None
        self._max_batch_size = int(str(faults.options.get("max_batch_size") or 0))
        self._number = self._offset = self._event = self._expected_event = 0
        self._retries: deque[_Retry] = deque()

    def altered(self, batches: Iterable[MessageBatch]) -> Iterator[MessageBatch]:
        remaining = iter(batches)
        for first in remaining:
            batch, due = first, self._due(first)
            self._learn_tables(batch)
            if due and (following := next(remaining, None)) is not None:
                # A fault may join the last message of a batch to the next one.
                self._learn_tables(following)
                batch = from_messages([*first.messages(), *following.messages()])
            retried = self._retried(batch)
            if due or self._retries or (retried >= 0).any():
                yield from_messages(list(self._messages(list(batch.messages()), retried)))
                continue
            self._seek(self._event)
            events = int(as_int64(batch.events).sum())
            self._event, self._expected_event = self._event + events, self._expected_event + events
            self._number, self._offset = self._number + len(batch), self._offset + len(batch)
            yield batch
        if self._retries:
            yield from_messages([self._retry() for _ in range(len(self._retries))])

    def _learn_tables(self, batch: MessageBatch) -> None:
        """Give the decoder the descriptions of tables in a batch, if a trap decodes rows that need them."""
        if self._describing is None:
            return
        for value in batch.value.take(self._describing(batch.value)).to_pylist():
            list(self._decode(None, value))

    def _segments(self, batch: MessageBatch) -> Numbers:
        cut = self._plan.segments
        return np.clip((as_int64(batch.commit_ts) - cut.start) // cut.length, 0, cut.count - 1)

    def _retried(self, batch: MessageBatch) -> Numbers:
        """Return the trap that delivers each message again, as its number in ``_repeats``; -1 for none."""
        retried = np.full(len(batch), -1)
        if not self._repeats or not len(batch):
            return retried
        rows = ~np.isin(self._segments(batch), list(self._plan.reserved))
        if batch.types is not None:
            rows &= np.array(batch.types.to_pylist()) == Kind.ROW.label
        numbers = np.arange(self._number, self._number + len(batch))
        for index, repeats in enumerate(self._repeats):
            retried[(retried < 0) & rows & repeats.hits(numbers)] = index
        return retried

    def _due(self, batch: MessageBatch) -> bool:
        """Return whether an illegal fault may happen in the batch."""
        segments = set(self._segments(batch).tolist()) if self._pending else ()
        return any(number in fault.segments for fault, _ in self._pending for number in segments)

    def _messages(self, messages: Sequence[Message], retried: Numbers) -> Iterator[Message]:
        position = 0
        while position < len(messages):
            fitting = (entry for entry in self._pending if self._fits(entry[0], messages[position]))
            pending = next(fitting, None)
            changed = None if pending is None else self._replacement(*pending, messages[position:])
            if pending is None or changed is None:
                used, output = 1, [(messages[position], 0)]
                if retried[position] >= 0:
                    self._repeat(self._repeats[retried[position]], messages[position])
            else:
                self._pending.remove(pending)
                used, output = changed
                self._note(pending[0].trap, messages[position])
            for message, first_event in output:
                yield self._sent(message, self._event + first_event)
            self._event += sum(message.events for message in messages[position : position + used])
            self._number += used
            position += used
            while self._retries and self._retries[0].due < self._number:
                yield self._retry()

    def _fits(self, fault: IllegalFault, message: Message) -> bool:
        return message.type == Kind.ROW.label and self._plan.segments.of(message.commit_ts) in fault.segments

    def _replacement(
        self, fault: IllegalFault, trap: IllegalMessageTrap, messages: Sequence[Message]
    ) -> Replacement | None:
        """Apply a fault at the beginning of ``messages``; None if it cannot happen here."""
        seed = seeded_integer(self._plan.seed, fault.trap, fault.number)
        return trap.replacement(messages, MessageFaultInput(seed, self._decode, self._max_batch_size))

    def _repeat(self, repeats: _Repeats, message: Message) -> None:
        due = self._number + repeats.distance(self._number)
        self._retries.append(_Retry(due, self._event, message, repeats.trap.id))

    def _retry(self) -> Message:
        retry = self._retries.popleft()
        self._note(retry.trap, retry.message)
        return self._sent(retry.message, retry.first_event)

    def _sent(self, message: Message, first_event: int) -> Message:
        if message.events:
            self._seek(first_event)
        self._expected_event += message.events
        self._offset += 1
        return message

    def _seek(self, event: int) -> None:
        if event != self._expected_event:
            self._notes.append({"offset": self._offset, "event_ordinal": event})
            self._expected_event = event

    def _note(self, name: str, message: Message) -> None:
        self._notes.append({"trap": name, "offset": self._offset, "commit_ts": message.commit_ts})


@dataclass(frozen=True, slots=True)
class _Retry:
    """A message that will be delivered again.

    :param due: it follows the message of this number.
    :param first_event: ordinal of its first event.
    """

    due: int
    first_event: int
    message: Message
    trap: str


@dataclass(frozen=True, slots=True)
class _Repeats:
    """The messages of a partition that a trap delivers again.

    :param nearest: whether the second delivery directly follows the first.
    """

    trap: RepeatTrap
    plan: FaultPlan
    partition_index: int
    nearest: bool

    @property
    def _salt(self) -> str:
        return f"{self.trap.id}/{self.partition_index}"

    def hits(self, numbers: Numbers) -> NDArray[np.bool_]:
        return seeded_floats(self.plan.seed, self._salt, numbers) < self.plan.rates[self.trap.id]

    def distance(self, number: int) -> int:
        distances = 1 if self.nearest else self.trap.distances
        return seeded_integer(self.plan.seed, self._salt, number) % distances


def _repeats(plan: FaultPlan) -> list[RepeatTrap]:
    return [trap for trap in traps_of(RepeatTrap) if trap.id in plan.rates]


def _illegal_faults(
    faults: MessageFaults, partition_index: int
) -> list[tuple[IllegalFault, IllegalMessageTrap]]:
    """Return the illegal faults of one partition, with their traps."""
    count = len(faults.partitions)
    return [
        (fault, illegal)
        for fault in faults.plan.illegal
        if isinstance(illegal := trap(fault.trap), IllegalMessageTrap)
        and _partition_of(fault, faults.plan.seed, count) == partition_index
    ]


def _partition_of(fault: IllegalFault, seed: int, count: int) -> int:
    if fault.partition_index is not None:
        return fault.partition_index
    return seeded_integer(seed, f"slot/{fault.trap}", fault.number) % count
