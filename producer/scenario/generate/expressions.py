"""Spark SQL that the scenario names for a column.

It sees ``row``, the number of the row; ``version``, that of the event which last changed the cell;
``number``, which no other cell of the column has; and ``draw``, a hash to make chance of.
"""

from __future__ import annotations

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from producer.errors import ScenarioError
from producer.scenario.generate.draw import draw
from producer.scenario.generate.plan import ColumnPlan, GeneratePlan


def with_expressions(versions: DataFrame, plan: GeneratePlan) -> DataFrame:
    """Add ``expression_N`` for each column that has one.

    :raises ScenarioError: with the column's place, for one that Spark does not take.
    """
    computed = versions
    for column in plan.columns:
        if column.expression:
            computed = _computed(computed, plan, column)
    return computed


def _computed(versions: DataFrame, plan: GeneratePlan, column: ColumnPlan) -> DataFrame:
    version = F.col(f"version_{column.offset}")
    named = versions.select(
        version.alias("version"),
        F.col("slot").alias("row"),
        F.col(f"number_{column.offset}").alias("number"),
        draw(plan.salt(f"{column.offset}/value"), version).alias("draw"),
        *(F.col(name).alias(f"_{name}") for name in versions.columns),
    )
    try:
        computed = named.withColumn("_value", F.expr(column.expression))
        _ = computed.schema  # analyses it
    except PySparkException as error:
        what = f"the expression of column {column.column.name!r} is none: {_first_line(error)}"
        raise ScenarioError(what, file=plan.file, line=column.line, column=column.column.name) from None
    kept = [F.col(f"_{name}").alias(name) for name in versions.columns]
    return computed.select(*kept, F.col("_value").alias(f"expression_{column.offset}"))


def _first_line(error: PySparkException) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
