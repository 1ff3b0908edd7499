"""Values of options under a kind of sink that ignores them: TiCDC does not check most of them."""

from __future__ import annotations

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.config.changefeed_toml import changefeed_toml, parse_changefeed_toml
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.parameter import Profile
from ticdc_producer.protocols.row_options import SimpleOptions

KAFKA, STORAGE = "kafka://h:1/t?protocol=canal-json", "file:///tmp/x?protocol=canal-json"
SIMPLE, CSV = "kafka://h:1/t?protocol=simple", "file:///tmp/x?protocol=csv"
_KAFKA_CONFIG, _CODEC = "[sink.kafka-config]\n", "[sink.kafka-config.codec-config]\n"
_STORAGE_CONFIG, _LARGE = "[sink.cloud-storage-config]\n", "[sink.kafka-config.large-message-handle]\n"

CHECKED_BY_ONE = {
    "partition-num": (f"{_KAFKA_CONFIG}partition-num = 0", STORAGE, KAFKA),
    "replication-factor": (f"{_KAFKA_CONFIG}replication-factor = -1", STORAGE, KAFKA),
    "required-acks": (f"{_KAFKA_CONFIG}required-acks = 5", STORAGE, KAFKA),
    "sasl-mechanism": (f"{_KAFKA_CONFIG}sasl-mechanism = 'none'", STORAGE, KAFKA),
    "dial-timeout": (f"{_KAFKA_CONFIG}dial-timeout = 'soon'", STORAGE, KAFKA),
    "date-separator": ("[sink]\ndate-separator = 'week'", KAFKA, STORAGE),
    "flush-interval": (f"{_STORAGE_CONFIG}flush-interval = 'soon'", KAFKA, STORAGE),
    "worker-count": (f"{_STORAGE_CONFIG}worker-count = 0", KAFKA, STORAGE),
    "spool-disk-quota": (f"{_STORAGE_CONFIG}spool-disk-quota = -1", KAFKA, STORAGE),
    "delimiter": ("[sink.csv]\ndelimiter = '12345'", KAFKA, CSV),
    "binary-encoding-method": ("[sink.csv]\nbinary-encoding-method = 'octal'", KAFKA, CSV),
    "quote and delimiter": ("[sink.csv]\nquote = ','\ndelimiter = ','", KAFKA, STORAGE),
    "binary-encoding-method of Canal-JSON": ("[sink.csv]\nbinary-encoding-method = 'octal'", KAFKA, STORAGE),
}
"""A file, the sink that accepts it, and the sink that does not.

Source: ticdc ``pkg/sink/kafka/options.go``, ``pkg/cloudstorage/config.go``, ``pkg/config/sink.go``."""


@pytest.mark.parametrize("profile", ["classic", "new"])
@pytest.mark.parametrize("name", CHECKED_BY_ONE)
def test_values_are_checked_by_the_sink_that_uses_them(name: str, profile: Profile) -> None:
    text, accepting, rejecting = CHECKED_BY_ONE[name]
    content = parse_changefeed_toml(text, "changefeed.toml")
    plain = resolve(f"{accepting}&profile={profile}")
    unchanged = {"warnings": (), "sets_partition_num": False}
    assert resolve(f"{accepting}&profile={profile}", content).model_copy(update=unchanged) == plain
    with pytest.raises(ChangefeedError):
        resolve(f"{rejecting}&profile={profile}", content)


@pytest.mark.parametrize(
    "text",
    [
        f"{_KAFKA_CONFIG}max-message-bytes = 0",
        f"{_CODEC}max-batch-size = -1",
        f"{_LARGE}large-message-handle-compression = 'zip'",
        f"{_LARGE}large-message-handle-option = 'drop'",
        f"{_LARGE}large-message-handle-option = 'handle-key-only'",
        f"{_KAFKA_CONFIG}partition-num = '3'",
        f"{_STORAGE_CONFIG}flush-interval = 5",
    ],
)
@pytest.mark.parametrize("sink", [KAFKA, STORAGE, CSV])
def test_types_and_options_of_the_encoder_are_checked_by_each_sink(text: str, sink: str) -> None:
    with pytest.raises(ChangefeedError):
        resolve(sink, parse_changefeed_toml(text, "changefeed.toml"))


def test_an_option_for_large_rows_has_no_effect_in_files() -> None:
    text = f"{_LARGE}large-message-handle-option = 'handle-key-only'"
    uri = f"{STORAGE}&enable-tidb-extension=true"
    changefeed = resolve(uri, parse_changefeed_toml(text, "changefeed.toml"))
    assert changefeed.large_message_handle_option == "none"
    assert changefeed.warnings == (
        "large-message-handle-option has no effect: it is an option of Kafka sinks",
    )


