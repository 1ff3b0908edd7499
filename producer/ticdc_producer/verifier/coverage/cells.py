"""The view of single values: one row per column of a row event.

Types are compared without their parameters, because protocols differ in them; values are the canonical
text that all decoders return. Updates count with their new image, deletes with their old image.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.coverage.columns import key_image, position
from ticdc_producer.verifier.coverage.features_found import EVENT_POSITION


def cells(decoded: DataFrame) -> DataFrame:
    """All cells; the scope is the column, as ``schema.table.column``.

    Flags: ``model.flags.ColumnFlag``.
    """
    rows = decoded.filter("kind = 'row'")
    with_image = rows.withColumns({"position": position(), "image": key_image()})
    columns = sf.explode(sf.filter("columns", lambda one: sf.map_contains_key("image", one["name"])))
    named = with_image.select(*EVENT_POSITION, "schema", "table", "image", columns.alias("column"))
    valued = named.select(
        *EVENT_POSITION,
        sf.concat_ws(".", "schema", "table", "column.name").alias("scope"),
        sf.trim(sf.regexp_replace(sf.lower("column.type"), r"\([^)]*\)", "")).alias("type"),
        sf.col("column.flag").alias("flag"),
        sf.try_element_at("image", sf.col("column.name")).alias("value"),
    )
    text = sf.col("value").cast("string")
    return valued.withColumns({"text": text, "number": text.try_cast("decimal(30,0)")})
