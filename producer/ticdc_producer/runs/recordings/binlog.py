"""Records the binlog of a MariaDB or MySQL server: what it would send through TiCDC if it were a TiDB."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, unquote, urlsplit

import pyarrow as pa

from ticdc_producer.config.kafka_properties import with_environment
from ticdc_producer.config.resolve import resolve
from ticdc_producer.errors import ArgumentError, RecordingError, ScenarioError
from ticdc_producer.installation import install_command
from ticdc_producer.masking import masked
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.recording.binlog_rows import (
    BINLOG_ROWS,
    BinlogChange,
    BinlogColumn,
    BinlogRows,
    Cell,
    Values,
)
from ticdc_producer.recording.folder import write_rows, write_scenario
from ticdc_producer.recording.selection import Selection
from ticdc_producer.runs.recordings.database_schema import TIMEOUTS
from ticdc_producer.runs.recordings.recording_report import Recording
from ticdc_producer.runs.run_options import OnStatus
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.targets.golden.folder import new_folder

if TYPE_CHECKING:
    from pymysql import Connection
    from pymysqlreplication import BinLogStreamReader

_ROWS = 10_000
"""Rows of a batch."""
_SETTINGS = {
    "log_bin": "ON",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_metadata": "FULL",
}
_VARIABLES = "SHOW GLOBAL VARIABLES WHERE variable_name IN ({})".format(
    ", ".join(f"'{name}'" for name in _SETTINGS)
)
_NEWER_CODES = {17: MySQLType.TIMESTAMP, 18: MySQLType.DATETIME, 19: MySQLType.DURATION}
"""The codes of a binlog for the types with fractions of seconds."""
_NULL, _EMPTY_SET = "null", "empty set"
"""Reasons of the library for a value that is None."""
_ABSENT = ("Unknown database", "doesn't exist", "does not exist")
"""Errors of a replay whose cause may be before the binlog."""
_BEGINNING = "the rows and the tables have to begin in the binlog: start the server, or RESET MASTER, before"


def record_binlog(
    url: str, out: Path, selection: Selection, table: list[str], on_status: OnStatus
) -> Recording:
    """Record the binlog of a server, from its first file to its present end.

    :param url: ``mysql://USER:PASSWORD@HOST:PORT``; ``${NAME}`` is a variable of the environment.
    :param selection: the tables, and the last commit.
    :param table: the filter rules of the tables, which the changefeed of the scenario gets.
    :raises ArgumentError: for a server that cannot be read, and for settings without which its binlog lacks
        rows.
    :raises RecordingError: for what the binlog does not have, or no TiDB runs, with its file and position.
    """
    server = _Server.of(url)
    on_status(f"reading the binlog of {server.label}")
    changefeed = resolve(
        f"kafka:///{out.absolute().name}", config={"filter": {"rules": table}} if table else None
    )
    with new_folder(out) as folder:
        counts: Counter[str] = Counter()
        try:
            write_rows(folder, _batches(server.rows(selection), counts), BINLOG_ROWS)
        except server.errors as error:
            raise server.error(f"cannot read the binlog of {server.label}", error) from None
        if not counts["row"] + counts["ddl"]:
            raise RecordingError("the binlog has no row and no DDL to record", where=server.label)
        file = write_scenario(
            folder,
            out.absolute().name,
            changefeed,
            has_resolved=False,
            force_replicate=False,
            canonical=False,
        )
        on_status("replaying the recording")
        check_replay(file)
    return Recording(
        folder=out,
        protocol=changefeed.protocol,
        partitions=0,
        events=counts,
        source=f"the binlog of {server.label}",
    )


def check_replay(file: Path) -> None:
    """Run the scenario of a recording.

    :raises RecordingError: for what no TiDB runs, with its place in the binlog.
    """
    try:
        prepare(load_scenario(file))
    except ScenarioError as error:
        lacks = any(words in error.what for words in _ABSENT)
        hint = "; ".join(filter(None, (error.hint, _BEGINNING if lacks else "")))
        raise RecordingError(error.what, hint=hint).about("binlog") from None


def _batches(rows: Iterator[dict[str, Cell]], counts: Counter[str]) -> Iterator[pa.RecordBatch]:
    while batch := [*islice(rows, _ROWS)]:
        counts["row"] += sum("op" in row for row in batch)
        counts["ddl"] += sum(not str(row.get("statement", "USE")).startswith("USE") for row in batch)
        columns = [pa.array([row.get(name) for row in batch], kind) for name, kind in _FIELDS.items()]
        yield pa.RecordBatch.from_arrays(columns, schema=BINLOG_ROWS)


_FIELDS: Mapping[str, pa.DataType] = {field.name: field.type for field in BINLOG_ROWS}


@dataclass(frozen=True)
class _Server:
    """A server whose binlog is read.

    :param label: its address, for messages.
    :param connection: the arguments of its connections.
    :param errors: what the driver and the library raise.
    """

    label: str
    connection: Mapping[str, Any]
    errors: tuple[type[Exception], ...]

    @classmethod
    def of(cls, url: str) -> _Server:
        if any(find_spec(module) is None for module in ("pymysqlreplication", "pymysql")):
            what = "a binlog needs mysql-replication"
            hint = install_command("binlog")
            raise ArgumentError(what, argument="binlog", hint=hint).about("binlog")
        from pymysql import MySQLError

        hint = "mysql://USER:${NAME}@HOST:PORT, with the password as a variable of the environment"
        url = with_environment(url, "binlog", partial(quote, safe=""))
        try:
            parts = urlsplit(url)
            port = parts.port or 3306
        except ValueError:  # its message may have the password
            raise ArgumentError("`binlog` is not a URL", argument="binlog", hint=hint).about(
                "binlog"
            ) from None
        if (
            parts.scheme not in ("mysql", "mariadb")
            or not parts.hostname
            or parts.path.strip("/")
            or parts.query
        ):
            what = "`binlog` is not the URL of a server of MariaDB or MySQL"
            raise ArgumentError(what, argument="binlog", hint=f"{hint}; `table` chooses tables").about(
                "binlog"
            )
        account = {"user": unquote(parts.username or ""), "password": unquote(parts.password or "")}
        connection = {"host": parts.hostname, "port": port, **account, **TIMEOUTS}
        return cls(f"{parts.hostname}:{port}", connection, (MySQLError, OSError))

    def error(self, what: str, error: Exception) -> ArgumentError:
        """Return the error for one of the driver."""
        reason = " ".join(masked(str(error.args[-1] if error.args else error)).split())
        return ArgumentError(f"{what}: {reason}", argument="binlog").about("binlog")

    def rows(self, selection: Selection) -> Iterator[dict[str, Cell]]:
        """Yield the rows of the binlog (shape ``BINLOG_ROWS``)."""
        from pymysql import connect

        with closing(connect(**self.connection)) as connection:
            _check_settings(connection)
            is_mariadb = "mariadb" in str(_values(connection, "SELECT VERSION()")[0]).lower()
            first = str(_values(connection, "SHOW BINARY LOGS")[0])
        with closing(self._reader(first, is_mariadb=is_mariadb)) as reader:
            yield from binlog_events(reader, BinlogRows(accepts=selection.accepts, until=selection.until))

    def _reader(self, first: str, *, is_mariadb: bool) -> BinLogStreamReader:
        from pymysqlreplication import BinLogStreamReader, event, row_event

        return BinLogStreamReader(
            connection_settings=dict(self.connection),
            server_id=(1 << 31) + secrets.randbelow(1 << 30),  # unique among the replicas of the server
            is_mariadb=is_mariadb,
            resume_stream=True,
            log_file=first,
            log_pos=4,
            only_events=[
                event.QueryEvent,
                event.XidEvent,
                row_event.WriteRowsEvent,
                row_event.UpdateRowsEvent,
                row_event.DeleteRowsEvent,
            ],
        )


def _values(connection: Connection[Any], query: str) -> list[object]:
    """Return the first column of a query."""
    with connection.cursor() as cursor:
        cursor.execute(query)
        return [row[0] for row in cursor.fetchall()]


def _check_settings(connection: Connection[Any]) -> None:
    """Check that the binlog has whole rows and the names of their columns.

    :raises ArgumentError: with the statement that sets what is missing.
    """
    with connection.cursor() as cursor:
        cursor.execute(_VARIABLES)
        actual = {str(name).lower(): str(value).upper() for name, value in cursor.fetchall()}
    for name, value in _SETTINGS.items():
        if actual.get(name) != value:
            what = f"the server has {name} = {actual.get(name, 'no such variable')}, not {value}"
            hint = "start it with --log-bin" if name == "log_bin" else f"SET GLOBAL {name} = '{value}'"
            raise ArgumentError(what, argument="binlog", hint=hint).about("binlog")


class BinlogReader(Protocol):
    """The events of a binlog, as the classes of ``pymysqlreplication``.

    :ivar log_file: name of the file that the last event is from.
    """

    log_file: str

    def __iter__(self) -> Iterator[object]:
        """Return the events in their order."""


def binlog_events(reader: BinlogReader, state: BinlogRows) -> Iterator[dict[str, Cell]]:
    """Yield the rows of the events of a binlog (shape ``BINLOG_ROWS``).

    :raises RecordingError: see ``BinlogRows``.
    """
    events: Iterator[Any] = iter(reader)
    for event in events:
        start = event.packet.log_pos - event.packet.event_size  # the library gives the end
        origin, kind = f"{reader.log_file}:{start}", type(event).__name__
        rows: Iterator[dict[str, Cell]] = iter(())
        if kind == "XidEvent":
            state.commit()
        elif kind == "QueryEvent":
            database = bytes(event.schema).decode("utf-8", "replace")
            rows = state.statement(str(event.query), database, event.timestamp, origin)
        else:
            columns = [*map(_column, event.columns)]
            changes = [_change(kind, row) for row in event.rows]
            rows = state.changes((event.schema, event.table), columns, changes, event.timestamp, origin)
        for row in rows:
            if state.ended:
                return
            yield row


def _column(column: Any) -> BinlogColumn:
    code = _NEWER_CODES.get(column.type) or MySQLType(column.type)
    return BinlogColumn(name=str(column.name), type=code, digits=getattr(column, "fsp", 0))


def _change(kind: str, row: Mapping[str, Any]) -> BinlogChange:
    """Return the change of a row by the name of its event's class."""
    if kind == "UpdateRowsEvent":
        before, unread = _read(row["before_values"], row["before_none_sources"])
        after, unread_after = _read(row["after_values"], row["after_none_sources"])
        return BinlogChange(before=before, after=after, unread={**unread, **unread_after})
    values, unread = _read(row["values"], row["none_sources"])
    if kind == "WriteRowsEvent":
        return BinlogChange(before=None, after=values, unread=unread)
    return BinlogChange(before=values, after=None, unread=unread)


def _read(values: Values, reasons: Mapping[str, str]) -> tuple[Values, Mapping[str, str]]:
    """Return the values of a row, and why some could not be read.

    :param reasons: why values are None: NULL, an empty SET, or one that the library cannot read.
    """
    empty: Values = {name: set[str]() for name, reason in reasons.items() if reason == _EMPTY_SET}
    return {**values, **empty}, {
        name: reason for name, reason in reasons.items() if reason not in (_NULL, _EMPTY_SET)
    }
