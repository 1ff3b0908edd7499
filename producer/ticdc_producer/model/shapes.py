"""The columns of the tables between the stages, as Arrow schemas (``docs/design.md#shapes``).

A stage takes and returns exactly these columns. ``spark.storage`` has the same shapes for Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Self, TypeAlias

import pyarrow as pa

BatchFunction: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""Converts batches of one shape to batches of another."""

if TYPE_CHECKING:

    class Batch:
        """A ``pa.RecordBatch``, for which pyarrow has no types. Rows and columns keep the shape."""

        num_rows: int
        schema: pa.Schema
        columns: list[pa.Array]

        def take(self, rows: pa.Array) -> Self: ...
        def filter(self, rows: pa.Array) -> Self: ...
        def slice(self, offset: int = 0, length: int | None = None) -> Self: ...
        def drop_columns(self, columns: Sequence[str]) -> Self: ...
        def append_column(self, name: str, column: pa.Array) -> Self: ...
        def set_column(self, index: int, field: str | pa.Field, column: pa.Array) -> Self: ...
        def column(self, name: str) -> pa.Array: ...
        def select(self, columns: Sequence[str]) -> pa.RecordBatch: ...
        def __getitem__(self, column: str) -> pa.Array: ...

    class ChangeBatch(Batch):
        """Changes in the shape ``CHANGE_LOG``; from ``delivery.commit`` on with their commit-ts."""

    class MutationBatch(Batch):
        """Net changes of rows in their transactions: a change log whose updates are split."""

    class EventBatch(Batch):
        """Events in the shape ``EVENT_STREAM``."""

    class StoredMessageBatch(Batch):
        """Messages in the shape ``MESSAGES``, or with the columns of ``message_rows.STORED_MESSAGES``."""

    class EventOffsetBatch(Batch):
        """The positions of events in messages, in the shape ``EVENT_OFFSETS``."""

    class CarriedBatch(Batch):
        """Events with their positions in messages, in the shape ``CARRIED``."""

    class DecodedBatch(Batch):
        """Events that were read, in the shape ``DECODED``."""

    class ExpectedBatch(Batch):
        """Events that a reader must get, in the shape ``EXPECTED_EVENTS``."""

    class TableRowsBatch(Batch):
        """Rows of one table, in the shape ``TABLE_ROWS``."""

    class StateBatch(Batch):
        """Rows of tables as a reader decodes them, in the shape ``STATE``."""

else:
    Batch = ChangeBatch = MutationBatch = EventBatch = CarriedBatch = pa.RecordBatch
    StoredMessageBatch = EventOffsetBatch = DecodedBatch = ExpectedBatch = pa.RecordBatch
    TableRowsBatch = StateBatch = pa.RecordBatch

IMAGE = pa.list_(pa.binary())
"""A row image: canonical values in table order, virtual generated columns absent."""

CHANGE_LOG = pa.schema(
    [
        ("commit_seq", pa.int64()),
        ("row_seq", pa.int64()),
        ("table_version", pa.int32()),
        ("table_id", pa.int64()),
        ("row_key", pa.binary()),
        ("row_id", pa.int64()),
        ("op", pa.int8()),
        ("before", IMAGE),
        ("after", IMAGE),
        ("old_table_id", pa.int64()),
        ("old_row_key", pa.binary()),
        ("old_row_id", pa.int64()),
    ]
)
"""One row per row change that was committed upstream. The ``old_`` columns are set where an update moved the
row to another key or partition."""

EVENT_STREAM = pa.schema(
    [
        ("partition_index", pa.int32()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("commit_ts", pa.int64()),
        ("kind", pa.int8()),
        ("table_version", pa.int32()),
        ("table_id", pa.int64()),
        ("row_id", pa.int64()),
        ("op", pa.int8()),
        ("split", pa.bool_()),
        ("before", IMAGE),
        ("after", IMAGE),
        ("dispatch_key", pa.string()),
        ("ddl", pa.int32()),
        ("fault", pa.string()),
        ("restart_epoch", pa.int32()),
        ("deliver_after_ts", pa.int64()),
        ("kind_order", pa.int8()),
        ("txn_order_key", pa.binary()),
        ("delivery_no", pa.int32()),
    ]
)
"""One row per event and target partition.

``partition_index`` numbers the (topic, partition) pairs of a run. ``kind`` is ``model.event.Kind``.
``split`` says whether a row change is a half of a split update. ``ddl`` is the index of a DDL in the
catalog. ``fault`` is the id of the trap that changed the event. The last five columns are the delivery key
(``DELIVERY_KEY``)."""

DELIVERY_KEY = ("restart_epoch", "deliver_after_ts", "kind_order", "txn_order_key", "delivery_no")
"""The columns by which the events of a partition are sorted; together they are unique in a partition.

- ``restart_epoch``: 0 without restarts; otherwise 2n for segment n of the history, 2n + 1 for its repetition.
- ``deliver_after_ts``: the event comes after all commits up to this TSO; for a row change, its commit-ts.
- ``kind_order``: rows 0, DDLs 1, resolved events 2; -1 is an illegal fault's, before all events of its time.
- ``txn_order_key``: the order within a transaction, as bytes.
- ``delivery_no``: 0 for the first delivery, higher for the same event sent again.
"""

HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))

