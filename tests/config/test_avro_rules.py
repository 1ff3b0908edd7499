"""What is refused with Avro, as TiCDC refuses it, and what of its registry is told."""

from __future__ import annotations

from typing import Any

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.errors import ChangefeedError

URI = "kafka://127.0.0.1:9092/t?protocol=avro"
REGISTRY = "&schema-registry=http://localhost:8081"
SECRET = "hunter2"


@pytest.mark.parametrize(
    ("query", "config", "parameter"),
    [
        ("", {}, "schema-registry"),
        ("&schema-registry=localhost:8081", {}, "schema-registry"),
        ("&schema-registry=http://", {}, "schema-registry"),
        (REGISTRY, {"force-replicate": True}, "force-replicate"),
        (REGISTRY, {"integrity": {"integrity-check-level": "correctness"}}, "integrity"),
        (REGISTRY, {"sink": {"kafka-config": {"glue-schema-registry-config": {"region": "x"}}}},
         "glue-schema-registry-config"),
        (REGISTRY, {"sink": {"dispatchers": [{"matcher": ["*.*"], "topic": "x_{table}"}]}}, "topic"),
        (REGISTRY, {"sink": {"kafka-config": {"large-message-handle": {
            "large-message-handle-option": "handle-key-only"}}}}, "large-message-handle-option"),
        (REGISTRY + "&avro-decimal-handling-mode=exact", {}, "avro-decimal-handling-mode"),
    ],
)  # fmt: skip
def test_what_ticdc_refuses_is_refused(query: str, config: dict[str, Any], parameter: str) -> None:
    with pytest.raises(ChangefeedError) as error:
        resolve(URI + query, config)
    assert error.value.parameter == parameter


def test_a_topic_per_table_is_accepted() -> None:
    rule = {"matcher": ["*.*"], "topic": "{schema}_{table}"}
    assert resolve(URI + REGISTRY, {"sink": {"dispatchers": [rule]}}).protocol == "avro"


def test_the_registry_may_stand_in_the_file() -> None:
    feed = resolve(URI, {"sink": {"schema-registry": "https://registry:8081"}})
    assert feed.schema_registry == "https://registry:8081"


def test_without_a_broker_no_registry_is_needed() -> None:
    assert resolve("kafka:///t?protocol=flat-avro").protocol == "avro"


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("", False),
        ("&enable-tidb-extension=true", False),
        ("&enable-tidb-extension=true&avro-enable-watermark=true", True),
    ],
)
def test_ddl_is_sent_with_watermarks_alone(query: str, sent: bool) -> None:
    assert resolve(f"kafka:///t?protocol=avro{query}").output_ddl is sent


def test_the_password_of_a_registry_is_shown_nowhere() -> None:
    feed = resolve(f"{URI}&schema-registry=http://me:{SECRET}@registry:8081")
    assert SECRET in feed.schema_registry
    assert SECRET not in repr(feed) + str(feed.as_manifest()) + str(feed.model_dump())


def test_a_registry_that_is_no_url_is_not_shown_either() -> None:
    with pytest.raises(ChangefeedError) as error:
        resolve(f"{URI}&schema-registry=me:{SECRET}@registry")
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("option", ["schema-registry=http://r:8081", "avro-enable-watermark=true"])
def test_other_protocols_have_none_of_it(option: str) -> None:
    with pytest.raises(ChangefeedError, match="open-protocol has no option"):
        resolve(f"kafka:///t?{option}")
