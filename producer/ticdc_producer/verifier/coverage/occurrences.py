"""TrapOccurrences of features in the rows of views, and of the traps that consist of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.shuffle_codec import numbered_texts
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.trap_coverage import CoverageRule, Feature, View
from ticdc_producer.verifier.coverage.conditions import ViewColumns, condition, constant
from ticdc_producer.verifier.events import EventColumns, offset_and_index

Constants: TypeAlias = Mapping[str, str | int | bool | None]
_NO_CONSTANTS: Constants = {}
Position: TypeAlias = tuple[str, int, int]
"""Topic, partition and ``events.positions`` of an event."""


@dataclass(frozen=True)
class TrapOccurrences:
    """The occurrences of a trap, or of one of its features.

    :param count: number of events, or of groups of events for features of groups.
    :param first: topic, partition, offset and index of the first one.
    """

    count: int
    first: tuple[str, int, int, int]

    @property
    def location(self) -> str:
        """The first one as ``topic/partition@offset[index]``."""
        topic, partition, offset, index = self.first
        return f"{topic}/{partition}@{offset}[{index}]"


@dataclass(frozen=True)
class ViewEvents:
    """The locations of the rows of a view: the position of their event, or of the first event of their group.

    :param names: the topics.
    :param topic: number of each row's topic in ``names``, in the order of the names.
    :param position: see ``events.positions``.
    """

    names: Sequence[str]
    topic: Numbers
    partition: Numbers
    position: Numbers

    @classmethod
    def of(cls, topic: pa.Array, partition: Numbers, position: Numbers) -> ViewEvents:
        """Return positions of events."""
        topics, names = numbered_texts(topic)
        return cls(names, topics, partition, position)

    @classmethod
    def of_events(cls, events: EventColumns) -> ViewEvents:
        """Return the positions of events."""
        topics, names = events.topics
        return cls(names, topics, events.partition, events.position)

    def __len__(self) -> int:
        return len(self.position)

    def take(self, rows: Numbers) -> ViewEvents:
        """Return some of the positions, by number."""
        return ViewEvents(self.names, self.topic[rows], self.partition[rows], self.position[rows])

    def first(self) -> Position:
        """Return the lowest position of at least one."""
        rows = np.arange(len(self))
        for column in (self.topic, self.partition, self.position):
            values = column[rows]
            rows = rows[values == values.min()]
        row = int(rows[0])
        return self.names[self.topic[row]], int(self.partition[row]), int(self.position[row])

    def occurrences(self) -> TrapOccurrences:
        """Return the occurrences of a feature that all rows have; they are at least one."""
        topic, partition, position = self.first()
        return TrapOccurrences(len(self), (topic, partition, *offset_and_index(position)))


@dataclass
class FeatureCounts:
    """The features that a part of the stream has: at most one entry per feature and column of the tables.

    :param features: what is searched for.
    :ivar counts: the occurrences by (feature, scope).
    """

    features: tuple[Feature, ...]
    counts: dict[tuple[Feature, str], TrapOccurrences] = field(default_factory=dict)
    _possible: dict[tuple[object, ...], list[Feature]] = field(default_factory=dict, init=False)

    def needs(self, *views: View) -> bool:
        """Return whether a feature is one of some views."""
        return any(feature.view in views for feature in self.features)

    def add(
        self,
        view: View,
        events: ViewEvents,
        columns: ViewColumns,
        constants: Constants = _NO_CONSTANTS,
        scope: str = "",
    ) -> None:
        """Count the features of some rows.

        :param events: where the rows are.
        :param columns: the other columns that conditions may use.
        :param constants: the columns with one value in all rows, which exclude most features at once.
        :param scope: the column of a table whose values the rows have; empty for other views.
        """
        if not len(events):
            return
        for feature in self._features(view, constants):
            holds = condition(feature)(_WithConstants(constants, columns))
            rows = np.flatnonzero(_flags(holds, len(events)))
            if len(rows):
                self._add(feature, scope, events.take(rows).occurrences())

    def merge(self, others: Iterable[FeatureCounts]) -> None:
        """Add the counts of other parts of the stream."""
        for other in others:
            for (feature, scope), occurrences in other.counts.items():
                self._add(feature, scope, occurrences)

    def _add(self, feature: Feature, scope: str, more: TrapOccurrences) -> None:
        known = self.counts.get((feature, scope))
        self.counts[feature, scope] = more if known is None else _sum([known, more])

    def _features(self, view: View, constants: Constants) -> list[Feature]:
        """Return the features that rows with these constants may have."""
        key = view, *constants.items()
        if key not in self._possible:
            of_view = [feature for feature in self.features if feature.view == view]
            self._possible[key] = [feature for feature in of_view if _is_possible(feature, constants)]
        return self._possible[key]


@dataclass(frozen=True)
class _WithConstants:
    constants: Constants
    columns: ViewColumns

    def __getitem__(self, name: str) -> pa.Array | pa.Scalar:
        return constant(self.constants[name]) if name in self.constants else self.columns[name]


def _is_possible(feature: Feature, constants: Constants) -> bool:
    try:
        return condition(feature)(_WithConstants(constants, {})).as_py() is True
    except KeyError:  # it depends on a column that is not constant
        return True


def _flags(holds: pa.Array | pa.Scalar, rows: int) -> Flags:
    if isinstance(holds, pa.Scalar):
        return np.full(rows, holds.as_py() is True)
    flags: Flags = pc.fill_null(holds, False).to_numpy(zero_copy_only=False)
    return flags


def trap_occurrences(
    rule: CoverageRule, counts: Mapping[tuple[Feature, str], TrapOccurrences]
) -> TrapOccurrences | None:
    """Return the occurrences of a trap; None if it is not exercised.

    :param counts: those of all features, by (feature, scope).
    """
    scopes = sorted({scope for _, scope in counts})
    groups = [[scope] for scope in scopes] if rule.in_one_scope else [scopes]
    complete = [rarest for group in groups if (rarest := _rarest(rule, group, counts)) is not None]
    return _sum(complete) if complete else None


def _rarest(
    rule: CoverageRule, scopes: Sequence[str], counts: Mapping[tuple[Feature, str], TrapOccurrences]
) -> TrapOccurrences | None:
    """Return the occurrences of the rarest feature, which are the trap's; None if a feature is missing."""
    sums = []
    for feature in rule.features:
        in_scopes = [counts[feature, scope] for scope in scopes if (feature, scope) in counts]
        if not in_scopes:
            return None
        sums.append(_sum(in_scopes))
    return min(sums, key=lambda occurrences: (occurrences.count, occurrences.first))


def _sum(parts: Sequence[TrapOccurrences]) -> TrapOccurrences:
    return TrapOccurrences(sum(part.count for part in parts), min(part.first for part in parts))
