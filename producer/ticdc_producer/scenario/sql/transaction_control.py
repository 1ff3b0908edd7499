"""The words behind BEGIN, START TRANSACTION, COMMIT and ROLLBACK."""

from __future__ import annotations

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.scenario.sql.cursor import Cursor


def read_begin(cursor: Cursor) -> None:
    """Read the rest of BEGIN or START TRANSACTION, which has no effect on one session.

    :raises UnsupportedSQL: for READ ONLY and other words.
    """
    cursor.accept("WORK")
    cursor.accept_any("PESSIMISTIC", "OPTIMISTIC")
    cursor.accept("WITH", "CONSISTENT", "SNAPSHOT")
    cursor.accept("READ", "WRITE")
    _end(cursor)


def read_completion(cursor: Cursor) -> bool:
    """Read the rest of COMMIT or ROLLBACK; whether ``AND CHAIN`` begins another transaction.

    :raises UnsupportedSQL: for RELEASE, which ends the session, and for a savepoint.
    """
    cursor.accept("WORK")
    chained = cursor.accept("AND", "CHAIN")
    if not chained:
        cursor.accept("AND", "NO", "CHAIN")
    cursor.accept("NO", "RELEASE")
    _end(cursor)
    return chained


def _end(cursor: Cursor) -> None:
    if cursor.word() in ("AND", "NO", "READ", "RELEASE", "TO", "WITH"):
        raise _unsupported(cursor)
    cursor.end()


def _unsupported(cursor: Cursor) -> UnsupportedSQL:
    verb = " ".join(cursor.statement.word(index) for index in range(cursor.position))
    return cursor.unsupported(f"{verb} {cursor.word()} {cursor.word(1)}".rstrip())
