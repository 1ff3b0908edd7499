"""The occurrences of faults in a stream, and their counts.

An occurrence has the trap, topic, partition, the offsets ``offset`` to ``until`` of its messages, how many
events it concerns, and their lowest commit-ts. A redelivered segment is one fault in each partition. An event
that a fault removed has the offset of the next message, NULL at the end of a partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NotRequired, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.event_traps import SegmentTrap, integers
from ticdc_producer.faults.illegal_event import DROPPED
from ticdc_producer.faults.trap import ChangefeedTrap
from ticdc_producer.faults.traps.messages import Poison
from ticdc_producer.model.column_functions import filtered
from ticdc_producer.model.event import DAMAGE, DAMAGE_LABEL, ROW_ELSEWHERE, MessageNote
from ticdc_producer.model.shapes import EventBatch, EventOffsetBatch
from ticdc_producer.protocols.arrow_text import as_int64
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.job import Job
from ticdc_producer.targets.encode_partition import FaultRow

MAX_UNMET = 10
"""Recorded faults without an event that a report lists."""


class FaultCount(TypedDict):
    """The number of occurrences (``places``) of a trap in a run.

    :ivar reason: why there is none.
    """

    trap: str
    legal: bool
    places: int
    reason: NotRequired[str]


@dataclass
class UnmetFaults:
    """The recorded faults of which the stream lacks the event.

    :ivar count: their number.
    :ivar examples: the first of them: trap, and topic, partition and offset of the recorded message.
    """

    count: int = 0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def add(self, others: Sequence[UnmetFaults]) -> None:
        """Add those of other parts."""
        self.count += sum(other.count for other in others)
        self.examples = sorted(pair for other in (self, *others) for pair in other.examples)[:MAX_UNMET]

    def to_json(self) -> dict[str, object]:
        """Return the number, and the first ones as objects with ``trap`` and ``recorded``."""
        first = [{"trap": trap, "recorded": origin} for trap, origin in self.examples]
        return {"count": self.count, "first": first}


@dataclass(frozen=True)
class FaultSummary:
    """The faults that one run injected.

    :param counts: for each trap its id, whether it is legal, and its number of occurrences (``places``).
    :param occurrences: the first occurrences.
    :param unmet: the recorded faults of which the stream lacks the event.
    """

    counts: tuple[FaultCount, ...] = ()
    occurrences: tuple[FaultRow, ...] = ()
    unmet: UnmetFaults = field(default_factory=UnmetFaults)


@dataclass
class PartitionFaults:
    """The faults of one partition, collected while its events pass.

    :ivar _events: by event ordinal, the trap, restart epoch and commit-ts of each event with a fault.
    :ivar _offsets: the offsets of the messages that carry such an event, by event ordinal.
    :ivar _damages: the damaged messages of a recorded topic.
    """

    topic: str
    partition: int
    _sent: int = 0
    _events: dict[int, list[tuple[str, int, int]]] = field(default_factory=dict)
    _offsets: dict[int, list[int]] = field(default_factory=dict)
    _damages: list[MessageNote] = field(default_factory=list)

    def sent(self, faulted_events: Iterable[EventBatch]) -> Iterator[EventBatch]:
        """Yield the events without those that faults removed.

        The kinds ``[row, DROPPED, row]`` have the ordinals 0, 1 and 1: a fault of the dropped event has the
        ordinal of the event after it.

        >>> columns = {"kind": [1, DROPPED, 1], "fault": [None, "lost", None], "restart_epoch": [0] * 3}
        >>> batch, faults = pa.record_batch(columns | {"commit_ts": [5, 6, 7]}), PartitionFaults("t", 0)
        >>> [events["commit_ts"].to_pylist() for events in faults.sent([batch])], faults._events
        ([[5, 7]], {1: [('lost', 0, 6)]})

        :param faulted_events: the events of the partition in delivery order, with at least the columns
            ``kind``, ``fault``, ``restart_epoch`` and ``commit_ts`` of ``EVENT_STREAM``.
        :return: the same columns and order.
        """
        for events in faulted_events:
            kinds = integers(events, "kind")
            in_stream, in_messages = kinds != DROPPED, ~np.isin(kinds, [DROPPED, ROW_ELSEWHERE, DAMAGE])
            ordinals = self._sent + np.cumsum(in_messages) - in_messages
            self._sent += int(in_messages.sum())
            has_fault = events.column("fault").is_valid().to_numpy(zero_copy_only=False)
            faulty = np.flatnonzero(has_fault & (kinds != DAMAGE))  # which messages note
            rows = events.select(["fault", "restart_epoch", "commit_ts"]).take(pa.array(faulty)).to_pylist()
            for row, ordinal in zip(rows, ordinals[faulty].tolist(), strict=True):
                fault = row["fault"], row["restart_epoch"], row["commit_ts"]
                self._events.setdefault(ordinal, []).append(fault)
            yield filtered(events, in_stream)

    def record_offsets(self, offsets: EventOffsetBatch) -> None:
        """Record which messages carry the events that passed.

        :param offsets: shape ``EVENT_OFFSETS``.
        """
        ordinals = integers(offsets, "event_ordinal")
        concerned = pa.array(np.isin(ordinals, np.fromiter(self._events, np.int64)))
        positions = offsets.filter(concerned)
        for ordinal, offset in zip(
            *(positions.column(n).to_pylist() for n in ("event_ordinal", "offset")), strict=True
        ):
            self._offsets.setdefault(ordinal, []).append(offset)

    def record_messages(self, batch: MessageBatch, first_offset: int) -> None:
        """Record the damaged messages of a recorded topic."""
        if batch.types is None or not pc.any(pc.equal(batch.types, DAMAGE_LABEL)).as_py():
            return
        rows = np.flatnonzero(pc.equal(batch.types, DAMAGE_LABEL).to_numpy(zero_copy_only=False))
        times = as_int64(batch.commit_ts)[rows]
        self._damages += [
            MessageNote(trap=Poison.id, offset=first_offset + row, commit_ts=ts)
            for row, ts in zip(rows.tolist(), times.tolist(), strict=True)
        ]

    def occurrences(self, message_faults: Iterable[MessageNote]) -> list[FaultRow]:
        """Return the faults of the partition, in order.

        :param message_faults: those of messages, with ``trap``, ``offset`` and ``commit_ts``.
        """
        redelivered: dict[tuple[str, int], list[tuple[int | None, int]]] = {}
        occurrences = [
            self._occurrence(fault["trap"], [(fault["offset"], fault["commit_ts"])])
            for fault in (*message_faults, *self._damages)
        ]
        for ordinal, faults in self._events.items():
            offsets: list[int | None] = [*self._offsets.get(ordinal, ())] or [None]
            for (fault, epoch, commit_ts), offset in product(faults, offsets):
                if isinstance(trap(fault), SegmentTrap):
                    redelivered.setdefault((fault, epoch), []).append((offset, commit_ts))
                else:
                    occurrences.append(self._occurrence(fault, [(offset, commit_ts)]))
        occurrences += [self._occurrence(fault, events) for (fault, _), events in redelivered.items()]
        return occurrences_in_order(occurrences)

    def identities(self, message_faults: Iterable[MessageNote]) -> dict[str, frozenset[int]]:
        """Return a number for each illegal fault and for each segment with a fault, by trap.

        All events of a fault share a commit-ts. Illegal faults never share a segment, so the commit-ts
        identifies a fault of a trap.
        """
        numbers: dict[str, set[int]] = {}
        for fault in (*message_faults, *self._damages):
            if not trap(fault["trap"]).legal:
                numbers.setdefault(fault["trap"], set()).add(fault["commit_ts"])
        for name, epoch, commit_ts in (fault for faults in self._events.values() for fault in faults):
            if isinstance(trap(name), SegmentTrap):
                numbers.setdefault(name, set()).add(epoch // 2)
            elif not trap(name).legal:
                numbers.setdefault(name, set()).add(commit_ts)
        return {name: frozenset(of_trap) for name, of_trap in numbers.items()}

    def _occurrence(self, fault: str, events: list[tuple[int | None, int]]) -> FaultRow:
        offsets = [offset for offset, _ in events if offset is not None]
        return {
            "trap": fault,
            "topic": self.topic,
            "partition": self.partition,
            "offset": min(offsets, default=None),
            "until": max(offsets, default=None),
            "events": len(events),
            "commit_ts": min(commit_ts for _, commit_ts in events),
        }


def occurrences_in_order(occurrences: Iterable[FaultRow]) -> list[FaultRow]:
    """Sort occurrences by topic, partition, commit-ts, offset and trap."""

    def key(occurrence: FaultRow) -> tuple[str, int, int, int, str]:
        offset = -1 if occurrence["offset"] is None else occurrence["offset"]
        return (
            occurrence["topic"],
            occurrence["partition"],
            occurrence["commit_ts"],
            offset,
            occurrence["trap"],
        )

    return sorted(occurrences, key=key)


def summarize_faults(
    job: Job, occurrences: Sequence[FaultRow], counted: Mapping[str, int], counts: Counts
) -> FaultSummary:
    """Return the number of occurrences of each trap of a run, possibly 0, and the first occurrences.

    :param counted: the numbers by trap, of faults of events and messages.
    :param counts: the counts of the stream, which show what settings of the changefeed caused.
    """
    names = [*job.traps, *sorted(counted.keys() - job.traps.keys())]  # a recording has traps of its own
    numbers = {
        name: counted.get(name, 0) for name in names if trap(name).mechanism in ("event", "message")
    } | _effects(job, counts)
    of_traps = tuple(_fault_count(job, name, numbers[name]) for name in names if name in numbers)
    return FaultSummary(of_traps, tuple(occurrences))


def uninjected_summary(job: Job, counts: Counts) -> FaultSummary:
    """Return the traps without an occurrence in a stream whose faults were not counted.

    :param counts: the counts of the stream.
    """
    missing = [name for name, count in _effects(job, counts).items() if not count]
    return FaultSummary(tuple(_fault_count(job, name, 0) for name in (*job.not_injected, *missing)))


def _effects(job: Job, counts: Counts) -> dict[str, int]:
    """Return the number of occurrences of each trap that a setting of the changefeed produces."""
    of_settings = ((name, trap(name)) for name in job.traps)
    return {
        name: counts.effects(entry.effect)
        for name, entry in of_settings
        if isinstance(entry, ChangefeedTrap) and entry.effect is not None
    }


def _fault_count(job: Job, name: str, count: int) -> FaultCount:
    number = FaultCount(trap=name, legal=trap(name).legal, places=count)
    if count == 0:
        number["reason"] = job.not_injected.get(name) or _reason_in_large_stream(job, name)
    return number


def _reason_in_large_stream(job: Job, name: str) -> str:
    """Return why a trap has no occurrence in a stream whose positions were not counted."""
    requires = trap(name).requires or "a row event"
    if isinstance(trap(name), ChangefeedTrap):
        return f"the stream lacks what it requires: {requires}"
    rate = job.traps[name].rate
    if rate is not None and trap(name).legal:
        return f"the rate {rate:g} drew no position, or the stream lacks what the trap requires: {requires}"
    return f"the positions that were drawn lack what it requires: {requires}"
