"""What becomes of a row whose message is over ``max-message-bytes``.

Source: tiflow ``canal_json_row_event_encoder.go`` (``AppendRowChangedEvent``), which checks rows and
never DDLs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from producer.codec.base import EncodedRow
from producer.codec.canal_json.options import CanalJSONOptions
from producer.errors import EncodeError
from producer.model.table import TableInfo

RECORD_OVERHEAD = 36
"""Bytes that TiCDC adds for Kafka's record header: five 32-bit varints, one 64-bit varint, a byte."""


def handle_large(
    rows: Sequence[EncodedRow],
    table: TableInfo,
    options: CanalJSONOptions,
    handle_key_texts: Callable[[Sequence[int]], Sequence[bytes]],
) -> None:
    """Give every row over the limit its handle key form, or a refusal.

    :param handle_key_texts: the handle key form of the rows at some places.
    """
    large = _too_large(rows, range(len(rows)), options)
    if large and options.large_message_handle_option == "handle-key-only":
        for place, text in zip(large, handle_key_texts(large), strict=True):
            rows[place].value = text
        large = _too_large(rows, large, options)
    for place in large:
        rows[place].refusal = _refusal(rows[place], table, options)


def _too_large(rows: Sequence[EncodedRow], places: Sequence[int], options: CanalJSONOptions) -> list[int]:
    limit = options.max_message_bytes - RECORD_OVERHEAD
    return [place for place in places if len(rows[place].value) > limit]


def _refusal(row: EncodedRow, table: TableInfo, options: CanalJSONOptions) -> EncodeError:
    length = len(row.value) + RECORD_OVERHEAD
    return EncodeError(
        f"message is too large. table:{table.name}, length:{length}, "
        f"maxMessageBytes:{options.max_message_bytes}",
        code="CDC:ErrMessageTooLarge",
        table=table.qualified_name,
        commit_ts=row.commit_ts,
        hint="raise max-message-bytes or make the row smaller",
    )
