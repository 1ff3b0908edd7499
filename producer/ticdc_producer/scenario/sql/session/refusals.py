"""Collects all errors of a scenario, without those that only follow from an earlier one, with advice."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from ticdc_producer.errors import RowConflict, ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.text.statements import Statement, stored_program

GENERAL = "docs/sql.md lists the SQL that runs: write it with statements of that list, or leave it out"
_ADVICE: tuple[tuple[str, str], ...] = (
    ("CALL", "write the statements of the procedure: TiDB has no stored procedures"),
    ("LOAD DATA without", "write LOAD DATA LOCAL INFILE, with a file in the folder of the scenario"),
    ("LOAD", "use a data step with format csv, or INSERT statements"),
    ("IMPORT", "use a data step, or INSERT statements"),
    ("XA", "write BEGIN … COMMIT: TiDB has no XA transactions"),
    ("BATCH by", "write BATCH ON a column that an index begins with"),
    ("BATCH", "write one statement for each part"),
    ("FLASHBACK", "write CREATE TABLE and INSERT"),
    ("RECOVER", "write CREATE TABLE and INSERT"),
    ("FLUSH TABLES", "leave it out: TiDB has no FLUSH TABLES WITH READ LOCK"),
    ("ALTER VIEW", "write CREATE OR REPLACE VIEW: TiDB has no ALTER VIEW"),
    ("AS SELECT", "write CREATE TABLE with columns, then INSERT … SELECT: TiDB has no CREATE TABLE … SELECT"),
    ("column type GEOMETRY", "use a BLOB column: TiDB has no spatial types"),
    ("column type POINT", "use a BLOB column: TiDB has no spatial types"),
    ("SPATIAL", "leave the index out: TiDB has no spatial indexes"),
    ("FULLTEXT", "leave the index out: it reaches no consumer"),
    ("VECTOR index", "leave the index out: it reaches no consumer"),
    ("the column type", "use one of the types of docs/sql.md"),
    ("the charset", "use utf8mb4"),
    ("the collation", "use utf8mb4_bin, utf8mb4_general_ci or another one of docs/sql.md"),
    ("attribute INVISIBLE", "leave it out: TiDB has no invisible columns"),
    ("SUBPARTITION", "leave it out: TiDB ignores it"),
    ("INTERVAL in PARTITION BY", "leave INTERVAL out: the partitions are given"),
    ("together with other changes", "write two ALTER TABLE statements"),
    ("SET TRANSACTION", "leave it out: a scenario has one session"),
    ("the variable", "leave it out, or set it to the value that the other statements assume"),
    ("RELEASE", "leave RELEASE out: a scenario has one session"),
    ("INTO a variable", "write the value: TiDB has no SELECT … INTO @variable"),
    ("READ ONLY", "leave it out: it changes nothing"),
    ("the function", "write its value"),
    ("an index on the expression", "add a generated column, and an index on it"),
    ("in a hint", "write SET before the statement"),
    ("row alias", "write VALUES(column): TiDB has no row aliases"),
)
"""Words of an error and the advice; the first that fits counts."""


def with_advice(error: UnsupportedSQL) -> UnsupportedSQL:
    """Return the error with a hint about what to write instead, unless it has a hint."""
    if not error.hint:
        error.hint = next((advice for words, advice in _ADVICE if words in error.what), GENERAL)
    return error


@contextmanager
def located(file: str, line: int) -> Iterator[None]:
    """Add file and line to errors in the context, and advice to errors about unsupported SQL."""
    try:
        yield
    except (ScenarioError, RecursionError) as error:
        raise located_error(error, file, line) from error.__cause__


def located_error(error: ScenarioError | RecursionError, file: str, line: int) -> ScenarioError:
    """Return an error with file and line, and with advice if it is about unsupported SQL."""
    if isinstance(error, RecursionError):
        return ScenarioError("SQL is nested too deeply", file=file, line=line)
    located_here = error.at(file, line)
    return with_advice(located_here) if isinstance(located_here, UnsupportedSQL) else located_here


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
_LONGEST_EXCERPT = 80
"""Characters of a refused statement that its error shows."""


class Refusals:
    """The errors of a scenario, in the order of its statements.

    A refused DDL leaves its table in another state than the scenario meant. Errors of later statements on
    this table follow from that, and are only counted. A refused INSERT, UPDATE or DELETE leaves other rows;
    duplicate keys and violated foreign keys follow from that.

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
            excerpt = " ".join(statement.text[: 2 * _LONGEST_EXCERPT].split())[:_LONGEST_EXCERPT]
            error.excerpt = error.excerpt or excerpt.encode("utf-8", "backslashreplace").decode()
            self.problems.append(error)
        if stored_program(statement):
            self._in_refused_body = True
            return
        is_dml = words[:1] and words[0] in ("insert", "replace", "update", "delete", "with")
        (self._rows if is_dml else self._schemas).update(_names(words))

    def skips(self, statement: Statement) -> bool:
        """Return whether a statement is in the body of a refused stored program, which ends with ``END``."""
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
    """Return whether an error is about the text of a statement alone, not about the statements before it."""
    return isinstance(error, UnsupportedSQL) or error.what.startswith("SQL does not parse")


def _words(statement: Statement) -> list[str]:
    words = _WORD.findall(statement.shape[:_LONGEST])
    return [word.strip("`").replace("``", "`").lower() for word in words]


def _names(words: list[str]) -> set[str]:
    """Return the names of the databases, tables and views that a statement is about.

    >>> _names(["insert", "into", "shop", ".", "orders", "select", "*", "from", "t"]) == {"orders", "t"}
    True
    """
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
