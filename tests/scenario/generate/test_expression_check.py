"""An ``expression:`` computes a value; it calls no code, reads no file and queries no table."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.generate.binding.outside_values import FUNCTIONS, NAMES, check_expression
from ticdc_producer.scenario.load import load_scenario

DOCS = Path(__file__).parents[3] / "docs" / "generate.md"

ALLOWED = [
    "repeat('x', CAST(row AS INT))",
    "cast(pmod(draw, 1000) AS DECIMAL(12,2)) / 10",
    "date_add(DATE '2024-01-01', cast(row AS INT))",
    "CASE WHEN row % 2 = 0 THEN 1 WHEN row IS NULL THEN 2 ELSE null END",
    "row IN (1, 2) AND NOT version BETWEEN 3 AND 4",
    "extract(YEAR FROM timestamp_seconds(row))",
    "timestamp_seconds(row) + INTERVAL 1 DAY",
    "substring('abc' FROM 1 FOR 2)",
    "if(row > 1e3, 10L, -row)",
    "to_json(named_struct('a', row))",
    "trim(BOTH 'x' FROM 'xax')",
    "overlay('abc' PLACING 'x' FROM 1)",
    "format_string('%05d (select 1) -- reflect(x)', row)",
    r"""regexp_replace(concat('a', number), '\\d', "'")""",
    "elt(cast(1 + pmod(draw, 3) AS INT), 'a', 'b', 'c')",
    "ROW | 3 & ~version ^ 7",
]

REFUSED = [
    "reflect('java.lang.System', 'getenv', 'HOME')",
    "java_method('java.lang.Runtime', 'getRuntime')",
    "try_reflect('java.lang.System', 'getenv', 'HOME')",
    "Reflect ('a', 'b')",
    "`reflect`('a', 'b')",
    "concat('a', reflect('a', 'b'))",
    "system.builtin.reflect('a', 'b')",
    "identifier('reflect')('a', 'b')",
    "reflect/* */('a', 'b')",
    "upper/* */('a')",
    "row -- a comment",
    r"concat(r'\', reflect('a', 'b'), r'\')",
    r"r'\'",
    "(SELECT max(value) FROM text.`/etc/passwd`)",
    "row IN (SELECT 1)",
    "EXISTS (SELECT 1)",
    "(FROM text)",
    "(VALUES 1)",
    "read_files('/etc/passwd')",
    "input_file_name()",
    "current_user",
    "current_user()",
    "current_catalog()",
    "version()",
    "session_user",
    "assert_true(false)",
    "raise_error('a')",
    "java.lang.System",
    "count(*)",
    "struct(*)",
    "row.*",
    "sum(row) OVER ()",
    "transform(array(1), x -> x)",
    "row; DROP TABLE t",
    "${env:HOME}",
    "${HOME}",
    ":parameter",
    "?",
    "`row`",
    "a.row",
    "row\u00a0+ 1",
    "'open",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_expressions_that_compute_a_value(text: str) -> None:
    check_expression(text, "c")


def test_spark_accepts_what_is_allowed(spark: SparkSession) -> None:
    """Otherwise a word of the list would have another meaning for Spark."""
    frame = spark.range(1).select(*(F.col("id").alias(name) for name in NAMES))
    assert len(frame.select(*map(F.expr, ALLOWED)).schema) == len(ALLOWED)


def test_the_functions_are_those_of_spark(spark: SparkSession) -> None:
    known = {name for name in FUNCTIONS if spark.catalog.functionExists(name)}
    assert FUNCTIONS - known == set()


@pytest.mark.parametrize("text", REFUSED)
def test_expressions_that_could_do_something_else(text: str) -> None:
    with pytest.raises(ScenarioError, match="the expression of column 'c' "):
        check_expression(text, "c")


def test_an_expression_is_refused_before_spark_starts(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        """\
version: 1
steps:
  - sql: CREATE TABLE t (id INT PRIMARY KEY, c VARCHAR(99))
  - generate:
      table: t
      transactions: 5
      mix: {insert: 1}
      columns:
        c:
          expression: reflect('java.lang.System', 'getenv', 'HOME')
"""
    )
    with pytest.raises(ScenarioError, match=r"s.yaml:9: the expression of column 'c' calls 'reflect'"):
        execute(load_scenario(path))


def test_the_page_lists_the_functions() -> None:
    listed = DOCS.read_text(encoding="utf-8").split("<!-- functions of expressions -->")[1]
    assert {name.strip("`") for name in listed.replace(",", " ").split()} == set(FUNCTIONS)
