"""The statements of a scenario that are not run, because they change nothing that a changefeed sends."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

_PLURALS = {
    "TRIGGER": "triggers", "PROCEDURE": "stored procedures", "FUNCTION": "stored functions",
    "EVENT": "events",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """A statement that TiDB does not have.

    :param line: its line in the scenario file.
    """

    line: int
    text: str


@dataclass(slots=True)
class PassedOver:
    """What was passed over.

    :param counts: number of statements without an effect on rows and schemas, by their first word.
    :param notes: the statements that TiDB does not have.
    """

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[Note] = field(default_factory=list)

    def count(self, word: str) -> None:
        """Count a statement that only reads, or locks."""
        self.counts[word] += 1

    def note_program(self, kind: str, verb: str, line: int) -> None:
        """Note a statement about a stored program.

        :param kind: ``TRIGGER``, ``PROCEDURE``, ``FUNCTION`` or ``EVENT``.
        """
        self.notes.append(Note(line, f"{verb} {kind} is passed over: TiDB has no {_PLURALS[kind]}"))
