"""Everything in the bytes of a message is compared with what the encoder of the scenario writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ticdc_producer.engine.dataset import Engine
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.model.event import Record
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.oracle.scenario import oracle_of_scenario
from ticdc_producer.protocols.open_protocol.decoder import LENGTH, VERSION, event_bytes
from ticdc_producer.runs.verification import verify_messages
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic
from ticdc_producer.targets.record_batches import record_batches
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.verdict import Verdict

SCENARIO = """
CREATE DATABASE d;
CREATE TABLE d.t (
  id BIGINT PRIMARY KEY, name VARCHAR(20) NOT NULL DEFAULT 'x', price DOUBLE, n TINYINT UNSIGNED,
  UNIQUE KEY n (name)
);
INSERT INTO d.t VALUES (1, 'a', 1.5, 1), (2, 'b<', NULL, 2);
UPDATE d.t SET price = 2.25 WHERE id = 1;
DELETE FROM d.t WHERE id = 2;
"""
OPEN = "open-protocol&max-batch-size=1"
CANAL = "canal-json&enable-tidb-extension=true"
DEBEZIUM = "debezium&enable-tidb-extension=true&output-ddl=true"
SIMPLE = "simple"
PROTOCOLS = (OPEN, CANAL, DEBEZIUM, SIMPLE)


@cache
def job_of(protocol: str) -> Job:
    with TemporaryDirectory() as folder:
        scenario = Path(folder) / "wire.sql"
        scenario.write_text(SCENARIO)
        return prepare(scenario, sink_uri=f"kafka:///t?protocol={protocol}&partition-num=1")


@cache
def sent(protocol: str) -> tuple[Record, ...]:
    """The messages that our encoder writes."""
    return tuple(
        Record(topic=topic, partition=partition, offset=offset, key=message.key, value=message.value)
        for (topic, partition), messages in simulated_topic(job_of(protocol)).partitions.items()
        for offset, message in enumerate(messages)
    )


def verdict_on(protocol: str, messages: Iterable[Record], engine: Engine | None = None) -> Verdict:
    engine, job = engine or LocalEngine(), job_of(protocol)
    rows = engine.of_batches(record_batches(messages), MESSAGES)
    with oracle_of_scenario(job, engine) as oracle:
        return verify_messages(engine, job.changefeed, Messages(rows), oracle).verdict


def comparison(protocol: str, messages: Iterable[Record], engine: Engine | None = None) -> Comparison:
    compared = verdict_on(protocol, messages, engine).comparison
    assert compared is not None
    return compared


def edited(message: Record, edit: Callable[[Any, Any], object]) -> Record:
    """A message whose parsed key and value were changed."""
    if message.key is not None and message.key.startswith(VERSION):
        ((key_text, value_text),) = event_bytes(message.key, message.value or b"")
        key, value = (json.loads(text or b"{}") for text in (key_text or b"", value_text or b""))
        edit(key, value)
        key_text, value_text = (json.dumps(part).encode() for part in (key, value or ""))
        value_text = b"" if value_text == b'""' else value_text
        parts = (LENGTH.pack(len(text)) + text for text in (key_text, value_text))
        framed_key, framed_value = parts
        return replace(message, key=VERSION + framed_key, value=framed_value)
    key, value = (None if part is None else json.loads(part) for part in (message.key, message.value))
    edit(key, value)
    key_text, value_text = (None if part is None else json.dumps(part).encode() for part in (key, value))
    return replace(message, key=key_text, value=value_text)


def at(value: Any, path: str) -> tuple[Any, Any]:
    """The object or list that holds a member, and the member's name or index."""
    *parents, last = (int(name) if name.isdigit() else name for name in path.split("."))
    for name in parents:
        value = value[name]
    return value, last


@dataclass(frozen=True)
class Change:
    """A change of one member of one message.

    :param offset: of the message.
    :param path: from ``key`` or ``value`` on.
    :param to: the new value; None: the member is removed.
    """

    protocol: str
    offset: int
    path: str
    to: object
    text: str

    def applied(self) -> list[Record]:
        messages = list(sent(self.protocol))
        messages[self.offset] = edited(messages[self.offset], self._edit)
        return messages

    def _edit(self, key: Any, value: Any) -> None:
        owner, name = at({"key": key, "value": value}, self.path)
        if self.to is None:
            del owner[name]
        else:
            owner[name] = self.to


def described(protocol: str, kind: bytes) -> int:
    """The offset of the first message with some text in it."""
    return next(message.offset for message in sent(protocol) if kind in (message.value or b""))


