"""Applies the statements of a scenario to SQLite, rightly and with a bug; it fails if the rows differ.

    python sql_consumer.py BUG FOLDER

It imports nothing but the standard library: it is started once for each variant of a history.
"""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

DML = re.compile(r"(INSERT INTO|UPDATE|DELETE FROM) ")
KEY = re.compile(r"`id` <=> (\d+)|VALUES \((\d+)")
NULL = re.compile(r"`\w+` = NULL(, )?")


class Tombstones:
    """Ignores the insert of a key that was deleted."""

    def __init__(self) -> None:
        self.deleted: set[str] = set()

    def __call__(self, kind: str, key: str, text: str) -> str:
        if kind == "DELETE FROM":
            self.deleted.add(key)
        return "" if kind == "INSERT INTO" and key in self.deleted else text


class FirstUpdates:
    """Ignores the second update of a row."""

    def __init__(self) -> None:
        self.updated: set[str] = set()

    def __call__(self, kind: str, key: str, text: str) -> str:
        again = kind == "UPDATE" and key in self.updated
        if kind == "UPDATE":
            self.updated.add(key)
        return "" if again else text


class UndeletedRows:
    """Ignores the delete of a row that was updated."""

    def __init__(self) -> None:
        self.updated: set[str] = set()

    def __call__(self, kind: str, key: str, text: str) -> str:
        if kind == "UPDATE":
            self.updated.add(key)
        return "" if kind == "DELETE FROM" and key in self.updated else text


def without_nulls(kind: str, _key: str, text: str) -> str:
    """Keep the old value where an update sets NULL."""
    if kind != "UPDATE":
        return text
    sets, where, condition = text.partition(" WHERE ")
    rest = NULL.sub("", sets).rstrip(", ")
    return "" if rest.endswith("SET") else f"{rest}{where}{condition}"


BUGS: dict[str, Callable[[], Callable[[str, str, str], str]]] = {
    "tombstones": Tombstones,
    "first-updates": FirstUpdates,
    "undeleted-rows": UndeletedRows,
    "without-nulls": lambda: without_nulls,
}


def rows(statements: list[str], change: Callable[[str, str, str], str]) -> list[object]:
    """Return the rows after some statements; one that cannot be applied changes nothing."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (id INT PRIMARY KEY, v INT, w TEXT)")
    for text in statements:
        kind = DML.match(text)
        key = KEY.search(text)
        if kind and key:
            changed = change(kind[1], key[1] or key[2], text).replace("<=>", "IS")
            try:
                database.execute(changed)
            except sqlite3.Error:
                continue
    return database.execute("SELECT * FROM t ORDER BY id").fetchall()


def main(bug: str, folder: str) -> int:
    """Return 1 if the rows differ."""
    lines = (Path(folder) / "scenario.yaml").read_text("utf-8").splitlines()
    statements = [line.strip().removesuffix(";") for line in lines]
    return int(rows(statements, BUGS[bug]()) != rows(statements, lambda _kind, _key, text: text))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
