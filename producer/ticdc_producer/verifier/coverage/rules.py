"""The features that make up each trap, and the properties of a stream that make them observable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Need: TypeAlias = Literal["resolved", "types", "flags", "table ids", "commit-ts", "old values", "decimals"]


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


@dataclass(frozen=True, slots=True)
class Rule:
    """The features of a trap; a trap is exercised if all of them are found.

    :param in_one_scope: all features must be found in the same column.
    :param needs: the properties that must be observable with the protocol and its options.
    """

    features: tuple[str, ...]
    in_one_scope: bool = False
    needs: tuple[Need, ...] = ()

    def exercised(self, found: Mapping[tuple[str, str], Found]) -> Found | None:
        """The occurrences of the trap; None if it is not exercised.

        :param found: the features found, by (feature, scope).
        """
        scopes = {scope for _, scope in found}
        groups = [[scope] for scope in sorted(scopes)] if self.in_one_scope else [sorted(scopes)]
        met = [rarest for scopes in groups if (rarest := self._rarest(scopes, found))]
        if not met:
            return None
        return Found(sum(part.count for part in met), min(part.first for part in met))

    def _rarest(self, scopes: list[str], found: Mapping[tuple[str, str], Found]) -> Found | None:
        """A trap of several features occurs as often as its rarest feature; None if one is missing."""
        parts = [_sum(one, scopes, found) for one in self.features]
        present = [part for part in parts if part is not None]
        if len(present) < len(parts):
            return None
        return min(present, key=lambda part: (part.count, part.first))


def _sum(feature: str, scopes: list[str], found: Mapping[tuple[str, str], Found]) -> Found | None:
    parts = [found[feature, scope] for scope in scopes if (feature, scope) in found]
    if not parts:
        return None
    return Found(sum(part.count for part in parts), min(part.first for part in parts))


def _single_feature(*names: str, needs: tuple[Need, ...] = ()) -> dict[str, Rule]:
    """Traps with a single feature, which has the same name."""
    return {name: Rule((name,), needs=needs) for name in names}


RULES: dict[str, Rule] = {
    **_single_feature(
        "duplicate-message", "duplicate-event", "replay-suffix", "replay-one-table", "replay-partial",
        "duplicate-ddl", "regrouped-batches", "delete-dispatch", "no-key-table", "split-ddl",
        "schema-change", "exchange-partition", "rename-swap", "virtual-column", "raw-key-update",
    ),
    **_single_feature(
        "resolved-fallback", "ddl-at-resolved-ts", "idle-partition", "resolved-lag", needs=("resolved",)
    ),
    **_single_feature("key-update", "key-swap", "unique-key-update", needs=("commit-ts",)),
    **_single_feature("added-column-default", needs=("old values",)),
    **_single_feature("partitioned-table", needs=("table ids",)),
    **_single_feature(
        "bigint-unsigned-range", "big-integers", "float-digits", "text-charsets",
        "zero-dates", "early-years", "unsigned-null", needs=("types",),
    ),
    "decimal-precision": Rule(("decimal-precision",), needs=("types", "decimals")),
    "batch-boundaries": Rule(("message-of-one", "message-full")),
    "handle-key-only": Rule(("handle-key-only-row",)),
    "claim-check": Rule(("handle-key-only-row",)),
    "ddl-zoo": Rule(("ddl-of-many-kinds", "ddl-of-database")),
    "enum-set-ordinals": Rule(
        ("enum-first", "enum-later", "enum-null", "set-empty", "set-several"), needs=("types",)
    ),
    "bit-width": Rule(("bit-one", "bit-all"), needs=("types",)),
    "binary-all-bytes": Rule(("every-byte",), needs=("types",)),
    "timestamp-zone": Rule(("timestamp-value", "datetime-value"), needs=("types",)),
    "time-range": Rule(("time-negative", "time-long"), needs=("types",)),
    "fractional-seconds": Rule(("fraction-none", "fraction-six"), needs=("types",)),
    "null-default-triad": Rule(
        ("text-null", "text-empty", "text-word-null"), in_one_scope=True, needs=("types",)
    ),
    "column-flags": Rule(
        ("flag-unique", "flag-generated", "flag-unsigned", "flag-nullable"), needs=("flags",)
    ),
}  # fmt: skip
"""All legal traps of the catalogue; ``verify`` finds the illegal ones."""
