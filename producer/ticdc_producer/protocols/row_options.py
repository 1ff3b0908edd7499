"""The options of the protocols whose messages have one row: Avro, Canal-JSON, Debezium and Simple."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.hints import nearest
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.tso import physical
from ticdc_producer.protocols.compression import (
    DEFAULT_MAX_MESSAGE_BYTES,
    LargeMessageHandle,
    check_large_message_handle,
)

DecimalMode: TypeAlias = Literal["precise", "string"]
BigintUnsignedMode: TypeAlias = Literal["long", "string"]
IntegrityCheckLevel: TypeAlias = Literal["none", "correctness"]
_MODES = {
    "avro_decimal_handling_mode": ("precise", "string"),
    "avro_bigint_unsigned_handling_mode": ("long", "string"),
}


def _check_modes(options: AvroOptions | DebeziumAvroOptions) -> None:
    for field, modes in _MODES.items():
        mode = getattr(options, field)
        if mode not in modes:
            name = field.replace("_", "-")
            raise ChangefeedError(f"unknown {name} {mode!r}", parameter=name, hint=nearest(mode, modes))


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroOptions:
    """Options of the encoding.

    :param profile: the TiCDC program whose output is written. Message keys have the handle key in classic
        TiCDC (tiflow), and only a primary key in TiCDC new architecture.
    :param max_message_bytes: maximum size of a message as TiCDC counts it, including the record overhead.
    :param enable_tidb_extension: add operation and commit-ts to the rows.
    :param avro_decimal_handling_mode: DECIMAL as Avro's decimal (``precise``) or as text (``string``).
    :param avro_bigint_unsigned_handling_mode: BIGINT UNSIGNED as ``long``, which has the same 64 bits but is
        signed, or as text (``string``).
    :param avro_enable_watermark: send DDL and resolved events, in the encoding of TiCDC's own tests; requires
        the extension.
    :param avro_include_before_value: add the old image and the operation to the rows; deletes have a value.
    :param integrity_check_level: ``correctness`` adds the checksum of each row; it requires the extension and
        both modes ``string``.
    :param time_zone: time zone of TIMESTAMP values; checksums are over their UTC.
    :raises ChangefeedError: for an unknown mode, and for checksums without what they require.
    """

    profile: Profile = "classic"
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    enable_tidb_extension: bool = False
    avro_decimal_handling_mode: DecimalMode = "precise"
    avro_bigint_unsigned_handling_mode: BigintUnsignedMode = "long"
    avro_enable_watermark: bool = False
    avro_include_before_value: bool = False
    integrity_check_level: IntegrityCheckLevel = "none"
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        as_text = {self.avro_decimal_handling_mode, self.avro_bigint_unsigned_handling_mode} == {"string"}
        if self.has_checksums and not (self.enable_tidb_extension and as_text):
            raise ChangefeedError(
                "row checksums of protocol avro need the TiDB extension and values as text",
                parameter="integrity-check-level",
                hint="set enable-tidb-extension=true, avro-decimal-handling-mode=string and "
                "avro-bigint-unsigned-handling-mode=string",
            )
        _check_modes(self)

    @property
    def sends_watermarks(self) -> bool:
        """Whether DDL and resolved events have messages."""
        return self.enable_tidb_extension and self.avro_enable_watermark

    @property
    def names_operation(self) -> bool:
        """Whether values have the operation."""
        return self.enable_tidb_extension or self.avro_include_before_value

    @property
    def has_checksums(self) -> bool:
        """Whether values have the checksum of their row."""
        return self.integrity_check_level == "correctness"

    @property
    def marks_deletes(self) -> bool:
        """Whether the value of a delete is its commit-ts (ticdc ``codec/avro/arvo.go``, ``deleteByte``)."""
        return self.profile == "new" and self.sends_watermarks and not self.avro_include_before_value


@dataclass(frozen=True, slots=True, kw_only=True)
class CanalJSONOptions:
    """Options of the encoding.

    :param profile: the architecture of TiCDC whose format is written.
    :param enable_tidb_extension: whether messages carry ``_tidb``, and watermarks are sent.
    :param content_compatible: like Alibaba canal: types with their parameters, and old images with changed
        columns only.
    :param only_output_updated_columns: whether old images omit unchanged columns.
    :param delete_only_output_handle_key_columns: whether deletes carry only the handle key.
    :param max_message_bytes: size limit of a message as TiCDC counts it, record overhead included.
    :param large_message_handle_option: handling of a row over that limit: ``none`` rejects it,
        ``handle-key-only`` sends only its handle key, ``claim-check`` also stores the complete message.
    :param large_message_handle_compression: compression of each value: ``none``, ``snappy`` or ``lz4``.
    :param claim_check_storage_uri: URI of the storage, as messages name it.
    :param claim_check_raw_value: whether a stored object is the bare value.
    :param output_row_key: whether ``_tidb`` contains TiKV's key of the row; only in TiCDC new architecture.
    :param time_zone: time zone of TIMESTAMP values; row keys contain them in UTC.
    :param build_ts_ms: time at which messages are built (``ts``), in Unix milliseconds; None for the
        commit time of each event.
    :param row_end: terminator of each row in a file; empty in messages.
    :param legacy_delete_old: deletes repeat ``data`` in ``old``, as before v5.4.0.
    :param legacy_data_before_old: ``data`` precedes ``old`` in rows, as in the documentation.
    :param legacy_insert_old: ``old`` of an insert has a null in place of the row, as in v5.1 to v5.3
        (tiflow#4597).
    :param legacy_row_end: row messages end with CRLF, as in v6.5 (tiflow#11707).
    :raises ChangefeedError: for combinations that TiCDC rejects.
    """

    profile: Profile = "classic"
    enable_tidb_extension: bool = False
    content_compatible: bool = False
    only_output_updated_columns: bool = False
    delete_only_output_handle_key_columns: bool = False
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    large_message_handle_option: LargeMessageHandle = "none"
    large_message_handle_compression: str = "none"
    claim_check_storage_uri: str = ""
    claim_check_raw_value: bool = False
    output_row_key: bool = False
    time_zone: str = "UTC"
    build_ts_ms: int | None = None
    row_end: str = ""
    legacy_delete_old: bool = False
    legacy_data_before_old: bool = False
    legacy_insert_old: bool = False
    legacy_row_end: bool = False

    def __post_init__(self) -> None:
        check_large_message_handle(self.large_message_handle_option)
        if self.output_row_key and self.profile != "new":
            raise ChangefeedError(
                "output-row-key is available only in TiCDC new architecture",
                parameter="output-row-key",
                hint="set profile=new",
            )
        if self.legacy_row_end and self.large_message_handle_compression != "none":
            what = "legacy-row-end cannot be combined with large-message-handle-compression"
            hint = "versions with this form do not compress messages"
            raise ChangefeedError(what, parameter="legacy-row-end", hint=hint)
        if '"' in self.row_end:
            what = "terminator cannot contain a quote: no reader could divide rows of JSON at it"
            raise ChangefeedError(what, parameter="terminator")
        handling = self.large_message_handle_option
        if handling != "none" and not self.enable_tidb_extension:
            raise ChangefeedError(
                f"large-message-handle-option {handling!r} of Canal-JSON needs the TiDB extension",
                parameter="large-message-handle-option",
                hint="set enable-tidb-extension=true",
            )

    @property
    def has_row_key(self) -> bool:
        """Whether row messages contain the row key, which is part of the TiDB extension."""
        return self.output_row_key and self.enable_tidb_extension

    @property
    def end(self) -> str:
        """The text after each row."""
        return "\r\n" if self.legacy_row_end and not self.row_end else self.row_end

    @property
    def updated_columns_only(self) -> bool:
        """Whether old images contain only changed columns; ``content_compatible`` implies it."""
        return self.only_output_updated_columns or self.content_compatible


InvalidUTF8: TypeAlias = Literal["raw", "replace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumOptions:
    """Options of the encoding.

    :param profile: the TiCDC program whose output is written.
    :param debezium_disable_schema: omit ``schema``; the ``payload`` wrapper stays.
    :param output_old_value: whether updates have ``before``; deletes always have it.
    :param enable_tidb_extension: add the TiDB type of each column, and send watermarks.
    :param debezium_include_start_ts: whether ``source`` of rows has the start-ts of the transaction; TiCDC
        new architecture only. Transactions here start one TSO before they commit.
    :param cluster_id: the cluster id of TiCDC, which is Debezium's logical server name.
    :param output_ddl: send DDL events; the documented protocol has none.
    :param invalid_utf8: handling of bytes in text columns that are not UTF-8: ``raw`` copies them as TiCDC
        does, so that the message is not valid JSON; ``replace`` replaces each with U+FFFD.
    :param time_zone: IANA name of the changefeed's time zone, in which TIMESTAMP values are given.
    :param large_message_handle_compression: compression of each key and value: ``none``, ``snappy`` or
        ``lz4``.
    :param build_ts_ms: ``payload.ts_ms`` in Unix milliseconds; None for the physical time of the commit.
    :raises ChangefeedError: for a combination that TiCDC does not accept.
    """

    profile: Profile = "classic"
    debezium_disable_schema: bool = False
    output_old_value: bool = True
    enable_tidb_extension: bool = False
    debezium_include_start_ts: bool = False
    cluster_id: str = "default"
    output_ddl: bool = False
    invalid_utf8: InvalidUTF8 = "raw"
    time_zone: str = "UTC"
    large_message_handle_compression: str = "none"
    build_ts_ms: int | None = None

    def __post_init__(self) -> None:
        if self.debezium_include_start_ts and self.profile != "new":
            raise ChangefeedError(
                "debezium-include-start-ts is an option of TiCDC new architecture only",
                parameter="debezium-include-start-ts",
                hint="set profile=new",
            )

    def ts_ms(self, commit_ts: int) -> int:
        """Return ``payload.ts_ms`` of the message of an event with this commit-ts."""
        return physical(commit_ts) if self.build_ts_ms is None else self.build_ts_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumAvroOptions:
    """Options of the encoding; TiCDC new architecture has the protocol.

    :param output_old_value: whether updates have ``before``; deletes always have it.
    :param enable_tidb_extension: add the TiDB type of each column.
    :param avro_decimal_handling_mode: DECIMAL as Connect's ``Decimal`` (``precise``) or as text (``string``).
    :param avro_bigint_unsigned_handling_mode: BIGINT UNSIGNED as ``long``, which cannot hold the largest
        ones, or as text (``string``).
    :param avro_enable_watermark: send DDL and resolved events; requires the extension.
    :param cluster_id: the cluster id of TiCDC, which is Debezium's logical server name.
    :param time_zone: IANA name of the changefeed's time zone, in which TIMESTAMP values are given.
    :param build_ts_ms: ``ts_ms`` in Unix milliseconds; None for the physical time of the commit.
    :raises ChangefeedError: for an unknown mode, and for classic TiCDC.
    """

    profile: Profile = "new"
    output_old_value: bool = True
    enable_tidb_extension: bool = False
    avro_decimal_handling_mode: DecimalMode = "precise"
    avro_bigint_unsigned_handling_mode: BigintUnsignedMode = "long"
    avro_enable_watermark: bool = False
    cluster_id: str = "default"
    time_zone: str = "UTC"
    build_ts_ms: int | None = None

    def __post_init__(self) -> None:
        _check_modes(self)

    @property
    def sends_watermarks(self) -> bool:
        """Whether DDL and resolved events have messages."""
        return self.enable_tidb_extension and self.avro_enable_watermark

    @property
    def of_json(self) -> DebeziumOptions:
        """The options of the same events in Debezium's JSON."""
        return DebeziumOptions(
            profile="new",
            enable_tidb_extension=True,
            output_old_value=self.output_old_value,
            output_ddl=True,
            cluster_id=self.cluster_id,
            time_zone=self.time_zone,
            build_ts_ms=self.build_ts_ms,
        )


_FORMATS = ("json", "avro")


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleOptions:
    """Options of the encoding.

    :param profile: the TiCDC program whose output is written.
    :param max_message_bytes: maximum size of a message as TiCDC counts it, including the record overhead.
    :param large_message_handle_option: handling of rows over that limit: ``none`` refuses them,
        ``handle-key-only`` sends only the handle key, ``claim-check`` also stores the whole message.
    :param large_message_handle_compression: compression of each value: ``none``, ``snappy`` or ``lz4``.
    :param claim_check_storage_uri: URI of the storage of messages; sent messages contain the location.
    :param claim_check_raw_value: whether a stored object is only the message value.
    :param send_bootstrap_interval_in_sec: maximum seconds of the commit clock between two BOOTSTRAP messages
        of a table; 0 sends none.
    :param send_bootstrap_in_msg_count: maximum rows of a table between two BOOTSTRAP messages; 0 sends none.
    :param send_bootstrap_to_all_partition: whether a partition has the BOOTSTRAP messages of its rows;
        otherwise partition 0 has those of all rows of the topic.
    :param time_zone: time zone in which TIMESTAMP values are sent; messages name it.
    :param build_ts_ms: time at which messages are built (``buildTs``), in Unix milliseconds; None for the
        commit time of each event.
    :param encoding_format: ``json`` or ``avro``.
    :param integrity_check_level: ``correctness`` adds the checksums of each row.
    :raises ChangefeedError: for an unknown encoding format or large message option.
    """

    profile: Profile = "classic"
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    large_message_handle_option: LargeMessageHandle = "none"
    large_message_handle_compression: str = "none"
    claim_check_storage_uri: str = ""
    claim_check_raw_value: bool = False
    send_bootstrap_interval_in_sec: int = 0
    send_bootstrap_in_msg_count: int = 0
    send_bootstrap_to_all_partition: bool = True
    time_zone: str = "UTC"
    build_ts_ms: int | None = None
    encoding_format: str = "json"
    integrity_check_level: IntegrityCheckLevel = "none"

    def __post_init__(self) -> None:
        check_large_message_handle(self.large_message_handle_option)
        if self.encoding_format not in _FORMATS:
            what, hint = f"unknown encoding-format {self.encoding_format!r}", "allowed: json, avro"
            raise ChangefeedError(what, parameter="encoding-format", hint=hint)

    def build_ts(self, ts: int) -> int:
        """Return ``buildTs`` of the message of an event with this commit-ts, in Unix milliseconds."""
        return physical(ts) if self.build_ts_ms is None else self.build_ts_ms

    @property
    def has_checksums(self) -> bool:
        """Whether row messages have the checksums of their row."""
        return self.integrity_check_level == "correctness"

    @property
    def sends_bootstrap(self) -> bool:
        """Whether BOOTSTRAP messages are sent: TiCDC sends them if neither bound is 0."""
        return self.send_bootstrap_interval_in_sec > 0 and self.send_bootstrap_in_msg_count > 0
