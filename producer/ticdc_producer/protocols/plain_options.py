"""The options of the protocols without large messages: Craft, Maxwell and Canal.

Messages of Maxwell and Canal have the rows that TiCDC's worker collects.
"""

from __future__ import annotations

from dataclasses import dataclass

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
