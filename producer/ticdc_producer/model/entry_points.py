"""Finds what other packages register: the entry points of one group, by name."""

from __future__ import annotations

from collections import defaultdict
from importlib.metadata import EntryPoint, entry_points

GROUP = "ticdc_producer.codecs"
"""Codecs, by protocol name."""
TRAPS = "ticdc_producer.traps"
"""Traps, by any name."""


def installed(group: str) -> dict[str, tuple[EntryPoint, ...]]:
    """Name to its entry points, without importing them. The caller handles duplicate names."""
    found: dict[str, dict[tuple[str, str], EntryPoint]] = defaultdict(dict)
    for point in entry_points(group=group):
        package = "" if point.dist is None else point.dist.name
        found[point.name.lower()][package, point.value] = point  # sys.path may contain a package twice
    return {name: tuple(points.values()) for name, points in found.items()}


def installed_codecs() -> dict[str, tuple[EntryPoint, ...]]:
    """Protocol name to the entry points of its codecs."""
    return installed(GROUP)
