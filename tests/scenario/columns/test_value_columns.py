"""For every column type the conversion of columns of values equals ``coerce``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.scenario.columns.value_columns import canonical_column, required_column
from ticdc_producer.scenario.dataframe import tables
from ticdc_producer.scenario.dataframe.change_form import check_type

pytestmark = pytest.mark.usefixtures("spark")  # reads the names of Spark's types

NOON = datetime(2021, 12, 20, 12, 0, 0, 654_321)


@dataclass(frozen=True)
class Case:
    """Values of one Spark type for a column of one SQL type."""

    sql: str
    spark: str
    values: tuple[Any, ...]

    @property
    def column(self) -> ColumnInfo:
        return tables(f"CREATE TABLE t (id INT PRIMARY KEY, v {self.sql})")["t"].columns[1]

    @property
    def field(self) -> StructField:
        return StructType.fromDDL(f"v {self.spark}")[0]

    def column_of(self, values: Sequence[Any], zone: str = "UTC") -> pa.Array:
        """Values as Spark gives them to a task."""
        return pa.array(values, to_arrow_schema(StructType([self.field]), timezone=zone)[0].type)

    def __str__(self) -> str:
        return f"{self.sql[:40]} from {self.spark}"


def D(*texts: str) -> tuple[Decimal, ...]:
    return tuple(Decimal(text) for text in texts)


CASES = [
    Case("TINYINT", "tinyint", (-128, 0, 127)),
    Case("TINYINT(1)", "boolean", (True, False)),
    Case("SMALLINT UNSIGNED", "int", (0, 65535)),
    Case("MEDIUMINT", "int", (-8388608, 8388607)),
    Case("INT", "decimal(12,0)", D("-2147483648", "2147483647")),
    Case("INT", "bigint", (-(1 << 31), (1 << 31) - 1)),
    Case("BIGINT", "bigint", (-(1 << 63), (1 << 63) - 1)),
    Case("BIGINT UNSIGNED", "decimal(20,0)", D("0", "18446744073709551615")),
    Case("BIGINT UNSIGNED", "bigint", (0, (1 << 63) - 1)),
    Case("DECIMAL(10,2)", "decimal(10,2)", D("0", "-0.01", "99999999.99", "0.50", "-12")),
    Case("DECIMAL(10,2)", "decimal(12,5)", D("0.005", "-0.005", "0.00499", "-0.00499", "1.99500")),
    Case("DECIMAL(65,30)", "decimal(38,10)", D("1E-10", "-9999999999999999999999999999.9999999999", "0")),
    Case("DECIMAL(38,0)", "decimal(38,0)", D("9" * 38, "-" + "9" * 38)),
    Case("DECIMAL(30,30)", "decimal(38,38)", D("1E-30", "0.000000000000000000000000000000499", "-1E-38")),
    Case("DECIMAL(38,0)", "decimal(38,5)", D("999.5", "-" + "9" * 33 + ".5", "0.49999")),
    Case("DECIMAL(10,8)", "decimal(20,12)", D("0.000000005", "1E-12", "-99.999999990000")),
    Case("DECIMAL(20,3)", "bigint", (-(10**16), 7)),
    Case("DECIMAL(5,0) UNSIGNED", "decimal(6,1)", D("0.5", "99999.4")),
    Case("FLOAT", "float", (0.1, 1e21, -0.0, 1e-45, 16777216.0)),
    Case("FLOAT", "double", (0.1, 3.4028234663852886e38, 1e-7)),
    Case("DOUBLE", "double", (0.1, 1e21, -0.0, 5e-324, 1.7976931348623157e308)),
    Case("DOUBLE", "decimal(10,3)", D("1.125", "-7")),
    Case("DOUBLE", "decimal(38,19)", D("0.1234567890123456789", "1234567890123456789.5", "1E-19")),
    Case("DOUBLE", "bigint", ((1 << 63) - 1, -(1 << 53) - 1, 0)),
    Case("FLOAT", "int", (16777217, -1)),
    Case("DOUBLE(7,3)", "double", (1.0005, -9999.999, 2.5)),
    Case("FLOAT(7,3) UNSIGNED", "double", (0.0, 1.0005, 9999.999)),
    Case("YEAR", "int", (0, 1, 69, 70, 99, 1901, 2155)),
    Case("BIT(1)", "boolean", (True, False)),
    Case("BIT(64)", "decimal(20,0)", D("0", "18446744073709551615")),
    Case("BIT(10)", "int", (0, 1023)),
    Case("DATE", "date", (date(1, 1, 1), date(2021, 12, 20), date(9999, 12, 31))),
    Case("DATETIME", "timestamp_ntz", (NOON, datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59))),
    Case("DATETIME(3)", "timestamp_ntz", (NOON, datetime(2021, 12, 31, 23, 59, 59, 999_500))),
    Case("DATETIME(6)", "timestamp", (NOON.replace(tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC))),
    Case("TIMESTAMP", "timestamp", (NOON.replace(tzinfo=UTC), datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))),
    Case("TIMESTAMP(1)", "timestamp_ntz", (NOON, datetime(2038, 1, 19, 3, 14, 7, 940_000))),
    Case("TIME", "string", ("00:00:00", "-00:00:00", "838:59:59", "-838:59:59", "1:2:3", "01:02:03.5")),
    Case(
        "TIME(3)",
        "string",
        ("-00:00:00.0004", "-00:00:00.0005", "12:59:59.9995", "00:00:00.5", "100:00:00.12"),
    ),
    Case("TIME(6)", "string", ("00:00:00.0000005", "-0:0:0.00000049", "8:00:00.123456789", "1:02:03")),
    Case("CHAR(4)", "string", ("", "ab  ", "äöü😀", "abcd   ")),
    Case("VARCHAR(4)", "string", ("", "ab  ", "äöü😀", "abcd   ", "a\n\0b")),
    Case("VARCHAR(4) CHARACTER SET ascii", "string", ("az\n~",)),
    Case("CHAR(4) CHARACTER SET ascii", "string", ("a   ", "abcd  ")),
    Case("VARCHAR(4) CHARACTER SET utf8", "string", ("ä€", "ab ")),
    Case("VARCHAR(9) CHARACTER SET gbk", "string", ("中文 a",)),
    Case("VARCHAR(4) CHARACTER SET latin1", "string", ("中é",)),
    Case("TINYTEXT", "string", ("ä" * 127, "")),
    Case("TEXT", "string", ("x" * 1000,)),
    Case("BINARY(4)", "binary", (b"", b"\xff\0", b"abcd")),
    Case("VARBINARY(4)", "binary", (b"", b"\xff\0 ", b"abcd")),
    Case("BLOB", "binary", (bytes(range(256)),)),
    Case("ENUM('a','B','ä')", "string", ("a", "B  ", "ä")),
    Case("ENUM('a','B','ä')", "int", (1, 3)),
    Case("SET('a','b','c')", "string", ("", "a", "c,a", "b,b ")),
    Case("SET('a','b','c')", "int", (0, 7)),
    Case(
        "SET(" + ",".join(f"'m{n}'" for n in range(64)) + ")", "decimal(20,0)", D("18446744073709551615", "0")
    ),
    Case("SET(" + ",".join(f"'m{n}'" for n in range(64)) + ")", "string", ("m63,m0", "m62")),
    Case("JSON", "string", ('{"b": 1, "a": [1.0, 1e100, "\\u00e9"]}', "null", "18446744073709551615")),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_those_of_coerce(case: Case) -> None:
    values = [*case.values, None, *case.values]
    check_type(case.column, case.field.dataType)
    canonical = canonical_column(case.column, case.column_of(values))
    assert canonical.to_pylist() == [coerce(case.column, value) for value in values]
    assert canonical_column(case.column, case.column_of([None, None])).to_pylist() == [None, None]
    assert canonical_column(case.column, case.column_of([])).to_pylist() == []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_slice_of_a_column_has_its_own_values(case: Case) -> None:
    values = case.column_of([*case.values, None, *case.values])
    whole = canonical_column(case.column, values).to_pylist()
    assert (
        canonical_column(case.column, values.slice(1, len(case.values))).to_pylist()
        == (whole[1 : 1 + len(case.values)])
    )


def test_examples() -> None:
    columns = {str(case): canonical_column(case.column, case.column_of(case.values)) for case in CASES}
    values = {name: column.to_pylist() for name, column in columns.items()}
    assert values["DECIMAL(10,2) from decimal(12,5)"][:2] == [b"0.01", b"-0.01"]
    assert values["DECIMAL(10,2) from decimal(12,5)"][3] == b"0.00"
    assert values["DATETIME(3) from timestamp_ntz"][1] == b"2022-01-01 00:00:00.000"
    assert values["DATETIME from timestamp_ntz"][0] == b"2021-12-20 12:00:01"
    assert values["BINARY(4) from binary"][1] == b"\xff\0\0\0"
    assert values["TIME(3) from string"][:3] == [b"00:00:00.000", b"-00:00:00.001", b"13:00:00.000"]


def test_dates_of_the_year_0() -> None:
    days = pa.array([-719528, -719163], pa.int32()).cast(pa.date32())
    texts = [b"0000-01-01", b"0000-12-31"]
    assert canonical_column(Case("DATE", "date", ()).column, days).to_pylist() == texts
    times = canonical_column(Case("DATETIME", "timestamp_ntz", ()).column, days.cast(pa.timestamp("us")))
    assert times.to_pylist() == [text + b" 00:00:00" for text in texts]


_REFUSED = [
    ("TINYINT", "int", 128, "Out of range value for column 'v': '128'"),
    ("INT UNSIGNED", "int", -1, "Out of range value for column 'v': '-1'"),
    ("BIGINT UNSIGNED", "decimal(38,0)", Decimal(1 << 64), "'18446744073709551616'"),
    ("DECIMAL(4,2)", "decimal(10,3)", Decimal("99.995"), "Out of range value for column 'v': '99.995'"),
    ("DECIMAL(4,2) UNSIGNED", "decimal(10,3)", Decimal("-1.000"), "Out of range value for column 'v'"),
    ("FLOAT", "double", 3.5e38, "Out of range value for column 'v': '3.5e\\+38'"),
    ("DOUBLE", "double", float("nan"), "Out of range value for column 'v': 'nan'"),
    ("DOUBLE", "double", float("inf"), "Out of range value for column 'v': 'inf'"),
    ("DOUBLE UNSIGNED", "double", -0.5, "Out of range value for column 'v': '-0.5'"),
    ("DOUBLE(5,1)", "double", 9999.96, "Out of range value for column 'v': '9999.96'"),
    ("INT", "decimal(12,0)", Decimal(1 << 31), "Out of range value for column 'v': '2147483648'"),
    (
        "DECIMAL(36,0)",
        "decimal(38,0)",
        Decimal("1" + "0" * 36),
        "Out of range value for column 'v': '10{36}'",
    ),
    ("DECIMAL(4,2)", "bigint", 100, "Out of range value for column 'v': '100'"),
    ("YEAR", "int", 2156, "Out of range value for column 'v': '2156'"),
    ("BIT(3)", "int", 8, "Data too long for column 'v': '8'"),
    (
        "TIMESTAMP",
        "timestamp_ntz",
        datetime(1970, 1, 1),
        "Incorrect timestamp value for column 'v': '1970-01-01",
    ),
    ("TIMESTAMP", "timestamp_ntz", datetime(2038, 1, 19, 3, 14, 7, 500_000), "Incorrect timestamp value"),
    ("DATETIME", "timestamp_ntz", datetime(9999, 12, 31, 23, 59, 59, 600_000), "Incorrect datetime value"),
    ("TIME", "string", "839:00:00", "Incorrect time value for column 'v': '839:00:00'"),
    ("TIME", "string", "noon", "Incorrect time value for column 'v': 'noon'"),
    ("CHAR(2)", "string", "abc", r"Data too long \(at most 2 characters\) for column 'v': 'abc'"),
    ("TINYTEXT", "string", "ä" * 128, r"Data too long \(at most 255 bytes\) for column 'v': 'ä{120}…'"),
    ("VARBINARY(1)", "binary", b"\xff\0", r"Data too long \(at most 1 bytes\) for column 'v': 'ff00'"),
    (
        "VARCHAR(9) CHARACTER SET ascii",
        "string",
        "é",
        r"Incorrect string value \(ascii\) for column 'v': 'é'",
    ),
    ("VARCHAR(9) CHARACTER SET utf8", "string", "😀", r"Incorrect string value \(utf8\)"),
    ("VARCHAR(9) CHARACTER SET gbk", "string", "á😀", r"Incorrect string value \(gbk\)"),
    ("ENUM('a','b')", "string", "c", "no such ENUM member for column 'v': 'c'"),
    ("ENUM('a','b')", "int", 3, "no such ENUM member for column 'v': '3'"),
    ("SET('a','b')", "string", "a,c", "no such SET member for column 'v': 'a,c'"),
    ("SET('a','b')", "int", 4, "no such SET members for column 'v': '4'"),
    ("JSON", "string", "{", "Invalid JSON text .* for column 'v'"),
    ("INT NOT NULL", "int", None, "Column 'v' cannot be null"),
]


@pytest.mark.parametrize(("sql", "kind", "value", "message"), _REFUSED)
def test_a_value_that_does_not_fit_is_refused(sql: str, kind: str, value: Any, message: str) -> None:
    case = Case(sql, kind, ())
    with pytest.raises(ScenarioError, match=message) as caught:
        required_column(case.column, case.column_of([value]))
    assert caught.value.column == "v"


@pytest.mark.parametrize(
    ("zone", "local"), [("Europe/Berlin", 13), ("GMT+08:00", 20), ("UTC-5", 7), ("+02:00", 14), ("Z", 12)]
)
def test_an_instant_is_a_datetime_in_the_time_zone_of_the_session(zone: str, local: int) -> None:
    """A TIMESTAMP is an instant. The zones are those that Spark accepts for its session."""
    noon = datetime(2021, 12, 20, 12, tzinfo=UTC)
    number = pa.array([int(noon.timestamp()) * 10**6]).cast(pa.timestamp("us", zone))
    by_type = {
        sql: canonical_column(Case(sql, "timestamp", ()).column, number).to_pylist()
        for sql in ("DATETIME", "TIMESTAMP")
    }
    assert by_type == {
        "DATETIME": [f"2021-12-20 {local:02d}:00:00".encode()],
        "TIMESTAMP": [b"2021-12-20 12:00:00"],
    }


def test_bytes_that_are_not_text_are_refused() -> None:
    texts = pa.array([b"a", b"a\xff"]).view(pa.string())
    with pytest.raises(ScenarioError, match=r"Incorrect string value \(utf8mb4\) for column 'v'"):
        canonical_column(Case("TEXT", "string", ()).column, texts)


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("INT", "string"), ("INT", "decimal(10,1)"), ("INT", "double"), ("DECIMAL(5,2)", "double"),
        ("DOUBLE", "string"), ("VARCHAR(9)", "binary"), ("BLOB", "string"), ("DATE", "timestamp"),
        ("DATETIME", "date"), ("TIME", "timestamp"), ("JSON", "struct<a:int>"), ("ENUM('a')", "double"),
        ("SET('a')", "decimal(3,1)"), ("YEAR", "string"), ("BIT(3)", "binary"),
    ],
)  # fmt: skip
def test_a_type_that_does_not_fit_is_refused(sql: str, kind: str) -> None:
    case = Case(sql, kind, ())
    with pytest.raises(ScenarioError, match="column 'v' is") as caught:
        check_type(case.column, case.field.dataType)
    assert case.field.dataType.simpleString() in caught.value.what
    assert caught.value.column == "v"
    assert caught.value.hint