MESSAGES = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
        ("timestamp", pa.int64()),
        ("type", pa.string()),
        ("events", pa.int32()),
    ]
)
"""Kafka records. ``timestamp`` is in Unix milliseconds; ``events`` is the number of events in the message."""

EVENT_OFFSETS = pa.schema(
    [
        ("event_ordinal", pa.int64()),
        ("offset", pa.int64()),
        ("index", pa.int32()),
        ("handle_key_only", pa.bool_()),
        ("wire", pa.int64()),
    ]
)
"""The message that carries each event of a partition.

``event_ordinal`` counts the events of the partition from 0; ``index`` is the position in the message. An
event that TiCDC rejects has no row. ``wire`` is a digest of the event's bytes (``protocols.wire_digests``); 0
if it was not requested."""

CARRIED = pa.schema(
    [
        *(
            EVENT_STREAM.field(name)
            for name in (
                "topic", "partition", "commit_ts", "kind", "table_version", "table_id", "op", "before",
                "after", "ddl",
            )
        ),
        *(EVENT_OFFSETS.field(name) for name in ("offset", "index", "handle_key_only", "wire")),
    ]
)  # fmt: skip
"""The events that messages carry, each with its position; an event that several messages carry has several
rows."""

EVENT_COLUMN = pa.struct([("name", pa.string()), ("type", pa.string()), ("flag", pa.int32())])
EVENT_IMAGE = pa.map_(pa.string(), pa.binary())

RECORDED_FAULTS = pa.schema([
    ("kind", pa.string()), ("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()),
    ("index", pa.int32()), ("delivered_ts", pa.int64()), ("delivered_count", pa.int32()),
    ("commit_ts", pa.int64()), ("op", pa.string()), ("schema", pa.string()), ("table", pa.string()),
    ("before", EVENT_IMAGE), ("after", EVENT_IMAGE), ("row_id", pa.int64()), ("statement", pa.string()),
    ("key", pa.binary()), ("value", pa.binary()), ("error", pa.string()),
])  # fmt: skip
"""The events that came again in a recorded topic, and its damaged messages, each with its position there.

``kind`` is ``row``, ``ddl``, ``resolved`` or ``damage``; ``commit_ts`` is that of the recording. ``error``
is the code of the decode error of a damaged message, whose key and value are NULL in a masked recording.
Before the event its partition had events up to the time ``delivered_ts``, and ``delivered_count`` events of
this time; −1: all."""

DECODED = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("index", pa.int32()),
        ("events", pa.int32()),
        ("size", pa.int64()),
        ("kind", pa.string()),
        ("commit_ts", pa.int64()),
        ("schema", pa.string()),
        ("table", pa.string()),
        ("table_id", pa.int64()),
        ("op", pa.string()),
        ("columns", pa.list_(EVENT_COLUMN)),
        ("before", EVENT_IMAGE),
        ("after", EVENT_IMAGE),
        ("handle_key_only", pa.int8()),
        ("query", pa.string()),
        ("ddl_type", pa.int32()),
        ("error", pa.string()),
        ("error_byte", pa.int64()),
        ("error_expected", pa.string()),
    ]
)
"""One row per decoded event.

``index`` is its position in the message, which has ``events`` events and ``size`` bytes of key and value. A
message that does not decode is one row of kind ``error``; ``error`` has the code of the decode error. A
message without value from which no event follows is one row of kind ``tombstone``."""

EXPECTED_EVENTS = pa.schema(
    [
        field
        for field in DECODED
        if field.name not in ("events", "size", "error", "error_byte", "error_expected")
    ]
)
"""``DECODED`` without the columns of messages: the events that a reader of the messages must decode."""

WIRE = pa.field("wire", pa.int64())
"""The digest of an event's bytes (``protocols.wire_digests``), with the columns of ``DECODED`` or
``EXPECTED_EVENTS`` where events are compared; 0 if their bytes are not."""
DECODED_WIRE = DECODED.append(WIRE)
EXPECTED_WIRE = EXPECTED_EVENTS.append(WIRE)

TABLE_ROWS = pa.schema([("row_key", pa.binary()), ("row", IMAGE)])
"""Rows of one table: their row key, and their image."""

STATE = pa.schema(
    [("schema", pa.string()), ("table", pa.string()), ("row", pa.map_(pa.string(), pa.binary()))]
)
"""Rows of tables; a NULL row says that there is a table, which may be empty."""
