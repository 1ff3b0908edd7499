"""TiCDC's own consumers, which a user has built: processes that fill a database until they are ended."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import sqlalchemy as sa

from tests.peers.software import NotRun
from ticdc_producer.config.changefeed_toml import changefeed_toml, sink_uri_with_options
from ticdc_producer.testing.topic import ScenarioTopic

KAFKA_CONSUMER, STORAGE_CONSUMER = "TICDC_KAFKA_CONSUMER", "TICDC_STORAGE_CONSUMER"
LAST_TABLE = "the_end"
LAST_STATEMENT = f"CREATE TABLE test.{LAST_TABLE} (id INT PRIMARY KEY);"
"""Ends each history: a consumer executes a DDL after all rows with a lower commit-ts. Once the table exists,
it has applied all rows."""
_PATIENCE_SECONDS, _PAUSE_SECONDS = 120, 0.5
_LOG_CHARACTERS = 3000


def program(variable: str) -> str:
    """The program that an environment variable names.

    :raises NotRun: if the variable is not set.
    """
    path = os.environ.get(variable)
    if not path:
        name = variable.lower().removeprefix("ticdc_").replace("_", "-")
        raise NotRun(f"{variable} is not set; it names TiCDC's program {name}")
    return path


@dataclass(frozen=True)
class Target:
    """A MariaDB that a consumer fills.

    :param server: URL without the database.
    """

    server: str

    @property
    def url(self) -> str:
        """For ``verify state``, which finds the tables of all databases."""
        return f"{self.server}/mysql"

    def sink_uri(self, parameters: str) -> str:
        """For the option ``-downstream-uri``. Without a zone a session has the server's, because MariaDB does
        not know the names of zones.

        :param parameters: of the sink, each after ``&``.
        """
        return f"{self.server.replace('mariadb', 'mysql', 1)}/?time-zone={parameters}"

    def prepare(self) -> None:
        """Have what a new TiDB has: the database ``test``, and no other; sessions in UTC."""
        with self._connection() as connection:
            names = {str(name) for name in connection.execute(sa.text("SHOW DATABASES")).scalars()}
            for name in sorted(names - {"information_schema", "mysql", "performance_schema", "sys"}):
                connection.exec_driver_sql(f"DROP DATABASE `{name}`")
            connection.exec_driver_sql("CREATE DATABASE test")
            connection.exec_driver_sql("SET GLOBAL time_zone = '+00:00'")

    def has_all(self) -> bool:
        """Whether the last statement was executed."""
        with self._connection() as connection:
            return sa.inspect(connection).has_table(LAST_TABLE, schema="test")

    def _connection(self) -> sa.Connection:
        url = self.url.replace("mariadb", "mariadb+pymysql", 1)
        return sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool).connect()


def consume_topic(topic: ScenarioTopic, target: Target, folder: Path) -> None:
    """Have ``kafka-consumer`` apply a topic.

    :param folder: an empty folder for its log and its changefeed file.
    """
    changefeed = topic.golden.changefeed
    query = urlsplit(sink_uri_with_options(changefeed)).query
    source = f"kafka://{topic.bootstrap}/{topic.topic}?{query}&partition-num={changefeed.partition_num}"
    config = folder / "changefeed.toml"
    config.write_text(changefeed_toml(changefeed), "utf-8")
    _run([program(KAFKA_CONSUMER), "-upstream-uri", source, "-config", str(config)], target, folder)


OF_FILES = {"csv": "&safe-mode=true", "canal-json": "&safe-mode=true&batch-dml-enable=false"}
"""Parameters of the downstream URI that ``storage-consumer`` needs for the files of a protocol: updates
without their old values become INSERTs, and rows of Canal-JSON have their columns in another order than the
batched statement."""


def consume_files(files: Path, protocol: str, config: Path, target: Target, folder: Path) -> None:
    """Have ``storage-consumer`` apply files.

    :param protocol: with the parameters of the sink URI.
    :param config: the changefeed file with which the files were written.
    :param folder: an empty folder for its log.
    """
    source = ["-upstream-uri", f"file://{files}?protocol={protocol}", "-config", str(config)]
    command = [program(STORAGE_CONSUMER), *source, "-flush-interval", "1s"]
    _run(command, target, folder, OF_FILES[protocol.partition("&")[0]])


def _run(command: Sequence[str], target: Target, folder: Path, parameters: str = "") -> None:
    """Run a consumer until it has executed the last statement.

    :param parameters: of the downstream URI.
    :raises AssertionError: with the end of its log, if it ends, or takes too long.
    """
    target.prepare()
    log, output = folder / "consumer.log", folder / "output"
    options = ["-downstream-uri", target.sink_uri(parameters), "-log-file", str(log), "-tz", "UTC"]
    with (
        output.open("wb") as stream,
        subprocess.Popen([*command, *options], cwd=folder, stdout=stream, stderr=stream) as process,
    ):
        try:
            end = time.monotonic() + _PATIENCE_SECONDS
            while not target.has_all():
                with suppress(subprocess.TimeoutExpired):
                    code = process.wait(_PAUSE_SECONDS)
                    raise AssertionError(f"{command[0]} ended with code {code}: {_end_of(output, log)}")
                late = time.monotonic() > end
                assert not late, f"{command[0]} is not done: {_end_of(output, log)}"
        finally:
            process.terminate()


def _end_of(*logs: Path) -> str:
    texts = [path.read_text("utf-8", "replace") for path in logs if path.exists()]
    return "\n".join(text[-_LOG_CHARACTERS:] for text in texts)
