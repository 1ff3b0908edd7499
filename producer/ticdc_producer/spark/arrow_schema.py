"""Arrow's types of Spark's columns, in each release of Spark."""

from __future__ import annotations

from inspect import signature

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType


def arrow_schema(columns: StructType) -> pa.Schema:
    """Return columns of Spark as those of Arrow, with time stamps in UTC."""
    # Spark 4.1 has no such parameter, and always converts to UTC.
    if "timezone" in signature(to_arrow_schema).parameters:
        return to_arrow_schema(columns, timezone="UTC")
    return to_arrow_schema(columns)
