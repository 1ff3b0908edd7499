"""A task converts Spark's values as ``coerce`` does, and refuses those that do not fit."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from tests.scenario.dataframe.test_canonical import _REFUSED, CASES, Case
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.scenario.dataframe.value_columns import canonical_column

# Python and Java print some numbers differently.
_PRINTED = {"'3.5E38'": r"'3.5e\+38'", "'NaN'": "'nan'", "'Infinity'": "'inf'"}


def spark_column(kind: str, values: list[Any], zone: str = "UTC") -> pa.Array:
    """Values as Spark gives them to a task."""
    return pa.array(values, to_arrow_schema(StructType.fromDDL(f"v {kind}"), timezone=zone)[0].type)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_those_of_coerce(spark: SparkSession, case: Case) -> None:
    values = [*case.values, None, *case.values]
    found = canonical_column(case.column, spark_column(case.spark, values))
    assert found.to_pylist() == [coerce(case.column, value) for value in values]


@pytest.mark.parametrize(
    ("sql", "kind", "value", "message"), [refused for refused in _REFUSED if refused[2] is not None]
)
def test_a_value_that_does_not_fit_is_refused(
    spark: SparkSession, sql: str, kind: str, value: Any, message: str
) -> None:
    for java, python in _PRINTED.items():
        message = message.replace(java, python)
    with pytest.raises(ScenarioError, match=message) as caught:
        canonical_column(Case(sql, kind, ()).column, spark_column(kind, [value]))
    assert caught.value.column == "v"


def test_an_instant_is_a_datetime_in_the_time_zone_of_the_session(spark: SparkSession) -> None:
    noon = datetime(2021, 12, 20, 12, tzinfo=UTC)
    found = {
        sql: canonical_column(
            Case(sql, "timestamp", ()).column, spark_column("timestamp", [noon], "Europe/Berlin")
        ).to_pylist()
        for sql in ("DATETIME", "TIMESTAMP")
    }
    assert found == {"DATETIME": [b"2021-12-20 13:00:00"], "TIMESTAMP": [b"2021-12-20 12:00:00"]}


def test_bytes_that_are_not_text_are_refused() -> None:
    texts = pa.array([b"a", b"a\xff"]).view(pa.string())
    with pytest.raises(ScenarioError, match=r"Incorrect string value \(utf8mb4\) for column 'v'"):
        canonical_column(Case("TEXT", "string", ()).column, texts)
