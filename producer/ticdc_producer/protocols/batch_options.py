"""The options of the protocols whose messages have several rows: Open Protocol, Craft, Maxwell and Canal.

Messages of Maxwell and Canal have the rows that TiCDC's worker collects.
"""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.parameter import Profile
from ticdc_producer.protocols.compression import DEFAULT_MAX_MESSAGE_BYTES

MAX_ROWS = 2048
"""Rows in a message at most: those that TiCDC's worker collects before it calls the encoder. They do not
depend on ``max-batch-size``. Source: tiflow ``cdc/sink/dmlsink/mq/worker.go`` (``batchSize``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """Options of the encoding. There is no handling of large messages.

    :param max_message_bytes: a message ends before the row with which it would exceed this size. TiCDC's
        encoder does not check sizes; its batches end by time, and Kafka refuses those that are too large.
    :param delete_only_output_handle_key_columns: whether deletes carry only the handle key.
    :param batch_by: the consecutive rows that may share a message: rows of one ``dispatch-key``, or any rows
        of one ``partition``, as in early versions.
    """

    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    delete_only_output_handle_key_columns: bool = False
    batch_by: str = "dispatch-key"


DEFAULT_MAX_BATCH_SIZE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class CraftOptions:
    """Options of the encoding.

    Messages of Craft always have complete old images. There is no handling of large messages.

    :param max_batch_size: maximum number of row changed events in one message.
    :param max_message_bytes: a message ends after the row with which TiCDC's estimate of its size exceeds
        this limit.
    :param delete_only_output_handle_key_columns: whether deletes carry only the handle key.
    :param batch_by: the consecutive rows that may share a message: rows of one ``dispatch-key``, or any rows
        of one ``partition``, as in early versions.
    """

    max_batch_size: int = DEFAULT_MAX_BATCH_SIZE
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    delete_only_output_handle_key_columns: bool = False
    batch_by: str = "dispatch-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenOptions:
    """Options of the encoding.

    :param profile: the architecture of TiCDC whose format is written.
    :param max_batch_size: maximum number of row changed events in one message.
    :param max_message_bytes: size limit of a message as TiCDC counts it, record overhead included.
    :param output_old_value: whether updates carry the old image.
    :param only_output_updated_columns: whether that old image omits unchanged columns.
    :param delete_only_output_handle_key_columns: whether deletes carry only the handle key.
    :param output_row_id: whether row keys carry ``rid``, which only classic TiCDC (tiflow) writes.
    :param batch_by: the consecutive rows that may share a message: rows of one ``dispatch-key``, or any rows
        of one ``partition``, as in early versions.
    :param large_message_handle_option: handling of a row over the limit: ``none`` rejects it,
        ``handle-key-only`` sends only its handle key, ``claim-check`` also stores the complete message.
    :param large_message_handle_compression: compression of each value: ``none``, ``snappy`` or ``lz4``.
    :param claim_check_storage_uri: URI of the storage, as messages name it.
    :param legacy_no_flag: omit ``f``, as in the oldest logs.
    :param legacy_varchar_base64: write VARCHAR and CHAR as Base64, as in the oldest logs.
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
        """Always false: a raw value would lose the key, which names the table."""
        return False
