"""Features of single values: one row per column of a row event, one SQL condition per feature.

Types are compared without their parameters, because protocols differ in them; values are the canonical
text that all decoders return. Updates count with their new image, deletes with their old image.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.verifier.coverage.columns import key_image, position
from ticdc_producer.verifier.coverage.features_found import EVENT_POSITION

_TEXTS = "type in ('char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext')"
_TIMES = "type in ('time', 'datetime', 'timestamp')"
_DATES = "type in ('date', 'datetime', 'timestamp')"
_NO_DAY = "text rlike r'^(0000|\\d{4}-00|\\d{4}-\\d{2}-00)'"
_DIFFERENT_BYTES = "size(array_distinct(regexp_extract_all(hex(value), '..', 0)))"
_SIGNIFICANT = "length(trim(both '0' from regexp_replace(text, '[-.]', '')))"

CONDITIONS = {
    "bigint-unsigned-range": "type = 'bigint unsigned' and number > 9223372036854775807",
    "big-integers": "type like 'bigint%' and abs(number) > 9007199254740992",
    # A float64 keeps 15 to 17 digits.
    "decimal-precision": f"type like 'decimal%' and {_SIGNIFICANT} > 17",
    "float-digits": "type like 'float%' and double(try_cast(text as float)) <> try_cast(text as double)",
    "enum-first": "type = 'enum' and number = 1",
    "enum-later": "type = 'enum' and number > 1",
    "enum-null": "type = 'enum' and value is null",
    "set-empty": "type = 'set' and number = 0",
    # A mask that is not a power of two has several members.
    "set-several": "type = 'set' and number > 0 and bit_count(bigint(number)) > 1",
    "bit-one": "type = 'bit' and number = 1",
    "bit-all": "type = 'bit' and number = 18446744073709551615",
    "every-byte": f"length(value) >= 256 and {_DIFFERENT_BYTES} = 256",
    "text-charsets": f"{_TEXTS} and text rlike r'[\\x{{10000}}-\\x{{10FFFF}}]'",
    "timestamp-value": "type = 'timestamp' and value is not null",
    "datetime-value": "type = 'datetime' and value is not null",
    "zero-dates": f"{_DATES} and {_NO_DAY}",
    "early-years": f"{_DATES} and text < '1000' and not {_NO_DAY}",
    "time-negative": "type = 'time' and text like '-%'",
    "time-long": "type = 'time' and try_cast(regexp_extract(text, r'^-?(\\d+)', 1) as int) >= 24",
    "fraction-none": f"{_TIMES} and text not like '%.%'",
    "fraction-six": f"{_TIMES} and text rlike r'[.]\\d{{6}}$'",
    "text-null": f"{_TEXTS} and value is null",
    "text-empty": f"{_TEXTS} and length(value) = 0",
    "text-word-null": f"{_TEXTS} and text = 'null'",
    "unsigned-null": "type like '%unsigned' and value is null",
    "flag-unique": "flag & 16 <> 0 and flag & 2 = 0",
    "flag-generated": "flag & 4 <> 0",
    "flag-unsigned": "flag & 128 <> 0",
    "flag-nullable": "flag & 64 <> 0",
}
"""Feature to condition on ``type``, ``flag``, ``value`` (bytes), ``text`` and ``number`` of a cell.

Flags: ``model.flags.ColumnFlag``.
"""


def cell_features(decoded: DataFrame) -> DataFrame:
    """All features of all cells; the scope is the column, as ``schema.table.column``."""
    cells = _cells(decoded.filter("kind = 'row'"))
    found = sf.array_compact(sf.array(*(_when(name, test) for name, test in CONDITIONS.items())))
    return cells.select(sf.explode(found).alias("feature"), "scope", *EVENT_POSITION)


def _when(feature: str, condition: str) -> Column:
    return sf.when(sf.expr(condition), sf.lit(feature))


def _cells(rows: DataFrame) -> DataFrame:
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
