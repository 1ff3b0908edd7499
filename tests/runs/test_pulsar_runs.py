"""Runs into Pulsar, with a double at the interface of its client."""

from __future__ import annotations

import json
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa
import pytest

import ticdc_producer
from tests.pulsar_double import PulsarDouble
from ticdc_producer.errors import (
    ArgumentError,
    BrokerError,
    ChangefeedError,
    DeliveryError,
    ForeignMessageError,
    MissingPartError,
    ProducerError,
)
from ticdc_producer.targets.pulsar.write import key_hashes

SQL = """CREATE DATABASE s; USE s;
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
CREATE TABLE u (id INT PRIMARY KEY);
INSERT INTO t VALUES (1, 'a');
INSERT INTO u VALUES (1);
UPDATE t SET v = 'b' WHERE id = 1;
DELETE FROM t WHERE id = 1;
"""
TOPIC = "persistent://public/default/orders"
URI = f"pulsar://127.0.0.1:6650/{TOPIC}?protocol=canal-json&enable-tidb-extension=true"


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> PulsarDouble:
    double = PulsarDouble()
    monkeypatch.setitem(sys.modules, "pulsar", double.module())
    return double


@pytest.fixture
def script(tmp_path: Path) -> Path:
    file = tmp_path / "orders.sql"
    file.write_text(SQL, "utf-8")
    return file


def _dispatch(**rule: object) -> dict[str, object]:
    return {"sink": {"dispatchers": [{"matcher": ["s.t"], **rule}]}}


def _row_keys(broker: PulsarDouble) -> list[tuple[str, str | None]]:
    """Return table and key of the messages of rows."""
    contents = [(json.loads(sent.value or b""), sent.key) for sent in broker.messages]
    return [(content["table"], key) for content, key in contents if content["data"]]


def test_the_messages_are_those_of_kafka_with_one_partition(
    broker: PulsarDouble, script: Path, tmp_path: Path
) -> None:
    report = ticdc_producer.run(script, sink_uri=URI)
    assert report.ok
    assert report.verdict is None
    assert "the topics of Pulsar are not read again: no message was verified" in report.warnings
    kafka = "kafka:///orders?protocol=canal-json&enable-tidb-extension=true&partition-num=1"
    ticdc_producer.run(script, sink_uri=kafka, out=tmp_path / "out")
    lines = (tmp_path / "out" / "messages.jsonl").read_text("utf-8").splitlines()
    values = [b64decode(json.loads(line)["value"]) for line in lines]
    assert [sent.value for sent in broker.messages] == values
    assert len(values) == report.counts.total
    assert {sent.topic for sent in broker.messages} == {TOPIC}


def test_rows_have_the_partition_key_and_other_messages_none(broker: PulsarDouble, script: Path) -> None:
    ticdc_producer.run(script, sink_uri=URI)
    assert _row_keys(broker) == [("t", "s.t"), ("u", "s.u"), ("t", "s.t"), ("t", "s.t")]
    others = [sent for sent in broker.messages if not json.loads(sent.value or b"")["data"]]
    assert {json.loads(sent.value or b"")["type"] for sent in others} >= {"CREATE", "TIDB_WATERMARK"}
    assert {sent.key for sent in others} == {None}
    # Java's hash of the key selects the partition; 570428637 is that of "shop.orders".
    assert key_hashes(pa.array([b"shop.orders"])).tolist() == [570428637]
    of_t, of_u = (key_hashes(pa.array([b"s.t", b"s.u"])) % broker.partitions).tolist()
    keyed = {(sent.key, sent.partition) for sent in broker.messages if sent.key}
    assert keyed == {("s.t", of_t), ("s.u", of_u)}


@pytest.mark.parametrize(
    ("rule", "key"),
    [
        ({"partition": "table"}, "s.t"),
        ({"partition": "index-value"}, str(crc32(b"st") ^ crc32(b"id1"))),
        ({"partition": "columns", "columns": ["id"]}, str(crc32(b"st") ^ crc32(b"id1"))),
        ({"partition": "Region-1"}, "Region-1"),
        ({"topic": "other"}, None),
    ],
)
def test_the_key_of_each_partition_rule(
    rule: dict[str, object], key: str | None, broker: PulsarDouble, script: Path
) -> None:
    report = ticdc_producer.run(script, sink_uri=URI, config=_dispatch(**rule))
    assert {of_row for table, of_row in _row_keys(broker) if table == "t"} == {key}
    assert {of_row for table, of_row in _row_keys(broker) if table == "u"} == {"s.u"}
    assert not [warning for warning in report.warnings if "partition rule" in warning]


