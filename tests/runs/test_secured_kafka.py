"""A Kafka with TLS, SASL and permissions: accepted clients, and the errors of rejected ones."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import SparkSession

import ticdc_producer
from tests.secured_kafka import PASSWORD, STRANGER, SecuredKafka, secured_kafka
from ticdc_producer.config import resolve
from ticdc_producer.errors import (
    AuthenticationError,
    AuthorizationError,
    ChangefeedError,
    DeliveryError,
    ProducerError,
    TLSError,
)
from ticdc_producer.kafka.client import CONNECT_SECONDS
from ticdc_producer.model.event import Record
from ticdc_producer.targets.kafka.topics import Topics
from ticdc_producer.testing import broker as topics
from ticdc_producer.testing.broker import broker


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredKafka]:
    with secured_kafka(tmp_path_factory.mktemp("secured")) as running:
        yield running


def _existing(uri: str, *kafka_properties: str) -> dict[str, int]:
    return Topics(resolve(uri, kafka_properties=kafka_properties).brokers).existing()


def _fails(kind: type[ProducerError], uri: str, *kafka_properties: str) -> ProducerError:
    """Fails before the client's own retries would end, without the password in the error."""
    started = time.monotonic()
    with pytest.raises(kind) as caught:
        _existing(uri, *kafka_properties)
    assert time.monotonic() - started < CONNECT_SECONDS
    assert PASSWORD not in repr(caught.value)
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("mechanism", ["PLAIN", "scram-sha-256", "SCRAM-SHA-512"])
def test_each_mechanism_with_a_password_of_odd_characters(secured: SecuredKafka, mechanism: str) -> None:
    assert "none" not in _existing(secured.uri("none", sasl_mechanism=mechanism))


def test_a_certificate_of_the_client(secured: SecuredKafka) -> None:
    assert "none" not in _existing(secured.tls_uri("none"))
    _fails(TLSError, secured.tls_uri("none", certificate=False))


def test_wrong_credentials(secured: SecuredKafka) -> None:
    error = _fails(AuthenticationError, secured.uri("none", password="wrong"))
    assert isinstance(error, AuthenticationError)
    assert error.address == secured.broker.address("SAFE")
    assert "sasl-password" in error.hint
    _fails(AuthenticationError, secured.uri("none", sasl_user=STRANGER, sasl_mechanism="scram-sha-256"))


def test_a_wrong_authority_and_none(secured: SecuredKafka) -> None:
    other = str(secured.folder / "other-ca.pem")
    error = _fails(TLSError, secured.uri("none", ca=other))
    assert "certificate verify failed" in error.what
    assert "/bootstrap" not in str(error)
    _fails(TLSError, secured.uri("none", ca="", enable_tls="true"))
    _existing(secured.uri("none", ca=other, insecure_skip_verify="true"))


def test_properties_of_the_user_reach_the_client_and_unknown_ones_are_errors(secured: SecuredKafka) -> None:
    mechanism = "sasl.mechanism=SCRAM-SHA-256"
    _existing(secured.uri("none"), mechanism, "client.id=test")
    _fails(AuthenticationError, secured.uri("none", sasl_user=STRANGER), mechanism)
    error = _fails(ChangefeedError, secured.uri("none"), "client.idd=test")
    assert "no Kafka client has a property 'client.idd'" in error.what


def test_a_file_without_a_key_is_an_error(secured: SecuredKafka, tmp_path: Path) -> None:
    (tmp_path / "broken.key").write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    uri = secured.tls_uri("none").replace(str(secured.folder / "client.key"), str(tmp_path / "broken.key"))
    error = _fails(ChangefeedError, uri)
    assert "ssl.key.pem" in error.what
    assert "AAAA" not in str(error)


def test_a_user_without_permission(secured: SecuredKafka) -> None:
    changefeed = resolve(secured.uri("secured-foreign", sasl_user=STRANGER))
    with pytest.raises(AuthorizationError, match="cannot create topic secured-foreign") as caught:
        Topics(changefeed.brokers).prepare(changefeed, ["secured-foreign"], append=False)
    assert "ACL Create" in caught.value.hint
    changefeed = resolve(secured.uri("read-only"))
    Topics(changefeed.brokers).prepare(changefeed, ["read-only"], append=False)
    record = Record(topic="read-only", partition=0, offset=0, key=b"k", value=b"v", timestamp=0, headers=())
    with pytest.raises(DeliveryError, match="authorization failed") as rejected:
        topics.send(changefeed.brokers, changefeed, [record], {(record.topic, 0): 0})
    assert "ACL Describe, Read and Write" in rejected.value.hint


