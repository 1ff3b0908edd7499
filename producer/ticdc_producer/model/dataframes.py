"""The DataFrames between the stages, as Spark types (docs/design.md, Change log to Messages).

These are public, as ``ticdc_producer.CHANGE_LOG`` and so on. A stage takes and gives exactly these columns.
This is the one module of the model that needs Spark; nothing that a codec imports leads here.
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
"""What was committed upstream, one row per row change. The ``old_`` columns are set where an update
moved the row to another key or partition."""

EVENT_STREAM = _struct(
    ("slot", IntegerType()),
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
    ("epoch", IntegerType()),
    ("at", LongType()),
    ("rank", ByteType()),
    ("place", BinaryType()),
    ("copy", IntegerType()),
)
"""One row per event and target partition. ``slot`` numbers the (topic, partition) pairs; ``kind`` is
``model.event.Kind``; ``ddl`` is the place of a DDL in the catalog. The last five are the delivery key."""

DELIVERY_KEY = ("epoch", "at", "rank", "place", "copy")

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
"""Kafka records; ``timestamp`` in Unix milliseconds, ``events`` how many events one carries."""

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
"""The same for the workers: ``mapInArrow`` wants the very types and casts nothing."""

EVENT_PLACES = _struct(
    ("topic", StringType()),
    ("partition", IntegerType()),
    ("event", LongType()),
    ("offset", LongType()),
    ("index", IntegerType()),
    ("handle_key_only", BooleanType()),
    ("refused", StringType()),
)
"""Where the messages of an event stream carry its events. ``event`` is the number of one in its partition;
``refused`` names the table of one that is in no message, and has no offset."""

EVENT_PLACES_ARROW = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("event", pa.int64()),
        ("offset", pa.int64()),
        ("index", pa.int32()),
        ("handle_key_only", pa.bool_()),
        ("refused", pa.string()),
    ]
)
"""The same for the workers."""

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
"""One row per decoded event. ``index`` is its place in the message, which carries ``events`` of them in
``size`` bytes of key and value. A message that does not decode is one row of kind ``error``, with the
decode error's code in ``error``."""

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
"""The same for the workers."""


def in_shape(frame: DataFrame, shape: StructType) -> DataFrame:
    """The columns of a shape, by name.

    ``DataFrame.to`` says the same, and has Spark copy every image, value by value and not compiled.
    """
    return frame.select(*(frame[field.name].cast(field.dataType).alias(field.name) for field in shape))