@pytest.mark.parametrize(
    ("sink", "parameter"),
    [
        (STORAGE, "partition-num=many"),
        (STORAGE, "required-acks=9"),
        (STORAGE, "read-timeout=soon"),
        (KAFKA, "flush-interval=soon"),
        (KAFKA, "file-size=big"),
        (KAFKA, "worker-count=-1"),
    ],
)
def test_parameters_of_the_other_sink_are_not_read(sink: str, parameter: str) -> None:
    changefeed = resolve(f"{sink}&{parameter}")
    (note,) = changefeed.warnings
    assert note.startswith(f"{parameter.partition('=')[0]} has no effect")
    assert changefeed.model_copy(update={"warnings": (), "sets_partition_num": False}) == resolve(sink)


@pytest.mark.parametrize("value", ["", "brotli"])
def test_an_unknown_compression_is_none_with_a_word(value: str) -> None:
    word = f"compression: {value!r} is not known; TiCDC takes none"
    content = parse_changefeed_toml(f"{_KAFKA_CONFIG}compression = '{value}'", "changefeed.toml")
    for changefeed in (resolve(KAFKA, content), resolve(f"{KAFKA}&compression={value}")):
        assert (changefeed.compression, changefeed.warnings) == ("none", (word,))


EMPTY = {
    "encoding-format": (SIMPLE, f"{_CODEC}encoding-format = ''"),
    "avro-decimal-handling-mode": (KAFKA, f"{_CODEC}avro-decimal-handling-mode = ''"),
    "large-message-handle-option": (KAFKA, f"{_LARGE}large-message-handle-option = ''"),
    "large-message-handle-compression": (KAFKA, f"{_LARGE}large-message-handle-compression = ''"),
    "sasl": (KAFKA, f"{_KAFKA_CONFIG}sasl-mechanism = ''\nsasl-user = ''\nsasl-password = ''"),
    "files of TLS": (KAFKA, f"{_KAFKA_CONFIG}ca = ''\ncert = ''\nkey = ''"),
    "kafka-client-id": (KAFKA, f"{_KAFKA_CONFIG}kafka-client-id = ''"),
    "dial-timeout": (KAFKA, f"{_KAFKA_CONFIG}dial-timeout = ''"),
    "schema-registry": (KAFKA, "[sink]\nschema-registry = ''"),
    "flush-interval": (STORAGE, f"{_STORAGE_CONFIG}flush-interval = ''"),
    "spool-base-dir": (STORAGE, f"{_STORAGE_CONFIG}spool-base-dir = ''"),
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_value_is_the_default(name: str) -> None:
    uri, text = EMPTY[name]
    changefeed = resolve(uri, parse_changefeed_toml(text, "changefeed.toml"))
    assert changefeed.model_copy(update={"warnings": ()}) == resolve(uri)


def test_an_empty_date_separator_is_none() -> None:
    assert resolve(STORAGE, {"sink": {"date-separator": ""}}).date_separator == "none"


@pytest.mark.parametrize("name", ["send-bootstrap-interval-in-sec", "send-bootstrap-in-msg-count"])
def test_negative_numbers_send_no_bootstrap(name: str) -> None:
    options = resolve(SIMPLE, {"sink": {name: -5}}).codec_options()
    typed = resolve(SIMPLE).spec.typed(options)
    assert isinstance(typed, SimpleOptions)
    assert not typed.sends_bootstrap


def test_durations_are_those_of_go() -> None:
    for text, milliseconds in (("1h2m", 600_000), (".5s", 500), ("1500us", 100), ("-1s", 100), ("0", 100)):
        changefeed = resolve(f"{STORAGE}&profile=new&flush-interval={text}")
        assert changefeed.flush_interval == milliseconds


def test_the_columns_of_ignored_updates_are_for_kafka_in_the_new_architecture() -> None:
    rule = {"matcher": ["a.*"], "ignore-update-only-columns": ["at"]}
    content = {"filter": {"event-filters": [rule]}}
    changefeed = resolve(f"{KAFKA}&profile=new", content)
    assert changefeed.filter.event_filters[0].ignore_update_only_columns == ("at",)
    assert changefeed.warnings == ()
    assert "ignore-update-only-columns = [" in changefeed_toml(changefeed)
    in_files = resolve(f"{STORAGE}&profile=new", content)
    assert in_files.filter.event_filters[0].ignore_update_only_columns == ()
    assert in_files.warnings == (
        "ignore-update-only-columns has no effect: TiCDC applies it to Kafka sinks only",
    )
    with pytest.raises(ChangefeedError, match="profile classic has no option ignore-update-only-columns"):
        resolve(KAFKA, content)
