"""Finds codecs in other packages: the entry points of one group, by protocol name."""

from __future__ import annotations

from collections import defaultdict
from importlib.metadata import EntryPoint, entry_points

GROUP = "ticdc_producer.codecs"


def installed_codecs() -> dict[str, tuple[EntryPoint, ...]]:
    """Protocol name to its entry points, without importing them. The caller handles duplicate names."""
    found: dict[str, dict[tuple[str, str], EntryPoint]] = defaultdict(dict)
    for point in entry_points(group=GROUP):
        package = "" if point.dist is None else point.dist.name
        found[point.name.lower()][package, point.value] = point  # sys.path may contain a package twice
    return {name: tuple(points.values()) for name, points in found.items()}
