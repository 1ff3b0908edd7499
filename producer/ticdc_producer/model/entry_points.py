"""Codecs that other packages add: the entry points of one group, by protocol name."""

from __future__ import annotations

from collections import defaultdict
from importlib.metadata import EntryPoint, entry_points

GROUP = "ticdc_producer.codecs"


def installed_codecs() -> dict[str, tuple[EntryPoint, ...]]:
    """What is installed under each name; nothing is imported. More than one of a name is for the caller."""
    found: dict[str, dict[tuple[str, str], EntryPoint]] = defaultdict(dict)
    for point in entry_points(group=GROUP):
        package = "" if point.dist is None else point.dist.name
        found[point.name.lower()][package, point.value] = point  # a path may lead to one package twice
    return {name: tuple(points.values()) for name, points in found.items()}
