"""Collects all errors of a scenario, without those that only follow from an earlier one."""

from __future__ import annotations

import re
from collections.abc import Collection

from ticdc_producer.errors import RowConflict, ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.statements import Statement, stored_program

_WORD = re.compile(r"`(?:[^`]|``)*`|[\w$]+|\.")
_LONGEST = 20_000
"""Characters of a statement in which names are looked for; the rows of a long INSERT follow its names."""
_BEFORE_NAME = frozenset({
    "table", "tables", "into", "update", "from", "join", "view", "database", "schema", "on", "insert",
    "replace", "delete", "truncate", "use", "to",
})  # fmt: skip
_BETWEEN = frozenset({
    "if", "not", "exists", "ignore", "low_priority", "high_priority", "into", "from", "table", "quick",
})  # fmt: skip
_FOUND = 80


class Refusals:
    """The errors of a scenario, in the order of its statements.

    A refused DDL leaves its table in another state than the scenario meant. Errors of later statements on
    this table follow from that, and are only counted. A refused INSERT, UPDATE or DELETE leaves other rows;
    from that follow duplicate keys and violated foreign keys.

    :ivar problems: the errors.
    :ivar unchecked: number of statements whose errors follow from those.
    """

    def __init__(self) -> None:
        self.problems: list[ScenarioError] = []
        self.unchecked = 0
        self._in_refused_body = False
        self._schemas: set[str] = set()
        self._rows: set[str] = set()

    def add(self, error: ScenarioError, statement: Statement) -> None:
        """Add the error of a statement, which was not run."""
        words = _words(statement)
        if not _is_independent(error) and self._follows(error, words):
            self.unchecked += 1
        else:
            words_found = " ".join(statement.text[: 2 * _FOUND].split())[:_FOUND]
            error.found = error.found or words_found.encode("utf-8", "backslashreplace").decode()
            self.problems.append(error)
        if stored_program(statement):
            self._in_refused_body = True
            return
        is_dml = words[:1] and words[0] in ("insert", "replace", "update", "delete", "with")
        (self._rows if is_dml else self._schemas).update(_names(words))

    def skips(self, statement: Statement) -> bool:
        """Whether a statement belongs to the body of a refused stored program, which ends with ``END``."""
        if not self._in_refused_body:
            return False
        self._in_refused_body = statement.shape[:3].upper() != "END"
        return True

    def add_step(self, error: ScenarioError) -> None:
        """Add the error of a step that is not SQL, or of SQL that cannot be divided into statements."""
        if self._schemas.isdisjoint(re.findall(r"[\w$]+", error.what.lower())):
            self.problems.append(error)
        else:
            self.unchecked += 1

    def _follows(self, error: ScenarioError, words: Collection[str]) -> bool:
        if not self._schemas.isdisjoint(words):
            return True
        if not isinstance(error, RowConflict):
            return False
        return not self._rows.isdisjoint(words) or ("foreign key" in error.what and bool(self._rows))


def _is_independent(error: ScenarioError) -> bool:
    """Whether an error is about the text of a statement alone, whatever was run before it."""
    return isinstance(error, UnsupportedSQL) or error.what.startswith("SQL does not parse")


def _words(statement: Statement) -> list[str]:
    found = _WORD.findall(statement.shape[:_LONGEST])
    return [word.strip("`").replace("``", "`").lower() for word in found]


def _names(words: list[str]) -> set[str]:
    """The names of the databases, tables and views that a statement is about."""
    names = set()
    for position, word in enumerate(words):
        if word not in _BEFORE_NAME:
            continue
        name = position + 1
        while name < len(words) and words[name] in _BETWEEN:
            name += 1
        if words[name + 1 : name + 2] == ["."]:
            name += 2
        names.update(words[name : name + 1])
    return names
