"""Operation, position and old row of each row change."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import IntegralType, StringType

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.model.event import OP_OF_LABEL, Op
from ticdc_producer.scenario.dataframe.tables import quoted
from ticdc_producer.spark.spark_errors import stop_job


def operation(df: DataFrame, op: str | Column) -> Column:
    """Return the operation of each row as ``model.event.Op`` (byte); an unknown label stops the job.

    :param op: text column of the DataFrame by its name without case, or an expression of it.
    :raises ScenarioError: if the column does not exist, or is not text.
    """
    value = quoted(_named(df, op)) if isinstance(op, str) else op
    kind = df.select(value.alias("op")).schema[0].dataType
    if not isinstance(kind, StringType):
        raise ScenarioError(
            f"the operation must be text, not Spark's {kind.simpleString()}", column=_column_label(op)
        )
    label = F.lower(value)
    code = F.lit(None)
    for text, number in OP_OF_LABEL.items():
        code = F.when(label == text, F.lit(int(number))).otherwise(code)
    what = f"column {_column_label(op)!r} must be insert, update or delete, not "
    return F.coalesce(code, stop_job(what, value)).cast("byte")


def order_numbers(df: DataFrame, order: str | Sequence[str]) -> tuple[Column, Column]:
    """Return ``commit_seq`` and ``row_seq`` of each row (long); NULL and negative numbers stop the job.

    :param order: names of one or two integer columns: the number of the transaction from 0, and the position
        in it, which is 0 without the second column.
    :raises ScenarioError: for columns that do not exist, or are not integers.
    """
    names = [order] if isinstance(order, str) else list(order)
    if len(names) not in (1, 2):
        raise ScenarioError(
            f"order takes one or two columns, not {len(names)}",
            hint="the number of the transaction, and the position in it",
        )
    numbers = [_ordinal(df, _named(df, name)) for name in names]
    return numbers[0], numbers[1] if len(numbers) == 2 else F.lit(0).cast("long")


def is_used_by(df: DataFrame, name: str, op: Column) -> bool:
    """Return whether the operation is computed from this column: it does not resolve without it."""
    try:
        _ = df.drop(quoted(name)).select(op).schema
    except AnalysisException:
        return True
    return False


def _ordinal(df: DataFrame, name: str) -> Column:
    kind = df.schema[name].dataType
    if not isinstance(kind, IntegralType):
        raise ScenarioError(
            f"order column {name!r} must be an integer column, not Spark's {kind.simpleString()}", column=name
        )
    number = quoted(name).cast("long")
    return F.when(number >= 0, number).otherwise(stop_job(f"order column {name!r} counts from 0: ", number))


def _named(df: DataFrame, name: str) -> str:
    """Return the column's name as the DataFrame spells it."""
    matches = [column for column in df.columns if column.lower() == name.lower()]
    if len(matches) != 1:
        what = f"the DataFrame has no column {name!r}" if not matches else f"column {name!r} is not unique"
        raise ScenarioError(what, column=name, hint=nearest(name, df.columns))
    return matches[0]


def _column_label(op: str | Column) -> str:
    return op if isinstance(op, str) else "op"


def given_old_row(now: Column, old: Column, has_old: Column, key: Column, name: str) -> Column:
    """Return the old image: of an update from a column, of a delete the deleted row itself.

    :param name: name of the column with the old rows.
    :param key: text of the row's key, for the message if an update has no old row, or another operation has.
    """
    op = F.col("op")
    lacks = stop_job(f"{name!r} is NULL for the update of row ", key)
    extra = stop_job(f"{name!r} must be NULL for inserts and deletes, and is not for row ", key)
    return (
        F.when((op == Op.UPDATE) & has_old, old)
        .when(op == Op.UPDATE, lacks)
        .when(has_old, extra)
        .when(op == Op.DELETE, now)
    )


def with_previous_row(changes: DataFrame) -> DataFrame:
    """Add ``before``: the image after the previous change under the same key.

    :param changes: ``op``, ``commit_seq``, ``row_seq``, ``row_key``, ``after``, and ``key_text``, which names
        the row in the message if the history is inconsistent and the job stops; in any order.
    :return: the same columns and ``before``, ``previous`` and ``previous_position``, partitioned by
        ``row_key``.
    """
    window = Window.partitionBy("row_key").orderBy("commit_seq", "row_seq")
    position = F.struct("commit_seq", "row_seq")
    with_lag = changes.withColumns({
        "previous": F.lag("after").over(window),
        "previous_position": F.lag(position).over(window),
    })  # fmt: skip
    return with_lag.withColumn("before", _checked(position, F.col("previous"), F.col("key_text")))


def _checked(position: Column, previous: Column, key: Column) -> Column:
    inserts = F.col("op") == Op.INSERT
    same_position = stop_job("two changes have the same position in the order, those of row ", key)
    exists = stop_job("insert of a row that exists, row ", key)
    hint = "an update that changes the key needs `before`"
    absent = stop_job(f"update or delete of a row that no earlier change inserted ({hint}), row ", key)
    return (
        F.when(F.col("previous_position") == position, same_position)
        .when(inserts & previous.isNotNull(), exists)
        .when(~inserts & previous.isNull(), absent)
        .otherwise(previous)
    )
