"""Changefeed files that TiCDC accepts: each of their keys is, with a word if it is unused."""

from __future__ import annotations

from itertools import product

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.config.changefeed_toml import changefeed_toml, parse_changefeed_toml
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.parameter import PROTOCOLS

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


_CODEC = "[sink.kafka-config.codec-config]\n"
_LARGE = "[sink.kafka-config.large-message-handle]\n"
_AVRO = {"avro", "debezium-avro"}
_OF_PROTOCOLS = {
    "avro-decimal-handling-mode": (f"{_CODEC}avro-decimal-handling-mode = 'string'", _AVRO),
    "avro-bigint-unsigned-handling-mode": (
        f"{_CODEC}avro-bigint-unsigned-handling-mode = 'string'", _AVRO
    ),
    "avro-enable-watermark": (f"{_CODEC}avro-enable-watermark = true", _AVRO),
    "avro-include-before-value": (f"{_CODEC}avro-include-before-value = true", {"avro"}),
    "encoding-format": (f"{_CODEC}encoding-format = 'avro'", {"simple"}),
    "send-bootstrap-interval-in-sec": ("[sink]\nsend-bootstrap-interval-in-sec = 10", {"simple"}),
    "send-bootstrap-in-msg-count": ("[sink]\nsend-bootstrap-in-msg-count = 10", {"simple"}),
    "send-bootstrap-to-all-partition": ("[sink]\nsend-bootstrap-to-all-partition = false", {"simple"}),
    "content-compatible": ("[sink]\ncontent-compatible = true", {"canal-json", "open-protocol"}),
    "debezium-disable-schema": ("[sink]\ndebezium-disable-schema = true", {"debezium"}),
    "only-output-updated-columns": (
        "[sink]\nonly-output-updated-columns = true", {"open-protocol", "canal-json"}
    ),
    "delete-only-output-handle-key-columns": (
        "[sink]\ndelete-only-output-handle-key-columns = true",
        {"open-protocol", "canal-json", "craft", "maxwell", "canal"},
    ),
    "sink.open.output-old-value": ("[sink.open]\noutput-old-value = false", {"open-protocol"}),
    "sink.debezium.output-old-value": (
        "[sink.debezium]\noutput-old-value = false", {"debezium", "debezium-avro"}
    ),
    "large-message-handle-compression": (
        f"{_LARGE}large-message-handle-compression = 'lz4'",
        {"open-protocol", "canal-json", "debezium", "simple"},
    ),
    "claim-check-storage-uri": (
        f"{_LARGE}claim-check-storage-uri = 'file:///x'", {"open-protocol", "canal-json", "simple"}
    ),
    "claim-check-raw-value": (f"{_LARGE}claim-check-raw-value = true", {"canal-json", "simple"}),
}  # fmt: skip
"""The options that TiCDC ignores under other protocols: key, a file, and the protocols that have it.

Source: ticdc and tiflow ``pkg/sink/codec/common/config.go``."""


_ONLY_CLASSIC, _ONLY_NEW = {"craft", "maxwell", "canal"}, {"debezium-avro"}
_ELSEWHERE = [
    (key, protocol, profile)
    for key, (_, protocols) in _OF_PROTOCOLS.items()
    for protocol, profile in product(PROTOCOLS, ("classic", "new"))
    if protocol not in protocols
    and not (protocol in _ONLY_CLASSIC and profile == "new")
    and not (protocol in _ONLY_NEW and profile == "classic")
    and not (key == "avro-include-before-value" and profile == "classic")
]


@pytest.mark.parametrize(("key", "protocol", "profile"), _ELSEWHERE)
def test_options_of_another_protocol_have_no_effect_and_are_reported(
    key: str, protocol: str, profile: str
) -> None:
    text, _ = _OF_PROTOCOLS[key]
    uri = f"kafka:///t?protocol={protocol}&profile={profile}"
    changefeed = resolve(uri, parse_changefeed_toml(text, "changefeed.toml"))
    (note,) = (word for word in changefeed.warnings if "no effect" in word)
    assert key in note
    assert changefeed == resolve(uri).model_copy(update={"warnings": changefeed.warnings})


