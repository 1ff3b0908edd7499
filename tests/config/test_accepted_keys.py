"""Changefeed files that TiCDC accepts: each of their keys is, with a word if it is unused."""

from __future__ import annotations

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.config.changefeed_toml import changefeed_toml, parse_changefeed_toml
from ticdc_producer.errors import ChangefeedError

KAFKA, STORAGE = "kafka://h:1/t?protocol=canal-json", "file:///tmp/x?protocol=csv"

FILES = {
    "everything of a running TiCDC": (
        KAFKA,
        """
        performance-mode = "low-latency"
        memory-quota = 1073741824
        event-collector-batch-count = 0
        event-collector-batch-bytes = 1048576
        changefeed-error-stuck-duration = "30m"
        [synced-status]
        synced-check-interval = 300
        checkpoint-interval = 15
        [scheduler]
        enable-table-across-nodes = false
        region-threshold = 100_000
        """,
    ),
    "replication in one direction": (
        KAFKA,
        """
        bdr-mode = false
        enable-active-active = false
        active-active-progress-interval = "30m"
        active-active-sync-stats-interval = "1m"
        enable-sync-point = false
        """,
    ),
    "no atomicity": (KAFKA, "[sink]\ntransaction-atomicity = ''"),
    "atomicity of tables in a storage": (STORAGE, "[sink]\ntransaction-atomicity = 'table'"),
    "tables across nodes": (STORAGE, "[scheduler]\nenable-table-across-nodes = true"),
    "table ids as paths": (
        f"{STORAGE}&profile=new",
        "[sink.cloud-storage-config]\nuse-table-id-as-path = true",
    ),
    "an empty terminator of topics": (KAFKA, "[sink]\nterminator = ''"),
    "start-ts of Debezium": (
        "kafka://h:1/t?protocol=debezium&profile=new",
        "[sink.debezium]\ninclude-start-ts = true\noutput-old-value = true",
    ),
    "filters of DDL": (
        KAFKA,
        """
        [[filter.event-filters]]
        matcher = ["test.worker"]
        ignore-event = ["add column", "drop column", "modify column", "multi schema change", "create index"]
        ignore-sql = ["^drop", "add column"]
        """,
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_files_are_accepted_without_a_word(name: str) -> None:
    uri, text = FILES[name]
    changefeed = resolve(uri, parse_changefeed_toml(text, "changefeed.toml"))
    assert changefeed.warnings == ()
    again = resolve(uri, parse_changefeed_toml(changefeed_toml(changefeed), "written.toml"))
    assert again == changefeed.model_copy(update={"sets_partition_num": again.sets_partition_num})


def test_include_start_ts_is_the_parameter_of_the_uri() -> None:
    uri = "kafka://h:1/t?protocol=debezium&profile=new"
    content = {"sink": {"debezium": {"include-start-ts": True}}}
    assert resolve(uri, content) == resolve(f"{uri}&debezium-include-start-ts=true")
    assert resolve(f"{uri}&debezium-include-start-ts=false", content) == resolve(uri)


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        (KAFKA, "[sink.debezium]\ninclude-start-ts = false\noutput-old-value = true"),
        (f"{KAFKA}&debezium-include-start-ts=false", ""),
        (f"{KAFKA}&debezium-include-start-ts=false", "[sink.debezium]\ninclude-start-ts = true"),
        ("kafka://h:1/t?protocol=simple", "[sink.csv]\ndelimiter = ';'"),
    ],
)
def test_options_of_other_protocols_that_ticdc_accepts(uri: str, text: str) -> None:
    assert resolve(uri, parse_changefeed_toml(text, "changefeed.toml")) == resolve(uri.partition("&")[0])


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[sink]\nschema-registry = 'http://r:8081'",
         "schema-registry has no effect: canal-json registers no schemas"),
        ("[sink.kafka-config.codec-config]\noutput-row-key = true",
         "codec-config.output-row-key has no effect: TiCDC reads it in the sink URI only"),
    ],
)  # fmt: skip
def test_keys_without_effect_are_reported(text: str, word: str) -> None:
    changefeed = resolve(f"{KAFKA}&profile=new", parse_changefeed_toml(text, "changefeed.toml"))
    assert changefeed.warnings == (word,)
    assert not changefeed.output_row_key
    assert changefeed.schema_registry == ""


@pytest.mark.parametrize(
    ("uri", "text", "message"),
    [
        (KAFKA, "[sink]\ntransaction-atomicity = 'table'", "table level atomicity is not supported by kafka"),
        (KAFKA, "performance-mode = 'fast'", "'fast' is not known"),
        (STORAGE, "[scheduler]\nenable-table-across-nodes = 1", "1 is not valid: allowed are true and false"),
        (f"{STORAGE}&use-table-id-as-path=true", "", "profile classic has no option use-table-id-as-path"),
        (
            f"{STORAGE}&profile=new&use-table-id-as-path=true",
            "[sink.cloud-storage-config]\nuse-table-id-as-path = false",
            "the sink URI and the changefeed file have different values",
        ),
        (KAFKA, "event-collector-batch-count = 8193", "a whole number from 0 to 8192"),
        (KAFKA, "bdr-mode = true", "true is not supported: rows that come back from another cluster"),
        (KAFKA, "enable-active-active = true", "true is not supported"),
        (KAFKA, "enable-old-value = true", "TiCDC removed it in v7.4.0"),
        (KAFKA, "[cyclic-replication]\nenable = false", "TiCDC removed it after v6.1"),
        (
            "kafka:///t?protocol=debezium&profile=new&schema-registry=http://r:1",
            "",
            "does not support schema",
        ),
        ("kafka:///t?protocol=debezium", "[sink.debezium]\ninclude-start-ts = true", "set profile=new"),
        (KAFKA, "[sink.debezium]\ninclude-start-ts = true", "has no option debezium-include-start-ts"),
        (STORAGE, "[sink.debezium]\ninclude-start-ts = true", "has no option debezium-include-start-ts"),
        (f"{KAFKA}&profile=new&debezium-include-start-ts=true", "", "no option debezium-include-start-ts"),
    ],
)
def test_what_ticdc_or_this_tool_does_not_accept(uri: str, text: str, message: str) -> None:
    with pytest.raises(ChangefeedError, match=message):
        resolve(uri, parse_changefeed_toml(text, "changefeed.toml"))
