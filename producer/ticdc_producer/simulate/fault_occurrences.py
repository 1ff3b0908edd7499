"""Where the faults of a run happened: one object per occurrence.

An occurrence has the trap, topic, partition, the offsets ``offset`` to ``until`` of its messages, how many
events it concerns, and their lowest commit-ts. A redelivered segment is one fault in each partition. An event
that a fault removed has the offset of the next message, NULL at the end of a partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.event_columns import integers
from ticdc_producer.faults.event_traps import SegmentTrap
from ticdc_producer.faults.illegal_event import DROPPED
from ticdc_producer.simulate.job import Job


@dataclass(frozen=True)
class FaultSummary:
    """The faults that one run injected.

    :param counts: for each trap its id, whether it is legal, and its number of occurrences (``places``).
    :param occurrences: the first occurrences.
    """

    counts: tuple[dict[str, Any], ...] = ()
    occurrences: tuple[dict[str, Any], ...] = ()


@dataclass
class PartitionFaults:
    """The faults of one partition, collected while its events pass.

    :ivar _events: by event ordinal, the trap, restart epoch and commit-ts of each event with a fault.
    :ivar _offsets: the offsets of the messages that carry such an event, by event ordinal.
    """

    topic: str
    partition: int
    _sent: int = 0
    _events: dict[int, list[tuple[str, int, int]]] = field(default_factory=dict)
    _offsets: dict[int, list[int]] = field(default_factory=dict)

    def sent(self, faulted_events: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The events without those that faults removed.

        :param faulted_events: the events of the partition in delivery order, with at least the columns
            ``kind``, ``fault``, ``restart_epoch`` and ``commit_ts`` of ``EVENT_STREAM``.
        :return: the same columns and order.
        """
        for events in faulted_events:
            in_stream = integers(events, "kind") != DROPPED
            ordinals = self._sent + np.cumsum(in_stream) - in_stream
            self._sent += int(in_stream.sum())
            faulty = np.flatnonzero(events.column("fault").is_valid().to_numpy(zero_copy_only=False))
            rows = events.select(["fault", "restart_epoch", "commit_ts"]).take(pa.array(faulty)).to_pylist()
            for row, ordinal in zip(rows, ordinals[faulty].tolist(), strict=True):
                fault = row["fault"], row["restart_epoch"], row["commit_ts"]
                self._events.setdefault(ordinal, []).append(fault)
            yield events if in_stream.all() else events.filter(pa.array(in_stream))

    def carried(self, offsets: pa.RecordBatch) -> None:
        """Record which messages carry the events that passed.

        :param offsets: shape ``EVENT_OFFSETS``.
        """
        ordinals = integers(offsets, "event_ordinal")
        concerned = pa.array(np.isin(ordinals, np.fromiter(self._events, np.int64)))
        found = offsets.filter(pc.and_(concerned, offsets.column("offset").is_valid()))
        for ordinal, offset in zip(
            *(found.column(n).to_pylist() for n in ("event_ordinal", "offset")), strict=True
        ):
            self._offsets.setdefault(ordinal, []).append(offset)

    def occurrences(self, message_faults: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the faults of the partition, in order.

        :param message_faults: those of messages, with ``trap``, ``offset`` and ``commit_ts``.
        """
        redelivered: dict[tuple[str, int], list[tuple[int | None, int]]] = {}
        found = [self._occurrence(one["trap"], [(one["offset"], one["commit_ts"])]) for one in message_faults]
        for ordinal, faults in self._events.items():
            offsets: list[int | None] = [*self._offsets.get(ordinal, ())] or [None]
            for (fault, epoch, commit_ts), offset in product(faults, offsets):
                if isinstance(trap(fault), SegmentTrap):
                    redelivered.setdefault((fault, epoch), []).append((offset, commit_ts))
                else:
                    found.append(self._occurrence(fault, [(offset, commit_ts)]))
        found += [self._occurrence(fault, events) for (fault, _), events in redelivered.items()]
        return occurrences_in_order(found)

    def _occurrence(self, fault: str, events: list[tuple[int | None, int]]) -> dict[str, Any]:
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


def occurrences_in_order(occurrences: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Occurrences by topic, partition, commit-ts, offset and trap."""

    def key(one: dict[str, Any]) -> tuple[Any, ...]:
        offset = -1 if one["offset"] is None else one["offset"]
        return one["topic"], one["partition"], one["commit_ts"], offset, one["trap"]

    return sorted(occurrences, key=key)


def summarize_faults(
    job: Job, occurrences: Sequence[Mapping[str, Any]], counted: Mapping[str, int]
) -> FaultSummary:
    """Return the number of occurrences of each trap of a run, possibly 0, and the first occurrences.

    :param counted: the numbers by trap.
    """
    counts = tuple(
        {"trap": name, "legal": trap(name).legal, "places": counted.get(name, 0)}
        for name in job.traps
        if trap(name).mechanism in ("event", "message")
    )
    return FaultSummary(counts, tuple(dict(fault) for fault in occurrences))
