"""Columns with a Spark SQL ``expression``: their values pass once through Spark's columns.

A task draws the changes twice. The first time it only notes the arguments of each value that it needs; Spark
computes the values, row by row, in the same order; the second time it reads them. An expression can use
``row``, the number of the row; ``version``, the number of the change that last gave the column a value;
``number``, which is different for all values of the column; and ``draw``, a hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.columns.value_columns import required_column
from ticdc_producer.scenario.dataframe.change_form import check_type
from ticdc_producer.scenario.generate.cells import Arguments, Expressions
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan

Draws: TypeAlias = Callable[[int, Expressions], Iterable[object]]
"""Draws everything that needs values of expressions, in a task with a number, a part at a time."""
_NAMES = ("row", "version", "number", "draw")
_ARGUMENTS = pa.schema(
    [("_task", pa.int32()), ("_column", pa.int32()), *((name, pa.int64()) for name in _NAMES)]
)
_ARGUMENTS_TEXT = "_task int, _column int, row long, version long, number long, draw long"
_NO_COLUMN = -1


def expression_values(tasks: DataFrame, plans: Sequence[GeneratePlan], draws: Draws) -> DataFrame:
    """Compute the values that tasks need, in the order in which they need them; for ``ExpressionValues``.

    :param tasks: one column with the number of each task, one in a partition.
    :return: ``_task`` (int), ``_column`` (int), the number of the row's column, and a column with the
        values of each expression; a partition per task. The first row of a partition only names the task.
    """
    columns = _columns(plans)

    def arguments(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                yield _batch(task, _NO_COLUMN, [np.zeros(1, np.int64)] * len(_NAMES))
                noted = _Noted(task, columns)
                for _ in draws(task, noted):
                    yield from noted.take_batches()
                yield from noted.take_batches()

    frame = tasks.mapInArrow(arguments, _ARGUMENTS_TEXT)
    values = [_value(frame, number, plan, column) for number, (plan, column) in enumerate(columns)]
    return frame.select("_task", "_column", *values)


def _columns(plans: Sequence[GeneratePlan]) -> list[tuple[GeneratePlan, ColumnPlan]]:
    return [(plan, column) for plan in plans for column in plan.columns if column.expression]


def _batch(
    task: int, column: int, arguments: Sequence[np.ndarray[tuple[int], np.dtype[np.int64]]]
) -> pa.RecordBatch:
    rows = len(arguments[0])
    numbers = [np.full(rows, task, np.int32), np.full(rows, column, np.int32), *arguments]
    return pa.record_batch([pa.array(column_numbers) for column_numbers in numbers], schema=_ARGUMENTS)


class _Noted:
    """The arguments of values; the values are unknown."""

    def __init__(self, task: int, columns: Sequence[tuple[GeneratePlan, ColumnPlan]]) -> None:
        self._task = task
        self._numbers = {_identity(*column): number for number, column in enumerate(columns)}
        self._batches: list[pa.RecordBatch] = []

    def __call__(self, plan: GeneratePlan, column: ColumnPlan, of: Arguments) -> pa.Array:
        arguments = [of.row, of.version, of.number, of.draw]
        if len(of.row):
            self._batches.append(_batch(self._task, self._numbers[_identity(plan, column)], arguments))
        return pa.nulls(len(of.row), pa.binary())

    def take_batches(self) -> list[pa.RecordBatch]:
        batches, self._batches = self._batches, []
        return batches


def _identity(plan: GeneratePlan, column: ColumnPlan) -> tuple[int, str, int]:
    return plan.step_commit, plan.table.qualified_name, column.offset


class ExpressionValues:
    """The values of expressions, read in order.

    :param batches: a partition of ``expression_values``.
    :ivar task: number of the task; None if there is no task.
    """

    def __init__(self, plans: Sequence[GeneratePlan], batches: Iterable[pa.RecordBatch]) -> None:
        self._columns = _columns(plans)
        self._batches = (batch for batch in batches if batch.num_rows)
        self._rest = pa.array([], pa.binary())
        first = next(self._batches, None)
        self.task: int | None = None
        if first is not None:
            self.task = first.column(0)[0].as_py()
            self._rest = self._canonical(first.slice(1))

    def __call__(self, _plan: GeneratePlan, _column: ColumnPlan, of: Arguments) -> pa.Array:
        missing, parts = len(of.row), []
        while missing > len(self._rest):
            parts.append(self._rest)
            missing -= len(self._rest)
            self._rest = self._canonical(next(self._batches))
        parts.append(self._rest.slice(0, missing))
        self._rest = self._rest.slice(missing)
        return pa.concat_arrays(parts)

    def _canonical(self, batch: pa.RecordBatch) -> pa.Array:
        """Return the canonical value of each row.

        >>> from types import SimpleNamespace
        >>> from ticdc_producer.model.column import ColumnInfo
        >>> from ticdc_producer.model.mysql_type import MySQLType
        >>> columns = [ColumnInfo(name="a", type=kind) for kind in (MySQLType.LONG, MySQLType.DOUBLE)]
        >>> columns = [SimpleNamespace(expression="draw", column=column) for column in columns]
        >>> of_columns = {"value_0": [None, 5, None], "value_1": [2.0, None, 0.5]}
        >>> batch = pa.record_batch({"_task": [0] * 3, "_column": [1, 0, 1], **of_columns})
        >>> ExpressionValues([SimpleNamespace(columns=columns)], [])._canonical(batch).to_pylist()
        [b'2', b'5', b'0.5']

        :raises ScenarioError: for a value that its column rejects.
        """
        numbers = batch.column("_column").to_numpy()
        values, rows = [pa.array([], pa.binary())], [np.zeros(0, np.int64)]
        for number in np.unique(numbers).tolist():
            plan, column = self._columns[number]
            rows.append(np.flatnonzero(numbers == number))
            given = batch.column(number + 2).take(pa.array(rows[-1]))
            try:
                values.append(required_column(column.column, given))
            except ScenarioError as error:
                raise error.at(plan.file, column.line) from None
        return pa.concat_arrays(values).take(pa.array(np.argsort(np.concatenate(rows))))


def _value(frame: DataFrame, number: int, plan: GeneratePlan, column: ColumnPlan) -> Column:
    """Return the values of one column's expression; NULL in the rows of other columns."""
    value = sf.when(sf.col("_column") == number, sf.expr(column.expression)).alias(f"value_{number}")
    try:
        kind = frame.select(*map(sf.col, _NAMES)).select(sf.expr(column.expression)).schema[0].dataType
        check_type(column.column, kind)
        _ = frame.select(value).schema  # analyses the expression
    except PySparkException as error:
        what = f"the expression of column {column.column.name!r} is invalid: {_first_line(error)}"
        raise ScenarioError(what, file=plan.file, line=column.line, column=column.column.name) from None
    except ScenarioError as error:
        raise error.at(plan.file, column.line) from None
    return value


def _first_line(error: PySparkException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