_OWN_VALUES = {
    "encoding-format": (f"{_CODEC}encoding-format = 'xml'", "simple"),
    "avro-decimal-handling-mode": (f"{_CODEC}avro-decimal-handling-mode = 'exact'", "avro"),
    "avro-bigint-unsigned-handling-mode": (f"{_CODEC}avro-bigint-unsigned-handling-mode = 'int'", "avro"),
}
"""Values that TiCDC reads without a check under other protocols."""


@pytest.mark.parametrize("key", _OWN_VALUES)
def test_values_are_checked_under_the_protocol_of_their_option(key: str) -> None:
    text, protocol = _OWN_VALUES[key]
    content = parse_changefeed_toml(text, "changefeed.toml")
    (note,) = resolve(KAFKA, content).warnings
    assert note == f"{key} has no effect: canal-json has no such option"
    with pytest.raises(ChangefeedError, match=key):
        resolve(f"kafka:///t?protocol={protocol}", content)


def test_the_type_and_the_compression_are_checked_under_each_protocol() -> None:
    for text in (f"{_CODEC}encoding-format = 1", f"{_LARGE}large-message-handle-compression = 'zip'"):
        with pytest.raises(ChangefeedError):
            parse_changefeed_toml(text, "changefeed.toml")


def test_values_of_the_uri_are_checked_under_the_protocol_of_their_option() -> None:
    assert resolve(f"{KAFKA}&encoding-format=xml").encoding_format == "json"
    with pytest.raises(ChangefeedError, match="encoding-format: 'xml' is not known"):
        resolve("kafka:///t?protocol=simple&encoding-format=xml")


@pytest.mark.parametrize("name", ["output-row-key", "avro-enable-watermark", "content-compatible"])
@pytest.mark.parametrize("sink", ["kafka:///t?protocol=simple&profile=new", f"{STORAGE}&profile=new"])
def test_parameters_of_another_protocol_have_no_effect(name: str, sink: str) -> None:
    changefeed = resolve(f"{sink}&{name}=true")
    (note,) = changefeed.warnings
    assert note.startswith(f"{name} has no effect: ")
    assert changefeed == resolve(sink).model_copy(update={"warnings": changefeed.warnings})


def test_content_compatible_of_a_file_implies_updated_columns_in_open_protocol() -> None:
    content = {"sink": {"content-compatible": True}}
    assert resolve("kafka:///t", content).only_output_updated_columns
    assert not resolve("kafka:///t?content-compatible=true").only_output_updated_columns
    assert not resolve("kafka:///t?only-output-updated-columns=false", content).only_output_updated_columns


def test_conditions_of_options_apply_under_each_protocol() -> None:
    content = {"force-replicate": True, "sink": {"delete-only-output-handle-key-columns": True}}
    with pytest.raises(ChangefeedError, match="force-replicate must be off"):
        resolve("kafka:///t?protocol=debezium", content)
    claims = {"large-message-handle-option": "claim-check", "claim-check-storage-uri": "file:///x"}
    handle = {"large-message-handle": {**claims, "claim-check-raw-value": True}}
    with pytest.raises(ChangefeedError, match="has no option claim-check-raw-value"):
        resolve("kafka:///t", {"sink": {"kafka-config": handle}})


def test_kafka_ssl_is_kafka() -> None:
    changefeed = resolve("kafka+ssl://h:1/t")
    assert changefeed.warnings == ("kafka+ssl:// is kafka://, without TLS: set enable-tls=true",)
    assert changefeed == resolve("kafka://h:1/t").model_copy(update={"warnings": changefeed.warnings})
    assert resolve("kafka+ssl://h:1/t?enable-tls=true") == resolve("kafka://h:1/t?enable-tls=true")


@pytest.mark.parametrize(
    ("uri", "text", "word"),
    [
        (KAFKA, "[sink]\nprotocol = 'avro'", "protocol is canal-json, as in the sink URI"),
        (f"{STORAGE}&transaction-atomicity=none", "[sink]\ntransaction-atomicity = 'table'",
         "transaction-atomicity is none, as in the sink URI"),
        (f"{STORAGE}&file-size=10", "", "file-size: 10 bytes are not allowed; TiCDC takes 1048576 bytes"),
        (f"{STORAGE}&flush-interval=1s", "", "flush-interval: 1000 ms are not allowed; TiCDC takes 2000 ms"),
        (f"{STORAGE}&profile=new&flush-interval=1h", "",
         "flush-interval: 3600000 ms are not allowed; TiCDC takes 600000 ms"),
    ],
)  # fmt: skip
def test_what_ticdc_logs_is_reported(uri: str, text: str, word: str) -> None:
    (note,) = resolve(uri, parse_changefeed_toml(text, "changefeed.toml")).warnings
    assert note.startswith(word)


