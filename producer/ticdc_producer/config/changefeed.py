"""The changefeed: one validated object from which all other parts read their options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ticdc_producer.config.changefeed_file import DispatchRule
from ticdc_producer.config.config_section import ColumnSelector, FilterSection, explain
from ticdc_producer.config.parameters import BY_NAME, MAX_PARTITIONS, OF_MESSAGES
from ticdc_producer.config.pulsar import PulsarSection
from ticdc_producer.config.sink_uri import SinkURI, parse_sink_uri
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.kafka.client import Brokers, Cluster, Properties, producer_properties
from ticdc_producer.model.option_type import Plain
from ticdc_producer.model.parameter import Profile, SinkKind
from ticdc_producer.protocols.registry import protocol_spec
from ticdc_producer.protocols.spec import ProtocolSpec

_NOT_OF_CODECS = {"sink_uri", "dispatchers", "warnings"}


_Partitions: TypeAlias = Annotated[int, Field(ge=1, le=MAX_PARTITIONS)]
_UNUSED_PARTITIONS = "partition-num={}: the other partitions of the topic, which has {}, get no messages"


def _kebab(field: str) -> str:
    return field.replace("_", "-")


class Changefeed(BaseModel):
    """All options as resolved by ``resolve``. ``PARAMETERS`` describes the effect of each option.

    :param sink_uri: hosts and default topic.
    :param dispatchers: dispatch rules in their order, without the final rule that TiCDC always appends.
    :param filter: which tables and events are replicated.
    :param column_selectors: which columns of these tables are replicated.
    :param client: properties of Kafka clients, as librdkafka spells them; they may hold secrets and are
        never written to a manifest.
    :param pulsar: settings of Pulsar's client for a Pulsar sink, else None; they may hold secrets and are
        never written to a manifest.
    :param schema_registry: URL of Avro's registry, or empty; it may hold a password and is never written to
        a manifest.
    :param glue_registry: name of Avro's registry of AWS Glue, or empty.
    :param plugin_options: parameters that only a protocol of another package has, by name.
    :param warnings: settings that TiCDC accepts and logs a warning about.
    :param sets_partition_num: whether ``partition-num`` is set; otherwise a topic that exists decides.
    :param topic_partitions: the number of partitions of topics that have another one than ``partition-num``.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=_kebab,
        populate_by_name=True,
        defer_build=True,
    )

    sink_uri: SinkURI
    protocol: str
    dispatchers: tuple[DispatchRule, ...]

    max_message_bytes: int
    max_batch_size: int
    enable_tidb_extension: bool
    only_output_updated_columns: bool
    output_old_value: bool
    delete_only_output_handle_key_columns: bool
    content_compatible: bool
    debezium_disable_schema: bool
    output_row_key: bool
    debezium_include_start_ts: bool
    output_raw_change_event: bool
    large_message_handle_option: str
    large_message_handle_compression: str
    claim_check_storage_uri: str
    claim_check_raw_value: bool
    encoding_format: str
    send_bootstrap_interval_in_sec: int
    send_bootstrap_in_msg_count: int
    send_bootstrap_to_all_partition: bool
    avro_decimal_handling_mode: str
    avro_bigint_unsigned_handling_mode: str
    avro_enable_watermark: bool
    avro_include_before_value: bool
    integrity_check_level: str

    case_sensitive: bool
    force_replicate: bool

    partition_num: _Partitions
    replication_factor: int
    compression: str
    required_acks: str
    auto_create_topic: bool

    terminator: str
    date_separator: str
    enable_partition_separator: bool
    file_index_digit: int
    file_size: int
    flush_interval: int | None
    output_column_id: bool
    use_table_id_as_path: bool
    enable_table_across_nodes: bool
    enable_active_active: bool
    delimiter: str
    quote: str
    null: str
    include_commit_ts: bool
    output_handle_key: bool
    output_field_header: bool
    binary_encoding_method: str

    profile: Profile
    batch_by: str
    output_ddl: bool
    ddl_text: str
    output_row_id: bool
    time_zone: str
    cluster_id: str
    invalid_utf8: str
    legacy_no_flag: bool
    legacy_varchar_base64: bool
    legacy_delete_old: bool
    legacy_data_before_old: bool
    legacy_insert_old: bool
    legacy_row_end: bool

    filter: FilterSection = Field(default_factory=FilterSection, exclude=True)
    column_selectors: tuple[ColumnSelector, ...] = Field(default=(), exclude=True)
    client: Mapping[str, str] = Field(default_factory=dict, exclude=True, repr=False)
    pulsar: PulsarSection | None = Field(default=None, exclude=True, repr=False)
    schema_registry: str = Field(default="", exclude=True, repr=False)
    glue_registry: str = Field(default="", exclude=True)
    plugin_options: Mapping[str, Plain] = Field(default_factory=dict, exclude=True)
    warnings: tuple[str, ...] = ()
    sets_partition_num: bool = Field(default=True, exclude=True)
    topic_partitions: Mapping[str, _Partitions] = Field(default_factory=dict, exclude=True)

    def with_topics(self, existing: Mapping[str, int]) -> Self:
        """Return the changefeed with the numbers of partitions that TiCDC uses.

        It uses the first ``partition-num`` partitions of the sink URI's topic, or all if that is not set.
        Topics that it creates get the same number. All partitions of other topics are used. Source: tiflow
        ``pkg/sink/kafka/options.go`` (SetPartitionNum), ``cdc/sink/dmlsink/mq/manager``.

        :param existing: numbers of partitions of the topics that exist, among those that are written.
        """
        own = existing.get(self.sink_uri.topic)
        number = self.partition_num if own is None or self.sets_partition_num else own
        others = {
            topic: count
            for topic, count in sorted(existing.items())
            if topic != self.sink_uri.topic and count != number
        }
        unused = () if own is None or own <= number else (_UNUSED_PARTITIONS.format(number, own),)
        return self.model_copy(
            update={
                "partition_num": number,
                "topic_partitions": others,
                "warnings": (*self.warnings, *unused),
            }
        )

    def partitions_of(self, topic: str) -> int:
        """Return the number of partitions of a topic that are written."""
        return self.topic_partitions.get(topic, self.partition_num)

    @property
    def routes_tables(self) -> bool:
        """Whether some tables may be sent under other names."""
        return any(rule.has_target for rule in self.dispatchers)

    @property
    def in_files(self) -> bool:
        """Whether the messages are rows of files, in a storage."""
        return self.sink_uri.kind is SinkKind.STORAGE

    @property
    def brokers(self) -> Cluster:
        """The Kafka cluster that the sink URI and the security options name.

        :raises ChangefeedError: if the sink URI names no Kafka.
        """
        kind = self.sink_uri.kind
        if kind is not SinkKind.KAFKA:
            raise ChangefeedError(
                f"this needs topics of Kafka, and the sink URI names a {kind}",
                parameter="sink-uri",
                hint="run, verify and decode support storages"
                if kind is SinkKind.STORAGE
                else "only run supports Pulsar",
            )
        return Cluster(self.sink_uri.bootstrap_servers, self.client)

    def producer_properties(self, brokers: Brokers) -> Properties:
        """Return the properties of the Kafka producer that writes this changefeed's messages."""
        return producer_properties(
            brokers, compression=self.compression, max_message_bytes=self.max_message_bytes
        )

    @property
    def spec(self) -> ProtocolSpec:
        """The protocol.

        :raises PluginError: if another package registers it, and it cannot be used.
        """
        return protocol_spec(self.protocol)

    def codec_options(self, protocol: str = "", *, build_ts_ms: int | None = None) -> dict[str, object]:
        """Return the options of a codec as plain values.

        :param protocol: the codec's, for messages that are not of the changefeed's protocol.
        :param build_ts_ms: time at which messages are built, in Unix milliseconds; None: when they commit.
        """
        spec = protocol_spec(protocol or self.protocol)
        written = {"row_end": self.terminator if self.in_files else "", "build_ts_ms": build_ts_ms}
        own = {name.replace("-", "_"): value for name, value in self.plugin_options.items()}
        return spec.select({**self.model_dump(exclude=_NOT_OF_CODECS), **own, **written})

    @property
    def ddl_to_all_partitions(self) -> bool:
        """Whether DDLs go to every partition of their topic, or to partition 0 only.

        Source: ticdc ``downstreamadapter/sink/helper/helper.go`` (GetDDLDispatchRule).
        """
        return self.spec.ddl_partitions == "all"

    @property
    def describes_in_first(self) -> bool:
        """Whether partition 0 of a topic has the descriptions of the tables of all its partitions."""
        return self.spec.describes_in_first(self.codec_options())

    @property
    def batches_rows(self) -> bool:
        """Whether a message may have several rows; then rows of different dispatch keys are reordered.

        Source: ticdc ``pkg/config/sink_protocol.go`` (IsBatchEncode) and
        ``downstreamadapter/sink/kafka/sink.go`` (batchEncodeRun).
        """
        return self.spec.combines_rows

    @property
    def most_batch_rows(self) -> int:
        """Maximum number of rows in a message that may have several."""
        return self.spec.max_rows or self.max_batch_size

    @property
    def most_batch_bytes(self) -> int | None:
        """Maximum bytes of a multi-row message; None if a batch ends with the row that exceeds the limit."""
        return self.max_message_bytes if self.spec.limits_batches else None

    def as_manifest(self) -> dict[str, object]:
        """Return the options as resolved, for a manifest: plain JSON values, keys as users spell them."""
        kind = self.sink_uri.kind
        ignored = {option.field for option in OF_MESSAGES if option.sinks and kind not in option.sinks}
        excluded = {"sink_uri", "dispatchers", "warnings", *ignored}
        content = self.model_dump(mode="json", by_alias=True, exclude=excluded)
        rules = [
            rule.model_dump(mode="json", by_alias=True, exclude_defaults=True) for rule in self.dispatchers
        ]
        manifest: dict[str, object] = {
            "sink-uri": str(self.sink_uri),
            **content,
            **self.plugin_options,
            "dispatchers": rules,
        }
        if self.topic_partitions:
            manifest["topic-partitions"] = dict(self.topic_partitions)
        if self.column_selectors:
            manifest["column-selectors"] = [
                selector.model_dump(mode="json", by_alias=True) for selector in self.column_selectors
            ]
        if self.filter != FilterSection():
            manifest["filter"] = self.filter.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return manifest

    @classmethod
    def from_manifest(cls, written: Mapping[str, object]) -> Self:
        """Return the changefeed that ``as_manifest`` described.

        Options that did not exist when the manifest was written get their defaults.

        :raises ChangefeedError: if the content does not have the format of ``as_manifest``.
        """
        content: Mapping[str, Any] = written
        try:
            rules = [DispatchRule.model_validate(rule, strict=False) for rule in content["dispatchers"]]
            target = parse_sink_uri(content["sink-uri"]).target
            defaults = {option.name: option.default for option in OF_MESSAGES}
            own = {option.name for option in protocol_spec(content["protocol"]).parameters} - BY_NAME.keys()
            fields = {
                **defaults,
                "filter": FilterSection(),
                **{name: value for name, value in content.items() if name not in own},
                "plugin-options": {name: content[name] for name in own if name in content},
                "sink-uri": target,
                "dispatchers": tuple(rules),
            }
            return cls.model_validate(fields, strict=False)
        except ValidationError as error:
            what = explain(error, cls)[0].what
            raise ChangefeedError(what, parameter="changefeed") from None
        except KeyError as error:
            raise ChangefeedError(f"it has no {error}", parameter="changefeed") from None
        except (TypeError, AttributeError):
            what = "it does not have the format that a run writes"
            raise ChangefeedError(what, parameter="changefeed") from None
