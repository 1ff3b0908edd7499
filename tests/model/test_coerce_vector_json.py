"""VECTOR and JSON columns, and dates under ALLOW_INVALID_DATES."""

from __future__ import annotations

from typing import Any

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.model.values.json_document import JsonScalar, JsonValue, compare_json, json_type
from ticdc_producer.model.values.sql_value import SQLMode, Unsigned

T = MySQLType
VECTOR = ColumnInfo(name="v", type=T.VECTOR_FLOAT32)
VECTOR3 = ColumnInfo(name="v", type=T.VECTOR_FLOAT32, length=3, decimal=0)
JSON = ColumnInfo(name="j", type=T.JSON)
DATE = ColumnInfo(name="d", type=T.DATE)
TIMESTAMP = ColumnInfo(name="t", type=T.TIMESTAMP, decimal=0)


@pytest.mark.parametrize(
    ("target", "value", "stored"),
    [
        (VECTOR, "[]", b"[]"),
        (VECTOR, " [ 1 , 2.50, -3e0 ] ", b"[1,2.5,-3]"),
        (VECTOR, "[0.1,1e-7,1e21]", b"[0.1,0.0000001,1000000000000000000000]"),
        (VECTOR3, "[0,-0,-0.0]", b"[0,-0,-0]"),
        (VECTOR3, "[16777217, 0.1234567891, 1e-50]", b"[16777216,0.12345679,0]"),
        (JSON, 5, b"5"),
        (JSON, b'{ "a": 1}', b'{"a": 1}'),
        (JSON, Unsigned(1 << 63), b"9223372036854775808"),
        (JSON, 1.0, b"1.0"),
        (JSON, "[1e-16, 1e-10, 1e14, 1e15]", b"[1e-16, 0.0000000001, 100000000000000.0, 1e15]"),
    ],
)
def test_stored(target: ColumnInfo, value: Any, stored: bytes) -> None:
    assert coerce(target, value) == stored
    assert coerce(target, read(target, stored)) == stored


@pytest.mark.parametrize(
    ("target", "value"),
    [
        (VECTOR3, "[1,2]"),
        (VECTOR, "1"),
        (VECTOR, '["1"]'),
        (VECTOR, "[true]"),
        (VECTOR, "[1e39]"),
        (VECTOR, "[NaN]"),
        (VECTOR, "[1e999]"),
        (VECTOR, "[[1]]"),
        (VECTOR, "[" + "1," * 16383 + "1]"),
        (VECTOR, "[" * 100_000),
        (VECTOR, 5),
        (JSON, b"{"),
        (JSON, float("nan")),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_invalid_values_are_refused_in_every_sql_mode(target: ColumnInfo, value: Any, strict: bool) -> None:
    with pytest.raises(ScenarioError) as caught:
        coerce(target, value, SQLMode(strict=strict))
    assert caught.value.column == target.name


def test_every_month_has_31_days_with_allow_invalid_dates() -> None:
    any_day = SQLMode(invalid_dates=True)
    assert coerce(DATE, "2021-02-31", any_day) == b"2021-02-31"
    assert coerce(DATE, 20210431, any_day) == b"2021-04-31"
    assert coerce(DATE, read(DATE, b"2021-02-31"), any_day) == b"2021-02-31"
    for target, value in ((DATE, "2021-02-32"), (DATE, "2021-13-01"), (TIMESTAMP, "2021-02-31")):
        with pytest.raises(ScenarioError, match="Incorrect"):
            coerce(target, value, any_day)


def test_json_values_are_ordered_by_type_and_then_by_value() -> None:
    ascending: list[JsonValue] = [
        None, -1, 0.5, 1, Unsigned(1 << 63), "", "a", "b", {}, {"b": 1}, {"a": 1, "b": 1}, [], [1], [1, 0],
        [2], True, False, JsonScalar("2020-01-01", "DATE"), JsonScalar("base64:type253:AA==", "BLOB"),
    ]  # fmt: skip
    for index, left in enumerate(ascending):
        orders = [compare_json(left, right) for right in ascending]
        assert [(order > 0) - (order < 0) for order in orders] == [
            (index > other) - (index < other) for other in range(len(ascending))
        ]
    assert compare_json(1, 1.000000001) == 0
    assert [json_type(value) for value in (1, Unsigned(1), 1.0, True)] == [
        "INTEGER", "UNSIGNED INTEGER", "DOUBLE", "BOOLEAN",
    ]  # fmt: skip
