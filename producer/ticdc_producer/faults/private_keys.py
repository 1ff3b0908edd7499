"""Dispatch keys of single rows: a row with one gets a message of its own.

For the batcher such a row still has the key of its table or value. It appends rows of one key to one group,
and thus preserves their order, into however many messages the group is divided (docs/stream-semantics.md §8).
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.faults.event_columns import replaced
from ticdc_producer.pipeline.row_images import Flags

_SEPARATOR = "\0"
"""Separates the batcher's key from the private part; no name of a table has it."""


def with_private_keys(events: pa.RecordBatch, rows: Flags, fault: str) -> pa.RecordBatch:
    """Give some rows a private dispatch key.

    :param fault: the id of the trap that does it.
    """
    keys = [
        key.hex().upper() if is_hit else None
        for key, is_hit in zip(events.column("txn_order_key").to_pylist(), rows.tolist(), strict=True)
    ]
    prefix = pc.fill_null(events.column("dispatch_key"), "")
    private_keys = pc.binary_join_element_wise(prefix, pa.array(keys, pa.string()), _SEPARATOR)
    return replaced(
        events,
        {
            "dispatch_key": pc.if_else(pa.array(rows), private_keys, events.column("dispatch_key")),
            "fault": pc.if_else(pa.array(rows), fault, events.column("fault")),
        },
    )


def batcher_keys(events: pa.RecordBatch) -> pa.Array:
    """The dispatch keys by which the batcher groups rows, without the private part of single rows."""
    return pc.replace_substring_regex(events.column("dispatch_key"), pattern="(?s)\\x00.*", replacement="")
