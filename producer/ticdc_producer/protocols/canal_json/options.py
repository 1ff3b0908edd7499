"""The options of Canal-JSON."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.parameter import Profile
from ticdc_producer.protocols.compression import (
    DEFAULT_MAX_MESSAGE_BYTES,
    LargeMessageHandle,
    check_large_message_handle,
)


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
