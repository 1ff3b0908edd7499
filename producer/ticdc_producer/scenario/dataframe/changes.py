"""Converts a typed DataFrame to a change log (``docs/design.md#change-log``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.dataframe.operations import (
    given_old_row,
    is_used_by,
    operation,
    order_numbers,
    with_previous_row,
)
from ticdc_producer.scenario.dataframe.row_key import StoredKey, stored_key
from ticdc_producer.scenario.dataframe.tables import ValueSources, old_row_sources, quoted, row_sources
from ticdc_producer.spark.storage import CHANGE_LOG, IMAGE, in_shape

_HEAD = ("op", "commit_seq", "row_seq")


def changes(
    df: DataFrame,
    table: TableInfo,
    *,
    op: str | Column,
    order: str | Sequence[str],
    before: str | None = None,
) -> DataFrame:
    """Convert a DataFrame with one row per row change to a change log.

    The columns are those of the table, by name without case: the new row of an insert or update, the deleted
    row of a delete. Missing columns get their DEFAULT or NULL. Values are checked when the job runs. A value
    that does not fit stops the job with a message that names column and value.

    If the table has no clustered primary key, its primary or handle key replaces the hidden row id:
    ``row_key`` encodes that key and ``row_id`` is 0.

    :param df: the changes, in any order.
    :param op: column or expression of ``insert``, ``update``, ``delete``, or ``i`` (``c``), ``u``, ``d``.
    :param order: integer column with the number of the transaction, from 0, gaps allowed; optionally a second
        column with the position in the transaction. Two changes of one row must not have the same position.
    :param before: struct column with the old row of updates, NULL for inserts and deletes. Without it the old
        row is the result of the previous change under the same key: histories then start with the insert of
        each row, keys do not change, and only the key columns of a delete are read.
    :return: shape ``CHANGE_LOG``, in no order.
    :raises ScenarioError: for columns that do not fit the table by name or type.
    """
    _refuse_partitions(table)
    key = stored_key(table)
    commit_seq, row_seq = order_numbers(df, order)
    head = [operation(df, op).alias("op"), commit_seq.alias("commit_seq"), row_seq.alias("row_seq")]
    row = row_sources(table, df.schema, _other_columns(df, table, op, order, before))
    if before is None:
        staged = df.select(*head, row.struct().alias("row"))
        log = _with_previous(staged, row, key)
    else:
        old = old_row_sources(table, _struct_of(df, before), row, before)
        has_old = quoted(before).isNotNull().alias("has_old")
        staged = df.select(*head, row.struct().alias("row"), old.struct(quoted(before)).alias("old"), has_old)
        log = _with_given(staged, row, old, key, before)
    table_columns = {"table_version": F.lit(table.version), "table_id": F.lit(table.table_id).cast("long")}
    full_log = log.withColumns(table_columns)
    return in_shape(full_log, CHANGE_LOG)


def _with_previous(staged: DataFrame, row: ValueSources, key: StoredKey) -> DataFrame:
    has_new_row = F.col("op") != Op.DELETE
    values = row.values(F.col("row"), required=has_new_row, always=key.offsets)
    now = _names("now", values)
    named = staged.select(*_HEAD, *_aliased(values, now))
    keyed = named.select(
        *_HEAD,
        F.when(has_new_row, _image(now)).alias("after"),
        key.row_key(_columns(now)).alias("row_key"),
        key.row_id(_columns(now)).alias("row_id"),
        _key_text(key, now).alias("key_text"),
    )
    not_moved = {name: F.lit(None) for name in ("old_table_id", "old_row_key", "old_row_id")}
    return with_previous_row(keyed).withColumns(not_moved)


def _with_given(
    staged: DataFrame, row: ValueSources, old: ValueSources, key: StoredKey, before: str
) -> DataFrame:
    has_old = F.col("has_old")
    values = row.values(F.col("row"), required=None)
    old_values = old.values(F.col("old"), required=has_old)
    now, then = _names("now", values), _names("old", old_values)
    named = staged.select(*_HEAD, "has_old", *_aliased(values, now), *_aliased(old_values, then))
    keyed = named.select(
        *_HEAD,
        F.when(F.col("op") != Op.DELETE, _image(now)).alias("after"),
        given_old_row(_image(now), _image(then), has_old, _key_text(key, now), before).alias("before"),
        key.row_key(_columns(now)).alias("row_key"),
        key.row_id(_columns(now)).alias("row_id"),
        F.when(has_old, key.row_key(_columns(then))).alias("left_key"),
        key.row_id(_columns(then)).alias("left_id"),
    )
    moved = F.col("left_key") != F.col("row_key")
    return keyed.withColumns({
        "old_table_id": F.when(moved, F.lit(key.table.table_id)),
        "old_row_key": F.when(moved, F.col("left_key")),
        "old_row_id": F.when(moved, F.col("left_id")),
    })  # fmt: skip


def _names(prefix: str, values: Mapping[int, Column]) -> dict[int, str]:
    return {offset: f"{prefix}_{offset}" for offset in values}


def _aliased(values: Mapping[int, Column], names: Mapping[int, str]) -> list[Column]:
    return [value.alias(names[offset]) for offset, value in values.items()]


def _columns(names: Mapping[int, str]) -> dict[int, Column]:
    return {offset: F.col(name) for offset, name in names.items()}


def _image(names: Mapping[int, str]) -> Column:
    return F.array(*names.values()).cast(IMAGE)


def _key_text(key: StoredKey, names: Mapping[int, str]) -> Column:
    return F.concat_ws("-", *(F.col(names[offset]).cast("string") for offset in key.offsets))


def _other_columns(
    df: DataFrame, table: TableInfo, op: str | Column, order: str | Sequence[str], before: str | None
) -> set[str]:
    """Return the columns of the DataFrame that need not be columns of the table."""
    named = {order} if isinstance(order, str) else set(order)
    if before is not None:
        named.add(before)
    if isinstance(op, str):
        return named | {op}
    known = {column.name.lower() for column in table.columns} | {name.lower() for name in named}
    unknown = [name for name in df.columns if name.lower() not in known]
    return named | {name for name in unknown if is_used_by(df, name, op)}


def _struct_of(df: DataFrame, before: str) -> StructType:
    kind = df.select(quoted(before)).schema[0].dataType if before in df.columns else None
    if not isinstance(kind, StructType):
        what = "is not a column" if kind is None else f"is {kind.simpleString()} and not a struct"
        raise ScenarioError(
            f"{before!r} {what}", column=before, hint="before names a struct with the old row"
        )
    return kind


def _refuse_partitions(table: TableInfo) -> None:
    if table.partitions:
        raise UnsupportedSQL(
            f"table {table.qualified_name} is partitioned: not supported in large DataFrames"
        )
