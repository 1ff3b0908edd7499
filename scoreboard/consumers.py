"""The consumers of the scoreboard: what each is, how it is started, and what it needs."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from scoreboard.formats import FORMATS
from tests.conformance.restart.bugs import TESTEES
from tests.peers.software import CDC_FORMATS, PROJECT, build
from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.wire import ProtocolName

_VERSION = re.compile(r"<(\w+)\.version>([^<]+)<")
_MAVEN = "Maven, a JDK (17 or newer) and, the first time, the network"


@dataclass(frozen=True, kw_only=True)
class Consumer:
    """A consumer.

    :param software: what it is, with its version.
    :param levels: levels of its cases.
    :param needs: what the machine must have.
    :param command: makes the command of its testee, in a folder that it may write to.
        It raises ``NotRun``.
    """

    name: str
    software: str
    protocols: Sequence[ProtocolName]
    levels: tuple[Level, ...]
    needs: str
    command: Callable[[Path], str]


@cache
def versions(project: Path) -> dict[str, str]:
    """Return the versions that a Maven project pins."""
    return dict(_VERSION.findall((project / "pom.xml").read_text("utf-8")))


@cache
def _built(project: Path) -> None:
    build(project)


def _parser(name: str, _folder: Path) -> str:
    _built(FORMATS[name].project)
    return shlex.join([sys.executable, "-m", "scoreboard.testee", name])


def _parsers() -> list[Consumer]:
    of_formats = {**versions(CDC_FORMATS), **versions(PROJECT)}
    return [
        Consumer(
            name=name,
            software=_SOFTWARE[name].format(**of_formats),
            protocols=(parser.protocol,),
            levels=(Level.DECODE, Level.APPLY) if parser.applies else (Level.DECODE,),
            needs=_MAVEN,
            command=partial(_parser, name),
        )
        for name, parser in FORMATS.items()
    ]


_SOFTWARE = {
    "canal-flat-message": "Alibaba canal {canal}: class `FlatMessage`",
    "flink-canal-json": "Apache Flink {flink}: format `canal-json`, upsert sink",
    "flink-canal-json-lenient": "the same with `ignore-parse-errors`",
    "flink-debezium-json": "Apache Flink {flink}: format `debezium-json`, upsert sink",
    "flink-debezium-json-lenient": "the same with `ignore-parse-errors`",
    "flink-maxwell-json": "Apache Flink {flink}: format `maxwell-json`",
    "connect-json": "Kafka Connect {kafka}: `JsonConverter`",
    "debezium-unwrap": "Debezium {debezium}: `ExtractNewRecordState`, upsert sink",
    "iceberg-debezium": "Iceberg {iceberg}: `DebeziumTransform` of its Kafka Connect sink, upsert sink",
    "paimon-canal": "Paimon {paimon}: parser of Canal-JSON of `kafka_sync_database`, upsert sink",
    "paimon-maxwell": "Paimon {paimon}: parser of Maxwell of `kafka_sync_database`",
    "seatunnel-canal": "SeaTunnel {seatunnel}: format `canal_json`, upsert sink",
    "seatunnel-debezium": "SeaTunnel {seatunnel}: format `debezium_json`, upsert sink",
    "seatunnel-maxwell": "SeaTunnel {seatunnel}: format `maxwell_json`",
}


def _example(language: str, software: str, needs: str, *others: ProtocolName) -> Consumer:
    return Consumer(
        name=f"testee-{language}",
        software=software,
        protocols=("canal-json", *others),
        levels=(Level.DECODE, Level.APPLY, Level.RESTART),
        needs=needs,
        command=lambda folder: TESTEES[language](folder, None),
    )


_EXAMPLES = (
    _example("java", "example in Java, with canal's `FlatMessage`", _MAVEN),
    _example("go", "example in Go, without packages", "Go"),
    _example("node", "example in JavaScript, without packages", "Node"),
    _example("python", "example in Python, without packages", "Python", "open-protocol"),
)


@dataclass(frozen=True, kw_only=True)
class NotStarted:
    """A consumer that this tool does not start.

    :param needs: what it needs, and what runs it.
    """

    name: str
    software: str
    needs: str


_PROGRAM = "the path of a binary, and MariaDB: `pytest -m slow tests/peers/test_ticdc_programs.py`"
_DEBEZIUM = versions(PROJECT)["debezium"]
NOT_STARTED = (
    NotStarted(
        name="debezium-jdbc-sink",
        software=f"Debezium {_DEBEZIUM}: `JdbcSinkConnector` in a worker of Kafka Connect",
        needs="a broker and a PostgreSQL: `pytest -m slow tests/peers/test_jdbc_sink.py`",
    ),
    NotStarted(
        name="spark-tables",
        software="Spark: MERGE into Delta, Iceberg and Hudi, and AUTO CDC",
        needs="an environment for each version: `pytest -m slow tests/peers/test_table_formats.py`",
    ),
    NotStarted(
        name="kafka-consumer",
        software="TiCDC: program `kafka-consumer`",
        needs=f"TICDC_KAFKA_CONSUMER, {_PROGRAM}",
    ),
    NotStarted(
        name="storage-consumer",
        software="TiCDC: program `storage-consumer`",
        needs=f"TICDC_STORAGE_CONSUMER, {_PROGRAM}",
    ),
    NotStarted(
        name="debezium-tidb",
        software="Debezium: connector for TiDB",
        needs=f"a published jar: Maven Central has no `debezium-connector-tidb` {_DEBEZIUM}",
    ),
    NotStarted(
        name="flink-debezium-avro",
        software=f"Apache Flink {versions(PROJECT)['flink']}: format `debezium-avro-confluent`",
        needs="a schema registry: the format reads schemas over HTTP alone",
    ),
)

CONSUMERS: tuple[Consumer, ...] = (*_parsers(), *_EXAMPLES)
