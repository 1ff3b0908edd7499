"""What a consumer must see: the event stream as decoded events, reduced by what the protocol loses.

Made from the event stream before encoding, never by decoding our own messages, so that it can judge
them.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from producer.model.catalog import Catalog
from producer.model.event import Kind, Op
from producer.model.flags import ColumnFlag
from producer.model.losses import Losses
from producer.model.mysql_type import bare_name
from producer.model.shapes import DECODED, DELIVERY_KEY, EVENT_COLUMN
from producer.model.table import TableInfo
from producer.stream.facts import with_facts

_DESCRIBED = (
    "table_version int, row_schema string, row_table string, partitioned boolean, described "
    "array<struct<name:string,type:string,flag:int,place:int>>"
)
_DDLS = "ddl int, ddl_schema string, ddl_table string, query string, ddl_type int"


def expected(events: DataFrame, catalog: Catalog, losses: Losses) -> DataFrame:
    """The event stream in the shape ``DECODED``, with its delivery key instead of offsets.

    :param events: the event stream, in any order.
    :return: columns of ``DECODED`` without offset, index, events, size and error, and the delivery key.
    """
    spark = events.sparkSession
    tables = _tables(spark, catalog, losses)
    rows = _rows(events.where(F.col("kind") == Kind.ROW), tables, losses)
    ddls = events.where(F.col("kind") == Kind.DDL).join(F.broadcast(_ddls(spark, catalog)), "ddl")
    ddls = ddls.withColumns({"schema": F.col("ddl_schema"), "table": F.col("ddl_table")})
    resolved = events.where(F.col("kind") == Kind.RESOLVED)
    return _shaped(rows, "row").unionByName(_shaped(ddls, "ddl")).unionByName(_shaped(resolved, "resolved"))


def _tables(spark: SparkSession, catalog: Catalog, losses: Losses) -> DataFrame:
    rows = [
        (table.version, table.schema, table.name, bool(table.partitions), _described(table, losses))
        for table in catalog.tables
    ]
    return spark.createDataFrame(rows, _DESCRIBED)


def _described(table: TableInfo, losses: Losses) -> list[tuple[str, str, int, int]]:
    columns = []
    for place, (column, full) in enumerate(zip(table.sent_columns, table.sent_flags, strict=True)):
        flag = full if losses.flags else int(full & ColumnFlag.HANDLE_KEY)
        binary, unsigned = bool(flag & ColumnFlag.BINARY), bool(flag & ColumnFlag.UNSIGNED)
        columns.append((column.name, bare_name(column.type, binary=binary, unsigned=unsigned), flag, place))
    return sorted(columns, key=lambda column: column[0].encode()) if losses.sorted_columns else columns


def _ddls(spark: SparkSession, catalog: Catalog) -> DataFrame:
    rows = [(i, ddl.schema, ddl.table, ddl.query, ddl.ddl_type) for i, ddl in enumerate(catalog.ddls)]
    return spark.createDataFrame(rows, _DDLS)


def _rows(events: DataFrame, tables: DataFrame, losses: Losses) -> DataFrame:
    described = F.col("described")
    deleted = described if losses.deletes == "all" else F.filter(described, _is_handle_key)
    shown = F.when(F.col("op") == Op.DELETE, deleted).otherwise(described)
    joined = with_facts(events, tables, "row_schema", "row_table", "partitioned", "described")
    joined = joined.withColumns(
        {
            "new": _image("after", described),
            "old": F.when(F.col("op") == Op.DELETE, _image("before", deleted)).when(
                F.col("op") == Op.UPDATE, _old_image(losses)
            ),
            "columns": F.transform(shown, lambda column: F.struct(*(column[n] for n in EVENT_COLUMN.names))),
        }
    )
    return joined.withColumns(
        {
            "schema": F.col("row_schema"),
            "table": F.col("row_table"),
            "table_id": F.when(F.col("partitioned"), F.col("table_id")).otherwise(0),
            "op": _word(),
            "before": F.col("old"),
            "after": F.col("new"),
            "handle_key_only": F.lit(0),
        }
    )


def _word() -> Column:
    """The operation as it reads: an update that shows no old image is an insert."""
    no_old = F.col("old").isNull()
    word = F.when(F.col("op") == Op.DELETE, Op.DELETE.word)
    return word.when((F.col("op") == Op.INSERT) | no_old, Op.INSERT.word).otherwise(Op.UPDATE.word)


def _old_image(losses: Losses) -> Column:
    if losses.old_values == "none":
        return F.lit(None)
    if losses.old_values == "all":
        return _image("before", F.col("described"))
    changed = F.filter("described", lambda c: ~_at("before", c).eqNullSafe(_at("after", c)))
    return F.when(F.size(changed) > 0, _image("before", changed))


def _image(image: str, columns: Column) -> Column:
    entries = F.transform(columns, lambda column: F.struct(column["name"], _at(image, column)))
    return F.when(F.col(image).isNotNull(), F.map_from_entries(entries))


def _at(image: str, column: Column) -> Column:
    return F.get(F.col(image), column["place"])


def _is_handle_key(column: Column) -> Column:
    return column["flag"].bitwiseAND(int(ColumnFlag.HANDLE_KEY)) != 0


_WITHOUT = ("offset", "index", "events", "size", "error", "error_byte", "error_expected")
_ONLY_ROWS = ("schema", "table", "table_id", "op", "columns", "before", "after", "handle_key_only")
_PER_KIND = {"row": _ONLY_ROWS, "ddl": ("schema", "table", "query", "ddl_type"), "resolved": ()}


def _shaped(events: DataFrame, kind: str) -> DataFrame:
    general = ("topic", "partition", "commit_ts")
    columns = []
    for field in DECODED.fields:
        if field.name in _WITHOUT:
            continue
        known = field.name in general or field.name in _PER_KIND[kind]
        value = F.lit(kind) if field.name == "kind" else F.col(field.name) if known else F.lit(None)
        columns.append(value.cast(field.dataType).alias(field.name))
    return events.select(*columns, "slot", *DELIVERY_KEY)
