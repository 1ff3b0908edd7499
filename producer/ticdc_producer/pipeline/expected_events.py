"""What a consumer must see: the event stream as decoded events, reduced by what the protocol loses.

Made from the event stream before encoding, never by decoding our own messages, so that it can judge
them.
"""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.dataframes import DECODED, DELIVERY_KEY, EVENT_COLUMN
from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.fidelity import Losses, tells_time
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.pipeline.project_values import told_values
from ticdc_producer.pipeline.table_metadata import with_facts
from ticdc_producer.pipeline.utf8 import utf8_repaired

_DESCRIBED = (
    "table_version int, row_schema string, row_table string, partitioned boolean, described "
    "array<struct<name:string,type:string,flag:int,place:int,handle:boolean,damaged:boolean>>"
)
_Described: TypeAlias = tuple[str, str, int, int, bool, bool]
_DDLS = "ddl int, ddl_schema string, ddl_table string, query string, ddl_type int"


def expected(
    events: DataFrame, catalog: Catalog, losses: Losses, *, with_handle_key: bool = False
) -> DataFrame:
    """The event stream in the shape ``DECODED``, with its delivery key instead of offsets.

    :param events: the event stream, in any order.
    :param with_handle_key: name the handle key columns of each row in ``handle_key``.
    :return: columns of ``DECODED`` without offset, index, events, size and error, and the delivery key.
    """
    spark = events.sparkSession
    tables = _tables(spark, catalog, losses)
    rows = _rows(told_values(events.where(F.col("kind") == Kind.ROW), catalog, losses), tables, losses)
    ddls = events.where(F.col("kind") == Kind.DDL).join(F.broadcast(_ddls(spark, catalog, losses)), "ddl")
    ddls = ddls.withColumns({"schema": F.col("ddl_schema"), "table": F.col("ddl_table")})
    resolved = events.where(F.col("kind") == Kind.RESOLVED)
    timed = (_told_time(rows, losses, are_rows=True), _told_time(ddls, losses), resolved)
    kinds = [_shaped(part, kind.word, with_handle_key) for kind, part in zip(Kind, timed, strict=True)]
    return reduce(DataFrame.unionByName, kinds)


def _told_time(events: DataFrame, losses: Losses, *, are_rows: bool = False) -> DataFrame:
    if losses.commit_ts == "milliseconds":
        first_of_ms = F.shiftleft(F.shiftright("commit_ts", LOGICAL_BITS), LOGICAL_BITS)
        return events.withColumn("commit_ts", first_of_ms)
    if tells_time(losses.commit_ts) or not are_rows:
        return events
    told = (F.col("op") != Op.DELETE.word) & F.lit(losses.commit_ts == "not deletes")
    return events.withColumn("commit_ts", F.when(told, F.col("commit_ts")).otherwise(F.lit(0).cast("long")))


def _tables(spark: SparkSession, catalog: Catalog, losses: Losses) -> DataFrame:
    rows = [
        (
            table.version,
            losses.told_name(table.schema),
            losses.told_name(table.name),
            bool(table.partitions),
            _described(table, losses),
        )
        for table in catalog.tables
    ]
    return spark.createDataFrame(rows, _DESCRIBED)


def _described(table: TableInfo, losses: Losses) -> list[_Described]:
    columns: list[_Described] = []
    for place, (column, flag) in enumerate(zip(table.sent_columns, table.sent_flags, strict=True)):
        told, handle = losses.told_type(column, flag), bool(flag & ColumnFlag.HANDLE_KEY)
        name = losses.told_name(column.name)
        columns.append((name, told, losses.told_flag(flag), place, handle, losses.damages(column)))
    return sorted(columns, key=lambda column: column[0].encode()) if losses.sorted_columns else columns


def _ddls(spark: SparkSession, catalog: Catalog, losses: Losses) -> DataFrame:
    rows = [
        (i, *_told_names(catalog, ddl, losses), ddl.query, losses.told_ddl_type(ddl.ddl_type))
        for i, ddl in enumerate(catalog.ddls)
    ]
    return spark.createDataFrame(rows, _DDLS)


def _told_names(catalog: Catalog, job: DDLJob, losses: Losses) -> tuple[str, str]:
    return losses.told_ddl_names(job.event(0), *catalog.tables_of(job))


def _rows(events: DataFrame, tables: DataFrame, losses: Losses) -> DataFrame:
    described = F.col("described")
    deleted = described if losses.deletes == "all" else F.filter(described, lambda column: column["handle"])
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
            "table_id": _table_id(losses),
            "op": _word(losses),
            "before": F.col("old"),
            "after": F.col("new"),
            "handle_key_only": F.lit(0),
            "handle_key": F.filter(described, lambda column: column["handle"])["name"],
        }
    )


def _table_id(losses: Losses) -> Column:
    told = {"all": F.lit(True), "partitions": F.col("partitioned"), "none": F.lit(False)}
    return F.when(told[losses.table_ids], F.col("table_id")).otherwise(0)


def _word(losses: Losses) -> Column:
    """The operation as it reads."""
    op = F.col("op")
    if not losses.names_operation:
        op = F.when((op == Op.UPDATE) & F.col("old").isNull(), int(Op.INSERT)).otherwise(op)
    return reduce(lambda word, one: F.when(op == one, one.word).otherwise(word), Op, F.lit(None))


def _old_image(losses: Losses) -> Column:
    if losses.old_values == "none":
        return F.lit(None)
    if losses.old_values == "all":
        return _image("before", F.col("described"))
    changed = F.filter("described", lambda c: ~_at("before", c).eqNullSafe(_at("after", c)))
    image = _image("before", changed)
    return image if losses.names_operation else F.when(F.size(changed) > 0, image)


def _image(image: str, columns: Column) -> Column:
    def entry(column: Column) -> Column:
        value = _at(image, column)
        return F.struct(column["name"], F.when(column["damaged"], utf8_repaired(value)).otherwise(value))

    return F.when(F.col(image).isNotNull(), F.map_from_entries(F.transform(columns, entry)))


def _at(image: str, column: Column) -> Column:
    return F.get(F.col(image), column["place"])


_WITHOUT = ("offset", "index", "events", "size", "error", "error_byte", "error_expected")
_ONLY_ROWS = ("schema", "table", "table_id", "op", "columns", "before", "after", "handle_key_only")
_PER_KIND = {"row": _ONLY_ROWS, "ddl": ("schema", "table", "query", "ddl_type"), "resolved": ()}


def _shaped(events: DataFrame, kind: str, with_handle_key: bool) -> DataFrame:
    general = ("topic", "partition", "commit_ts")
    columns = []
    for field in DECODED.fields:
        if field.name in _WITHOUT:
            continue
        known = field.name in general or field.name in _PER_KIND[kind]
        value = F.lit(kind) if field.name == "kind" else F.col(field.name) if known else F.lit(None)
        columns.append(value.cast(field.dataType).alias(field.name))
    if with_handle_key:
        names = F.col("handle_key") if kind == Kind.ROW.word else F.lit(None)
        columns.append(names.cast("array<string>").alias("handle_key"))
    return events.select(*columns, "slot", *DELIVERY_KEY)