def test_the_key_of_the_rule_ts(broker: PulsarDouble, script: Path) -> None:
    ticdc_producer.run(script, sink_uri=URI, config=_dispatch(partition="ts"))
    rows = [(json.loads(sent.value or b""), sent.key) for sent in broker.messages]
    of_t = [(str(row["_tidb"]["commitTs"]), key) for row, key in rows if row["data"] and row["table"] == "t"]
    assert of_t
    assert all(ts == key for ts, key in of_t)


def test_a_ddl_and_a_watermark_wait_for_the_rows_before_them(broker: PulsarDouble, script: Path) -> None:
    ticdc_producer.run(script, sink_uri=URI)
    for at, sent in enumerate(broker.sent):
        if sent.value is not None and not json.loads(sent.value)["data"]:
            assert broker.sent[at - 1].value is None
            assert broker.sent[at + 1].value is None
    assert broker.sent[-1].value is None


def test_topics_are_expressions_of_full_names(broker: PulsarDouble, script: Path) -> None:
    rule = _dispatch(topic="persistent://acme/{schema}/{table}-changes")
    ticdc_producer.run(script, sink_uri=URI, config=rule)
    rows = [sent for sent in broker.messages if json.loads(sent.value or b"")["table"] == "t"]
    assert {sent.topic for sent in rows} == {"persistent://acme/s/t-changes"}


def test_raw_change_events_are_an_option_of_pulsar(broker: PulsarDouble, tmp_path: Path) -> None:
    script = tmp_path / "key.sql"
    text = "CREATE DATABASE s; CREATE TABLE s.t (id INT PRIMARY KEY NONCLUSTERED);"
    script.write_text(f"{text} INSERT INTO s.t VALUES (1); UPDATE s.t SET id = 2;", "utf-8")
    kinds = []
    for section in ("kafka-config", "pulsar-config"):
        config = {"sink": {section: {"output-raw-change-event": True}}}
        ticdc_producer.run(script, sink_uri=URI, config=config, messages_only=True)
        rows = [json.loads(sent.value or b"") for sent in broker.messages]
        kinds.append([row["type"] for row in rows if row["data"]])
        broker.sent.clear()
    assert kinds == [["INSERT", "DELETE", "INSERT"], ["INSERT", "UPDATE"]]


def test_only_messages(broker: PulsarDouble, script: Path) -> None:
    ticdc_producer.run(script, sink_uri=URI)
    whole = [(sent.key, sent.value) for sent in broker.messages]
    broker.sent.clear()
    ticdc_producer.run(script, sink_uri=URI, messages_only=True)
    assert [(sent.key, sent.value) for sent in broker.messages] == whole


def test_settings_of_the_client(broker: PulsarDouble, script: Path) -> None:
    settings = {
        "compression-type": "ZSTD",
        "batching-max-messages": 7,
        "batching-max-publish-delay": 3,
        "send-timeout": 4,
        "connection-timeout": 2,
        "operation-timeout": 9,
        "tls-trust-certs-file-path": "/ca.pem",
    }
    secure = URI.replace("pulsar://", "pulsar+ssl://", 1)
    ticdc_producer.run(script, sink_uri=secure, config={"sink": {"pulsar-config": settings}})
    client, producer = broker.clients[-1], broker.producers[-1]
    assert client["url"] == "pulsar+ssl://127.0.0.1:6650"
    assert (client["connection_timeout_ms"], client["operation_timeout_seconds"]) == (2000, 9)
    assert client["tls_trust_certs_file_path"] == "/ca.pem"
    assert producer["compression_type"] == 3
    assert (producer["batching_max_messages"], producer["batching_max_publish_delay_ms"]) == (7, 3)
    assert producer["send_timeout_millis"] == 4000


_OAUTH2 = {f"oauth2-{key}": "SECRET" for key in ("issuer-url", "audience", "private-key", "client-id")}


@pytest.mark.parametrize(
    ("settings", "method"),
    [
        ({"authentication-token": "SECRET", "basic-user-name": "u", "basic-password": "p"}, "Token"),
        ({"basic-user-name": "u", "basic-password": "SECRET", "oauth2": _OAUTH2}, "Basic"),
        ({"oauth2": _OAUTH2}, "Oauth2"),
        (
            {
                "auth-tls-certificate-path": "/SECRET",
                "auth-tls-private-key-path": "/k",
                "tls-trust-certs-file-path": "/ca",
            },
            "TLS",
        ),
    ],
)
def test_the_first_method_authenticates_and_no_secret_is_reported(
    settings: dict[str, object], method: str, broker: PulsarDouble, script: Path
) -> None:
    lines: list[str] = []
    config = {"sink": {"pulsar-config": settings}}
    report = ticdc_producer.run(script, sink_uri=URI, config=config, on_status=lines.append)
    authentication = broker.clients[-1]["authentication"]
    assert isinstance(authentication, tuple)
    assert authentication[0] == method
    assert "SECRET" in str(authentication)
    assert "SECRET" not in f"{lines} {report.to_json()} {report!r}"


