"""Lines of the keys of a ``generate`` step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class SourceLines:
    """The line of each key in the scenario file.

    :param lines: line by path below ``generate``; the step itself has the path ``()``.
    :param above: path of a table with keys of its own; empty: the step.
    """

    lines: Mapping[tuple[str, ...], int]
    above: tuple[str, ...] = ()

    def of_table(self, number: int) -> SourceLines:
        """The lines for one of several tables."""
        return SourceLines(self.lines, ("tables", str(number)))

    def of(self, *path: str) -> int:
        """The line of a key, or of the nearest key above it; the table's keys precede the step's."""
        found = {tuple(part.lower() for part in path): line for path, line in self.lines.items()}
        wanted = tuple(part.lower() for part in path)
        for depth in range(len(wanted), -1, -1):
            for candidate in (self.above + wanted[:depth], wanted[:depth]):
                if candidate in found:
                    return found[candidate]
        return 0
