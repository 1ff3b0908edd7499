"""The columns of the DataFrames between the stages (``docs/design.md#shapes``).

They are public, as ``ticdc_producer.CHANGE_LOG``, ``EVENT_STREAM``, ``MESSAGES`` and ``DECODED``. A stage
takes and returns exactly these columns. This is the only module of ``model`` that needs Spark; codecs do not
import it.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)


def _struct(*fields: tuple[str, DataType]) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields])


IMAGE = ArrayType(BinaryType(), containsNull=True)
"""A row image: canonical values in table order, virtual generated columns absent."""

CHANGE_LOG = _struct(
    ("commit_seq", LongType()),
    ("row_seq", LongType()),
    ("table_version", IntegerType()),
    ("table_id", LongType()),
    ("row_key", BinaryType()),
    ("row_id", LongType()),
    ("op", ByteType()),
    ("before", IMAGE),
    ("after", IMAGE),
    ("old_table_id", LongType()),
    ("old_row_key", BinaryType()),
    ("old_row_id", LongType()),
)
"""One row per row change that was committed upstream. The ``old_`` columns are set where an update moved the
row to another key or partition."""

EVENT_STREAM = _struct(
    ("partition_index", IntegerType()),
    ("topic", StringType()),
    ("partition", IntegerType()),
    ("commit_ts", LongType()),
    ("kind", ByteType()),
    ("table_version", IntegerType()),
    ("table_id", LongType()),
    ("row_id", LongType()),
    ("op", ByteType()),
    ("before", IMAGE),
    ("after", IMAGE),
    ("dispatch_key", StringType()),
    ("ddl", IntegerType()),
    ("fault", StringType()),
    ("restart_epoch", IntegerType()),
    ("deliver_after_ts", LongType()),
    ("kind_order", ByteType()),
    ("txn_order_key", BinaryType()),
    ("delivery_no", IntegerType()),
)
"""One row per event and target partition.

``partition_index`` numbers the (topic, partition) pairs of a run. ``kind`` is ``model.event.Kind``. ``ddl``
is the index of a DDL in the catalog. ``fault`` is the id of the trap that changed the event. The last five
columns are the delivery key (``DELIVERY_KEY``)."""

DELIVERY_KEY = ("restart_epoch", "deliver_after_ts", "kind_order", "txn_order_key", "delivery_no")
"""The columns by which the events of a partition are sorted; together they are unique in a partition.

- ``restart_epoch``: 0 without restarts; otherwise 2n for segment n of the history, 2n + 1 for its repetition.
- ``deliver_after_ts``: the event comes after all commits up to this TSO; for a row change, its commit-ts.
- ``kind_order``: rows 0, DDLs 1, resolved events 2.
- ``txn_order_key``: the order within a transaction, as bytes.
- ``delivery_no``: 0 for the first delivery, higher for the same event sent again.
"""

HEADERS = ArrayType(_struct(("key", StringType()), ("value", BinaryType())))

MESSAGES = _struct(
    ("topic", StringType()),
    ("partition", IntegerType()),
    ("offset", LongType()),
    ("key", BinaryType()),
    ("value", BinaryType()),
    ("headers", HEADERS),
    ("timestamp", LongType()),
    ("type", StringType()),
    ("events", IntegerType()),
)
"""Kafka records. ``timestamp`` is in Unix milliseconds; ``events`` is the number of events in the message."""

MESSAGES_ARROW = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ("timestamp", pa.int64()),
        ("type", pa.string()),
        ("events", pa.int32()),
    ]
)
"""``MESSAGES`` as an Arrow schema: ``mapInArrow`` casts nothing, so workers must return these types."""

EVENT_OFFSETS = _struct(
    ("topic", StringType()),
    ("partition", IntegerType()),
    ("event_ordinal", LongType()),
    ("offset", LongType()),
    ("index", IntegerType()),
    ("handle_key_only", BooleanType()),
    ("rejected_table", StringType()),
)
"""Which message carries each event of an event stream.

``event_ordinal`` counts the events of a partition from 0; ``index`` is the position in the message. For an
event that TiCDC rejects and no message carries, ``offset`` is NULL and ``rejected_table`` names its table."""

EVENT_OFFSETS_ARROW = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("event_ordinal", pa.int64()),
        ("offset", pa.int64()),
        ("index", pa.int32()),
        ("handle_key_only", pa.bool_()),
        ("rejected_table", pa.string()),
    ]
)
"""``EVENT_OFFSETS`` as an Arrow schema, for ``mapInArrow``."""

EVENT_COLUMN = _struct(("name", StringType()), ("type", StringType()), ("flag", IntegerType()))
EVENT_IMAGE = MapType(StringType(), BinaryType(), valueContainsNull=True)

DECODED = _struct(
    ("topic", StringType()),
    ("partition", IntegerType()),
    ("offset", LongType()),
    ("index", IntegerType()),
    ("events", IntegerType()),
    ("size", LongType()),
    ("kind", StringType()),
    ("commit_ts", LongType()),
    ("schema", StringType()),
    ("table", StringType()),
    ("table_id", LongType()),
    ("op", StringType()),
    ("columns", ArrayType(EVENT_COLUMN)),
    ("before", EVENT_IMAGE),
    ("after", EVENT_IMAGE),
    ("handle_key_only", ByteType()),
    ("query", StringType()),
    ("ddl_type", IntegerType()),
    ("error", StringType()),
    ("error_byte", LongType()),
    ("error_expected", StringType()),
)
"""One row per decoded event.

``index`` is its position in the message, which has ``events`` events and ``size`` bytes of key and value. A
message that does not decode is one row of kind ``error``; ``error`` has the code of the decode error."""

_EVENT_COLUMN_ARROW = pa.struct([("name", pa.string()), ("type", pa.string()), ("flag", pa.int32())])

DECODED_ARROW = pa.schema(
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
        ("columns", pa.list_(_EVENT_COLUMN_ARROW)),
        ("before", pa.map_(pa.string(), pa.binary())),
        ("after", pa.map_(pa.string(), pa.binary())),
        ("handle_key_only", pa.int8()),
        ("query", pa.string()),
        ("ddl_type", pa.int32()),
        ("error", pa.string()),
        ("error_byte", pa.int64()),
        ("error_expected", pa.string()),
    ]
)
"""``DECODED`` as an Arrow schema, for ``mapInArrow``."""


def in_shape(rows: DataFrame, shape: StructType) -> DataFrame:
    """Select the columns of a shape by name and cast them to its types.

    ``DataFrame.to`` does the same, but makes Spark copy every row image value by value in uncompiled code.
    """
    return rows.select(*(rows[field.name].cast(field.dataType).alias(field.name) for field in shape))