@pytest.mark.parametrize(
    "settings",
    [
        {"send-timeout": "SECRET"},
        {"authentication-token": 123456},
        {"oauth2": {"oauth2-private-key": "SECRET"}},
        {"auth-tls-certificate-path": "/SECRET", "auth-tls-private-key-path": "/k"},
    ],
)
def test_bad_settings_are_refused_and_not_repeated(
    settings: dict[str, object], broker: PulsarDouble, script: Path
) -> None:
    with pytest.raises(ChangefeedError) as error:
        ticdc_producer.run(script, sink_uri=URI, config={"sink": {"pulsar-config": settings}})
    assert error.value.parameter.startswith("sink.pulsar-config")
    assert "SECRET" not in str(error.value)
    assert "123456" not in str(error.value)
    assert not broker.clients


def test_a_rejected_message_ends_the_run(broker: PulsarDouble, script: Path) -> None:
    broker.refused = 4
    with pytest.raises(DeliveryError, match="MessageTooBig"):
        ticdc_producer.run(script, sink_uri=URI)


def test_no_broker_answers(broker: PulsarDouble, script: Path) -> None:
    broker.answers = False
    with pytest.raises(BrokerError, match="ConnectError"):
        ticdc_producer.run(script, sink_uri=URI)
    assert not broker.sent


@pytest.mark.parametrize(
    "options",
    [
        {"append": True},
        {"replace": True},
        {"resume": True},
        {"keep": True},
        {"out": "o"},
    ],
)
def test_options_that_pulsar_does_not_have(
    options: dict[str, Any], broker: PulsarDouble, script: Path
) -> None:
    with pytest.raises(ArgumentError):
        ticdc_producer.run(script, sink_uri=URI, **options)
    assert not broker.clients


@pytest.mark.parametrize(
    ("uri", "what"),
    [
        ("pulsar://127.0.0.1:6650/t?protocol=open-protocol", "incompatible with Pulsar sinks"),
        ("pulsar:///t?protocol=canal-json", "names no host"),
        ("pulsar://127.0.0.1:6650/?protocol=canal-json", "names no topic"),
        ("pulsar://127.0.0.1:6650/a/b?protocol=canal-json", "not a topic of Pulsar"),
        ("pulsar://user:SECRET@127.0.0.1:6650/t?protocol=canal-json", "user information"),
    ],
)
def test_sink_uris_that_are_refused(uri: str, what: str, script: Path) -> None:
    with pytest.raises(ProducerError, match=what) as error:
        ticdc_producer.run(script, sink_uri=uri)
    assert "SECRET" not in str(error.value)


def test_topics_of_pulsar_cannot_be_read(script: Path) -> None:
    with pytest.raises(ChangefeedError, match="the sink URI names a Pulsar"):
        ticdc_producer.verify(sink_uri=URI, scenario=script)


def test_without_the_client_input_is_checked_first(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pulsar", None)
    with pytest.raises(MissingPartError) as error:
        ticdc_producer.run(script, sink_uri=URI)
    assert "[pulsar]" in error.value.hint
    script.write_text("CREATE TABLE")
    with pytest.raises(ProducerError, match=r"orders\.sql"):
        ticdc_producer.run(script, sink_uri=URI)


def test_a_message_of_another_program_ends_the_run(broker: PulsarDouble, script: Path) -> None:
    foreign = iter([[("", b"foreign")]])

    def store_foreign(name: str) -> None:
        for batch in foreign:
            broker.store(name, batch)

    broker.before_entry = store_foreign
    with pytest.raises(ForeignMessageError, match="more messages than"):
        ticdc_producer.run(script, sink_uri=URI)


def test_only_this_process_writes_topics_that_store_nothing(broker: PulsarDouble, script: Path) -> None:
    uri = URI.replace(TOPIC, f"non-{TOPIC}")
    with pytest.raises(ArgumentError, match="non-persistent topic"):
        ticdc_producer.run(script, sink_uri=uri, engine="spark")
    assert not broker.clients
    report = ticdc_producer.run(script, sink_uri=uri)
    assert len(broker.messages) == report.counts.total
