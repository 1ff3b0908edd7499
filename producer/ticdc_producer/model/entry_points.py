"""Finds what other packages register: the entry points of one group, by name."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

PROTOCOLS = "ticdc_producer.protocols"
"""Protocols, by name."""
TRAPS = "ticdc_producer.traps"
"""Traps, by any name."""
INVARIANTS = "ticdc_producer.invariants"
"""Invariants, by any name."""


def installed(group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Name to its entry points, without importing them. The caller handles duplicate names."""
    return _found_on(tuple(sys.path), group)


@cache
def _found_on(path: tuple[str, ...], group: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Search the packages once for each import path."""
    found: dict[str, dict[tuple[str, str], EntryPoint]] = defaultdict(dict)
    for point in _all_on(path).select(group=group):
        package = "" if point.dist is None else point.dist.name
        found[point.name.lower()][package, point.value] = point  # sys.path may contain a package twice
    return {name: tuple(points.values()) for name, points in found.items()}


@cache
def _all_on(_path: tuple[str, ...]) -> Any:
    """Read the entry points of all packages, once for each import path. Its class differs between Pythons."""
    return entry_points()
