"""Faults of encoded messages: a stage between the encoder and the sink, inside a Spark worker.

What happens to a message depends on its number in its partition and on its commit-ts. Batches in which
nothing happens pass as they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.chance import drawn_number, drawn_numbers
from ticdc_producer.faults.damage import corrupted, foreign, joined, truncated
from ticdc_producer.faults.plan import FaultPlan, Single
from ticdc_producer.model.event import Kind, Message
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.arrow_text import Numbers, numbers
from ticdc_producer.protocols.message_batch import MessageBatch, of_messages

_LATER = 3
"""A retried message comes right behind the first, or with up to two others between."""
_RETRY = "duplicate-message"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFaults:
    """Puts the faults of a plan into the messages of each partition; goes with the tasks.

    :param topics: with ``partitions`` each; the place of a partition among all is its slot.
    :param protocol: and ``options`` of its codec, to make sure that what is damaged does not decode.
    """

    plan: FaultPlan
    topics: tuple[str, ...]
    partitions: int
    protocol: str
    options: dict[str, Any]

    def __call__(
        self, batches: Iterable[MessageBatch], topic: str, partition: int, notes: list[dict[str, Any]]
    ) -> Iterator[MessageBatch]:
        """The messages of one partition with their faults.

        :param notes: is filled. ``trap``, ``offset`` and ``commit_ts`` of what happened; ``offset`` and
            ``event`` where the numbers of the events do not go on from the last.
        """
        slot = self.topics.index(topic) * self.partitions + partition
        return _Partition(self, slot, notes).altered(batches)


class _Partition:
    """:ivar _event: number of the next event of the messages as they were encoded; ``_running`` the one that
    a reader of the notes takes it for.
    """

    def __init__(self, faults: MessageFaults, slot: int, notes: list[dict[str, Any]]) -> None:
        plan = faults.plan
        self._plan, self._slot, self._notes = plan, slot, notes
        self._salt = f"{_RETRY}/{slot}"
        self._rate = plan.rates.get(_RETRY, 0.0)
        self._waiting = _singles(faults, slot)
        self._decode = registry.decoder(faults.protocol, faults.options).events
        self._most = int(faults.options.get("max_batch_size") or 0)
        self._number = self._offset = self._event = self._running = 0
        self._retries: deque[tuple[int, int, Message]] = deque()

    def altered(self, batches: Iterable[MessageBatch]) -> Iterator[MessageBatch]:
        for batch in batches:
            retried, due = self._retried(batch), self._due(batch)
            if due or self._retries or retried.any():
                yield of_messages(list(self._messages(list(batch.messages()), retried)))
                continue
            self._seek(self._event)
            events = int(numbers(batch.events).sum())
            self._event, self._running = self._event + events, self._running + events
            self._number, self._offset = self._number + len(batch), self._offset + len(batch)
            yield batch
        if self._retries:
            yield of_messages([self._again() for _ in range(len(self._retries))])

    def _stretches(self, batch: MessageBatch) -> Numbers:
        cut = self._plan.stretches
        return np.clip((numbers(batch.commit_ts) - cut.start) // cut.length, 0, cut.count - 1)

    def _retried(self, batch: MessageBatch) -> NDArray[np.bool_]:
        """Whether each message comes again."""
        if not self._rate or not len(batch):
            return np.zeros(len(batch), bool)
        drawn = drawn_numbers(self._plan.seed, self._salt, np.arange(self._number, self._number + len(batch)))
        hit = drawn < self._rate
        if batch.types is not None:
            hit &= np.array(batch.types.to_pylist()) == Kind.ROW.word
        hit &= ~np.isin(self._stretches(batch), list(self._plan.taken))
        return hit

    def _due(self, batch: MessageBatch) -> bool:
        """Whether a single fault may happen in the batch."""
        there = set(self._stretches(batch).tolist()) if self._waiting else ()
        return any(place in one.stretches for one in self._waiting for place in there)

    def _messages(self, messages: Sequence[Message], retried: NDArray[np.bool_]) -> Iterator[Message]:
        place = 0
        while place < len(messages):
            single = next((one for one in self._waiting if self._fits(one, messages[place])), None)
            changed = None if single is None else self._changed(single, messages[place:])
            if single is None or changed is None:
                used, sent = 1, [(messages[place], self._event)]
                if retried[place]:
                    later = drawn_number(self._plan.seed, self._salt, self._number) % _LATER
                    self._retries.append((self._number + later, self._event, messages[place]))
            else:
                self._waiting.remove(single)
                used, sent = changed
                self._note(single.trap, messages[place])
            for message, first_event in sent:
                yield self._sent(message, first_event)
            self._event += sum(message.events for message in messages[place : place + used])
            self._number += used
            place += used
            while self._retries and self._retries[0][0] < self._number:
                yield self._again()

    def _fits(self, single: Single, message: Message) -> bool:
        return (
            message.type == Kind.ROW.word and self._plan.stretches.of(message.commit_ts) in single.stretches
        )

    def _changed(
        self, single: Single, messages: Sequence[Message]
    ) -> tuple[int, list[tuple[Message, int]]] | None:
        """How many messages a fault concerns, and what becomes of them; None where it cannot happen here."""
        first, draw = messages[0], drawn_number(self._plan.seed, single.trap, single.number)
        match single.trap:
            case "lost-message":
                return 1, []
            case "poison":
                return 1, [(foreign(first), 0), (first, self._event)]
            case "corrupt-bytes" | "truncated":
                damage = corrupted if single.trap == "corrupt-bytes" else truncated
                damaged = damage(first, self._decode, draw)
                return None if damaged is None else (1, [(damaged, 0)])
            case "mixed-kinds":
                if len(messages) < 2 or messages[1].type == first.type:
                    return None
                return 2, [(joined(first, messages[1]), self._event)]
            case _:
                return self._oversized(messages)

    def _oversized(self, messages: Sequence[Message]) -> tuple[int, list[tuple[Message, int]]] | None:
        """As many messages of rows as come to more events than one may have."""
        whole = messages[0]
        for used, other in enumerate(messages[1:], start=2):
            if other.type != whole.type:
                return None
            whole = joined(whole, other)
            if whole.events > self._most:
                return used, [(whole, self._event)]
        return None

    def _again(self) -> Message:
        _, first_event, message = self._retries.popleft()
        self._note(_RETRY, message)
        return self._sent(message, first_event)

    def _sent(self, message: Message, first_event: int) -> Message:
        if message.events:
            self._seek(first_event)
        self._running += message.events
        self._offset += 1
        return message

    def _seek(self, event: int) -> None:
        if event != self._running:
            self._notes.append({"offset": self._offset, "event": event})
            self._running = event

    def _note(self, name: str, message: Message) -> None:
        self._notes.append({"trap": name, "offset": self._offset, "commit_ts": message.commit_ts})


def _singles(faults: MessageFaults, slot: int) -> list[Single]:
    """The illegal faults of one partition."""
    slots = len(faults.topics) * faults.partitions
    return [
        one
        for one in faults.plan.single
        if trap(one.trap).means == "message"
        and drawn_number(faults.plan.seed, f"slot/{one.trap}", one.number) % slots == slot
    ]
