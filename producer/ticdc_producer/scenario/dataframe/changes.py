"""Converts a typed DataFrame of Spark to a change log (``docs/design.md#change-log``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.engine.spark import SparkDataset, on_spark
from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.model.shapes import CHANGE_LOG
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.dataframe.change_columns import partial_changes
from ticdc_producer.scenario.dataframe.change_form import ChangeForm
from ticdc_producer.scenario.dataframe.row_histories import RowHistories
from ticdc_producer.spark.storage import arrow_schema, quoted_column

Location: TypeAlias = tuple[str, int]
"""Scenario file and line of the step whose changes are read; empty and 0 if there is none."""


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
    of_frame = frame_changes(df, table, op=op, order=order, before=before)
    log = on_spark(of_frame.log).frame
    _MADE[log] = of_frame
    return log


@dataclass(frozen=True, eq=False)
class FrameChanges:
    """The changes of one table in a DataFrame.

    :param rows: one change each.
    """

    rows: DataFrame
    form: ChangeForm
    location: Location = ("", 0)

    @property
    def is_by_row(self) -> bool:
        """Whether the changes of one row follow each other in ``log``, in their order."""
        return not self.form.before

    @property
    def log(self) -> Dataset:
        """The change log (shape ``CHANGE_LOG``)."""
        rows = SparkDataset(self.rows, arrow_schema(self.rows.schema))
        log = rows.map(partial(_partial, self.form), CHANGE_LOG)
        if self.is_by_row:
            by_row = RowHistories(self.form.key, "previous", self.form.number)
            log = by_row.complete(located(log, self.location))
        return located(log, self.location)

    @property
    def numbers(self) -> DataFrame:
        """The column ``commit_seq`` of the log, before the values are converted and checked."""
        return self.rows.select(quoted_column(self.form.number).alias("commit_seq"))


_MADE: WeakKeyDictionary[DataFrame, FrameChanges] = WeakKeyDictionary()


def changes_in(log: DataFrame) -> FrameChanges | None:
    """Return what a result of ``changes`` was made of; None for another DataFrame.

    To continue with it saves a pass of all rows through Spark, and a shuffle.
    """
    return _MADE.get(log)


def frame_changes(
    df: DataFrame,
    table: TableInfo,
    *,
    op: str | Column,
    order: str | Sequence[str],
    before: str | None,
    location: Location = ("", 0),
) -> FrameChanges:
    """Return the changes of a DataFrame, see ``changes``."""
    return FrameChanges(*_with_form(df, table, op, order, before), location)


def located(rows: Dataset, location: Location) -> Dataset:
    """Return the same dataset, whose errors have a location."""
    return rows.map(partial(_located, location), rows.schema)


def _located(location: Location, batches: Batches) -> Batches:
    try:
        yield from batches
    except ScenarioError as error:
        raise error.at(*location) from None


def _partial(form: ChangeForm, batches: Batches) -> Batches:
    return (partial_changes(form, batch) for batch in batches)


def _with_form(
    df: DataFrame, table: TableInfo, op: str | Column, order: str | Sequence[str], before: str | None
) -> tuple[DataFrame, ChangeForm]:
    """Return the rows with a column of the operation, and the meaning of their columns."""
    names = [order] if isinstance(order, str) else list(order)
    if len(names) not in (1, 2):
        raise ScenarioError(
            f"order takes one or two columns, not {len(names)}",
            hint="the number of the transaction, and the position in it",
        )
    numbers = [_named(df, name) for name in names]
    if isinstance(op, str):
        frame, label = df, _named(df, op)
    else:
        label = _free_name("op", df)
        used = _columns_of(df, op, {*numbers, before or "", *(column.name for column in table.columns)})
        frame = df.withColumn(label, op).drop(*map(quoted_column, used))
    form = ChangeForm(
        table=table,
        schema=frame.schema,
        op=label,
        before=before or "",
        number=numbers[0],
        position=numbers[1] if len(numbers) == 2 else "",
    )
    form.check()
    return frame, form


def _named(df: DataFrame, name: str) -> str:
    """Return the column's name as the DataFrame spells it."""
    matches = [column for column in df.columns if column.lower() == name.lower()]
    if len(matches) != 1:
        what = f"the DataFrame has no column {name!r}" if not matches else f"column {name!r} is not unique"
        raise ScenarioError(what, column=name, hint=nearest(name, df.columns))
    return matches[0]


def _free_name(name: str, df: DataFrame) -> str:
    taken = {column.lower() for column in df.columns}
    while name in taken:
        name += "_"
    return name


def _columns_of(df: DataFrame, op: Column, others: set[str]) -> list[str]:
    """Return the columns that only the expression of the operation needs: it does not resolve without them.

    :param others: columns with another meaning, by name without case.
    """
    known = {name.lower() for name in others}
    return [name for name in df.columns if name.lower() not in known and not _resolves_without(df, name, op)]


def _resolves_without(df: DataFrame, name: str, op: Column) -> bool:
    try:
        _ = df.drop(quoted_column(name)).select(op).schema
    except AnalysisException:
        return False
    return True
