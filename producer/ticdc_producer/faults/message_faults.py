"""Injects faults into encoded messages: a stage between the encoder and the sink, inside a Spark worker.

What happens to a message depends on its number in its partition and on its commit-ts. Batches without a
fault are passed through unchanged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.damage import corrupted, foreign, joined, truncated
from ticdc_producer.faults.plan import FaultPlan, IllegalFault
from ticdc_producer.faults.seeded_hash import seeded_floats, seeded_integer
from ticdc_producer.model.event import Kind, Message
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.arrow_text import Numbers, as_int64
from ticdc_producer.protocols.message_batch import MessageBatch, from_messages

_RETRY_DISTANCES = 3
"""A retried message follows the first delivery directly, or with up to two messages in between."""
_RETRY = "duplicate-message"
SAME_EVENTS = frozenset({"poison", "mixed-kinds", "oversized"})
"""Illegal faults after which a reader still decodes all events, unchanged and in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFaults:
    """Injects the faults of a plan into the messages of each partition; sent to the workers with the task.

    :param topics: sorted topics, each with ``partitions`` partitions; they determine the partition index.
    :param protocol: name of the codec, to check that damaged messages do not decode.
    :param options: options of the codec.
    """

    plan: FaultPlan
    topics: tuple[str, ...]
    partitions: int
    protocol: str
    options: dict[str, Any]

    @property
    def repeat_distance(self) -> int:
        """A message is sent again at most this number of messages after its first delivery."""
        return _RETRY_DISTANCES

    def __call__(
        self, batches: Iterable[MessageBatch], topic: str, partition: int, notes: list[dict[str, Any]]
    ) -> Iterator[MessageBatch]:
        """The messages of one partition with their faults.

        :param notes: filled by this call: ``trap``, ``offset`` and ``commit_ts`` of each fault; ``offset``
            and ``event_ordinal`` where a message's first event does not follow the last event of the
            message before.
        """
        index = self.topics.index(topic) * self.partitions + partition
        return _Partition(self, index, notes).altered(batches)


class _Partition:
    """The state of one partition.

    :ivar _event: ordinal of the next event of the encoded messages.
    :ivar _expected_event: ordinal that a reader of the notes expects for the next event.
    """

    def __init__(self, faults: MessageFaults, partition_index: int, notes: list[dict[str, Any]]) -> None:
        plan = faults.plan
        self._plan, self._notes = plan, notes
        self._salt = f"{_RETRY}/{partition_index}"
        self._rate = plan.rates.get(_RETRY, 0.0)
        self._pending = _illegal_faults(faults, partition_index)
        self._decode = registry.decoder(faults.protocol, faults.options).events
        self._max_batch_size = int(faults.options.get("max_batch_size") or 0)
        self._number = self._offset = self._event = self._expected_event = 0
        self._retries: deque[tuple[int, int, Message]] = deque()

    def altered(self, batches: Iterable[MessageBatch]) -> Iterator[MessageBatch]:
        for batch in batches:
            retried, due = self._retried(batch), self._due(batch)
            if due or self._retries or retried.any():
                yield from_messages(list(self._messages(list(batch.messages()), retried)))
                continue
            self._seek(self._event)
            events = int(as_int64(batch.events).sum())
            self._event, self._expected_event = self._event + events, self._expected_event + events
            self._number, self._offset = self._number + len(batch), self._offset + len(batch)
            yield batch
        if self._retries:
            yield from_messages([self._retry() for _ in range(len(self._retries))])

    def _segments(self, batch: MessageBatch) -> Numbers:
        cut = self._plan.segments
        return np.clip((as_int64(batch.commit_ts) - cut.start) // cut.length, 0, cut.count - 1)

    def _retried(self, batch: MessageBatch) -> NDArray[np.bool_]:
        """Whether each message is delivered again."""
        if not self._rate or not len(batch):
            return np.zeros(len(batch), bool)
        values = seeded_floats(
            self._plan.seed, self._salt, np.arange(self._number, self._number + len(batch))
        )
        hit = values < self._rate
        if batch.types is not None:
            hit &= np.array(batch.types.to_pylist()) == Kind.ROW.label
        hit &= ~np.isin(self._segments(batch), list(self._plan.reserved))
        return hit

    def _due(self, batch: MessageBatch) -> bool:
        """Whether an illegal fault may happen in the batch."""
        segments = set(self._segments(batch).tolist()) if self._pending else ()
        return any(number in one.segments for one in self._pending for number in segments)

    def _messages(self, messages: Sequence[Message], retried: NDArray[np.bool_]) -> Iterator[Message]:
        position = 0
        while position < len(messages):
            fault = next((one for one in self._pending if self._fits(one, messages[position])), None)
            changed = None if fault is None else self._changed(fault, messages[position:])
            if fault is None or changed is None:
                used, output = 1, [(messages[position], self._event)]
                if retried[position]:
                    later = seeded_integer(self._plan.seed, self._salt, self._number) % _RETRY_DISTANCES
                    self._retries.append((self._number + later, self._event, messages[position]))
            else:
                self._pending.remove(fault)
                used, output = changed
                self._note(fault.trap, messages[position])
            for message, first_event in output:
                yield self._sent(message, first_event)
            self._event += sum(message.events for message in messages[position : position + used])
            self._number += used
            position += used
            while self._retries and self._retries[0][0] < self._number:
                yield self._retry()

    def _fits(self, fault: IllegalFault, message: Message) -> bool:
        return message.type == Kind.ROW.label and self._plan.segments.of(message.commit_ts) in fault.segments

    def _changed(
        self, fault: IllegalFault, messages: Sequence[Message]
    ) -> tuple[int, list[tuple[Message, int]]] | None:
        """Apply a fault at the beginning of ``messages``; None if it cannot happen here.

        :return: how many messages it replaces, and the new messages, each with the ordinal of its first
            event.
        """
        first, seed = messages[0], seeded_integer(self._plan.seed, fault.trap, fault.number)
        match fault.trap:
            case "lost-message":
                return 1, []
            case "poison":
                return 1, [(foreign(first), 0), (first, self._event)]
            case "corrupt-bytes" | "truncated":
                damage = corrupted if fault.trap == "corrupt-bytes" else truncated
                damaged = damage(first, self._decode, seed)
                return None if damaged is None else (1, [(damaged, 0)])
            case "mixed-kinds":
                if len(messages) < 2 or messages[1].type == first.type:
                    return None
                return 2, [(joined(first, messages[1]), self._event)]
            case _:
                return self._oversized(messages)

    def _oversized(self, messages: Sequence[Message]) -> tuple[int, list[tuple[Message, int]]] | None:
        """Join row messages until the result has more events than ``max-batch-size``."""
        whole = messages[0]
        for used, other in enumerate(messages[1:], start=2):
            if other.type != whole.type:
                return None
            whole = joined(whole, other)
            if whole.events > self._max_batch_size:
                return used, [(whole, self._event)]
        return None

    def _retry(self) -> Message:
        _, first_event, message = self._retries.popleft()
        self._note(_RETRY, message)
        return self._sent(message, first_event)

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


def _illegal_faults(faults: MessageFaults, partition_index: int) -> list[IllegalFault]:
    """The illegal faults of one partition."""
    count = len(faults.topics) * faults.partitions
    return [
        one
        for one in faults.plan.illegal
        if trap(one.trap).mechanism == "message"
        and seeded_integer(faults.plan.seed, f"slot/{one.trap}", one.number) % count == partition_index
    ]
