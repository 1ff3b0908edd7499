"""The shapes of ``model.shapes`` for Spark: the columns of the DataFrames between the stages.

They are public, as ``ticdc_producer.CHANGE_LOG``, ``EVENT_STREAM``, ``MESSAGES`` and ``DECODED``. This is the
only module of ``model`` that needs Spark; codecs do not import it.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type
from pyspark.sql.types import StructType

from ticdc_producer.model import shapes

IMAGE = from_arrow_type(shapes.IMAGE)
CHANGE_LOG = from_arrow_schema(shapes.CHANGE_LOG)
EVENT_STREAM = from_arrow_schema(shapes.EVENT_STREAM)
MESSAGES = from_arrow_schema(shapes.MESSAGES)
EVENT_COLUMN = from_arrow_type(shapes.EVENT_COLUMN)
EVENT_IMAGE = from_arrow_type(shapes.EVENT_IMAGE)
DECODED = from_arrow_schema(shapes.DECODED)
EXPECTED_EVENTS = from_arrow_schema(shapes.EXPECTED_EVENTS)


def in_shape(rows: DataFrame, shape: StructType) -> DataFrame:
    """Select the columns of a shape by name, in its order, and cast them to its types.

    ``DataFrame.to`` does the same, but makes Spark copy every row image value by value in uncompiled code.
    """
    return rows.select(*(rows[field.name].cast(field.dataType).alias(field.name) for field in shape))
