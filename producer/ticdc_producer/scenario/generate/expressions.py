"""Spark SQL expressions of columns in the scenario.

An expression can use ``row``, the number of the row; ``version``, the number of the event that last changed
the value; ``number``, which is different for all values of the column; and ``draw``, a hash for randomness.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.generate.draw import draw
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan


def with_expressions(versions: DataFrame, plan: GeneratePlan) -> DataFrame:
    """Add ``expression_N`` for each column N with an expression.

    :raises ScenarioError: with file and line of the column, for an expression that Spark rejects.
    """
    computed = versions
    for column in plan.columns:
        if column.expression:
            computed = _computed(computed, plan, column)
    return computed


def with_added(steps: DataFrame, plan: GeneratePlan, column: ColumnPlan, name: str) -> DataFrame:
    """Add the amount that an update of a column adds, computed for every event.

    Its expression can use ``row``; ``transaction``, the number of the commit; ``place``, the position of the
    change in it; and ``draw``, a hash that all changes of a transaction share, in all tables.
    """
    commit = F.col("commit_seq")
    names = {
        "row": F.col("slot"),
        "transaction": commit,
        "place": F.col("row_seq"),
        "draw": draw(plan.shared_salt("added"), commit),
    }
    return _evaluated(steps, plan, column, names, column.adds, name)


def _computed(versions: DataFrame, plan: GeneratePlan, column: ColumnPlan) -> DataFrame:
    version = F.col(f"version_{column.offset}")
    names = {
        "version": version,
        "row": F.col("slot"),
        "number": F.col(f"number_{column.offset}"),
        "draw": draw(plan.salt(f"{column.offset}/value"), version),
    }
    return _evaluated(versions, plan, column, names, column.expression, f"expression_{column.offset}")


def _evaluated(
    frame: DataFrame,
    plan: GeneratePlan,
    column: ColumnPlan,
    names: Mapping[str, Column],
    text: str,
    name: str,
) -> DataFrame:
    """The frame with the value of an expression, which can use the names in ``names`` only."""
    hidden = [F.col(column_name).alias(f"_{column_name}") for column_name in frame.columns]
    named = frame.select(*hidden, *(value.alias(visible) for visible, value in names.items()))
    try:
        computed = named.withColumn("_value", F.expr(text))
        _ = computed.schema  # analyses the expression
    except PySparkException as error:
        what = f"the expression of column {column.column.name!r} is invalid: {_first_line(error)}"
        raise ScenarioError(what, file=plan.file, line=column.line, column=column.column.name) from None
    retained = [F.col(f"_{column_name}").alias(column_name) for column_name in frame.columns]
    return computed.select(*retained, F.col("_value").alias(name))


def _first_line(error: PySparkException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
