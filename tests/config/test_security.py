"""TLS, SASL and properties of Kafka's clients: from TiCDC's names to librdkafka's."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.kafka.client import connection

PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
SASL = "sasl-mechanism=scram-sha-512&sasl-user=ann"


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    path = tmp_path / "some.pem"
    path.write_text(PEM)
    return path


def _client(query: str, *passed: str) -> dict[str, str]:
    return dict(resolve(f"kafka://h:1/t?{query}", kafka_properties=passed).client)


def test_without_security_clients_need_the_address_only() -> None:
    assert _client("") == _client("enable-tls=false") == {}


def test_a_password_is_percent_decoded_and_files_are_read(pem: Path) -> None:
    settings = _client(f"{SASL}&sasl-password=p%26ss%2Bw%25rd&ca={pem}&cert={pem}&key={pem}")
    assert settings == {
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "ann",
        "sasl.password": "p&ss+w%rd",
        "enable.ssl.certificate.verification": "true",
        "ssl.ca.pem": PEM,
        "ssl.certificate.pem": PEM,
        "ssl.key.pem": PEM,
    }


def test_a_password_of_the_environment_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "p&ss=%41 ${X}")
    assert _client(f"{SASL}&sasl-password=${{SECRET}}")["sasl.password"] == "p&ss=%41 ${X}"
    assert _client(f"{SASL}&sasl-password=$${{SECRET}}")["sasl.password"] == "${SECRET}"
    assert _client("", "sasl.password=${SECRET}") == {"sasl.password": "p&ss=%41 ${X}"}
    with pytest.raises(ChangefeedError, match="'NOT_THERE' is not set"):
        _client(f"{SASL}&sasl-password=${{NOT_THERE}}")


def test_a_parameter_wins_over_the_file() -> None:
    file = {"sink": {"kafka-config": {"sasl-mechanism": "plain", "sasl-user": "bob", "sasl-password": "p"}}}
    changefeed = resolve("kafka://h:1/t?sasl-user=ann", file)
    assert changefeed.client["sasl.username"] == "ann"
    assert changefeed.client["security.protocol"] == "sasl_plaintext"


@pytest.mark.parametrize(
    ("query", "parameter", "message"),
    [
        ("ca=PEM&cert=PEM", "cert", "belong together"),
        ("key=PEM", "key", "belong together"),
        ("ca=PEM&enable-tls=false", "enable-tls", "enable-tls is false"),
        ("insecure-skip-verify=true", "insecure-skip-verify", "without TLS"),
        ("ca=/nowhere/ca.pem", "ca", "cannot read /nowhere/ca.pem"),
        ("sasl-user=ann&sasl-password=p", "sasl-user", "TiCDC would connect without SASL"),
        ("sasl-mechanism=plain&sasl-password=p", "sasl-user", "needs sasl-user"),
        ("sasl-mechanism=plain&sasl-user=ann", "sasl-password", "needs sasl-password"),
    ],
)
def test_invalid_combinations(pem: Path, query: str, parameter: str, message: str) -> None:
    with pytest.raises(ChangefeedError) as caught:
        _client(query.replace("PEM", str(pem)))
    assert caught.value.parameter == parameter
    assert message in str(caught.value)


def test_a_file_that_is_not_pem(tmp_path: Path) -> None:
    (tmp_path / "store.jks").write_bytes(bytes(range(256)))
    with pytest.raises(ChangefeedError, match="is not a PEM file"):
        _client(f"ca={tmp_path / 'store.jks'}")


@pytest.mark.parametrize(
    ("passed", "message"),
    [
        (["enable.idempotence=false"], "the order of messages"),
        (["acks=1"], "the order of messages"),
        (["max.in.flight=100"], "the order of messages"),
        (["compression.type=gzip"], "set by an option of the changefeed: compression"),
        (["bootstrap.servers=h:2"], "the sink URI names the brokers"),
        (["group.id=mine"], "the tool decides which offsets are read"),
        (["client.id"], "not of the form name=value"),
        (["client.id=a", "client.id=b"], "duplicate property 'client.id'"),
    ],
)
def test_properties_that_delivery_guarantees_depend_on_are_refused(passed: list[str], message: str) -> None:
    with pytest.raises(ChangefeedError) as caught:
        _client("", *passed)
    assert caught.value.parameter in (passed[0].split("=")[0], "")
    assert message in str(caught.value)


def test_a_property_of_the_user_wins_over_ours() -> None:
    changefeed = resolve("kafka://h:1/t", kafka_properties=["linger.ms=5", "broker.address.family=any"])
    properties = changefeed.producer_properties(changefeed.brokers)
    assert (properties["linger.ms"], properties["acks"]) == ("5", "all")
    assert connection(changefeed.brokers)["broker.address.family"] == "any"


def test_clients_have_the_client_id_of_the_changefeed() -> None:
    assert _client("kafka-client-id=cdc-1") == {"client.id": "cdc-1"}
    assert _client("kafka-client-id=cdc-1", "client.id=other") == {"client.id": "other"}


def test_no_stored_text_contains_secrets() -> None:
    changefeed = resolve(
        f"kafka://h:1/t?{SASL}&sasl-password=s3cret", kafka_properties=["ssl.key.password=s3cret"]
    )
    texts = [changefeed, changefeed.brokers, changefeed.as_manifest(), changefeed.model_dump_json()]
    assert not [text for text in map(repr, texts) if "s3cret" in text]
    assert Changefeed.from_manifest(changefeed.as_manifest()).client == {}


def test_credentials_without_a_host_are_warned_about() -> None:
    assert resolve(f"kafka:///t?{SASL}&sasl-password=p").warnings == (
        "TLS, SASL and properties of Kafka clients have no effect: the sink URI names no host",
    )
