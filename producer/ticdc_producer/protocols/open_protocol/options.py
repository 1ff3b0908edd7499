"""Options of Open Protocol, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.profile import Profile
from ticdc_producer.protocols.large_message_handle import DEFAULT_MAX_MESSAGE_BYTES

DEFAULT_MAX_BATCH_SIZE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions:
    """How events are written.

    :param profile: whose dialect is written.
    :param max_batch_size: most row changed events in one message.
    :param max_message_bytes: size limit of a message as TiCDC counts it, record overhead included.
    :param output_old_value: whether updates carry the old image.
    :param only_output_updated_columns: whether that old image leaves unchanged columns out.
    :param delete_only_output_handle_key_columns: whether deletes carry the handle key alone.
    :param output_row_id: whether row keys carry ``rid``, which the classic program alone writes.
    :param batch_by: which consecutive rows may share a message: those of one ``dispatch-key``, or any
        of one ``partition``, as early versions did.
    :param large_message_handle_option: what becomes of a row over the limit: ``none`` refuses it,
        ``handle-key-only`` sends its handle key alone, ``claim-check`` does so and stores the row.
    :param large_message_handle_compression: of each value: ``none``, ``snappy`` or ``lz4``.
    :param claim_check_storage_uri: where rows are stored, as messages tell it.
    :param legacy_no_flag: leave out ``f``, as the oldest logs show.
    :param legacy_varchar_base64: VARCHAR and CHAR as Base64, likewise.
    """

    profile: Profile = "classic"
    max_batch_size: int = DEFAULT_MAX_BATCH_SIZE
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    output_old_value: bool = True
    only_output_updated_columns: bool = False
    delete_only_output_handle_key_columns: bool = False
    output_row_id: bool = True
    batch_by: str = "dispatch-key"
    large_message_handle_option: str = "none"
    large_message_handle_compression: str = "none"
    claim_check_storage_uri: str = ""
    legacy_no_flag: bool = False
    legacy_varchar_base64: bool = False

    @property
    def claim_check_raw_value(self) -> bool:
        """Refused here: a raw value would lose the key, which tells the table."""
        return False
