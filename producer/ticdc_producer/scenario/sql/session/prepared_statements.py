"""PREPARE, EXECUTE and DEALLOCATE PREPARE.

Rules: tidb ``pkg/executor/prepared.go``, ``pkg/planner/core/plan_cache_utils.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import SQLValue, display_value
from ticdc_producer.scenario.sql.ddl import is_ddl
from ticdc_producer.scenario.sql.expression.literal import literal_text
from ticdc_producer.scenario.sql.session.other_statements import DML, PREPARED, VERBS, no_statement, reads
from ticdc_producer.scenario.sql.session.session_settings import SessionValues
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.dialect import Token, TokenType
from ticdc_producer.scenario.sql.text.spelling import Spelling
from ticdc_producer.scenario.sql.text.statements import Statement, split_statements

_NEVER_PREPARED = ("LOAD", "IMPORT", "BATCH")
_NOT_FOUND = "Prepared statement not found"


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A prepared statement, and the ``?`` in it.

    :param limits: the positions of those in LIMIT, which must be whole numbers. Source: tidb
        ``getUintFromNode``.
    :param distances: the positions of those in the frames of windows.
    """

    statement: Statement
    parameters: tuple[Token, ...]
    limits: frozenset[int]
    distances: frozenset[int]

    def without_values(self) -> Statement:
        """Return the statement with NULL for each ``?``, as TiDB plans it, and 0 in LIMIT and in frames."""
        counts = self.limits | self.distances
        values: list[SQLValue] = [0 if token.start in counts else None for token in self.parameters]
        return self.with_values(values, self.statement.line)

    def with_values(self, values: list[SQLValue], line: int) -> Statement:
        """Return the statement with a literal for each ``?``.

        :param line: line of the EXECUTE.
        """
        sql, parts, end = self.statement.sql, [], 0
        for token, value in zip(self.parameters, values, strict=True):
            if token.start in self.limits and not (isinstance(value, int) and value >= 0):
                raise ScenarioError("Incorrect arguments to LIMIT", line=line, value=display_value(value))
            parts += [sql[end : token.start], literal_text(value)]
            end = token.end + 1
        return next(split_statements("".join([*parts, sql[end:]]), line))


class PreparedStatements:
    """The prepared statements of a session, by their names in lower case.

    :param values: the user variables.
    :param check: checks a statement that changes rows, without running it.
    :param spelling: gives the spelling of the session.
    """

    def __init__(
        self,
        values: SessionValues,
        check: Callable[[Statement], None],
        spelling: Callable[[], Spelling],
    ) -> None:
        self._values, self._check, self._spelling = values, check, spelling
        self._prepared: dict[str, _Prepared] = {}

    def run(self, cursor: Cursor) -> Statement | None:
        """Run one of these statements; return the statement of an EXECUTE, which the session runs.

        :raises ScenarioError: for a text that cannot be prepared, or an unknown name.
        """
        if cursor.word() == "EXECUTE":
            return self._execute(cursor)
        if cursor.word() == "PREPARE":
            self._prepare(cursor)
        else:
            self._deallocate(cursor)
        return None

    def _prepare(self, cursor: Cursor) -> None:
        """Run ``PREPARE name FROM 'text'``, or ``FROM @variable``.

        :raises ScenarioError: for a text that cannot be prepared.
        """
        cursor.expect("PREPARE")
        name = cursor.identifier("a name of a prepared statement").lower()
        cursor.expect("FROM")
        text = _text(self._variable(cursor)) if cursor.word() == "@" else cursor.string()
        cursor.end()
        self._prepared.pop(name, None)
        prepared = _read(text, cursor.statement.line, self._spelling)
        if prepared.statement.verb in (*DML, "WITH"):
            self._check(prepared.without_values())
        self._prepared[name] = prepared

    def _execute(self, cursor: Cursor) -> Statement:
        """Read ``EXECUTE name [USING @variable, …]``; return the statement to run.

        :raises ScenarioError: for an unknown name, or a wrong number of variables.
        """
        cursor.expect("EXECUTE")
        prepared, values = self._named(cursor), []
        if cursor.accept("USING"):
            values.append(self._variable(cursor))
            while cursor.accept(","):
                values.append(self._variable(cursor))
        cursor.end()
        if len(values) != len(prepared.parameters):
            hint = f"the statement has {len(prepared.parameters)} '?', USING has {len(values)} variables"
            raise ScenarioError("Wrong parameter count", hint=hint)
        return prepared.with_values(values, cursor.statement.line)

    def _deallocate(self, cursor: Cursor) -> None:
        """Run ``DEALLOCATE PREPARE name`` or ``DROP PREPARE name``."""
        cursor.accept_any("DEALLOCATE", "DROP")
        cursor.expect("PREPARE")
        self._named(cursor)
        name = cursor.statement.tokens[cursor.position - 1].text
        cursor.end()
        del self._prepared[name.lower()]

    def _named(self, cursor: Cursor) -> _Prepared:
        name = cursor.identifier("a name of a prepared statement")
        if name.lower() not in self._prepared:
            raise ScenarioError(_NOT_FOUND, value=name)
        return self._prepared[name.lower()]

    def _variable(self, cursor: Cursor) -> SQLValue:
        cursor.expect("@")
        return self._values.variable(cursor.identifier("a user variable"))


def concerns_prepared(statement: Statement) -> bool:
    """Return whether a statement is PREPARE, EXECUTE, DEALLOCATE PREPARE or DROP PREPARE."""
    return statement.verb in PREPARED or (statement.verb == "DROP" and statement.word(1) == "PREPARE")


def _read(text: str, line: int, spelling: Callable[[], Spelling]) -> _Prepared:
    statements = list(split_statements(text, line, spelling))
    if len(statements) != 1:
        raise ScenarioError("Can not prepare multiple statements", value=text)
    (statement,) = statements
    if not (reads(statement) or statement.verb in VERBS):
        raise no_statement(statement)
    if statement.verb in _NEVER_PREPARED or concerns_prepared(statement):
        what = "This command is not supported in the prepared statement protocol yet"
        raise ScenarioError(what, value=statement.verb)
    parameters = tuple(token for token in statement.tokens if token.token_type == TokenType.PLACEHOLDER)
    if parameters and is_ddl(statement.verb):
        raise ScenarioError("Can not prepare DDL statements with parameters")
    tokens = statement.tokens
    return _Prepared(statement, parameters, frozenset(_limits(tokens)), frozenset(_distances(tokens)))


def _limits(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the position of each ``?`` in LIMIT and OFFSET."""
    words = ["", "", "", *(token.text.upper() for token in tokens)]
    for token, before in zip(tokens, zip(words, words[1:], words[2:], strict=False), strict=False):
        in_limit = before[2] in ("LIMIT", "OFFSET") or (before[0], before[2]) == ("LIMIT", ",")
        if token.token_type == TokenType.PLACEHOLDER and in_limit:
            yield token.start


def _distances(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the position of each ``?`` before PRECEDING and FOLLOWING."""
    for token, after in pairwise(tokens):
        if token.token_type == TokenType.PLACEHOLDER and after.text.upper() in ("PRECEDING", "FOLLOWING"):
            yield token.start


def _text(value: SQLValue) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return "NULL" if value is None else str(value)
