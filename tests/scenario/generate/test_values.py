"""The values of generated columns."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.scenario.generate.plans import changes_of, planned
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.generate.cells import Expressions
from ticdc_producer.scenario.generate.domain import boundary_values_of
from ticdc_producer.scenario.generate.expressions import ExpressionValues, expression_values
from ticdc_producer.scenario.history import Change, RowImage

EVERY_TYPE = """CREATE TABLE t (
  id INT UNSIGNED PRIMARY KEY, ti TINYINT, bu BIGINT UNSIGNED, bs BIGINT, de DECIMAL(9,3),
  wide DECIMAL(60,25), fl FLOAT, dd DOUBLE, fix FLOAT(6,2), ye YEAR, bi BIT(64), da DATE, dt DATETIME,
  dm DATETIME(6), ts TIMESTAMP(2) NULL, tm TIME(3), ch CHAR(5), vc VARCHAR(300), tx TEXT, bn BINARY(4),
  vb VARBINARY(9), bl LONGBLOB, en ENUM('x','y'), se SET('p','q','r'), js JSON,
  latin VARCHAR(9) CHARACTER SET ascii)"""
COUNT = 400


def column(folder: Path, kind: str, spec: dict[str, Any]) -> list[bytes | None]:
    """The values of a column in ``COUNT`` inserted rows."""
    table = f"CREATE TABLE t (id BIGINT PRIMARY KEY, c {kind})"
    plan = planned(folder, table, transactions=COUNT, mix={"insert": 1}, columns={"c": spec})
    return [values(change)[1] for change in changes_of(plan)]


def values(change: Change) -> RowImage:
    """The values that a change leaves."""
    assert change.after is not None
    return change.after


def test_every_type_has_values_that_its_column_takes(tmp_path: Path) -> None:
    plan = planned(tmp_path, EVERY_TYPE, transactions=60, mix={"insert": 1})
    loose = SQLMode(zero_dates=True)
    for change in changes_of(plan):
        for info, value in zip(plan.table.columns, values(change), strict=True):
            assert coerce(info, read(info, value, loose), loose) == value


def test_every_type_has_its_boundary_values(tmp_path: Path) -> None:
    plan = planned(tmp_path, EVERY_TYPE, transactions=1)
    names = [info.name for info in plan.table.columns[1:]]
    plan = planned(
        tmp_path, EVERY_TYPE, transactions=COUNT, mix={"insert": 1},
        columns={name: {"edges": 1.0} for name in names},
    )  # fmt: skip
    images = [values(change) for change in changes_of(plan)]
    for offset, info in enumerate(plan.table.columns[1:], start=1):
        assert {image[offset] for image in images} == set(boundary_values_of(info)), info.name


def test_nulls_have_the_configured_ratio(tmp_path: Path) -> None:
    assert column(tmp_path, "INT", {"nulls": 0.3}).count(None) / COUNT == pytest.approx(0.3, abs=0.07)
    assert None not in column(tmp_path, "INT NOT NULL", {})
    assert column(tmp_path, "INT", {"nulls": 0.5, "edges": 0.5}).count(None) > 0


def test_ranges_hold_and_are_used(tmp_path: Path) -> None:
    small = [int(value) for value in column(tmp_path, "INT NOT NULL", {"min": -3, "max": 3})]
    assert set(small) == set(range(-3, 4))
    prices = column(tmp_path, "DECIMAL(8,2) NOT NULL", {"min": 1, "max": 2})
    assert all(Decimal(1) <= Decimal(value.decode()) <= Decimal(2) for value in prices)
    days = column(tmp_path, "DATE NOT NULL", {"min": "2024-02-27", "max": "2024-03-01"})
    assert set(days) == {b"2024-02-27", b"2024-02-28", b"2024-02-29", b"2024-03-01"}
    times = column(tmp_path, "DATETIME(1) NOT NULL", {"min": "2024-01-01", "max": "2024-01-01 00:00:00.2"})
    assert set(times) == {b"2024-01-01 00:00:00.0", b"2024-01-01 00:00:00.1", b"2024-01-01 00:00:00.2"}
    durations = column(tmp_path, "TIME NOT NULL", {"min": "-00:00:01", "max": "00:00:01"})
    assert set(durations) == {b"-00:00:01", b"00:00:00", b"00:00:01"}
    reals = [float(value) for value in column(tmp_path, "DOUBLE NOT NULL", {"min": 0.5, "max": 0.75})]
    assert 0.5 <= min(reals) < 0.55 < 0.7 < max(reals) <= 0.75


def test_lengths(tmp_path: Path) -> None:
    texts = column(tmp_path, "VARCHAR(600) NOT NULL", {"length": [300, 303]})
    assert {len(value) for value in texts} == {300, 301, 302, 303}
    assert {len(value) for value in column(tmp_path, "BLOB NOT NULL", {"length": 700})} == {700}


def test_values_of_a_list(tmp_path: Path) -> None:
    values = column(tmp_path, "VARCHAR(9)", {"values": ["new", "paid", None, 7]})
    assert {*values} == {b"new", b"paid", None, b"7"}
    ranked = Counter(
        column(tmp_path, "VARCHAR(9)", {"values": list("abcde"), "distribution": "zipf", "exponent": 1.5})
    )
    assert [value for value, _ in ranked.most_common(2)] == [b"a", b"b"]


def test_normal_values_lie_around_the_middle(tmp_path: Path) -> None:
    spec = {"distribution": "normal", "min": 0, "max": 1200}
    numbers = [int(value) for value in column(tmp_path, "INT NOT NULL", spec)]
    assert sum(numbers) / COUNT == pytest.approx(600, abs=25)
    assert sum(500 <= number <= 700 for number in numbers) / COUNT == pytest.approx(0.683, abs=0.08)


def test_a_sequence_counts_from_its_minimum(tmp_path: Path) -> None:
    values = column(tmp_path, "INT NOT NULL", {"distribution": "sequence", "min": 500})
    assert values == [b"%d" % number for number in range(500, 500 + COUNT)]


def expression_column(spark: SparkSession, folder: Path, kind: str, text: str) -> list[bytes | None]:
    """The values of a column with an expression, in ``COUNT`` inserted rows."""
    table = f"CREATE TABLE t (id BIGINT PRIMARY KEY, c {kind})"
    columns = {"c": {"expression": text}}
    plan = planned(folder, table, transactions=COUNT, mix={"insert": 1}, columns=columns)

    def draws(_task: int, expressions: Expressions) -> list[Change]:
        return changes_of(plan, expressions=expressions)

    frame = expression_values(spark.range(0, 1, 1, 1), [plan], draws)
    expressions = ExpressionValues([plan], frame.toArrow().to_batches())
    return [values(change)[1] for change in changes_of(plan, expressions=expressions)]


def test_expressions(spark: SparkSession, tmp_path: Path) -> None:
    text = "concat('row ', row, '/', pmod(draw, 2))"
    values = [value or b"" for value in expression_column(spark, tmp_path, "VARCHAR(30)", text)]
    assert {value.rpartition(b"/")[0] for value in values} == {b"row %d" % n for n in range(COUNT)}
    assert {value[-1:] for value in values} == {b"0", b"1"}


@pytest.mark.parametrize(
    ("kind", "expression", "message"),
    [
        ("INT", "rows + 1", "the expression of column 'c' contains 'rows', which is not allowed"),
        ("INT", "_task + 1", "the expression of column 'c' contains '_task', which is not allowed"),
        ("INT", "concat(row, upper())", "the expression of column 'c' is invalid"),
        ("INT", "1 +", "the expression of column 'c' is invalid"),
        ("INT", "concat('a', row)", "column 'c' is int and cannot be made from string"),
    ],
)
def test_expressions_that_do_not_fit(
    spark: SparkSession, tmp_path: Path, kind: str, expression: str, message: str
) -> None:
    with pytest.raises(ScenarioError, match=rf"generated.yaml:\d+: {message}"):
        expression_column(spark, tmp_path, kind, expression)
