"""The changefeed file: TiCDC's TOML, which a YAML scenario holds under ``changefeed:`` as well.

The models define the structure and the types. The table in ``parameters`` defines the allowed values of
each key; aliases of the model fields are names in that table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from ticdc_producer.config.config_section import ColumnSelector, ConfigSection, FilterSection, Words
from ticdc_producer.config.parameters import BY_NAME
from ticdc_producer.config.sink_uri import parse_sink_uri
from ticdc_producer.config.unused_parameters import KEYS_OF_NO_API
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.option_type import Plain, Secret
from ticdc_producer.model.parameter import SinkKind
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.protocols.spec import ProtocolSpec


def _option(name: str, key: str = "") -> Any:
    """Return a key that the table of parameters describes.

    :param key: if it is not the name of the parameter; that is then the name of the attribute.
    """
    parameter = BY_NAME[name]
    return Field(
        default=None,
        alias=key or name,
        description=parameter.effect,
        json_schema_extra=_replace_schema(name),
        repr=not isinstance(parameter.value, Secret),
    )


def _replace_schema(name: str) -> Any:
    def rewrite(schema: dict[str, Any]) -> None:
        for keyword in ("anyOf", "type", "default", "title"):
            schema.pop(keyword, None)
        schema.update(BY_NAME[name].value.schema())

    return rewrite


_TARGET = re.compile(r"(?:[^{}]|\{schema\}|\{table\})*")
"""Expressions of ``target-schema`` and ``target-table`` (ticdc ``pkg/config/sink.go``)."""


class DispatchRule(ConfigSection):
    """One entry of ``sink.dispatchers``. The first entry whose matcher accepts a table applies to it.

    :param matcher: table filter patterns; the last one that matches decides.
    :param partition: name of the partition rule; ``dispatcher`` is its deprecated key.
    :param index: unique index for ``index-value``; empty for the handle key.
    :param columns: columns for the rule ``columns``.
    :param topic: topic expression; empty for the topic of the sink URI.
    :param target_schema: the database under which tables are sent, with ``{schema}`` and ``{table}`` for
        their names upstream; empty for their own.
    :param target_table: the name under which tables are sent, in the same form.
    """

    matcher: Words
    partition: str = ""
    dispatcher: str = ""
    index: str = ""
    columns: Words = ()
    topic: str = ""
    target_schema: str = Field(default="", alias="target-schema")
    target_table: str = Field(default="", alias="target-table")

    @field_validator("target_schema", "target_table")
    @classmethod
    def _target_expression(cls, text: str) -> str:
        if not _TARGET.fullmatch(text):
            raise ValueError(f"{text!r} must contain only literal text, {{schema}}, and {{table}}")
        return text

    @property
    def has_target(self) -> bool:
        """Whether the rule gives tables other names."""
        return bool(self.target_schema or self.target_table)

    @model_validator(mode="after")
    def _one_partition_rule(self) -> DispatchRule:
        if self.partition and self.dispatcher:
            raise ValueError(
                "partition and dispatcher are two names of one key, the second deprecated; set one"
            )
        return self

    @property
    def rule(self) -> str:
        """The partition rule, from either key."""
        return self.partition or self.dispatcher


class CodecSection(ConfigSection):
    """``[sink.kafka-config.codec-config]``"""

    enable_tidb_extension: bool | None = _option("enable-tidb-extension")
    max_batch_size: int | None = _option("max-batch-size")
    encoding_format: str | None = _option("encoding-format")
    avro_decimal_handling_mode: str | None = _option("avro-decimal-handling-mode")
    avro_bigint_unsigned_handling_mode: str | None = _option("avro-bigint-unsigned-handling-mode")
    avro_enable_watermark: bool | None = _option("avro-enable-watermark")
    avro_include_before_value: bool | None = _option("avro-include-before-value")
    output_row_key: bool | None = _option("output-row-key")


class LargeMessageSection(ConfigSection):
    """``[sink.kafka-config.large-message-handle]``"""

    large_message_handle_option: str | None = _option("large-message-handle-option")
    large_message_handle_compression: str | None = _option("large-message-handle-compression")
    claim_check_storage_uri: str | None = _option("claim-check-storage-uri")
    claim_check_raw_value: bool | None = _option("claim-check-raw-value")


class KafkaSection(ConfigSection):
    """``[sink.kafka-config]``"""

    partition_num: int | None = _option("partition-num")
    replication_factor: int | None = _option("replication-factor")
    kafka_version: str | None = _option("kafka-version")
    max_message_bytes: int | None = _option("max-message-bytes")
    compression: str | None = _option("compression")
    kafka_client_id: str | None = _option("kafka-client-id")
    auto_create_topic: bool | None = _option("auto-create-topic")
    dial_timeout: int | str | None = _option("dial-timeout")
    read_timeout: int | str | None = _option("read-timeout")
    write_timeout: int | str | None = _option("write-timeout")
    required_acks: int | str | None = _option("required-acks")
    output_raw_change_event: bool | None = _option("output-raw-change-event")
    enable_tls: bool | None = _option("enable-tls")
    ca: str | None = _option("ca")
    cert: str | None = _option("cert")
    key: str | None = _option("key")
    insecure_skip_verify: bool | None = _option("insecure-skip-verify")
    sasl_mechanism: str | None = _option("sasl-mechanism")
    sasl_user: str | None = _option("sasl-user")
    sasl_password: str | None = _option("sasl-password")
    glue_schema_registry_config: object = _option("glue-schema-registry-config")
    codec_config: CodecSection | None = Field(default=None, alias="codec-config")
    large_message_handle: LargeMessageSection | None = Field(default=None, alias="large-message-handle")


class OpenSection(ConfigSection):
    """``[sink.open]``"""

    output_old_value: bool | None = _option("output-old-value")


class DebeziumSection(ConfigSection):
    """``[sink.debezium]``"""

    output_old_value: bool | None = _option("output-old-value")
    debezium_include_start_ts: bool | None = _option("debezium-include-start-ts", "include-start-ts")


class CSVSection(ConfigSection):
    """``[sink.csv]``"""

    delimiter: str | None = _option("delimiter")
    quote: str | None = _option("quote")
    null: str | None = _option("null")
    include_commit_ts: bool | None = _option("include-commit-ts")
    output_old_value: bool | None = _option("output-old-value")
    output_handle_key: bool | None = _option("output-handle-key")
    output_field_header: bool | None = _option("output-field-header")
    binary_encoding_method: str | None = _option("binary-encoding-method")


class CloudStorageSection(ConfigSection):
    """``[sink.cloud-storage-config]``"""

    worker_count: int | None = _option("worker-count")
    flush_interval: int | str | None = _option("flush-interval")
    file_size: int | None = _option("file-size")
    flush_concurrency: int | None = _option("flush-concurrency")
    output_column_id: bool | None = _option("output-column-id")
    use_table_id_as_path: bool | None = _option("use-table-id-as-path")
    output_raw_change_event: bool | None = _option("output-raw-change-event")
    file_expiration_days: int | None = _option("file-expiration-days")
    file_cleanup_cron_spec: str | None = _option("file-cleanup-cron-spec")
    spool_disk_quota: int | None = _option("spool-disk-quota")
    spool_base_dir: str | None = _option("spool-base-dir")


_OF_ALL_PROTOCOLS = {"debezium_include_start_ts"}
"""Keys in the section of a protocol that TiCDC checks under each protocol (ticdc
``pkg/sink/codec/common/config.go``, ``Validate``)."""


class IntegritySection(ConfigSection):
    """``[integrity]``"""

    integrity_check_level: str | None = _option("integrity-check-level")
    corruption_handle_level: str | None = _option("corruption-handle-level")


def _is_of_others(spec: ProtocolSpec, protocol: str) -> bool:
    """Return whether the section of a protocol below ``sink`` is not that of another protocol."""
    own = BUILT_IN[protocol].section if protocol in BUILT_IN else ""
    return bool(spec.section) and spec.section != own


class SinkSection(ConfigSection):
    """``[sink]``"""

    protocol: str | None = _option("protocol")
    dispatchers: Annotated[tuple[DispatchRule, ...], Field(strict=False)] = ()
    column_selectors: Annotated[tuple[ColumnSelector, ...], Field(strict=False)] = Field(
        default=(), alias="column-selectors"
    )
    only_output_updated_columns: bool | None = _option("only-output-updated-columns")
    delete_only_output_handle_key_columns: bool | None = _option("delete-only-output-handle-key-columns")
    content_compatible: bool | None = _option("content-compatible")
    debezium_disable_schema: bool | None = _option("debezium-disable-schema")
    transaction_atomicity: str | None = _option("transaction-atomicity")
    encoder_concurrency: int | None = _option("encoder-concurrency")
    advance_timeout_in_sec: int | None = _option("advance-timeout-in-sec")
    enable_kafka_sink_v2: bool | None = _option("enable-kafka-sink-v2")
    schema_registry: str | None = _option("schema-registry")
    safe_mode: bool | None = _option("safe-mode")
    mysql_config: object = _option("mysql-config")
    pulsar_config: object = _option("pulsar-config")
    cloud_storage_config: CloudStorageSection | None = Field(default=None, alias="cloud-storage-config")
    csv: CSVSection | None = None
    terminator: str | None = _option("terminator")
    date_separator: str | None = _option("date-separator")
    enable_partition_separator: bool | None = _option("enable-partition-separator")
    file_index_digit: int | None = _option("file-index-digit")
    send_bootstrap_interval_in_sec: int | None = _option("send-bootstrap-interval-in-sec")
    send_bootstrap_in_msg_count: int | None = _option("send-bootstrap-in-msg-count")
    send_bootstrap_to_all_partition: bool | None = _option("send-bootstrap-to-all-partition")
    send_all_bootstrap_at_start: bool | None = _option("send-all-bootstrap-at-start")
    kafka_config: KafkaSection | None = Field(default=None, alias="kafka-config")
    open: OpenSection | None = None
    debezium: DebeziumSection | None = None
    case_sensitive: bool | None = _option("case-sensitive")
    force_replicate: bool | None = _option("force-replicate")
    integrity: IntegritySection | None = None

    def of(self, protocol: str, kind: SinkKind) -> SinkSection:
        """Return the section without the keys that have no effect for a protocol and a kind of sink."""
        lost = (key.removeprefix("sink.").replace("-", "_") for key in KEYS_OF_NO_API)
        overrides: dict[str, Any] = dict.fromkeys(lost)
        for spec in BUILT_IN.values():
            part = getattr(self, spec.section) if _is_of_others(spec, protocol) else None
            if part is not None:
                ignored = part.model_fields_set - _OF_ALL_PROTOCOLS
                overrides[spec.section] = part.model_copy(update=dict.fromkeys(ignored))
        # Both sections have this key, and Pulsar's; each applies to its own kind of sink.
        own = {SinkKind.KAFKA: "kafka_config", SinkKind.STORAGE: "cloud_storage_config"}.get(kind)
        for other in ("kafka_config", "cloud_storage_config"):
            section = getattr(self, other)
            if section is not None and other != own:
                overrides[other] = section.model_copy(update={"output_raw_change_event": None})
        return self.model_copy(update=overrides)


class MounterSection(ConfigSection):
    """``[mounter]``"""

    worker_num: int | None = _option("worker-num")


class ChangefeedFile(ConfigSection):
    """The whole file.

    :param sink_uri: only in a scenario; a TOML file has no such key.
    """

    sink_uri: str | None = Field(default=None, alias="sink-uri", description="Sink URI, as TiCDC's.")
    case_sensitive: bool | None = _option("case-sensitive")
    force_replicate: bool | None = _option("force-replicate")
    memory_quota: int | None = _option("memory-quota")
    check_gc_safe_point: bool | None = _option("check-gc-safe-point")
    changefeed_error_stuck_duration: int | None = _option("changefeed-error-stuck-duration")
    performance_mode: str | None = _option("performance-mode")
    event_collector_batch_count: int | None = _option("event-collector-batch-count")
    event_collector_batch_bytes: int | None = _option("event-collector-batch-bytes")
    synced_status: object = _option("synced-status")
    bdr_mode: bool | None = _option("bdr-mode")
    enable_active_active: bool | None = _option("enable-active-active")
    active_active_progress_interval: int | None = _option("active-active-progress-interval")
    active_active_sync_stats_interval: int | None = _option("active-active-sync-stats-interval")
    enable_table_monitor: bool | None = _option("enable-table-monitor")
    scheduler: object = _option("scheduler")
    consistent: object = _option("consistent")
    integrity: IntegritySection | None = None
    ignore_ineligible_table: bool | None = _option("ignore-ineligible-table")
    sql_mode: str | None = _option("sql-mode")
    enable_sync_point: bool | None = _option("enable-sync-point")
    sync_point_interval: int | None = _option("sync-point-interval")
    sync_point_retention: int | None = _option("sync-point-retention")
    mounter: MounterSection | None = None
    filter: FilterSection | None = None
    sink: SinkSection | None = None

    @field_validator("sink_uri")
    @classmethod
    def _readable(cls, text: str | None) -> str | None:
        try:
            if text is not None:
                parse_sink_uri(text)
        except ChangefeedError as error:  # pydantic collects a ValueError, and nothing else
            raise ValueError(f"{error.what} ({error.hint})" if error.hint else error.what) from None
        return text

    @property
    def dispatchers(self) -> tuple[DispatchRule, ...]:
        return self.sink.dispatchers if self.sink else ()

    @property
    def column_selectors(self) -> tuple[ColumnSelector, ...]:
        return self.sink.column_selectors if self.sink else ()

    def warnings(self, protocol: str) -> Iterator[str]:
        """Yield what has no effect although TiCDC accepts it (``pkg/sink/codec/common/config.go``)."""
        by_section = {spec.section: spec for spec in reversed(BUILT_IN.values())}  # the first of each
        for spec in by_section.values():
            part = getattr(self.sink, spec.section, None) if _is_of_others(spec, protocol) else None
            default = spec.defaults.get("output-old-value", True)
            if part is not None and part.output_old_value is False and default:
                yield f"sink.{spec.section}.output-old-value has no effect: it is an option of {spec.name}"
        kafka = self.sink and self.sink.kafka_config
        if kafka and kafka.codec_config and kafka.codec_config.output_row_key is not None:
            yield "codec-config.output-row-key has no effect: TiCDC reads it in the sink URI only"

    @property
    def protocol(self) -> str | None:
        return self.sink.protocol if self.sink else None

    def options(self, protocol: str, kind: SinkKind = SinkKind.KAFKA) -> dict[str, Plain]:
        """Return every option that the file sets, by its name in the table of parameters.

        :param protocol: the changefeed's protocol; sections of other protocols are ignored.
        :param kind: the kind of sink that the changefeed writes to.
        """
        sink = self.sink and self.sink.of(protocol, kind)
        return _set_options(self.model_copy(update={"sink": sink}))


def _set_options(section: ConfigSection) -> dict[str, Plain]:
    options: dict[str, Plain] = {}
    for field in section.model_fields_set:
        value = getattr(section, field)
        parameter = type(section).parameter_of(field)
        if isinstance(value, ConfigSection):
            options.update(_set_options(value))
        elif parameter is not None and parameter.file_key and value is not None:
            options[parameter.name] = value
    return options
