"""Expected decoded events: the event stream, reduced by what the protocol does not carry.

Derived from the event stream before encoding, never by decoding our own messages, so that it can be used to
verify them.
"""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.dataframes import DECODED, DELIVERY_KEY, EVENT_COLUMN
from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.fidelity import Fidelity, has_commit_ts
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.pipeline.project_values import project_values
from ticdc_producer.pipeline.table_metadata import join_table_metadata
from ticdc_producer.pipeline.utf8 import utf8_repaired

_TABLES = (
    "table_version int, row_schema string, row_table string, partitioned boolean, described "
    "array<struct<name:string,type:string,flag:int,image_index:int,handle:boolean,damaged:boolean>>"
)
_ColumnStruct: TypeAlias = tuple[str, str, int, int, bool, bool]
_DDLS = "ddl int, ddl_schema string, ddl_table string, query string, ddl_type int"


def expected_decode(
    events: DataFrame, catalog: Catalog, fidelity: Fidelity, *, with_handle_key: bool = False
) -> DataFrame:
    """The event stream as decoded events (shape ``DECODED``), with the delivery key instead of offsets.

    :param events: the event stream, in any order.
    :param with_handle_key: add ``handle_key``, the names of the handle key columns of each row.
    :return: columns of ``DECODED`` without offset, index, events, size and error, and the delivery key.
    """
    spark = events.sparkSession
    tables = _tables(spark, catalog, fidelity)
    rows = _rows(project_values(events.where(F.col("kind") == Kind.ROW), catalog, fidelity), tables, fidelity)
    ddls = events.where(F.col("kind") == Kind.DDL).join(F.broadcast(_ddls(spark, catalog, fidelity)), "ddl")
    ddls = ddls.withColumns({"schema": F.col("ddl_schema"), "table": F.col("ddl_table")})
    resolved = events.where(F.col("kind") == Kind.RESOLVED)
    timed = (_observed_time(rows, fidelity, are_rows=True), _observed_time(ddls, fidelity), resolved)
    kinds = [_shaped(part, kind.label, with_handle_key) for kind, part in zip(Kind, timed, strict=True)]
    return reduce(DataFrame.unionByName, kinds)


def _observed_time(events: DataFrame, fidelity: Fidelity, *, are_rows: bool = False) -> DataFrame:
    if fidelity.commit_ts == "milliseconds":
        first_of_ms = F.shiftleft(F.shiftright("commit_ts", LOGICAL_BITS), LOGICAL_BITS)
        return events.withColumn("commit_ts", first_of_ms)
    if has_commit_ts(fidelity.commit_ts) or not are_rows:
        return events
    observed = (F.col("op") != Op.DELETE.label) & F.lit(fidelity.commit_ts == "not deletes")
    return events.withColumn(
        "commit_ts", F.when(observed, F.col("commit_ts")).otherwise(F.lit(0).cast("long"))
    )


def _tables(spark: SparkSession, catalog: Catalog, fidelity: Fidelity) -> DataFrame:
    rows = [
        (
            table.version,
            fidelity.visible_name(table.schema),
            fidelity.visible_name(table.name),
            bool(table.partitions),
            _column_structs(table, fidelity),
        )
        for table in catalog.tables
    ]
    return spark.createDataFrame(rows, _TABLES)


def _column_structs(table: TableInfo, fidelity: Fidelity) -> list[_ColumnStruct]:
    columns: list[_ColumnStruct] = []
    for index, (column, flag) in enumerate(zip(table.sent_columns, table.sent_flags, strict=True)):
        type_name, handle = fidelity.visible_type(column, flag), bool(flag & ColumnFlag.HANDLE_KEY)
        name = fidelity.visible_name(column.name)
        columns.append(
            (
                name,
                type_name,
                fidelity.visible_flag(flag),
                index,
                handle,
                fidelity.replaces_invalid_utf8(column),
            )
        )
    return sorted(columns, key=lambda column: column[0].encode()) if fidelity.sorted_columns else columns


def _ddls(spark: SparkSession, catalog: Catalog, fidelity: Fidelity) -> DataFrame:
    rows = [
        (i, *_observed_names(catalog, ddl, fidelity), ddl.query, fidelity.visible_ddl_type(ddl.ddl_type))
        for i, ddl in enumerate(catalog.ddls)
    ]
    return spark.createDataFrame(rows, _DDLS)


def _observed_names(catalog: Catalog, job: DDLJob, fidelity: Fidelity) -> tuple[str, str]:
    return fidelity.visible_ddl_names(job.event(0), *catalog.tables_of(job))


def _rows(events: DataFrame, tables: DataFrame, fidelity: Fidelity) -> DataFrame:
    described = F.col("described")
    deleted = described if fidelity.deletes == "all" else F.filter(described, lambda column: column["handle"])
    visible = F.when(F.col("op") == Op.DELETE, deleted).otherwise(described)
    joined = join_table_metadata(events, tables, "row_schema", "row_table", "partitioned", "described")
    joined = joined.withColumns(
        {
            "new": _image("after", described),
            "old": F.when(F.col("op") == Op.DELETE, _image("before", deleted)).when(
                F.col("op") == Op.UPDATE, _old_image(fidelity)
            ),
            "columns": F.transform(
                visible, lambda column: F.struct(*(column[n] for n in EVENT_COLUMN.names))
            ),
        }
    )
    return joined.withColumns(
        {
            "schema": F.col("row_schema"),
            "table": F.col("row_table"),
            "table_id": _table_id(fidelity),
            "op": _word(fidelity),
            "before": F.col("old"),
            "after": F.col("new"),
            "handle_key_only": F.lit(0),
            "handle_key": F.filter(described, lambda column: column["handle"])["name"],
        }
    )


def _table_id(fidelity: Fidelity) -> Column:
    has_id = {"all": F.lit(True), "partitions": F.col("partitioned"), "none": F.lit(False)}
    return F.when(has_id[fidelity.table_ids], F.col("table_id")).otherwise(0)


def _word(fidelity: Fidelity) -> Column:
    """The operation as a decoder reports it."""
    op = F.col("op")
    if not fidelity.names_operation:
        op = F.when((op == Op.UPDATE) & F.col("old").isNull(), int(Op.INSERT)).otherwise(op)
    return reduce(lambda word, one: F.when(op == one, one.label).otherwise(word), Op, F.lit(None))


def _old_image(fidelity: Fidelity) -> Column:
    if fidelity.old_values == "none":
        return F.lit(None)
    if fidelity.old_values == "all":
        return _image("before", F.col("described"))
    changed = F.filter("described", lambda c: ~_at("before", c).eqNullSafe(_at("after", c)))
    image = _image("before", changed)
    return image if fidelity.names_operation else F.when(F.size(changed) > 0, image)


def _image(image: str, columns: Column) -> Column:
    def entry(column: Column) -> Column:
        value = _at(image, column)
        return F.struct(column["name"], F.when(column["damaged"], utf8_repaired(value)).otherwise(value))

    return F.when(F.col(image).isNotNull(), F.map_from_entries(F.transform(columns, entry)))


def _at(image: str, column: Column) -> Column:
    return F.get(F.col(image), column["image_index"])


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
        names = F.col("handle_key") if kind == Kind.ROW.label else F.lit(None)
        columns.append(names.cast("array<string>").alias("handle_key"))
    return events.select(*columns, "partition_index", *DELIVERY_KEY)