def test_a_password_of_the_environment_lets_a_command_in(secured: SecuredKafka) -> None:
    changefeed = resolve(secured.uri("secured-decode"))
    topics.create(changefeed.brokers, changefeed, ["secured-decode"])
    record = Record(
        topic="secured-decode", partition=0, offset=0, key=b"k", value=b"v", timestamp=0, headers=()
    )
    topics.send(changefeed.brokers, changefeed, [record], {(record.topic, 0): 0})
    uri = secured.uri("secured-decode", password="${KAFKA_PASSWORD}")
    done = subprocess.run(
        [sys.executable, "-m", "ticdc_producer", "decode", "--sink-uri", uri],
        env={**os.environ, "KAFKA_PASSWORD": PASSWORD},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, "the message is none of the protocol"
    assert "secured-decode/0@0" in done.stdout
    _check_silence([done.stdout, done.stderr])


def test_the_pytest_plugin_gets_in_with_properties(
    secured: SecuredKafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)
    address, topic = secured.broker.address("SAFE"), "ticdc-plugin"
    changefeed = resolve("kafka:///plugin?partition-num=1")
    record = Record(topic=topic, partition=0, offset=0, key=b"k", value=b"v", timestamp=0, headers=())
    with broker(address, secured.client("${KAFKA_PASSWORD}")) as running:
        _check_silence([repr(running), repr(running.cluster)])
        topics.create(running.cluster, changefeed, [topic])
        topics.send(running.cluster, changefeed, [record], {(topic, 0): 0})
        own = {"group.id": "ticdc-producer-test", "auto.offset.reset": "earliest"}
        consumer = Consumer({"bootstrap.servers": running.bootstrap, **running.client, **own})
        consumer.assign([TopicPartition(topic, 0)])
        (message,) = consumer.consume(1, timeout=CONNECT_SECONDS)
        consumer.close()
        assert (message.key(), message.value()) == (b"k", b"v")
        topics.delete(running.cluster, [topic])
        assert topic not in Topics(running.cluster).existing()
    with pytest.raises(AuthenticationError), broker(address, secured.client("wrong")):
        pass


@pytest.mark.slow
def test_a_run_with_a_folder_never_writes_the_password(secured: SecuredKafka, tmp_path: Path) -> None:
    folder, page = str(tmp_path / "out"), str(tmp_path / "page.html")
    output = _run_in_secret(secured, "secured-folder", "--out", folder, "--html", page, "--engine", "spark")
    assert any(line.startswith("verified") for line in output.splitlines())
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    _check_silence(written)


def _run_in_secret(secured: SecuredKafka, topic: str, *options: str) -> str:
    """Runs a scenario with the password in the environment only.

    :return: the output of the command.
    """
    uri = secured.uri(topic, password="${KAFKA_PASSWORD}")
    with subprocess.Popen(
        [sys.executable, "-m", "ticdc_producer", "run", "seed_t1", "--sink-uri", uri, *options],
        env={**os.environ, "KAFKA_PASSWORD": PASSWORD},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        seen, output = set[str](), ""
        for line in process.stdout:
            output += line
            seen |= _command_lines(process.pid)
    assert process.returncode == 0, output
    assert any("java" in command for command in seen), "Spark's process was looked at, too"
    _check_silence([output, *seen])
    uri_with_password = secured.uri(topic)
    assert sum(event["kind"] == "row" for event in ticdc_producer.decode(sink_uri=uri_with_password)) == 7
    return output


def _check_silence(texts: list[str]) -> None:
    for secret in (PASSWORD, quote(PASSWORD, safe="")):
        assert not [text for text in texts if secret in text]


def _command_lines(parent: int) -> set[str]:
    lines = set()
    try:
        for process in psutil.Process(parent).children(recursive=True):
            lines.add(" ".join(process.cmdline()))
    except psutil.Error:
        pass
    return lines


@pytest.mark.slow
def test_verify_and_coverage_read_a_secured_topic(spark: SparkSession, secured: SecuredKafka) -> None:
    from ticdc_producer.runs.coverage import coverage

    uri = secured.uri("secured-read")
    assert ticdc_producer.run("seed_t1", sink_uri=uri).ok
    assert ticdc_producer.verify(sink_uri=uri, scenario="seed_t1").ok
    assert coverage(sink_uri=uri).of_status("exercised")
