"""Which traps a stream exercises, by the features that were found in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ticdc_producer.model.trap_coverage import CoverageRule, Feature


@dataclass(frozen=True, slots=True)
class Found:
    """The occurrences of a feature or a trap.

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


def occurrences(rule: CoverageRule, found: Mapping[tuple[Feature, str], Found]) -> Found | None:
    """The occurrences of a trap; None if it is not exercised.

    :param found: the features found, by (feature, scope).
    """
    scopes = sorted({scope for _, scope in found})
    groups = [[scope] for scope in scopes] if rule.in_one_scope else [scopes]
    met = [rarest for group in groups if (rarest := _rarest(rule, group, found))]
    if not met:
        return None
    return Found(sum(part.count for part in met), min(part.first for part in met))


def _rarest(
    rule: CoverageRule, scopes: Sequence[str], found: Mapping[tuple[Feature, str], Found]
) -> Found | None:
    """A trap of several features occurs as often as its rarest feature; None if one is missing."""
    parts = [_sum(one, scopes, found) for one in rule.features]
    present = [part for part in parts if part is not None]
    if len(present) < len(parts):
        return None
    return min(present, key=lambda part: (part.count, part.first))


def _sum(feature: Feature, scopes: Sequence[str], found: Mapping[tuple[Feature, str], Found]) -> Found | None:
    parts = [found[feature, scope] for scope in scopes if (feature, scope) in found]
    if not parts:
        return None
    return Found(sum(part.count for part in parts), min(part.first for part in parts))
