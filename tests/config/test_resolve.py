"""URI, changefeed file and scenario become one changefeed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ticdc_producer.config import PARAMETERS, Changefeed, Parameter, State, load_changefeed_toml, resolve
from ticdc_producer.config.changefeed_toml import check_changefeed_file
from ticdc_producer.config.parameters import OF_MESSAGES
from ticdc_producer.errors import ChangefeedError

REAL_FILE = """
case-sensitive = true
force-replicate = false
memory-quota = 1073741824
[mounter]
worker-num = 16
[sink]
protocol = "open-protocol"
only-output-updated-columns = true
delete-only-output-handle-key-columns = true
dispatchers = [
    {matcher = ['test1.*', 'test2.*'], topic = "Topic_{schema}", partition = "index-value", index = "uk"},
    {matcher = ['test3.*'], dispatcher = "columns", columns = ["a", "b"]},
]
[sink.open]
output-old-value = false
[sink.kafka-config]
partition-num = 4
replication-factor = 2
max-message-bytes = 1024
required-acks = -1
compression = "lz4"
kafka-version = "2.4.0"
auto-create-topic = false
output-raw-change-event = true
codec-config = {max-batch-size = 2, enable-tidb-extension = true}
[sink.kafka-config.large-message-handle]
large-message-handle-option = "none"
"""


def test_defaults() -> None:
    changefeed = resolve(name="bank")
    assert str(changefeed.sink_uri) == "kafka:///bank"
    assert changefeed.sink_uri.embedded
    assert changefeed.as_manifest() == {
        "sink-uri": "kafka:///bank",
        "protocol": "open-protocol",
        "encoding-format": "json",
        "send-bootstrap-interval-in-sec": 120,
        "send-bootstrap-in-msg-count": 10_000,
        "send-bootstrap-to-all-partition": True,
        "avro-decimal-handling-mode": "precise",
        "avro-bigint-unsigned-handling-mode": "long",
        "avro-enable-watermark": False,
        "avro-include-before-value": False,
        "integrity-check-level": "none",
        "partition-num": 3,
        "max-message-bytes": 10485760,
        "max-batch-size": 16,
        "enable-tidb-extension": False,
        "only-output-updated-columns": False,
        "output-old-value": True,
        "delete-only-output-handle-key-columns": False,
        "content-compatible": False,
        "debezium-disable-schema": False,
        "output-row-key": False,
        "debezium-include-start-ts": False,
        "output-raw-change-event": False,
        "large-message-handle-option": "none",
        "large-message-handle-compression": "none",
        "claim-check-storage-uri": "",
        "claim-check-raw-value": False,
        "case-sensitive": False,
        "force-replicate": False,
        "replication-factor": 1,
        "compression": "none",
        "required-acks": "-1",
        "auto-create-topic": True,
        "profile": "classic",
        "batch-by": "dispatch-key",
        "output-ddl": True,
        "ddl-text": "tidb",
        "output-row-id": True,
        "time-zone": "UTC",
        "legacy-no-flag": False,
        "cluster-id": "default",
        "invalid-utf8": "raw",
        "legacy-varchar-base64": False,
        "legacy-delete-old": False,
        "legacy-data-before-old": False,
        "legacy-insert-old": False,
        "legacy-row-end": False,
        "dispatchers": [],
    }
    assert changefeed.warnings == ()


@pytest.mark.parametrize(("name", "topic"), [("my bank!", "my_bank_"), ("..", "scenario"), ("", "scenario")])
def test_the_default_topic_is_one_that_kafka_takes(name: str, topic: str) -> None:
    assert resolve(name=name).sink_uri.topic == topic


def test_a_real_changefeed_file(tmp_path: Path) -> None:
    path = tmp_path / "changefeed.toml"
    path.write_text(REAL_FILE)
    changefeed = resolve("kafka:///t", load_changefeed_toml(path))
    assert changefeed.case_sensitive
    assert changefeed.only_output_updated_columns
    assert changefeed.delete_only_output_handle_key_columns
    assert not changefeed.output_old_value
    assert changefeed.partition_num == 4
    assert changefeed.replication_factor == 2
    assert changefeed.max_message_bytes == 1024
    assert changefeed.max_batch_size == 2
    assert changefeed.compression == "lz4"
    assert not changefeed.auto_create_topic
    first, second = changefeed.dispatchers
    assert (first.matcher, first.rule, first.index) == (("test1.*", "test2.*"), "index-value", "uk")
    assert first.topic == "Topic_{schema}"
    assert (second.rule, second.columns) == ("columns", ("a", "b"))
    assert [warning.split()[0] for warning in changefeed.warnings] == [
        "enable-tidb-extension",
        "output-raw-change-event",
    ]


def test_uri_wins_over_file_wins_over_default() -> None:
    file = {"sink": {"kafka-config": {"partition-num": 5, "codec-config": {"max-batch-size": 4}}}}
    changefeed = resolve("kafka:///t?partition-num=2", file)
    assert (changefeed.partition_num, changefeed.max_batch_size, changefeed.max_message_bytes) == (
        2,
        4,
        10485760,
    )


def test_the_command_line_wins_over_the_scenario() -> None:
    scenario = {
        "sink-uri": "kafka:///theirs?partition-num=9&max-batch-size=7",
        "force-replicate": True,
        "sink": {"dispatchers": [{"matcher": ["a.*"]}], "only-output-updated-columns": True},
    }
    config = {"force-replicate": False, "sink": {"dispatchers": [{"matcher": ["b.*"]}]}}
    changefeed = resolve("kafka:///mine", config, scenario=scenario)
    assert changefeed.sink_uri.topic == "mine"
    assert (changefeed.partition_num, changefeed.max_batch_size) == (3, 16)  # the other URI counts no more
    assert not changefeed.force_replicate
    assert changefeed.only_output_updated_columns  # what the file does not name stays
    assert [rule.matcher for rule in changefeed.dispatchers] == [("b.*",)]
    assert resolve(None, None, scenario=scenario).sink_uri.topic == "theirs"


@pytest.mark.parametrize(
    ("content", "key", "message"),
    [
        ({"snk": {}}, "snk", "did you mean 'sink'?"),
        ({"sink": {"protocl": "x"}}, "sink.protocl", "did you mean 'protocol'?"),
        (
            {"sink": {"dispatchers": [{"matcher": ["*.*"]}, {"matcher": ["*.*"], "partiton": "ts"}]}},
            "sink.dispatchers[1].partiton",
            "did you mean 'partition'?",
        ),
        (
            {"sink": {"kafka-config": {"partition-num": "3"}}},
            "sink.kafka-config.partition-num",
            "whole number",
        ),
        (
            {"sink": {"kafka-config": {"partition-num": True}}},
            "sink.kafka-config.partition-num",
            "whole number",
        ),
        ({"force-replicate": "true"}, "force-replicate", "neither true nor false"),
        ({"enable-sync-point": True}, "enable-sync-point", "MySQL and TiDB sinks only"),
        (
            {"sink": {"kafka-config": {"sasl-gssapi-user": "u"}}},
            "sink.kafka-config.sasl-gssapi-user",
            "without Kerberos",
        ),
        ({"filter": {"rules": "*.*"}}, "filter.rules", "must be a list"),
        ({"sink": {"column-selectors": [{"columns": []}]}}, "sink.column-selectors[0].matcher", "is missing"),
        ({"sink": {"dispatchers": [{"matcher": "*.*"}]}}, "sink.dispatchers[0].matcher", "must be a list"),
        ({"sink": {"dispatchers": [{"topic": "t"}]}}, "sink.dispatchers[0].matcher", "is missing"),
        ({"sink": {"dispatchers": {}}}, "sink.dispatchers", "must be a list"),
        ({"sink": 3}, "sink", "must hold keys"),
        (
            {"sink": {"dispatchers": [{"matcher": ["*.*"], "partition": "ts", "dispatcher": "ts"}]}},
            "sink.dispatchers[0]",
            "two names of one key",
        ),
        (
            {
                "sink": {
                    "kafka-config": {"large-message-handle": {"large-message-handle-option": "claim-chek"}}
                }
            },
            "sink.kafka-config.large-message-handle.large-message-handle-option",
            "did you mean 'claim-check'?",
        ),
        ({"sink-uri": "kafka:///t?partion-num=3"}, "sink-uri", "did you mean 'partition-num'?"),
        (
            {"force-replicate": True, "sink": {"delete-only-output-handle-key-columns": True}},
            "force-replicate",
            "must be off",
        ),
    ],
)
def test_a_bad_file_is_refused_by_key(content: dict[str, Any], key: str, message: str) -> None:
    with pytest.raises(ChangefeedError) as caught:
        resolve(None, content)
    assert caught.value.parameter == key
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("query", "parameter", "protocols"),
    [
        ("protocol=canal-json&output-row-id=false", "output-row-id", "open-protocol"),
        ("protocol=debezium&batch-by=partition", "batch-by", "open-protocol, craft, maxwell, canal"),
        ("protocol=craft&cluster-id=c1", "cluster-id", "debezium, debezium-avro"),
    ],
)
def test_an_option_of_other_protocols_is_refused_and_they_are_named(
    query: str, parameter: str, protocols: str
) -> None:
    with pytest.raises(ChangefeedError) as caught:
        resolve(f"kafka:///t?{query}")
    assert caught.value.parameter == parameter
    assert caught.value.hint == f"supported by {protocols}"


@pytest.mark.parametrize(
    ("parameters", "parameter", "hint"),
    [
        ("protocol=craft&profile=new", "protocol", "set profile=classic"),
        ("protocol=canal-json&output-row-key=true", "output-row-key", "set profile=new"),
        ("protocol=debezium&debezium-include-start-ts=true", "debezium-include-start-ts", "set profile=new"),
    ],
)
def test_options_of_one_profile_are_refused_with_the_other(
    parameters: str, parameter: str, hint: str
) -> None:
    with pytest.raises(ChangefeedError) as rejected:
        resolve(f"kafka:///t?{parameters}")
    assert rejected.value.parameter == parameter
    assert hint in rejected.value.hint


def test_a_section_applies_to_its_own_protocol_only() -> None:
    file = {"sink": {"debezium": {"output-old-value": False}, "open": {"output-old-value": True}}}
    assert not resolve("kafka:///t?protocol=debezium", file).output_old_value
    other = resolve("kafka:///t?protocol=canal-json", file)
    assert other.output_old_value
    assert other.warnings == ("sink.debezium.output-old-value has no effect: it is an option of debezium",)


@pytest.mark.parametrize(
    ("protocol", "sent"), [("open-protocol", True), ("canal-json", True), ("debezium", False)]
)
def test_ddl_is_sent_by_default_but_for_debezium(protocol: str, sent: bool) -> None:
    assert resolve(f"kafka:///t?protocol={protocol}").output_ddl is sent
    assert resolve(f"kafka:///t?protocol={protocol}&output-ddl=true").output_ddl


def test_a_secret_of_a_file_is_in_no_error_text() -> None:
    for wrong in ({"sasl-password": "s3cret"}, {"sasl-password": ["s3cret"]}):
        with pytest.raises(ChangefeedError, match="sasl-password") as caught:
            resolve(None, {"sink": {"kafka-config": wrong}})
        assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = = 1", "changefeed.toml:1: not TOML: Invalid value, at column 5"),
        (f"a = {'[' * 5000}", "changefeed.toml: not TOML: arrays or tables are nested too deeply"),
        (
            "[sink]\ndispatchers = [{ matchr = [] }]",
            "unknown key 'sink.dispatchers[0].matchr' (did you mean 'matcher'?)",
        ),
        ("sink-uri = 'kafka:///t'", "use `sink_uri`"),
        ("[snk]", "unknown key 'snk'"),
    ],
)
def test_a_file_that_is_not_a_changefeed_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "changefeed.toml"
    path.write_text(text)
    with pytest.raises(ChangefeedError) as caught:
        load_changefeed_toml(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_in_another_encoding_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "changefeed.toml"
    path.write_bytes(b'[sink]\nprotocol = "\xe9"\n')
    with pytest.raises(ChangefeedError) as caught:
        load_changefeed_toml(path)
    assert str(caught.value) == f"{path}:2: the changefeed file is not UTF-8"


def test_an_empty_sink_uri_is_not_treated_as_missing() -> None:
    with pytest.raises(ChangefeedError, match="it is empty"):
        resolve("")


def test_a_missing_file() -> None:
    with pytest.raises(ChangefeedError, match=r"nowhere\.toml: cannot read"):
        load_changefeed_toml("nowhere.toml")


@pytest.mark.parametrize(
    "option",
    [
        option
        for option in PARAMETERS
        if option.file_key and option.state != State.REJECTED and not option.of_client
    ],
    ids=lambda option: option.name,
)
def test_a_file_accepts_the_file_keys_of_the_table(option: Parameter) -> None:
    value: Any = option.default
    if value is None:
        schema = option.value.schema()
        guesses = {"boolean": True, "integer": 1, "string": "45m", "object": {}}
        guess = guesses.get(str(schema.get("type", "")), "none")
        value = schema.get("const", schema.get("enum", [guess])[0])
    for key in reversed(option.file_key.split(".")):
        value = {key: value}
    resolve(None, value)


@pytest.mark.parametrize(
    "option",
    [option for option in PARAMETERS if option.of_client and "schema-registry" not in option.name],
    ids=lambda option: option.name,
)
def test_a_file_has_the_same_connection_options_as_the_uri(option: Parameter) -> None:
    values: dict[str, Any] = {"enable-tls": True, "insecure-skip-verify": True, "sasl-mechanism": "plain"}
    value = values.get(option.name, "text")
    file = {"sink": {"kafka-config": {option.name: value}}}
    assert option.file_key == f"sink.kafka-config.{option.name}"
    assert check_changefeed_file(file, "here").options("craft") == {option.name: value}


_STRUCTURES = {
    "sink_uri", "dispatchers", "filter", "column_selectors", "client", "schema_registry",
    "glue_registry", "warnings",
    "plugin_options", "pulsar", "sets_partition_num", "topic_partitions",
}  # fmt: skip


def test_every_option_that_has_an_effect_is_an_attribute() -> None:
    effective = {option.field for option in OF_MESSAGES}
    assert effective == set(Changefeed.model_fields) - _STRUCTURES


def test_the_manifest_is_plain_json_without_the_unset_keys_of_a_rule() -> None:
    changefeed = resolve(None, {"sink": {"dispatchers": [{"matcher": ["*.*"], "partition": "ts"}]}})
    manifest = json.loads(json.dumps(changefeed.as_manifest()))
    assert manifest["dispatchers"] == [{"matcher": ["*.*"], "partition": "ts"}]


def test_a_manifest_without_a_newer_option_is_read() -> None:
    changefeed = resolve("kafka:///t?partition-num=2")
    manifest = changefeed.as_manifest()
    del manifest["cluster-id"]
    assert Changefeed.from_manifest(manifest) == changefeed


@pytest.mark.parametrize(
    "damage",
    [{"partition-num": 0}, {"partition-num": 10**20}, {"topic-partitions": {"u": 3_000_000_000}}],
)
def test_a_manifest_with_impossible_partitions_is_refused(damage: dict[str, object]) -> None:
    with pytest.raises(ChangefeedError):
        Changefeed.from_manifest({**resolve("kafka:///t").as_manifest(), **damage})


def test_importing_it_loads_neither_spark_nor_kafka() -> None:
    modules = "ticdc_producer.config, ticdc_producer.dispatch"
    code = f"import {modules}, sys; print('pyspark' in sys.modules, 'confluent_kafka' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def _large(protocol: str, **options: Any) -> dict[str, Any]:
    handle = {name.replace("_", "-"): value for name, value in options.items()}
    return {"sink": {"protocol": protocol, "kafka-config": {"large-message-handle": handle}}}


HANDLE_KEY = {"large_message_handle_option": "handle-key-only"}
CLAIM_CHECK = {"large_message_handle_option": "claim-check", "claim_check_storage_uri": "file:///claims"}


@pytest.mark.parametrize(
    ("content", "parameter", "message"),
    [
        (_large("canal-json", **HANDLE_KEY), "large-message-handle-option", "needs the TiDB extension"),
        (_large("debezium", **HANDLE_KEY), "large-message-handle-option", "open-protocol, canal-json"),
        (_large("craft", **HANDLE_KEY), "large-message-handle-option", "open-protocol, canal-json"),
        (_large("open-protocol", large_message_handle_option="claim-check"), "claim-check-storage-uri",
         "needs a storage"),
        (_large("open-protocol", **CLAIM_CHECK, claim_check_raw_value=True), "claim-check-raw-value",
         "supported by canal-json"),
        (_large("open-protocol", **HANDLE_KEY) | {"force-replicate": True},
         "force-replicate", "must be off when large-message-handle-option is handle-key-only"),
    ],
)  # fmt: skip
def test_large_messages_have_conditions(content: dict[str, Any], parameter: str, message: str) -> None:
    with pytest.raises(ChangefeedError) as caught:
        resolve(None, content)
    assert caught.value.parameter == parameter
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "uri", ["claims", "/claims", "s3://bucket/p?access-key=a", "file://", "file:///a#b", ""]
)
def test_a_storage_is_a_uri_without_credentials(uri: str) -> None:
    with pytest.raises(ChangefeedError) as caught:
        resolve(None, _large("open-protocol", **CLAIM_CHECK | {"claim_check_storage_uri": uri}))
    assert caught.value.parameter.endswith("claim-check-storage-uri")


def test_large_messages_are_handled_where_all_conditions_hold() -> None:
    changefeed = resolve(
        "kafka:///t?protocol=canal-json&enable-tidb-extension=true",
        _large(
            "canal-json", **CLAIM_CHECK, claim_check_raw_value=True, large_message_handle_compression="lz4"
        ),
    )
    assert changefeed.large_message_handle_option == "claim-check"
    assert changefeed.large_message_handle_compression == "lz4"
    assert changefeed.claim_check_storage_uri == "file:///claims"
    assert changefeed.claim_check_raw_value


def test_all_bootstraps_at_the_start_are_refused_only_with_simple() -> None:
    config = {"sink": {"send-all-bootstrap-at-start": True}}
    resolve("kafka:///t?protocol=canal-json", config)
    with pytest.raises(ChangefeedError) as error:
        resolve("kafka:///t?protocol=simple", config)
    assert error.value.parameter == "send-all-bootstrap-at-start"


@pytest.mark.parametrize(
    ("query", "existing", "partitions", "warned"),
    [
        ("", {}, [3, 3], False),
        ("", {"t": 5}, [5, 5], False),
        ("", {"t": 5, "u": 2}, [5, 2], False),
        ("", {"u": 2}, [3, 2], False),
        ("?partition-num=4", {"t": 5, "u": 2}, [4, 2], True),
        ("?partition-num=4", {"t": 4}, [4, 4], False),
        ("?partition-num=4", {"t": 3}, [4, 4], False),
    ],
)
def test_the_partitions_of_topics_that_exist(
    query: str, existing: dict[str, int], partitions: list[int], warned: bool
) -> None:
    changefeed = resolve(f"kafka://h:1/t{query}").with_topics(existing)
    assert [changefeed.partitions_of(topic) for topic in ("t", "u")] == partitions
    assert Changefeed.from_manifest(changefeed.as_manifest()).topic_partitions == changefeed.topic_partitions
    assert bool(changefeed.warnings) == warned


@pytest.mark.parametrize(("protocol", "in_first"), [("simple", True), ("canal-json", False)])
def test_schemas_in_the_first_partition_are_those_of_simple(protocol: str, in_first: bool) -> None:
    content = {"sink": {"send-bootstrap-to-all-partition": False}}
    assert resolve(f"kafka:///t?protocol={protocol}", content).describes_in_first == in_first
    assert not resolve(f"kafka:///t?protocol={protocol}").describes_in_first


CHECKSUMS = {"integrity": {"integrity-check-level": "correctness", "corruption-handle-level": "error"}}
AS_TEXT = (
    "enable-tidb-extension=true&avro-decimal-handling-mode=string&avro-bigint-unsigned-handling-mode=string"
)


@pytest.mark.parametrize(
    ("uri", "level"),
    [
        ("kafka:///t?protocol=simple", "correctness"),
        (f"kafka:///t?protocol=avro&{AS_TEXT}", "correctness"),
        ("kafka:///t?protocol=canal-json", "none"),
        ("file:///d?protocol=csv", "none"),
    ],
)
def test_checksums_are_of_protocols_with_them(uri: str, level: str) -> None:
    changefeed = resolve(uri, CHECKSUMS)
    assert changefeed.integrity_check_level == level
    ignored = [warning for warning in changefeed.warnings if warning.startswith("integrity-check-level")]
    assert len(ignored) == (level == "none")


@pytest.mark.parametrize("left_out", AS_TEXT.split("&"))
def test_checksums_of_avro_need_the_extension_and_values_as_text(left_out: str) -> None:
    parameters = [parameter for parameter in AS_TEXT.split("&") if parameter != left_out]
    with pytest.raises(ChangefeedError, match="row checksums of protocol avro need"):
        resolve(f"kafka:///t?protocol=avro&{'&'.join(parameters)}", CHECKSUMS)


def test_checksums_are_not_allowed_with_column_selectors() -> None:
    config = {**CHECKSUMS, "sink": {"column-selectors": [{"matcher": ["*.*"], "columns": ["a"]}]}}
    with pytest.raises(ChangefeedError, match="integrity check enabled and column selector set"):
        resolve("kafka:///t?protocol=canal-json", config)
    resolve("file:///d?protocol=csv&profile=new", config)
