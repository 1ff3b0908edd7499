"""Compares expected events with the delivered ones: missing, unexpected and out-of-order events.

Events are matched within their partition, by identity and by their columns (names, types, flags). More
copies than expected are duplicates, which at-least-once delivery allows. A matched event is different if its
bytes have another digest than those of the expected event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Self

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.shuffle_codec import byte_strings
from ticdc_producer.model.column_functions import (
    Flags,
    Numbers,
    first_of_groups,
    highest_before,
    sorted_groups,
)
from ticdc_producer.model.event_line import DecodedRow, event_location, event_text
from ticdc_producer.model.fingerprint import combined
from ticdc_producer.verifier.events import (
    INDEX_BITS,
    NOTHING,
    EventID,
    EventKind,
    Events,
    FlagColumn,
    Int8Column,
    Int64Column,
    KeyedEvents,
    offset_and_index,
)

MAX_EXAMPLES = 5
"""Maximum number of examples of each kind of difference."""
MATCHED = pa.schema(
    [("topic", pa.string()), ("partition", pa.int64()), ("window", pa.int64()), ("positions", pa.binary())]
)
"""Matched events of which the expected ones are near each other: for each the position of the first expected
one and of the first delivered one."""
WINDOW = ("topic", "partition", "window")
"""The columns of :data:`MATCHED` that order it."""
_WINDOW_BITS = INDEX_BITS + 16
MISSING, UNEXPECTED, OUT_OF_ORDER, DIFFERENT = "-", "+", "~", "≠"
_COUNTS = ("expected", "missing", "unexpected", "different", "duplicates", "out_of_order")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a comparison; all counts are numbers of events.

    :param different: events that came, in messages that TiCDC would have written otherwise.
    :param duplicates: copies of an expected event beyond the expected number.
    :param out_of_order: events that come before an event that they were expected after.
    :param injected: illegal faults that a golden folder lists. Its expected events have them, too, so they
        are differences from the events of a correct stream.
    :param diff: examples: ``-`` missing, ``+`` unexpected, ``≠`` different, ``~`` out of order, ``!`` an
        injected fault.
    :param not_compared: the parts of messages that were not compared, with the reasons.
    """

    expected: int
    missing: int
    unexpected: int
    duplicates: int
    out_of_order: int
    different: int = 0
    injected: int = 0
    diff: tuple[str, ...] = ()
    not_compared: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        differences = self.missing, self.unexpected, self.different, self.out_of_order, self.injected
        return not any(differences)

    def to_json(self) -> dict[str, object]:
        """Return the fields as keys, and ``ok``."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {
            "ok": self.ok,
            **fields,
            "diff": list(self.diff),
            "not_compared": sorted(self.not_compared),
            "not_compared_because": dict(self.not_compared),
        }


@dataclass
class Differences:
    """Differences between expected and delivered events so far.

    :param examples: the first events of each kind of difference.
    :param partners: of the delivered events that are examples of ``≠``, the expected events.
    """

    expected: int = 0
    missing: int = 0
    unexpected: int = 0
    different: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    partners: dict[EventID, EventID] = field(default_factory=dict)
    examples: dict[str, list[EventID]] = field(default_factory=dict)

    def merge(self, others: Iterable[Differences]) -> None:
        """Add the differences of other groups."""
        for other in others:
            for name in _COUNTS:
                setattr(self, name, getattr(self, name) + getattr(other, name))
            self.partners |= other.partners
            for sign, events in other.examples.items():
                self.add_examples(sign, events)

    def add_examples(self, sign: str, events: list[EventID]) -> None:
        """Add examples of a kind of difference."""
        # The first ones of all partitions, because the scenario is generated again up to the last one.
        self.examples[sign] = sorted([*self.examples.get(sign, []), *events], key=_by_offset)[:MAX_EXAMPLES]
        if sign == DIFFERENT:
            self.partners = {event: self.partners[event] for event in self.examples[sign]}

    @property
    def expected_examples(self) -> list[EventID]:
        """The expected events that are examples."""
        return self.examples.get(MISSING, [])

    @property
    def delivered_examples(self) -> list[EventID]:
        """The delivered events that are examples."""
        return [event for sign, events in self.examples.items() if sign != MISSING for event in events]

    def comparison(
        self,
        expected: Mapping[EventID, DecodedRow],
        delivered: Mapping[EventID, DecodedRow],
        members: Mapping[EventID, str] = MappingProxyType({}),
    ) -> Comparison:
        """Return the result.

        :param expected: the expected events that are examples.
        :param delivered: the delivered ones.
        :param members: of those that are different, the members that differ, as text.
        """
        lines = []
        for sign, events in self.examples.items():
            rows = expected if sign == MISSING else delivered
            for event, row in ((event, rows[event]) for event in events if event in rows):
                text = event_text(row)
                if sign == DIFFERENT:
                    text = f"{event_location(row)}: {members.get(event, 'its bytes')}"
                lines.append((row["commit_ts"] or 0, event[0], event[1], f"{sign} {text}"))
        return Comparison(
            **{name: getattr(self, name) for name in _COUNTS},
            diff=tuple(line for *_, line in sorted(lines, key=lambda line: line[:3])),
        )


def _by_offset(event: EventID) -> tuple[int, int, str, int]:
    topic, partition, offset, index = event
    return offset, index, topic, partition


@dataclass(frozen=True, kw_only=True)
class ComparedEvents(KeyedEvents):
    """Expected and delivered events with what decides whether they match; columns as in ``Events``.

    :param expected: an expected event; not one that was read.
    """

    kind: Int8Column
    identity: Int64Column
    shape: Int64Column
    wire: Int64Column
    expected: FlagColumn

    @classmethod
    def of_events(cls, events: Events, *, expected: bool) -> Self:
        """Return the compared columns of expected or delivered events."""
        return cls.part_of(events, expected=np.full(len(events), expected))


def match(events: ComparedEvents) -> tuple[Differences, pa.RecordBatch]:
    """Match expected and delivered events.

    >>> columns = {"position": np.arange(3) << INDEX_BITS, "expected": [True, False, False]}
    >>> differences, matched = match(ComparedEvents.with_columns(3, **columns))
    >>> positions = np.frombuffer(matched.column("positions")[0].as_py(), np.int64) >> INDEX_BITS
    >>> positions.tolist(), differences.duplicates
    ([0, 1], 1)

    :param events: both, in whole groups of equal ``key``.
    :return: the differences but for the order, and the matched events (:data:`MATCHED`).
    """
    compared = events.take((events.kind != EventKind.ERROR) & (events.kind != EventKind.OLD_KEY))
    codes, topics = compared.topics
    keys = (codes, compared.partition, compared.key, compared.key_check, compared.identity, compared.shape)
    order, starts = sorted_groups(keys, compared.expected, compared.position)
    at = np.flatnonzero(starts)
    if not len(at):
        return Differences(), pa.RecordBatch.from_pylist([], schema=MATCHED)
    is_expected = compared.expected[order].astype(np.int64)
    sizes = np.diff(at, append=len(order))
    expected_count = np.add.reduceat(is_expected, at)
    delivered = sizes - expected_count
    # Within a group the delivered events come first, each kind in the order of its position.
    position, topic, partition = (column[order] for column in (compared.position, codes, compared.partition))
    first_delivered, first_expected = position[at], position[np.minimum(at + delivered, len(order) - 1)]
    differences = Differences(
        expected=int(expected_count.sum()),
        missing=int(np.maximum(expected_count - delivered, 0).sum()),
        unexpected=int(delivered[expected_count == 0].sum()),
        duplicates=int(np.maximum(delivered - expected_count, 0)[expected_count > 0].sum()),
    )

    def first_events(rows: Numbers, positions: Numbers) -> tuple[Numbers, list[EventID]]:
        first = np.lexsort((partition[rows], topic[rows], positions))[:MAX_EXAMPLES]
        return first, _event_ids(topics, topic[rows[first]], partition[rows[first]], positions[first])

    missing, unexpected = np.flatnonzero(expected_count > delivered), np.flatnonzero(expected_count == 0)
    differences.add_examples(MISSING, first_events(at[missing], first_expected[missing])[1])
    differences.add_examples(UNEXPECTED, first_events(at[unexpected], first_delivered[unexpected])[1])
    group = np.repeat(np.arange(len(at)), sizes)
    different = _different(compared.wire[order], group, is_expected.astype(bool))
    differences.different = len(different)
    if len(different):
        first, events_of = first_events(different, position[different])
        rows = different[first]
        partners = _event_ids(topics, topic[rows], partition[rows], first_expected[group[rows]])
        differences.partners |= dict(zip(events_of, partners, strict=True))
        differences.add_examples(DIFFERENT, events_of)
    both = np.flatnonzero((expected_count > 0) & (delivered > 0))
    of_event = topic[at[both]], partition[at[both]]
    return differences, _windows(topics, *of_event, first_expected[both], first_delivered[both])


def _event_ids(topics: Sequence[str], topic: Numbers, partition: Numbers, position: Numbers) -> list[EventID]:
    columns = (topic.tolist(), partition.tolist(), position.tolist())
    return [(topics[code], number, *offset_and_index(at)) for code, number, at in zip(*columns, strict=True)]


def _different(wire: Numbers, group: Numbers, expected: Flags) -> Numbers:
    """Return the delivered events whose bytes are those of no expected event of their group.

    >>> wire, group = np.array([5, 6, 5, 7, 0]), np.array([0, 0, 0, 1, 1])
    >>> _different(wire, group, np.array([False, False, True, False, True])).tolist()
    [1]

    :param wire: 0 if the bytes of the event are unknown.
    :param group: its number, from 0.
    """
    known = np.ones(int(group.max(initial=-1)) + 1, bool)
    known[group[expected & (wire == 0)]] = False
    known[group] &= np.bincount(group, expected, minlength=len(known))[group] > 0
    candidates = np.flatnonzero(~expected & (wire != 0) & known[group])
    own, others = (combined(group[rows], wire[rows]) for rows in (candidates, np.flatnonzero(expected)))
    missing: Flags = ~np.isin(own, others)
    return candidates[missing]


def _windows(
    topics: Sequence[str], topic: Numbers, partition: Numbers, expected: Numbers, delivered: Numbers
) -> pa.RecordBatch:
    """Return matched events as :data:`MATCHED`; consecutive pairs of a window are one row.

    >>> zero, positions = np.zeros(2, np.int64), np.array([4, 5])
    >>> windows = _windows(["t"], zero, zero, positions, positions + 1)
    >>> windows.num_rows, np.frombuffer(windows.column("positions")[0].as_py(), np.int64).tolist()
    (1, [4, 5, 5, 6])
    """
    window = expected >> _WINDOW_BITS
    order, starts = sorted_groups((topic, partition, window))
    topic, partition, window = topic[order], partition[order], window[order]
    positions = np.stack([expected[order], delivered[order]], axis=1)
    columns = (
        pa.array([topics[code] for code in topic[starts].tolist()], pa.string()),
        pa.array(partition[starts]),
        pa.array(window[starts]),
        byte_strings(positions, np.flatnonzero(starts)),
    )
    return pa.record_batch([*columns], schema=MATCHED)


class DeliveryOrder:
    """The order of matched events, compared with the expected order batch by batch."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, int], int] = {}

    def add(self, matched: pa.RecordBatch) -> Differences:
        """Find the events that were delivered before one that they were expected after.

        >>> zero, expected, delivered = np.zeros(3, np.int64), np.array([0, 1, 2]), np.array([0, 2, 1])
        >>> DeliveryOrder().add(_windows(["t"], zero, zero, expected, delivered)).out_of_order
        1

        :param matched: :data:`MATCHED` in the order of :data:`WINDOW`, whole windows.
        """
        differences = Differences()
        positions = matched.column("positions").to_pylist()
        starts = np.flatnonzero(first_of_groups(matched, WINDOW[:2]))
        for start, end in pairwise([*starts.tolist(), len(positions)]):
            name = matched.column("topic")[start].as_py(), matched.column("partition")[start].as_py()
            pairs = np.frombuffer(b"".join(positions[start:end]), np.int64).reshape(-1, 2)
            delivered = pairs[np.argsort(pairs[:, 0]), 1]
            first = np.zeros(len(delivered), bool)
            first[0] = True
            before = np.maximum(highest_before(delivered, first)[0], self._latest.get(name, NOTHING))
            late = np.flatnonzero(before > delivered)
            self._latest[name] = max(int(delivered.max()), int(before[0]))
            differences.out_of_order += len(late)
            first_late = np.sort(delivered[late])[:MAX_EXAMPLES].tolist()
            differences.add_examples(
                OUT_OF_ORDER, [(*name, *offset_and_index(position)) for position in first_late]
            )
        return differences
