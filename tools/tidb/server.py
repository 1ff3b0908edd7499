"""A TiDB server that runs scripts of SQL, and what became of their statements and tables."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

import pymysql

from tests.scenario.sql.tidb_results import Case
from ticdc_producer.scenario.sql.text.statements import split_statements

_SYSTEM = {"information_schema", "metrics_schema", "mysql", "performance_schema", "sys"}
_TRANSACTION = re.compile(r"(?:BEGIN|START\s+TRANSACTION)\b", re.IGNORECASE)
_AS_NUMBER = {"enum": "+0", "set": "+0", "bit": "+0", "float": "+0e0", "double": "+0e0"}
"""The types whose values a case has as numbers."""
_PLAIN = "SET time_zone = '+00:00', sql_mode = '', timestamp = 0"

Connection: TypeAlias = "pymysql.Connection[Any]"


class OtherDatabases(Exception):
    """The server has databases that no case created."""


class Server:
    """A TiDB server for tests, whose databases are dropped before each case.

    :param url: such as ``mysql://root@127.0.0.1:4000``.
    :raises OtherDatabases: if it has databases other than an empty ``test``.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._account: dict[str, Any] = {
            "host": parts.hostname or "127.0.0.1",
            "port": parts.port or 4000,
            "user": unquote(parts.username or "root"),
            "password": unquote(parts.password or ""),
            "charset": "utf8mb4",
            "autocommit": True,
            "conv": {},
        }
        self._admin: Connection = pymysql.connect(**self._account)
        others = {*self._databases()} - {"test"}
        if others or self._tables():
            names = ", ".join(sorted(others)) or "tables in test"
            raise OtherDatabases(f"the server has {names}, which would be dropped: use one for tests")

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()
        self._admin.close()

    def case(self, name: str, statements: Sequence[str]) -> Case:
        """Run statements in a new connection, in an empty database ``test``.

        A statement that begins with BEGIN has several statements up to COMMIT; its first error ends it with a
        ROLLBACK.
        """
        self._clear()
        connection: Connection = pymysql.connect(**self._account, database="test")
        try:
            codes = [(statement, _code(connection, statement)) for statement in statements]
        finally:
            connection.close()
        return Case(name, codes, self._contents())

    def _clear(self) -> None:
        for database in [*self._databases()]:
            self._rows(f"DROP DATABASE {_quoted(database)}")
        self._rows("CREATE DATABASE test")

    def _contents(self) -> dict[str, dict[str, list[Any]]]:
        self._rows(_PLAIN)
        return {f"{schema}.{table}": self._content(schema, table) for schema, table in self._tables()}

    def _content(self, schema: str, table: str) -> dict[str, list[Any]]:
        """Return the columns and the rows of a table, without VIRTUAL columns."""
        columns = self._rows(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = %s"
            " AND table_name = %s AND extra NOT LIKE '%%VIRTUAL%%' ORDER BY ordinal_position",
            schema,
            table,
        )
        values = [_selected(_quoted(name), kind.lower()) for name, kind in columns]
        source = f"{_quoted(schema)}.{_quoted(table)}"
        rows = self._rows(f"SELECT {', '.join(values)} FROM {source}")  # noqa: S608  # the names are quoted
        return {"columns": [name for name, _ in columns], "rows": [[*row] for row in rows]}

    def _databases(self) -> Iterator[str]:
        return (name for (name,) in self._rows("SHOW DATABASES") if name.lower() not in _SYSTEM)

    def _tables(self) -> list[tuple[str, str]]:
        rows = self._rows(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
        )
        return [(schema, name) for schema, name in rows if schema.lower() not in _SYSTEM]

    def _rows(self, query: str, *arguments: str) -> list[list[Any]]:
        with self._admin.cursor() as cursor:
            cursor.execute(query, arguments or None)
            return [[_text(value) for value in row] for row in cursor.fetchall()]


def _code(connection: Connection, statement: str) -> int:
    """Run a statement, and return the number of its error; 0: it ran."""
    parts = [statement]
    if _TRANSACTION.match(statement):
        parts = [part.text for part in split_statements(statement)]
    with connection.cursor() as cursor:
        for part in parts:
            try:
                cursor.execute(part)
                cursor.fetchall()
            except pymysql.MySQLError as error:
                if len(parts) > 1:
                    cursor.execute("ROLLBACK")
                return int(error.args[0]) or -1
    return 0


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _selected(column: str, kind: str) -> str:
    """Return the expression with the value of a column as a case has it."""
    return f"CAST({column} AS CHAR)" if kind == "json" else column + _AS_NUMBER.get(kind, "")


def _text(value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(value).decode()}
