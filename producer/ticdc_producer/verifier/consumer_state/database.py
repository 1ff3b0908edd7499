"""Tables of a database that SQLAlchemy supports: MySQL, MariaDB, PostgreSQL, SQLite and others.

Values are read as the driver returns them, because SQLAlchemy's own conversions reject some stored values,
such as MySQL's zero dates. One Spark task per table reads the rows in chunks.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, NoSuchTableError, SQLAlchemyError

from ticdc_producer.engine.dataset import Engine as DatasetEngine
from ticdc_producer.errors import StateError, StateSourceError
from ticdc_producer.installation import install_command
from ticdc_producer.local_path import local_path
from ticdc_producer.masking import masked
from ticdc_producer.verifier.consumer_state.compare import BATCH_ROWS, COMPARABLE_ROWS, row_batches
from ticdc_producer.verifier.consumer_state.plan import (
    ActualTable,
    BatchReader,
    ExpectedTable,
    TablePlan,
    default_names,
)

_DRIVERS = {
    "mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql",
    "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg",
}  # fmt: skip
_SESSION = {"mysql": "SET time_zone = '+00:00'", "mariadb": "SET time_zone = '+00:00'"} | {
    "postgresql": "SET TIME ZONE 'UTC'"
}


class DatabaseSource:
    """A database as a source of tables.

    :ivar label: its URL without secrets, for messages.
    :raises StateError: for a malformed URL, an unsupported database or a missing driver.
    """

    def __init__(self, url: str) -> None:
        try:
            self._url = sa.make_url(url)
        except (ArgumentError, ValueError):  # its message has the whole URL with the password
            hint = "DIALECT://USER:PASSWORD@HOST:PORT/DATABASE, or sqlite:///PATH"
            raise StateError("not a database URL", source=url.partition(":")[0], hint=hint) from None
        self._url = self._url.set(drivername=_DRIVERS.get(self._url.drivername, self._url.drivername))
        self.label = masked(self._url.render_as_string(hide_password=False))
        self._check()

    def _check(self) -> None:
        try:
            self._url.get_dialect().import_dbapi()
        except NoSuchModuleError:
            what = f"SQLAlchemy knows no database {self._url.drivername!r}"
            raise StateError(what, source=self.label, hint="install its dialect") from None
        except ImportError as error:
            own = self._url.drivername in _DRIVERS.values()
            hint = (
                install_command("state")
                if own
                else f"install its driver, such as with pip install {error.name}"
            )
            raise StateError(f"its driver is missing ({error.name})", source=self.label, hint=hint) from None
        if self._url.get_backend_name() in ("mysql", "mariadb") and not self._url.database:
            hint = "DIALECT://USER:PASSWORD@HOST:PORT/DATABASE"
            raise StateError("the URL names no database", source=self.label, hint=hint)
        if self._url.get_backend_name() == "sqlite":
            file = local_path(self._url.database or "")
            if not file.is_file():
                raise StateError("no such file", source=self.label, hint="sqlite:///PATH of a file")
            # A Spark worker does not run in the current directory.
            self._url = self._url.set(database=str(file.absolute()))

    def find(self, table: ExpectedTable, name: str | None, unique_name: bool, /) -> ActualTable | None:
        with self._engine() as engine, warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.exc.SAWarning)  # of types that SQLAlchemy does not know
            inspector = sa.inspect(engine)
            schemas = set(inspector.get_schema_names())
            for schema, relation in _candidates(table, name, schemas, unique_name=unique_name):
                if inspector.has_table(relation, schema=schema):
                    columns = tuple(
                        column["name"] for column in inspector.get_columns(relation, schema=schema)
                    )
                    return ActualTable(name=f"{schema}.{relation}" if schema else relation, columns=columns)
        return None

    def rows(self, spark: SparkSession, plan: TablePlan) -> DataFrame:
        return spark.range(1, numPartitions=1).mapInArrow(self._reader(plan), COMPARABLE_ROWS)

    def dataset(self, _engine: DatasetEngine, _plan: TablePlan, /) -> None:
        """Return None: a driver returns the values of a row."""

    def _reader(self, plan: TablePlan) -> BatchReader:
        def read(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            row = plan.actual_row()
            with self._engine() as engine, engine.connect() as connection:
                _prepare(connection)
                query = _query(engine, plan)
                result = connection.execution_options(stream_results=True, yield_per=BATCH_ROWS).execute(
                    query
                )
                yield from row_batches(plan.number, (row(values) for values in result))

        return read

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        engine = sa.create_engine(self._url, poolclass=sa.pool.NullPool)
        try:
            yield engine
        except SQLAlchemyError as error:
            raise StateSourceError(self._masked(error), source=self.label) from None
        finally:
            engine.dispose()

    def _masked(self, error: SQLAlchemyError) -> str:
        """Return the message of the driver, in one line and without the password."""
        text = " ".join(str(getattr(error, "orig", None) or error).split())
        secret = self._url.password
        return text.replace(str(secret), "***") if secret else text


def _candidates(
    table: ExpectedTable, name: str | None, schemas: set[str], *, unique_name: bool
) -> Iterator[tuple[str | None, str]]:
    """Yield possible schemas and names of the table, the most likely first."""
    if name is not None:
        schema, _, relation = name.rpartition(".")
        if schema in schemas:
            yield schema, relation
        yield None, name
        return
    for schema in dict.fromkeys([table.schema, table.schema.lower()]):
        if schema in schemas:
            yield from ((schema, relation) for relation in dict.fromkeys([table.name, table.name.lower()]))
    yield from ((None, relation) for relation in default_names(table, unique_name=unique_name))


def _prepare(connection: Connection) -> None:
    """Set the session to UTC, and preserve bytes that are not UTF-8."""
    dialect = connection.dialect.name
    if dialect in _SESSION:
        connection.exec_driver_sql(_SESSION[dialect])
    driver: Any = connection.connection.driver_connection
    if dialect == "sqlite":
        driver.text_factory = lambda text: text.decode("utf-8", "surrogateescape")


def _query(engine: Engine, plan: TablePlan) -> sa.Select[Any]:
    schema, _, relation = plan.actual.rpartition(".")
    inspector = sa.inspect(engine)
    name, namespace = (relation, schema) if schema in inspector.get_schema_names() else (plan.actual, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.exc.SAWarning)
        try:
            types = {
                column["name"]: column["type"] for column in inspector.get_columns(name, schema=namespace)
            }
        except NoSuchTableError:
            types = {}
    table = sa.table(name, *map(sa.column, types), schema=namespace)
    columns = [
        _plain(table.c[name], types[name], engine.dialect.name).label(f"c{number}")
        for number, name in enumerate(plan.actual_columns)
    ]
    return sa.select(*columns)


def _plain(column: sa.ColumnElement[Any], kind: Any, dialect: str) -> sa.ColumnElement[Any]:
    """Return the value in a form that the driver returns without loss."""
    name = str(getattr(kind, "__visit_name__", "")).lower()
    if dialect in ("mysql", "mariadb") and name == "float":
        return column + sa.literal_column("0e0")  # a plain FLOAT is printed with six digits
    if dialect == "postgresql" and name == "bit":
        return sa.literal("0b") + sa.cast(column, sa.Text)  # else its digits look like those of a decimal
    if dialect == "postgresql" and name in ("json", "jsonb", "date", "timestamp", "datetime"):
        return sa.cast(column, sa.Text)
    return sa.type_coerce(column, sa.types.NullType())
