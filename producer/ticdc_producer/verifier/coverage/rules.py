"""Which features make up a trap, and what a stream must tell so that they can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Need: TypeAlias = Literal["resolved", "types", "flags", "table ids", "commit-ts", "old values", "decimals"]


@dataclass(frozen=True, slots=True)
class Found:
    """How often something was seen.

    :param count: events, or groups of events for what only several show together.
    :param first: topic, partition, offset and index of the first one.
    """

    count: int
    first: tuple[str, int, int, int]

    @property
    def place(self) -> str:
        """The first one as ``topic/partition@offset[index]``."""
        topic, partition, offset, index = self.first
        return f"{topic}/{partition}@{offset}[{index}]"


@dataclass(frozen=True, slots=True)
class Rule:
    """A trap is exercised if all features are seen.

    :param in_one_scope: in one and the same column.
    :param needs: what the protocol must tell, with its options.
    """

    features: tuple[str, ...]
    in_one_scope: bool = False
    needs: tuple[Need, ...] = ()

    def exercised(self, seen: Mapping[tuple[str, str], Found]) -> Found | None:
        """What is seen of it; None if it is not exercised.

        :param seen: by (feature, scope).
        """
        scopes = {scope for _, scope in seen}
        groups = [[scope] for scope in sorted(scopes)] if self.in_one_scope else [sorted(scopes)]
        met = [found for scopes in groups if (found := self._rarest(scopes, seen))]
        if not met:
            return None
        return Found(sum(found.count for found in met), min(found.first for found in met))

    def _rarest(self, scopes: list[str], seen: Mapping[tuple[str, str], Found]) -> Found | None:
        """A trap of several features happens as often as the rarest of them; None if one is missing."""
        parts = [_sum(one, scopes, seen) for one in self.features]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            return None
        return min(found, key=lambda part: (part.count, part.first))


def _sum(feature: str, scopes: list[str], seen: Mapping[tuple[str, str], Found]) -> Found | None:
    parts = [seen[feature, scope] for scope in scopes if (feature, scope) in seen]
    if not parts:
        return None
    return Found(sum(part.count for part in parts), min(part.first for part in parts))


def _alone(*names: str, needs: tuple[Need, ...] = ()) -> dict[str, Rule]:
    """Traps that are one feature of their own name."""
    return {name: Rule((name,), needs=needs) for name in names}


RULES: dict[str, Rule] = {
    **_alone(
        "duplicate-message", "duplicate-event", "replay-suffix", "replay-one-table", "replay-partial",
        "duplicate-ddl", "regrouped-batches", "delete-dispatch", "no-key-table", "split-ddl",
        "schema-change", "exchange-partition", "rename-swap", "virtual-column", "raw-key-update",
    ),
    **_alone(
        "resolved-fallback", "ddl-at-resolved-ts", "idle-partition", "resolved-lag", needs=("resolved",)
    ),
    **_alone("key-update", "key-swap", "unique-key-update", needs=("commit-ts",)),
    **_alone("added-column-default", needs=("old values",)),
    **_alone("partitioned-table", needs=("table ids",)),
    **_alone(
        "bigint-unsigned-range", "big-integers", "float-digits", "text-charsets",
        "zero-dates", "early-years", "unsigned-null", needs=("types",),
    ),
    "decimal-precision": Rule(("decimal-precision",), needs=("types", "decimals")),
    "batch-boundaries": Rule(("message-of-one", "message-full")),
    "handle-key-only": Rule(("row-in-part",)),
    "claim-check": Rule(("row-in-part",)),
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
"""Every legal trap of the catalogue. Of illegal ones ``verify`` tells."""
