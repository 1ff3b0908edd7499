"""Spark SQL that the scenario names for a column.

It sees ``row``, the number of the row; ``version``, that of the event which last changed the cell;
``number``, which no other cell of the column has; and ``draw``, a hash to make chance of.
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
    """Add ``expression_N`` for each column that has one.

    :raises ScenarioError: with the column's place, for one that Spark does not take.
    """
    computed = versions
    for column in plan.columns:
        if column.expression:
            computed = _computed(computed, plan, column)
    return computed


def with_added(steps: DataFrame, plan: GeneratePlan, column: ColumnPlan, name: str) -> DataFrame:
    """Add what an update of a column would add, computed for every event.

    It sees ``row``; ``transaction``, the number of the commit; ``place``, that of the change in it; and
    ``draw``, a hash that all changes of a transaction share, whatever the table.
    """
    commit = F.col("commit_seq")
    sees = {
        "row": F.col("slot"),
        "transaction": commit,
        "place": F.col("row_seq"),
        "draw": draw(plan.shared_salt("added"), commit),
    }
    return _evaluated(steps, plan, column, sees, column.adds, name)


def _computed(versions: DataFrame, plan: GeneratePlan, column: ColumnPlan) -> DataFrame:
    version = F.col(f"version_{column.offset}")
    sees = {
        "version": version,
        "row": F.col("slot"),
        "number": F.col(f"number_{column.offset}"),
        "draw": draw(plan.salt(f"{column.offset}/value"), version),
    }
    return _evaluated(versions, plan, column, sees, column.expression, f"expression_{column.offset}")


def _evaluated(
    frame: DataFrame, plan: GeneratePlan, column: ColumnPlan, sees: Mapping[str, Column], text: str, name: str
) -> DataFrame:
    """The frame with an expression's value; it sees the names given and nothing else that users name."""
    hidden = [F.col(there).alias(f"_{there}") for there in frame.columns]
    named = frame.select(*hidden, *(value.alias(seen) for seen, value in sees.items()))
    try:
        computed = named.withColumn("_value", F.expr(text))
        _ = computed.schema  # analyses it
    except PySparkException as error:
        what = f"the expression of column {column.column.name!r} is none: {_first_line(error)}"
        raise ScenarioError(what, file=plan.file, line=column.line, column=column.column.name) from None
    kept = [F.col(f"_{there}").alias(there) for there in frame.columns]
    return computed.select(*kept, F.col("_value").alias(name))


def _first_line(error: PySparkException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
