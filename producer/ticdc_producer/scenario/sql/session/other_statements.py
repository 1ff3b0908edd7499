"""Statements that change nothing in the stream, and those that a scenario cannot contain."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.hints import closest
from ticdc_producer.scenario.history import IgnoredStatements
from ticdc_producer.scenario.sql import ddl
from ticdc_producer.scenario.sql.store import transaction
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.statements import Statement

READ_ONLY = frozenset({
    "SELECT", "TABLE", "DO", "SHOW", "EXPLAIN", "DESC", "DESCRIBE", "ANALYZE", "SPLIT", "ADMIN",
})  # fmt: skip
"""Statements that change nothing in the stream; they are counted and ignored."""
_QUERIES = frozenset({"SELECT", "WITH", "TABLE"})
KNOWN_VERBS = frozenset({
    "CHECKSUM", "DELIMITER", "PLAN", "QUERY", "RECOMMEND", "SOURCE", "TRAFFIC", "CALL",
    "LOAD", "IMPORT", "XA", "KILL", "VALUES",
    "HANDLER", "CHECK", "OPTIMIZE", "REPAIR", "RESET", "PURGE", "INSTALL", "UNINSTALL", "BACKUP",
    "RESTORE", "START", "STOP", "TRACE", "BINLOG", "HELP", "CANCEL",
})  # fmt: skip
"""Statements that TiDB has and a scenario cannot contain."""
_ADMINISTRATION = frozenset({
    ("CREATE", "USER"), ("ALTER", "USER"), ("DROP", "USER"), ("RENAME", "USER"), ("CREATE", "ROLE"),
    ("DROP", "ROLE"), ("GRANT",), ("REVOKE",), ("FLUSH",),
})  # fmt: skip
_ADMINISTRATION_IN_TRANSACTION = frozenset({("SET", "PASSWORD"), ("SET", "ROLE"), ("SET", "DEFAULT")})
DML = ("INSERT", "REPLACE", "UPDATE", "DELETE")
_ANALYZED = frozenset({*DML, "SELECT", "TABLE", "WITH", "("})
PREPARED = ("PREPARE", "EXECUTE", "DEALLOCATE")
_EXECUTED = frozenset({
    *DML, *PREPARED, *ddl.VERBS, *transaction.VERBS, *(words[0] for words in _ADMINISTRATION), "WITH", "SET",
    "USE", "LOCK", "UNLOCK", "BATCH",
})  # fmt: skip
"""Statements that change rows, tables, the transaction or the session."""
VERBS = READ_ONLY | KNOWN_VERBS | _EXECUTED
"""The first words of all statements."""
_CHANGE = re.compile(
    r":=|\b(?:nextval|setval)\s*\(|\bnext\s+value\s+for\b|\blast_insert_id\s*\(\s*[^\s)]", re.IGNORECASE
)
_INTO_VARIABLE = re.compile(r"\bINTO\s+@", re.IGNORECASE)


def no_statement(statement: Statement) -> ScenarioError:
    """Return the error of a text that begins with no statement's first word; its hint is the nearest one."""
    error = Cursor(statement).error("expected a statement")
    error.hint = closest(statement.verb, READ_ONLY | _EXECUTED) or error.hint
    return error


def reads(statement: Statement) -> bool:
    """Return whether a statement changes nothing in the stream; a SELECT may be in parentheses."""
    return first_word(statement) in (_QUERIES if statement.verb == "(" else READ_ONLY)


def first_word(statement: Statement) -> str:
    """Return the first word of a statement that may be in parentheses."""
    if statement.verb != "(":
        return statement.verb
    index = 1
    while statement.word(index) == "(":
        index += 1
    return statement.word(index)


def is_query(statement: Statement) -> bool:
    """Return whether a statement that ``reads`` is a query, which may be in parentheses."""
    return statement.verb == "(" or statement.verb in _QUERIES


def changes_session(statement: Statement) -> bool:
    """Return whether a statement sets user variables, sequences or ``LAST_INSERT_ID()``."""
    return _CHANGE.search(statement.shape) is not None


def analyzed(statement: Statement) -> str:
    """Return the text of the statement that ``EXPLAIN ANALYZE`` runs; empty for other statements.

    :raises ScenarioError: unless it is DML or a query. Source: tidb ``pkg/parser/parser.y``
        (``ExplainableStmt``).
    """
    if statement.verb not in ("EXPLAIN", "DESC", "DESCRIBE") or statement.word(1) != "ANALYZE":
        return ""
    cursor = Cursor(statement, 2)
    if cursor.accept("FORMAT"):
        cursor.accept("=")
        cursor.position += 1
    if cursor.at_end or cursor.word() == "FOR":
        return ""
    if cursor.word() not in _ANALYZED:
        raise cursor.error("expected INSERT, REPLACE, UPDATE, DELETE or a query")
    return text_from(cursor)


def query_of_do(statement: Statement) -> str:
    """Return a SELECT of the expressions of ``DO``."""
    return f"SELECT {text_from(Cursor(statement, 1))}"


def text_from(cursor: Cursor) -> str:
    """Return the rest of a statement as it is typed."""
    return cursor.statement.text[cursor.statement.tokens[cursor.position].start :]


def refuse_into(statement: Statement) -> None:
    """Refuse ``SELECT … INTO @variable``.

    :raises UnsupportedSQL: for it.
    """
    if is_query(statement) and _INTO_VARIABLE.search(statement.shape):
        raise UnsupportedSQL("SELECT … INTO a variable is not supported", line=statement.line)


@dataclass(frozen=True, slots=True)
class Administration:
    """A statement about users, rights or the server.

    :param name: its first words.
    :param commits: whether it commits an open transaction.
    """

    name: str
    commits: bool


def administration(statement: Statement) -> Administration | None:
    """Describe a statement that changes only users, rights or the server; return None for any other.

    Changefeeds do not replicate the tables of users and rights. Source of the implicit commit: tidb
    ``SimpleExec.autoNewTxn``, ``GrantExec.Next`` and ``RevokeExec.Next``.

    :raises UnsupportedSQL: for FLUSH TABLES WITH READ LOCK, which TiDB does not have.
    """
    words = statement.verb, statement.word(1)
    if statement.verb == "FLUSH" and "READ LOCK" in " ".join(statement.shape.upper().split()):
        raise UnsupportedSQL("FLUSH TABLES WITH READ LOCK is not supported", line=statement.line)
    for known, commits in ((_ADMINISTRATION, True), (_ADMINISTRATION_IN_TRANSACTION, False)):
        for prefix in (words, words[:1]):
            if prefix in known:
                return Administration(" ".join(prefix), commits)
    return None


def note_program(statement: Statement, kind: str, ignored_statements: IgnoredStatements, file: str) -> None:
    """Note a stored program, which TiDB does not have.

    :param kind: such as TRIGGER.
    :param file: the file that contains it.
    :raises UnsupportedSQL: if it was divided at a ``;`` of its body.
    """
    last = len(statement.tokens) - 1
    words = [statement.word(index) for index in range(last + 1)]
    if "BEGIN" in words and "END" not in words[-2:]:  # a label may follow END
        raise UnsupportedSQL(
            f"CREATE {kind} with a body that ends at its first ';' is not supported",
            hint="write DELIMITER // in a line before it, // after it, then DELIMITER ; in a line",
        )
    ignored_statements.note_program(kind, statement.verb, file, statement.line)