ROW = {OPEN: b'"u":{"id":{"t":8', CANAL: b'"INSERT"', DEBEZIUM: b'"op":"c"', SIMPLE: b'"INSERT"'}
DDL = {OPEN: b"CREATE TABLE", CANAL: b"CREATE TABLE", DEBEZIUM: b"CREATE TABLE", SIMPLE: b"CREATE TABLE"}
SCHEMA = "value.tableSchema"
CHANGES = {
    "open-new-member": (OPEN, ROW, "value.u.price.x", 1, "value.u.price.x is 1, expected nothing"),
    "open-row-id": (OPEN, ROW, "key.rid", 7, "key.rid is 7, expected 1"),
    "canal-id": (CANAL, DDL, "value.id", 1, "value.id is 1, expected 0"),
    "canal-sql-type": (CANAL, ROW, "value.sqlType.n", 5, "value.sqlType.n is 5, expected -6"),
    "debezium-key-schema": (
        DEBEZIUM, ROW, "key.schema.optional", None, "key.schema.optional is nothing, expected false",
    ),
    "debezium-source": (
        DEBEZIUM, ROW, "value.payload.source.server_id", 1, "value.payload.source.server_id is 1, expected 0",
    ),
    "debezium-table-changes": (
        DEBEZIUM, DDL, "value.payload.tableChanges.0.table.columns.1.length", 21,
        "value.payload.tableChanges[0].table.columns[1].length is 21, expected 20",
    ),
    "debezium-db": (DEBEZIUM, DDL, "value.payload.source.db", "x", 'source.db is "x", expected "d"'),
    "simple-length": (
        SIMPLE, DDL, f"{SCHEMA}.columns.1.dataType.length", 21, "1].dataType.length is 21, expected 20",
    ),
    "simple-default": (
        SIMPLE, DDL, f"{SCHEMA}.columns.1.default", "y", 'columns[1].default is "y", expected "x"',
    ),
    "simple-collation": (
        SIMPLE, DDL, f"{SCHEMA}.columns.1.dataType.collate", "binary",
        'collate is "binary", expected "utf8mb4_bin"',
    ),
    "simple-index": (SIMPLE, DDL, f"{SCHEMA}.indexes.0.name", "m", 'indexes[0].name is "m", expected "n"'),
    "simple-bootstrap": (
        SIMPLE, dict.fromkeys(PROTOCOLS, b"BOOTSTRAP"), f"{SCHEMA}.columns.1.default", "y",
        'columns[1].default is "y", expected "x"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_messages_of_the_encoder_are_not_different(protocol: str) -> None:
    verdict = verdict_on(protocol, sent(protocol))
    assert verdict.ok
    assert verdict.comparison is not None
    assert verdict.comparison.expected > 5


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_member_is_named_with_both_values(name: str) -> None:
    protocol, kind, path, to, text = CHANGES[name]
    change = Change(protocol, described(protocol, kind[protocol]), path, to, text)
    compared = comparison(protocol, change.applied())
    assert (compared.different, compared.missing, compared.unexpected) == (1, 0, 0)
    (line,) = compared.diff
    assert line.startswith(f"≠ t/0@{change.offset}")
    assert text in line
    assert not compared.ok


def without_bootstrap() -> list[Record]:
    return [message for message in sent(SIMPLE) if b"BOOTSTRAP" not in (message.value or b"")]


def test_a_missing_message_without_events_is_missing() -> None:
    compared = comparison(SIMPLE, without_bootstrap())
    assert (compared.missing, compared.different) == (1, 0)
    assert "a message without events" in compared.diff[0]
    assert '"tableSchema"' in compared.diff[0]


def test_a_message_without_events_may_come_again_anywhere() -> None:
    again = [replace(sent(SIMPLE)[described(SIMPLE, b"BOOTSTRAP")], offset=len(sent(SIMPLE)))]
    assert comparison(SIMPLE, [*sent(SIMPLE), *again]).ok


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_second_text_in_a_value_is_an_error(protocol: str) -> None:
    messages = list(sent(protocol))
    row = described(protocol, ROW[protocol])
    messages[row] = replace(messages[row], value=(messages[row].value or b"") * 2)
    errors = [finding.id for finding in verdict_on(protocol, messages).of_severity("error")]
    assert "INV-FRAME" in errors


def test_a_repeated_member_is_named() -> None:
    messages = list(sent(CANAL))
    value = (messages[0].value or b"").replace(b'"sql":', b'"sql":"","sql":')
    messages[0] = replace(messages[0], value=value)
    assert 'value.sql is {"repeated":["",' in comparison(CANAL, messages).diff[0]


AVRO = "avro&enable-tidb-extension=true&avro-enable-watermark=true"


def renumbered(part: bytes | None) -> bytes | None:
    """A part of an Avro message whose schema has another id."""
    return part if part is None or part[:1] != b"\0" else part[:1] + b"\1" + part[2:]


@pytest.mark.parametrize("document", [False, True])
def test_schemas_of_avro_are_compared_instead_of_their_ids(document: bool) -> None:
    engine, job = LocalEngine(), job_of(AVRO)
    schemas = {number + (1 << 24): text for number, text in job.known_schemas.items()}
    if document:
        schemas = {
            number: text.replace('"name":', '"doc":"x","name":', 1) for number, text in schemas.items()
        }
    messages = [replace(m, key=renumbered(m.key), value=renumbered(m.value)) for m in sent(AVRO)]
    rows = engine.of_batches(record_batches(messages), MESSAGES)
    with oracle_of_scenario(job, engine) as oracle:
        verdict = verify_messages(engine, job.changefeed, Messages(rows), oracle, schemas=schemas).verdict
    assert verdict.comparison is not None
    assert verdict.comparison.different == (4 if document else 0)
    assert verdict.ok is not document
    assert all('schema.doc is "x", expected nothing' in line for line in verdict.comparison.diff)


@pytest.mark.slow  # fast: the handle key of runs/test_storage_runs.py
@pytest.mark.parametrize("name", ["simple-bootstrap", "canal-id"])
def test_spark_finds_the_same(spark: SparkSession, name: str) -> None:
    protocol, kind, path, to, _ = CHANGES[name]
    messages = Change(protocol, described(protocol, kind[protocol]), path, to, "").applied()
    assert comparison(protocol, messages, SparkEngine(spark)) == comparison(protocol, messages)


EXCLUDED = {CANAL: "value.ts", DEBEZIUM: "value.payload.ts_ms", SIMPLE: "value.buildTs"}


@pytest.mark.parametrize("protocol", EXCLUDED)
def test_the_value_of_a_wall_clock_is_not_compared_but_its_type_is(protocol: str) -> None:
    path, offset = EXCLUDED[protocol], described(protocol, ROW[protocol])
    later = Change(protocol, offset, path, 1_900_000_000_000, "")
    compared = comparison(protocol, later.applied())
    assert compared.ok
    assert path in compared.not_compared
    for other in ("1900000000000", None):
        changed = comparison(protocol, replace(later, to=other).applied())
        # For the decoder of Debezium it is no message of the protocol.
        assert (changed.different, changed.missing) == ((0, 1) if protocol == DEBEZIUM else (1, 0))


START_TS = "value.payload.source.start_ts"


@pytest.mark.parametrize("included", [False, True])
def test_a_start_ts_is_compared_unless_messages_have_one(included: bool) -> None:
    protocol = f"{DEBEZIUM}&profile=new&debezium-include-start-ts={str(included).lower()}"
    offset = described(protocol, b'"op":"c"')
    compared = comparison(protocol, Change(protocol, offset, START_TS, 1, "").applied())
    assert (START_TS in compared.not_compared, compared.different) == (included, 0 if included else 1)


@pytest.mark.parametrize("protocol", [*PROTOCOLS, AVRO, "craft", "maxwell", "canal"])
def test_a_header_that_the_encoder_does_not_write_is_different(protocol: str) -> None:
    messages = list(sent(protocol))
    row = next(message.offset for message in messages if b"CREATE" in (message.value or b"CREATE"))
    messages[row] = replace(messages[row], headers=(("trace", b"7"), ("trace", b"\xff")))
    compared = comparison(protocol, messages)
    assert (compared.different, compared.missing, compared.unexpected) == (1, 0, 0)
    assert 'headers is [["trace","7"],["trace",{"bytes":"ff"}]], expected nothing' in compared.diff[0]


def test_a_header_of_a_message_without_events_is_different() -> None:
    messages = list(sent(SIMPLE))
    row = described(SIMPLE, b"BOOTSTRAP")
    messages[row] = replace(messages[row], headers=(("trace", None),))
    assert comparison(SIMPLE, messages).different == 1


def test_time_stamps_of_records_are_listed_as_not_compared() -> None:
    messages = [replace(message, timestamp=message.offset) for message in sent(CANAL)]
    compared = comparison(CANAL, messages)
    assert compared.ok
    assert compared.not_compared["time stamps"] == "the wall clock when a message was sent"
