"""Changefeeds that Avro refuses, as TiCDC does, and secrets of the registry's URL."""

from __future__ import annotations

from typing import Any

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.errors import ChangefeedError

URI = "kafka://127.0.0.1:9092/t?protocol=avro"
REGISTRY = "&schema-registry=http://localhost:8081"
SECRET = "hunter2"
GLUE = {"registry-name": "r", "region": "us-east-1"}


@pytest.mark.parametrize(
    ("query", "config", "parameter"),
    [
        ("", {}, "schema-registry"),
        ("&schema-registry=localhost:8081", {}, "schema-registry"),
        ("&schema-registry=http://", {}, "schema-registry"),
        (REGISTRY, {"force-replicate": True}, "force-replicate"),
        (REGISTRY, {"integrity": {"integrity-check-level": "correctness"}}, "integrity-check-level"),
        (REGISTRY, {"sink": {"kafka-config": {"glue-schema-registry-config": GLUE}}},
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


def test_the_registry_may_be_set_in_the_file() -> None:
    changefeed = resolve(URI, {"sink": {"schema-registry": "https://registry:8081"}})
    assert changefeed.schema_registry == "https://registry:8081"


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


def test_the_password_of_a_registry_appears_in_no_text() -> None:
    changefeed = resolve(f"{URI}&schema-registry=http://me:{SECRET}@registry:8081")
    assert SECRET in changefeed.schema_registry
    assert SECRET not in repr(changefeed) + str(changefeed.as_manifest()) + str(changefeed.model_dump())


def test_an_invalid_registry_url_appears_in_no_error() -> None:
    with pytest.raises(ChangefeedError) as error:
        resolve(f"{URI}&schema-registry=me:{SECRET}@registry")
    assert SECRET not in str(error.value)


def test_other_protocols_ignore_options_of_avro() -> None:
    changefeed = resolve("kafka:///t?avro-enable-watermark=true")
    assert changefeed.warnings
    assert changefeed == resolve("kafka:///t").model_copy(update={"warnings": changefeed.warnings})


@pytest.mark.parametrize("section", [{"region": "x"}, {**GLUE, "access-key": SECRET}, "r"])
def test_a_section_of_glue_that_ticdc_refuses(section: object) -> None:
    with pytest.raises(ChangefeedError) as error:
        resolve(URI, {"sink": {"kafka-config": {"glue-schema-registry-config": section}}})
    assert error.value.parameter == "sink.kafka-config.glue-schema-registry-config"
    assert SECRET not in str(error.value)


def test_glue_needs_no_other_registry() -> None:
    glue = {**GLUE, "access-key": SECRET, "secret-access-key": SECRET}
    changefeed = resolve(URI, {"sink": {"kafka-config": {"glue-schema-registry-config": glue}}})
    assert (changefeed.glue_registry, changefeed.schema_registry) == ("r", "")
    assert SECRET not in repr(changefeed)