def test_what_cannot_be_simulated_is_refused_by_name() -> None:
    content = parse_changefeed_toml("[sink]\nsend-all-bootstrap-at-start = true", "changefeed.toml")
    with pytest.raises(ChangefeedError, match="is not simulated"):
        resolve("kafka:///t?protocol=simple", content)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[sink]\nschema-registry = 'http://r:8081'",
         "schema-registry has no effect: canal-json registers no schemas"),
        ("[sink.kafka-config.codec-config]\noutput-row-key = true",
         "codec-config.output-row-key has no effect: TiCDC reads it in the sink URI only"),
        ("bdr-mode = true", "bdr-mode has no effect: no other changefeed wrote rows of a scenario"),
    ],
)  # fmt: skip
def test_keys_without_effect_are_reported(text: str, word: str) -> None:
    changefeed = resolve(f"{KAFKA}&profile=new", parse_changefeed_toml(text, "changefeed.toml"))
    assert changefeed.warnings == (word,)
    assert not changefeed.output_row_key
    assert changefeed.schema_registry == ""


SELECTORS = "column-selectors = [{matcher = ['a.*'], columns = ['c']}]"


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
        (KAFKA, "bdr-mode = true", "profile classic has no option bdr-mode"),
        (STORAGE, "enable-active-active = true", "profile classic has no option enable-active-active"),
        (f"{KAFKA}&profile=new", "enable-active-active = true", "only supports tidb sink and storage sink"),
        (
            f"{STORAGE}&profile=new",
            "enable-active-active = true\n[consistent]\nlevel = 'eventual'",
            "incompatible with redo logs",
        ),
        (KAFKA, "enable-sync-point = true", "MySQL and TiDB sinks only"),
        (STORAGE, "enable-sync-point = true", "MySQL and TiDB sinks only"),
        (KAFKA, "changefeed-error-stuck-duration = '29m'", "at least 30m"),
        (KAFKA, "active-active-progress-interval = '0s'", "at least 1ms"),
        (KAFKA, "[integrity]\nintegrity-check-level = 'strict'", "'strict' is not known"),
        (
            KAFKA,
            "[sink]\ndispatchers = [{matcher = ['a.*'], target-schema = 'b'}]",
            "profile classic does not send tables under other names",
        ),
        (
            f"{KAFKA}&profile=new",
            "[sink]\ndispatchers = [{matcher = ['a.*'], target-table = '{column}'}]",
            "must contain only literal text, {schema}, and {table}",
        ),
        (
            f"{STORAGE}&profile=new",
            "[sink]\ndispatchers = [{matcher = ['a.*'], target-table = 'b'}]\n" + SELECTORS,
            "column selectors of a storage together with target-schema",
        ),
        (KAFKA, "enable-old-value = true", "TiCDC removed it in v7.4.0"),
        (KAFKA, "[cyclic-replication]\nenable = false", "TiCDC removed it after v6.1"),
        (
            "kafka:///t?protocol=debezium&profile=new&schema-registry=http://r:1",
            "",
            "does not support schema",
        ),
        (
            "kafka:///t?protocol=debezium-avro&profile=classic",
            "",
            "has no protocol debezium-avro .set profile=new",
        ),
        ("kafka://h:1/t?protocol=debezium-avro", "", "debezium-avro needs a schema registry"),
        ("kafka:///t?protocol=debezium-avro", "force-replicate = true", "must be off"),
        ("kafka:///t?protocol=debezium", "[sink.debezium]\ninclude-start-ts = true", "set profile=new"),
        (KAFKA, "[sink.debezium]\ninclude-start-ts = true", "has no option debezium-include-start-ts"),
        (STORAGE, "[sink.debezium]\ninclude-start-ts = true", "has no option debezium-include-start-ts"),
        (f"{KAFKA}&profile=new&debezium-include-start-ts=true", "", "no option debezium-include-start-ts"),
    ],
)
def test_what_ticdc_or_this_tool_does_not_accept(uri: str, text: str, message: str) -> None:
    with pytest.raises(ChangefeedError, match=message):
        resolve(uri, parse_changefeed_toml(text, "changefeed.toml"))
