"""Lines of the keys of a ``generate`` step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Lines:
    """Where each key stands in the scenario file.

    :param lines: by path below ``generate``; that of the step itself under ``()``.
    :param above: path of the table that is looked at, which has keys of its own.
    """

    lines: Mapping[tuple[str, ...], int]
    above: tuple[str, ...] = ()

    def of_table(self, number: int) -> Lines:
        """The lines as seen from one of several tables."""
        return Lines(self.lines, ("tables", str(number)))

    def of(self, *place: str) -> int:
        """The line of a key, or of the nearest one above it; the table's before the step's."""
        found = {tuple(part.lower() for part in path): line for path, line in self.lines.items()}
        wanted = tuple(part.lower() for part in place)
        for depth in range(len(wanted), -1, -1):
            for path in (self.above + wanted[:depth], wanted[:depth]):
                if path in found:
                    return found[path]
        return 0
