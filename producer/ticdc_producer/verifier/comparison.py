"""Compares expected events with the delivered ones: missing, unexpected and out-of-order events.

Events are matched within their partition, by identity and by their columns (names, types, flags). More
copies than expected are duplicates, which at-least-once delivery allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.shuffle_codec import byte_strings
from ticdc_producer.model.column_functions import first_of_groups
from ticdc_producer.model.event_line import event_text
from ticdc_producer.verifier.events import (
    INDEX_BITS,
    NOTHING,
    EventKind,
    Events,
    FlagColumn,
    Int8Column,
    Int64Column,
    KeyedEvents,
    offset_and_index,
)
from ticdc_producer.verifier.fingerprint import Numbers
from ticdc_producer.verifier.passes.key_groups import highest_before, starts_of
from ticdc_producer.verifier.violations import EventID

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
MISSING, UNEXPECTED, OUT_OF_ORDER = "-", "+", "~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a comparison; all counts are numbers of events.

    :param duplicates: copies of an expected event beyond the expected number.
    :param out_of_order: events that come before an event that they were expected after.
    :param injected: illegal faults that a golden folder lists. Its expected events have them, too, so they
        are differences from the events of a correct stream.
    :param diff: examples: ``-`` missing, ``+`` unexpected, ``~`` out of order, ``!`` an injected fault.
    """

    expected: int
    missing: int
    unexpected: int
    duplicates: int
    out_of_order: int
    injected: int = 0
    diff: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not (self.missing or self.unexpected or self.out_of_order or self.injected)

    def to_json(self) -> dict[str, Any]:
        """The fields as keys, and ``ok``."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {"ok": self.ok, **fields, "diff": list(self.diff)}


@dataclass
class Differences:
    """Differences between expected and delivered events so far.

    :param examples: the first events of each kind of difference.
    """

    expected: int = 0
    missing: int = 0
    unexpected: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    examples: dict[str, list[EventID]] = field(default_factory=dict)

    def merge(self, others: Iterable[Differences]) -> None:
        """Add the differences of other groups."""
        for other in others:
            for name in ("expected", "missing", "unexpected", "duplicates", "out_of_order"):
                setattr(self, name, getattr(self, name) + getattr(other, name))
            for sign, found in other.examples.items():
                self.note(sign, found)

    def note(self, sign: str, found: list[EventID]) -> None:
        """Note events as examples of a kind of difference."""
        # The first ones of all partitions: a scenario is drawn anew up to the last one.
        self.examples[sign] = sorted([*self.examples.get(sign, []), *found], key=_by_offset)[:MAX_EXAMPLES]

    @property
    def expected_examples(self) -> list[EventID]:
        """The expected events that are examples."""
        return self.examples.get(MISSING, [])

    @property
    def delivered_examples(self) -> list[EventID]:
        """The delivered events that are examples."""
        return [event for sign, found in self.examples.items() if sign != MISSING for event in found]

    def comparison(
        self, expected: Mapping[EventID, dict[str, Any]], delivered: Mapping[EventID, dict[str, Any]]
    ) -> Comparison:
        """The result.

        :param expected: the expected events that are examples.
        :param delivered: the delivered ones.
        """
        lines = []
        for sign, found in self.examples.items():
            rows = expected if sign == MISSING else delivered
            for event, row in ((event, rows[event]) for event in found if event in rows):
                lines.append((row["commit_ts"] or 0, event[0], event[1], f"{sign} {event_text(row)}"))
        counts = ("expected", "missing", "unexpected", "duplicates", "out_of_order")
        return Comparison(
            **{name: getattr(self, name) for name in counts},
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
    expected: FlagColumn

    @classmethod
    def chosen(cls, events: Events, *, expected: bool) -> Self:
        """These columns of expected or delivered events."""
        return cls.part_of(events, expected=np.full(len(events), expected))


def match(events: ComparedEvents) -> tuple[Differences, pa.RecordBatch]:
    """Match expected and delivered events.

    :param events: both, in whole groups of equal ``key``.
    :return: the differences but for the order, and the matched events (:data:`MATCHED`).
    """
    compared = events.take((events.kind != EventKind.ERROR) & (events.kind != EventKind.LEFT_KEY))
    codes, topics = compared.topics
    keys = (codes, compared.partition, compared.key, compared.key_check, compared.identity, compared.shape)
    order = np.lexsort((compared.position, compared.expected, *reversed(keys)))
    starts = starts_of(*(key[order] for key in keys))
    at = np.flatnonzero(starts)
    if not len(at):
        return Differences(), pa.RecordBatch.from_pylist([], schema=MATCHED)
    is_expected = compared.expected[order].astype(np.int64)
    sizes = np.diff(at, append=len(order))
    wanted = np.add.reduceat(is_expected, at)
    delivered = sizes - wanted
    # Within a group the delivered events come first, each kind in the order of its position.
    position, topic, partition = (column[order] for column in (compared.position, codes, compared.partition))
    first_delivered, first_wanted = position[at], position[np.minimum(at + delivered, len(order) - 1)]
    found = Differences(
        expected=int(wanted.sum()),
        missing=int(np.maximum(wanted - delivered, 0).sum()),
        unexpected=int(delivered[wanted == 0].sum()),
        duplicates=int(np.maximum(delivered - wanted, 0)[wanted > 0].sum()),
    )

    def note(sign: str, groups: Numbers, positions: Numbers) -> None:
        first = groups[np.lexsort((partition[at[groups]], topic[at[groups]], positions[groups]))]
        found.note(
            sign,
            [
                (
                    topics[topic[at[group]]],
                    int(partition[at[group]]),
                    *offset_and_index(int(positions[group])),
                )
                for group in first[:MAX_EXAMPLES].tolist()
            ],
        )

    note(MISSING, np.flatnonzero(wanted > delivered), first_wanted)
    note(UNEXPECTED, np.flatnonzero(wanted == 0), first_delivered)
    both = np.flatnonzero((wanted > 0) & (delivered > 0))
    of_event = topic[at[both]], partition[at[both]]
    return found, _windows(topics, *of_event, first_wanted[both], first_delivered[both])


def _windows(
    topics: Sequence[str], topic: Numbers, partition: Numbers, expected: Numbers, delivered: Numbers
) -> pa.RecordBatch:
    """Matched events as :data:`MATCHED`."""
    window = expected >> _WINDOW_BITS
    order = np.lexsort((window, partition, topic))
    topic, partition, window = topic[order], partition[order], window[order]
    positions = np.stack([expected[order], delivered[order]], axis=1)
    starts = np.flatnonzero(starts_of(topic, partition, window))
    columns = (
        pa.array([topics[code] for code in topic[starts].tolist()], pa.string()),
        pa.array(partition[starts]),
        pa.array(window[starts]),
        byte_strings(positions, starts),
    )
    return pa.record_batch([*columns], schema=MATCHED)


class DeliveryOrder:
    """Compares the order of matched events with the expected order, batch by batch."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, int], int] = {}

    def add(self, matched: pa.RecordBatch) -> Differences:
        """Find the events that were delivered before one that they were expected after.

        :param matched: :data:`MATCHED` in the order of :data:`WINDOW`, whole windows.
        """
        found = Differences()
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
            found.out_of_order += len(late)
            first_late = np.sort(delivered[late])[:MAX_EXAMPLES].tolist()
            found.note(OUT_OF_ORDER, [(*name, *offset_and_index(one)) for one in first_late])
        return found
