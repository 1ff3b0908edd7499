"""Statements that change nothing in the stream, and those that a scenario cannot contain."""

from __future__ import annotations

import re

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.scenario.history import PassedOver
from ticdc_producer.scenario.sql.statements import Statement

READ_ONLY = frozenset({"SELECT", "SHOW", "EXPLAIN", "DESC", "DESCRIBE", "ANALYZE"})
"""Statements that change nothing in the stream; they are counted and passed over."""
KNOWN_VERBS = frozenset({
    "CHECKSUM", "DELIMITER", "PLAN", "QUERY", "RECOMMEND", "SOURCE", "TRAFFIC",
    "TABLE", "VALUES", "CALL",
    "DO", "LOAD", "IMPORT", "XA", "GRANT", "REVOKE", "KILL", "FLUSH", "ADMIN", "SPLIT", "BATCH",
    "HANDLER", "CHECK", "OPTIMIZE", "REPAIR", "RESET", "PURGE", "INSTALL", "UNINSTALL", "BACKUP",
    "RESTORE", "START", "STOP", "TRACE", "BINLOG", "HELP", "CANCEL",
})  # fmt: skip
"""Statements that TiDB has and a scenario cannot contain."""
_INTO_VARIABLE = re.compile(r"\bINTO\s+@", re.IGNORECASE)


def refuse_running(statement: Statement) -> None:
    """Refuse EXPLAIN ANALYZE, which runs the statement that it explains, and SELECT … INTO a variable.

    :raises UnsupportedSQL: for these two.
    """
    if statement.word(0) != "ANALYZE" and statement.word(1) == "ANALYZE":
        raise UnsupportedSQL(f"{statement.word(0)} ANALYZE is not supported", line=statement.line)
    if statement.verb == "SELECT" and _INTO_VARIABLE.search(statement.shape):
        raise UnsupportedSQL("SELECT … INTO a variable is not supported", line=statement.line)


def pass_over_program(statement: Statement, kind: str, passed_over: PassedOver) -> None:
    """Note a stored program, which TiDB does not have.

    :param kind: such as TRIGGER.
    :raises UnsupportedSQL: if it was divided at a ``;`` of its body.
    """
    last = len(statement.tokens) - 1
    words = [statement.word(index) for index in range(last + 1)]
    if "BEGIN" in words and "END" not in words[-2:]:  # a label may follow END
        raise UnsupportedSQL(
            f"CREATE {kind} with a body that ends at its first ';' is not supported",
            hint="write DELIMITER // in a line before it, // behind it, then DELIMITER ; in a line",
        )
    passed_over.note_program(kind, statement.verb, statement.line)
