"""Options of Canal-JSON, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.profile import Profile
from ticdc_producer.protocols.large_message_handle import (
    DEFAULT_MAX_MESSAGE_BYTES,
    LargeMessageHandle,
    check_large_message_handle,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CanalJSONOptions:
    """How events are written.

    :param profile: whose dialect is written.
    :param enable_tidb_extension: whether messages carry ``_tidb``, and watermarks are sent at all.
    :param content_compatible: as official Canal: types with their parameters, and of an old image only
        what changed.
    :param only_output_updated_columns: whether old images leave unchanged columns out.
    :param delete_only_output_handle_key_columns: whether deletes carry the handle key alone.
    :param max_message_bytes: size limit of a message as TiCDC counts it, record overhead included.
    :param large_message_handle_option: what becomes of a row over that limit: ``none`` refuses it,
        ``handle-key-only`` sends its handle key alone, ``claim-check`` does so and stores the message.
    :param large_message_handle_compression: of every value: ``none``, ``snappy`` or ``lz4``.
    :param claim_check_storage_uri: where messages are stored, as those that are sent tell it.
    :param claim_check_raw_value: whether a stored object is the bare value.
    :param output_row_key: whether ``_tidb`` shows TiKV's key of the row; the new program alone can.
    :param time_zone: in which values show TIMESTAMP; row keys hold it in UTC.
    :param build_ts_ms: time at which messages are built (``ts``), in Unix milliseconds; None for the
        commit time of each event.
    :param row_end: what follows each row of a file; empty in messages.
    :param legacy_delete_old: deletes repeat ``data`` in ``old``, as before v5.4.0.
    :param legacy_data_before_old: ``data`` stands before ``old`` in rows, as the documentation shows it.
    :raises ChangefeedError: for what TiCDC would not accept together.
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

    def __post_init__(self) -> None:
        check_large_message_handle(self.large_message_handle_option)
        if self.output_row_key and self.profile != "new":
            raise ChangefeedError(
                "output-row-key is an option of the new TiCDC only",
                parameter="output-row-key",
                hint="set profile=new",
            )
        chosen = self.large_message_handle_option
        if chosen != "none" and not self.enable_tidb_extension:
            raise ChangefeedError(
                f"large-message-handle-option {chosen!r} of Canal-JSON needs the TiDB extension",
                parameter="large-message-handle-option",
                hint="set enable-tidb-extension=true",
            )

    @property
    def shows_row_key(self) -> bool:
        """Whether rows show their key; without the extension there is no place for it."""
        return self.output_row_key and self.enable_tidb_extension

    @property
    def updated_columns_only(self) -> bool:
        """Whether old images are cut to what changed; content-compatible implies it."""
        return self.only_output_updated_columns or self.content_compatible
