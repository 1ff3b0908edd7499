"""For every column type the check of columns of canonical values equals that of single values."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.model.mysql_type import MySQLType as T
from ticdc_producer.replica.versions import LENIENT
from ticdc_producer.scenario.columns.canonical_values import stored_value, stored_values

COLUMNS = [
    *(
        ColumnInfo(name="c", type=code, unsigned=unsigned)
        for code in sorted(INTEGERS)
        for unsigned in (False, True)
    ),
    *(
        ColumnInfo(name="c", type=code, unsigned=unsigned)
        for code in (T.FLOAT, T.DOUBLE)
        for unsigned in (False, True)
    ),
    ColumnInfo(name="c", type=T.ENUM, elements=("a", "b")),
    ColumnInfo(name="c", type=T.SET, elements=("a", "b")),
    ColumnInfo(name="c", type=T.BIT, length=4),
    ColumnInfo(name="c", type=T.YEAR),
    ColumnInfo(name="c", type=T.NEW_DECIMAL, length=5, decimal=2),
    ColumnInfo(name="c", type=T.NEW_DECIMAL, length=2, decimal=2),
    ColumnInfo(name="c", type=T.NEW_DECIMAL, length=5, decimal=0, unsigned=True),
    ColumnInfo(name="c", type=T.DATE),
    ColumnInfo(name="c", type=T.DATETIME, decimal=0),
    ColumnInfo(name="c", type=T.DATETIME, decimal=3),
    ColumnInfo(name="c", type=T.TIMESTAMP, decimal=0),
    ColumnInfo(name="c", type=T.DURATION, decimal=0),
    ColumnInfo(name="c", type=T.JSON),
]
VALUES = (
    "007", "+5", "0x1F", "0x8a0f1e2d3c", " 5", "9223372036854775808",
    "18446744073709551616", "-9223372036854775809",
    "0", "-0", "1", "-1", "2", "3", "4", "15", "16", "127", "128", "-128", "255", "256", "1900", "1901",
    "2155", "999", "99999", "-99999", "999999999999999999", "0.00", "-0.00", "0.50", "-0.50", "1.5", "1.25",
    "-1.50", "100.5", "123.456", "999.99", "1000.00", "123456", "999999.999999", "1234567.1234567", "1\n",
    "x", "", "12:00:00", "1971-01-01", "2020-02-28", "2020-02-30", "2020-01-31", "1971-01-01 00:00:00",
    "2029-12-28 23:59:59", "2020-01-01 00:00:00.000", "2020-01-01 00:00:00.12", "2020-01-01 24:00:00",
    "2020-01-01 00:00:00\n", "8999999999999999999", "9223372036854775807", "-9223372036854775808",
    "18446744073709551615", "1970-12-31", "1980-12-31", "2020-02-29", "2020-04-31", "2038-01-01",
    "1980-03-30 23:59:59", "2037-12-31 23:59:59", "2038-12-31 23:59:59",
)  # fmt: skip


def of_columns(column: ColumnInfo, value: bytes) -> Value | ScenarioError:
    try:
        return stored_values(column, pa.array([value, None], pa.binary()), LENIENT)[0].as_py()
    except ScenarioError as error:
        return error


def of_value(column: ColumnInfo, value: bytes) -> Value | ScenarioError:
    try:
        return stored_value(column, value, LENIENT)
    except ScenarioError as error:
        return error


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{column.type.name}-{column.unsigned:d}")
def test_values_of_a_column_are_those_of_each_alone(column: ColumnInfo) -> None:
    for value in map(str.encode, VALUES):
        expected, actual = of_value(column, value), of_columns(column, value)
        assert repr(actual) == repr(expected), value


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: f"{column.type.name}-{column.unsigned:d}")
def test_a_column_may_have_values_of_all_kinds(column: ColumnInfo) -> None:
    kinds = ((value, of_value(column, value)) for value in map(str.encode, VALUES))
    stored = {value: form for value, form in kinds if not isinstance(form, ScenarioError)}
    assert stored
    values = pa.array([None, *stored, *stored], pa.binary())
    assert stored_values(column, values, LENIENT).to_pylist() == [None, *stored.values(), *stored.values()]
