"""Parsing of sink URIs, and the errors of invalid ones."""

from __future__ import annotations

import pytest

from ticdc_producer.config import PARAMETERS, parse_sink_uri
from ticdc_producer.config.parameters import OF_MESSAGES
from ticdc_producer.errors import ChangefeedError


def test_address_topic_and_parameters() -> None:
    uri = parse_sink_uri(
        "kafka://a:9092,[::1]:9093/my.topic-1?protocol=default&partition-num=2&compression=GZIP"
    )
    assert uri.target.hosts == ("a:9092", "[::1]:9093")
    assert uri.target.bootstrap_servers == "a:9092,[::1]:9093"
    assert uri.target.topic == "my.topic-1"
    assert not uri.target.embedded
    assert dict(uri.parameters) == {"protocol": "open-protocol", "partition-num": 2, "compression": "gzip"}


def test_without_a_host_it_means_the_embedded_broker() -> None:
    assert parse_sink_uri("kafka:///t").target.embedded


@pytest.mark.parametrize(
    ("query", "parameter", "message"),
    [
        ("partition-num=0", "partition-num", "0 is not a whole number from 1"),
        ("max-batch-size=-1", "max-batch-size", "-1 is not a whole number from 1"),
        ("max-message-bytes=1e6", "max-message-bytes", "'1e6' is not a whole number"),
        ("max-message-bytes=99999999999999999999", "max-message-bytes", "is not a whole number from 1"),
        ("partition-num=", "partition-num", "is not a whole number"),
        ("output-ddl=yes", "output-ddl", "'yes' is neither true nor false"),
        ("partition_num=3", "partition_num", "did you mean 'partition-num'?"),
        ("protocol=open-protocl", "protocol", "did you mean 'open-protocol'?"),
        ("sasl-mechanism=oauthbearer", "sasl-mechanism", "'oauthbearer' is not supported"),
        ("profile=next", "profile", "'next' is not known; allowed: classic, new"),
        ("batch-by=row", "batch-by", "allowed: dispatch-key, partition"),
        ("required-acks=2", "required-acks", "'2' is not known"),
        ("time-zone=Mars/Olympus", "time-zone", "IANA time zone"),
        ("time-zone=-13:00", "time-zone", "from -12:59 to +14:00"),
        ("enable-tls=yes", "enable-tls", "'yes' is neither true nor false"),
        ("sasl-mechanism=gssapi", "sasl-mechanism", "'gssapi' is not supported"),
        ("sasl-gssapi-user=u", "sasl-gssapi-user", "without Kerberos"),
        ("sasl-oauth-client-id=u", "sasl-oauth-client-id", "-X sasl.mechanism=OAUTHBEARER"),
        ("force-replicate=true", "force-replicate", "set force-replicate of the changefeed file"),
        ("partition-num=3&partition-num=4", "partition-num", "duplicate parameter 'partition-num'"),
    ],
)
def test_an_error_names_the_bad_parameter_and_the_allowed_values(
    query: str, parameter: str, message: str
) -> None:
    with pytest.raises(ChangefeedError) as caught:
        parse_sink_uri(f"kafka:///t?{query}")
    assert caught.value.parameter == parameter
    assert parameter in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("mysql://h:4000/", "scheme 'mysql' is not supported"),
        ("h:9092/t", "does not start with kafka://"),
        ("", "it is empty"),
        ("kafka://:9092/t", "':9092' names no host"),
        ("kafka:///t&protocol=canal-json", "parameters begin after a '?'"),
        ("s3:///dir?protocol=csv", "it names no bucket"),
        ("kafka://h/t", "'h' has no port"),
        ("kafka://h:0/t", "'h:0' has no port"),
        ("kafka://h:1,/t", "has no port"),
        ("kafka://h:1", "names no topic"),
        ("kafka:///a/b", "'a/b' is not a topic name"),
        ("kafka:///..", "'..' is not a topic name"),
        ("kafka:///%2E%2E", "'..' is not a topic name"),
        ("kafka:///a%20b", "'a b' is not a topic name"),
        ("kafka:///" + "t" * 250, "1 to 249"),
        ("kafka://[::1/t", "cannot be read"),
        ("kafka:///t?time-zone=%2B09:00#x", "holds a '#'"),
    ],
)
def test_a_bad_address_or_topic(uri: str, message: str) -> None:
    with pytest.raises(ChangefeedError, match="sink URI") as caught:
        parse_sink_uri(uri)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "uri",
    [
        "kafka://user:s3cret@h:9092/t",
        "kafka://user:s3cret%40h:9092/t",
        "kafka://user:s3cret@h/t",
        "kafka://h:9092/t?sasl-user=u&sasl-password=s3cret&sasl-password=s3cret",
        "kafka://h:9092/t?sasl-password=s3cret#x",
        "kafka://h:9092/t?sasl-pasword=s3cret",
        "mysql://root:s3cret@h:4000/",
    ],
)
def test_secrets_are_in_no_error_text(uri: str) -> None:
    with pytest.raises(ChangefeedError) as caught:
        parse_sink_uri(uri)
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(caught.value.__cause__)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Asia/Tokyo", "Asia/Tokyo"),
        ("%2B09:00", "+09:00"),
        ("+9:00", "+09:00"),
        ("-03:30", "-03:30"),
        ("UTC", "UTC"),
    ],
)
def test_time_zones(text: str, zone: str) -> None:
    assert parse_sink_uri(f"kafka:///t?time-zone={text}").parameters["time-zone"] == zone


def test_the_table_names_each_option_once_and_every_default_is_allowed() -> None:
    assert len({option.name for option in PARAMETERS}) == len(PARAMETERS)
    for option in PARAMETERS:
        assert option.effect
        if option in OF_MESSAGES and option.default is not None:  # else the protocol's, or nothing
            assert option.value.check(option.default) == option.default


def test_a_topic_may_be_percent_encoded() -> None:
    assert parse_sink_uri("kafka://h:1/a%2Db").target.topic == "a-b"
