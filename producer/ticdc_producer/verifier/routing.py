"""Dispatch key and expected partition of a row, as Spark expressions.

H(a, b) is CRC-32 of the bytes of a followed by b; the parts are combined by xor; the partition is the
unsigned result modulo the number of partitions (docs/stream-semantics.md §6).
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.model.fidelity import AsHashed
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.verifier.identity import has_flag
from ticdc_producer.verifier.options import DispatchRule, VerifyOptions

_RULES = (
    "schema string, table string, rule string, rule_columns array<string>, certain boolean, table_hash long, "
    "rule_topic string"
)


def with_rules(events: DataFrame, options: VerifyOptions) -> DataFrame:
    """The events with the rule of their table (the columns of ``_RULES``, NULL if unknown)."""
    rules = _rules(events, options)
    rows = [(r.schema, r.table, r.rule, _lower(r.columns), r.certain, _hash(r), r.topic) for r in rules]
    table = events.sparkSession.createDataFrame(rows, _RULES)
    return events.join(sf.broadcast(table), ["schema", "table"], "left")


def _rules(events: DataFrame, options: VerifyOptions) -> list[DispatchRule]:
    if options.rules is None:
        return []
    if not callable(options.rules):
        return list(options.rules)
    tables = (
        events.filter("kind in ('row', 'ddl') and table != ''").select("schema", "table").distinct().collect()
    )
    found = (options.rules(row["schema"], row["table"]) for row in tables)
    return [rule for rule in found if rule is not None]


def _hash(rule: DispatchRule) -> int:
    return crc32(f"{rule.schema}{rule.table}".encode())


def _lower(columns: tuple[str, ...] | None) -> list[str] | None:
    return None if columns is None else [name.lower() for name in columns]


def hashed_columns() -> Column:
    """The event's columns that the rule hashes."""
    handle = sf.col("rule_columns").isNull()
    return sf.filter(
        "columns",
        lambda column: sf.when(handle, has_flag(column.flag, ColumnFlag.HANDLE_KEY)).otherwise(
            sf.array_contains(sf.col("rule_columns"), sf.lower(column["name"]))
        ),
    )


def dispatch_key(columns: Column, hashed_types: Mapping[str, AsHashed] | None = None) -> Column:
    """The number that decides the partition; NULL if the rule or a hashed value is unknown.

    :param columns: the columns that the rule hashes.
    :param hashed_types: as in ``VerifyOptions``.
    """
    image = sf.col("key_image")
    values = sf.aggregate(
        columns,
        sf.col("table_hash"),
        lambda hashed, column: hashed.bitwiseXOR(
            sf.crc32(
                sf.concat(
                    sf.encode(column["name"], "UTF-8"),
                    sf.coalesce(sf.try_element_at(image, column["name"]), sf.lit(b"null")),
                )
            )
        ),
    )
    return (
        sf.when(sf.col("rule") == "table", sf.col("table_hash"))
        .when(sf.col("rule") == "ts", sf.col("commit_ts"))
        .when(sf.col("rule").isNotNull() & _all_known(columns, image, hashed_types), values)
    )


def _all_known(columns: Column, image: Column, hashed_types: Mapping[str, AsHashed] | None) -> Column:
    if hashed_types is None:
        return _all_present(columns, image)

    def as_hashed(column: Column) -> Column:
        always, unless_negative = (
            column["type"].isin([name for name, how in hashed_types.items() if how == wanted])
            for wanted in ("always", "unless negative")
        )
        value = sf.coalesce(sf.try_element_at(image, column["name"]), sf.lit(b""))
        return always | (unless_negative & ~sf.startswith(value, sf.lit(b"-")))

    return _all_present(columns, image) & sf.forall(columns, as_hashed)


def _all_present(columns: Column, image: Column) -> Column:
    listed = sf.coalesce(sf.size("rule_columns"), sf.lit(0))
    present = sf.forall(columns, lambda column: sf.map_contains_key(image, column["name"]))
    return present & (sf.size(columns) >= listed)


def certain(columns: Column) -> Column:
    """False if TiCDC's result is uncertain: NULLs (classic and new differ), reduced rows, uncertain rules."""
    image = sf.col("key_image")
    null = sf.exists(columns, lambda column: sf.try_element_at(image, column["name"]).isNull())
    reduced = sf.coalesce(sf.col("handle_key_only"), sf.lit(0)) != 0
    by_value = sf.col("rule").isin("index-value", "columns")
    return sf.col("certain") & ~(by_value & (null | reduced))


def expected_partition(key: Column, partitions: Mapping[str, int]) -> Column:
    """Partition of a dispatch key; NULL if the key or the topic's number of partitions is unknown."""
    result = sf.lit(None).cast("int")
    for topic, count in partitions.items():
        result = sf.when(sf.col("topic") == topic, sf.pmod(key, sf.lit(count)).cast("int")).otherwise(result)
    return result
