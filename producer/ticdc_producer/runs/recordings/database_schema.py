"""The CREATE TABLE statements of a live database of MySQL or TiDB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ticdc_producer.errors import ArgumentError
from ticdc_producer.installation import install_command
from ticdc_producer.masking import masked
from ticdc_producer.recording.binlog_rows import SYSTEM_DATABASES
from ticdc_producer.recording.definitions import DatabaseSchema
from ticdc_producer.recording.selection import Accepts
from ticdc_producer.scenario.sql.text.spelling import quoted_name

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_DRIVERS = {"mysql": "mysql+pymysql", "mariadb": "mysql+pymysql", "tidb": "mysql+pymysql"}
TIMEOUTS = {"connect_timeout": 10, "read_timeout": 60, "write_timeout": 60}
"""Seconds, unless the URL has others. PyMySQL waits without end for an answer."""
_OF_PARAMETERS = (TypeError, AttributeError, ValueError, LookupError, OSError)
"""What the driver raises for parameters of the URL that it does not know, or whose value it cannot use."""
_TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
    " ORDER BY table_schema, table_name"
)


def database_schema(url: str, accepts: Accepts) -> DatabaseSchema:
    """Return the tables of the database that a URL names, or of all databases if it names none.

    :param url: ``mysql://USER:PASSWORD@HOST:PORT/DATABASE``.
    :param accepts: the tables that are recorded; the others are not read.
    :raises ArgumentError: for another URL, a driver that is not installed, and a server that does not answer.
    """
    try:
        import sqlalchemy as sa  # an extra, which recordings of topics with DDLs do not need
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise _error("a database needs SQLAlchemy and PyMySQL", install_command("state")) from None
    hint = "mysql://USER:PASSWORD@HOST:PORT/DATABASE, or the path of a dump"
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):  # its message has the whole URL with the password
        raise _error("`schema` is not the URL of a database", hint) from None
    if parsed.drivername not in _DRIVERS:
        raise _error(f"`schema` is a URL of {parsed.drivername}, not of MySQL or TiDB", hint)
    label = masked(url)
    timeouts = {name: seconds for name, seconds in TIMEOUTS.items() if name not in parsed.query}
    try:
        engine = sa.create_engine(
            parsed.set(drivername=_DRIVERS[parsed.drivername]),
            connect_args=timeouts,
            poolclass=sa.pool.NullPool,
        )
        with engine.connect() as connection:
            statements = "\n".join(_statements(connection, parsed.database or "", accepts))
    except ImportError as error:
        raise _error(f"the driver {error.name} is missing", install_command("state")) from None
    except (SQLAlchemyError, *_OF_PARAMETERS) as error:
        reason = " ".join(masked(str(getattr(error, "orig", None) or error)).split())
        raise _error(f"cannot read the tables of {label}: {reason}", "") from None
    return DatabaseSchema(label, statements)


def _statements(connection: Connection, database: str, accepts: Accepts) -> Iterator[str]:
    """Yield the statements that create the tables of a database; empty: of all but those of the server."""
    last = ""
    for schema, table in connection.exec_driver_sql(_TABLES).all():
        others = schema != database if database else schema.lower() in SYSTEM_DATABASES
        if others or not accepts(schema, table):
            continue
        if schema != last:
            yield f"CREATE DATABASE IF NOT EXISTS {quoted_name(schema)}; USE {quoted_name(schema)};"
            last = schema
        name = f"{quoted_name(schema)}.{quoted_name(table)}".replace("%", "%%")
        for _, create in connection.exec_driver_sql(f"SHOW CREATE TABLE {name}"):
            yield f"{create};"


def _error(what: str, hint: str) -> ArgumentError:
    return ArgumentError(what, argument="schema", hint=hint).about("schema")
