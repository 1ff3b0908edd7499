"""SAVEPOINT, ROLLBACK TO and RELEASE SAVEPOINT."""

from __future__ import annotations

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.transaction import Transaction


def run_savepoint(cursor: Cursor, transaction: Transaction | None) -> None:
    """Run a statement about a savepoint.

    :param transaction: the open transaction; without one a new savepoint is forgotten at once.
    :raises ScenarioError: for a savepoint that does not exist.
    """
    if cursor.accept("SAVEPOINT"):
        name = _name(cursor)
        if transaction is not None:
            transaction.savepoints.pop(name, None)  # so that a repeated name is the newest one
            transaction.savepoints[name] = len(transaction.steps)
        return
    releases = bool(cursor.accept("RELEASE"))
    if releases:
        cursor.expect("SAVEPOINT")
    else:
        cursor.expect("ROLLBACK")
        cursor.accept("WORK")
        cursor.expect("TO")
        cursor.accept("SAVEPOINT")
    name = _name(cursor)
    savepoints = {} if transaction is None else transaction.savepoints
    if transaction is None or name not in savepoints:
        raise ScenarioError(f"SAVEPOINT {name} does not exist", value=name)
    names = list(savepoints)
    for later in names[names.index(name) + (not releases) :]:
        del savepoints[later]
    if not releases:
        transaction.rollback(savepoints[name])


def _name(cursor: Cursor) -> str:
    name = cursor.identifier("a savepoint").lower()
    cursor.end()
    return name
