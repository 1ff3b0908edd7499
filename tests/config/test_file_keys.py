"""Keys of TiCDC's changefeed file without effect, and those that are refused, by the whole path."""

from __future__ import annotations

from typing import Any

import pytest

from ticdc_producer.config import State, resolve
from ticdc_producer.config.changefeed_toml import parse_changefeed_toml
from ticdc_producer.errors import ChangefeedError
from tools.drift.tables import FileKey, file_keys

OTHER_SINKS = """
[consistent]
level = "eventual"
storage = "s3://redo/logs"
[consistent.memory-usage]
memory-quota-percentage = 50

[scheduler]
enable-table-across-nodes = true
region-per-span = 5000
max-traffic-percentage = 1.25

[sink]
case-sensitive = true
force-replicate = true
[sink.integrity]
integrity-check-level = "correctness"
[sink.mysql-config]
worker-count = 32
time-zone = "Asia/Tokyo"
[sink.pulsar-config.oauth2]
oauth2-issuer-url = "https://login.example"
[sink.kafka-config.codec-config]
avro-include-before-value = false
"""


def nested(path: str, value: object) -> dict[str, Any]:
    """Return a file with one key; an entry of a list also has what every entry needs."""
    for name in reversed(path.split(".")):
        value = {name: value}
        if name in ("dispatchers", "event-filters", "column-selectors"):
            value = {name: [{"matcher": ["*.*"], **value[name]}]}
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize("protocol", ["open-protocol", "canal-json", "debezium", "avro", "simple"])
def test_sections_of_other_sinks_change_nothing(protocol: str) -> None:
    uri = f"kafka:///t?protocol={protocol}"
    assert resolve(uri, parse_changefeed_toml(OTHER_SINKS, "feed.toml")) == resolve(uri)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('[consistent]\nlevl = "none"', "'levl'; did you mean 'level'?"),
        ("[consistent.memory-usage]\nquota = 1", "'memory-usage.quota'"),
        ("[sink.mysql-config]\nworkers = 3", "sink.mysql-config: unknown key 'workers'"),
        ("[sink.pulsar-config.oauth2]\nissuer = 'x'", "'oauth2.issuer'"),
        ("scheduler = 3", "scheduler: it must hold keys"),
        (
            "[sink.kafka-config.codec-config]\nschema-registry = 'http://r:8081'",
            "unknown key 'sink.kafka-config.codec-config.schema-registry'",
        ),
    ],
)
def test_a_key_that_ticdc_refuses_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(ChangefeedError) as error:
        parse_changefeed_toml(text, "feed.toml")
    assert wrong in str(error.value)


REFUSED = [key for key in file_keys() if key.state is State.REJECTED]


@pytest.mark.parametrize("key", REFUSED, ids=lambda key: key.path)
def test_a_refused_key_has_its_reason(key: FileKey) -> None:
    with pytest.raises(ChangefeedError, match="is not supported") as error:
        resolve(None, nested(key.path, "x"))
    assert error.value.hint == key.reason


def test_old_images_of_avro_are_an_option_of_the_new_architecture() -> None:
    config = nested("sink.kafka-config.codec-config.avro-include-before-value", True)
    assert resolve("kafka:///t?protocol=avro&profile=new", config).avro_include_before_value
    assert resolve(
        "kafka:///t?protocol=avro&profile=new&avro-include-before-value=true"
    ).avro_include_before_value
    with pytest.raises(ChangefeedError, match="profile classic has no option avro-include-before-value"):
        resolve("kafka:///t?protocol=avro&avro-include-before-value=true")
