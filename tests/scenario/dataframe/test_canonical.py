"""For every column type the conversion of Spark's values equals ``coerce``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.scenario.dataframe import tables
from ticdc_producer.scenario.dataframe.canonical import canonical

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
    def exact(self) -> bool:
        return self.spark.startswith("decimal")

    def given(self, index: int) -> Any:
        """The value at an index as Spark gets it; NULL beyond the last."""
        value = self.values[index] if index < len(self.values) else None
        return f"{value:f}" if self.exact and value is not None else value

    def __str__(self) -> str:
        return f"{self.sql[:40]} from {self.spark}"


def D(*texts: str) -> tuple[Decimal, ...]:
    return tuple(Decimal(text) for text in texts)


CASES = [
    Case("TINYINT", "tinyint", (-128, 0, 127)),
    Case("TINYINT(1)", "boolean", (True, False)),
    Case("SMALLINT UNSIGNED", "int", (0, 65535)),
    Case("MEDIUMINT", "int", (-8388608, 8388607)),
    Case("INT", "bigint", (-(1 << 31), (1 << 31) - 1)),
    Case("BIGINT", "bigint", (-(1 << 63), (1 << 63) - 1)),
    Case("BIGINT UNSIGNED", "decimal(20,0)", D("0", "18446744073709551615")),
    Case("BIGINT UNSIGNED", "bigint", (0, (1 << 63) - 1)),
    Case("DECIMAL(10,2)", "decimal(10,2)", D("0", "-0.01", "99999999.99", "0.50", "-12")),
    Case("DECIMAL(10,2)", "decimal(12,5)", D("0.005", "-0.005", "0.00499", "-0.00499", "1.99500")),
    Case("DECIMAL(65,30)", "decimal(38,10)", D("1E-10", "-9999999999999999999999999999.9999999999", "0")),
    Case("DECIMAL(38,0)", "decimal(38,0)", D("9" * 38, "-" + "9" * 38)),
    Case("DECIMAL(30,30)", "decimal(38,38)", D("1E-30", "0.000000000000000000000000000000499", "-1E-38")),
    Case("DECIMAL(20,3)", "bigint", (-(10**16), 7)),
    Case("DECIMAL(5,0) UNSIGNED", "decimal(6,1)", D("0.5", "99999.4")),
    Case("FLOAT", "float", (0.1, 1e21, -0.0, 1e-45, 16777216.0)),
    Case("FLOAT", "double", (0.1, 3.4028234663852886e38, 1e-7)),
    Case("DOUBLE", "double", (0.1, 1e21, -0.0, 5e-324, 1.7976931348623157e308)),
    Case("DOUBLE", "decimal(10,3)", D("1.125", "-7")),
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
    Case("CHAR(4)", "string", ("", "ab  ", "äöü😀", "abcd   ")),
    Case("VARCHAR(4)", "string", ("", "ab  ", "äöü😀", "abcd   ", "a\n\0b")),
    Case("VARCHAR(4) CHARACTER SET ascii", "string", ("az\n~",)),
    Case("VARCHAR(4) CHARACTER SET utf8", "string", ("ä€",)),
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


def canonical_values(spark: SparkSession, cases: list[Case]) -> dict[Case, list[Any]]:
    """The canonical values of all cases, from one Spark job."""
    typed = StructType.fromDDL(", ".join(f"c{n} {case.spark}" for n, case in enumerate(cases)))
    # PySpark rounds a Decimal of more than 34 digits when it passes it to the JVM.
    plain = [
        StructType.fromDDL(f"c{n} {'string' if case.exact else case.spark}")[0]
        for n, case in enumerate(cases)
    ]
    depth = max(len(case.values) for case in cases)
    rows = [tuple(case.given(n) for case in cases) for n in range(depth)]
    frame = spark.createDataFrame(rows, StructType(plain)).select(
        *(F.col(field.name).cast(field.dataType) for field in typed)
    )
    columns = [
        canonical(case.column, F.col(f.name), f.dataType) for case, f in zip(cases, typed, strict=True)
    ]
    found = frame.select(*columns).collect()
    return {case: [row[n] for row in found] for n, case in enumerate(cases)}


@pytest.fixture(scope="module")
def texts(spark: SparkSession) -> dict[Case, list[Any]]:
    return canonical_values(spark, CASES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_those_of_coerce(texts: dict[Case, list[Any]], case: Case) -> None:
    expected = [coerce(case.column, value) for value in case.values]
    assert texts[case][: len(expected)] == expected


def test_the_ansi_mode_of_the_session_does_not_count(spark: SparkSession) -> None:
    concerned = [
        case for case in CASES if case.sql.startswith(("DECIMAL", "BIGINT", "TIME", "DATETIME", "YEAR"))
    ]
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false" if before == "true" else "true")
    try:
        found = canonical_values(spark, concerned)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    for case in concerned:
        assert found[case][: len(case.values)] == [coerce(case.column, value) for value in case.values], case


def test_null_remains_null(texts: dict[Case, list[Any]]) -> None:
    shorter = [found[len(case.values) :] for case, found in texts.items() if len(case.values) < len(found)]
    assert len(shorter) > 20
    assert not any(any(rest) for rest in shorter)


def test_examples(texts: dict[Case, list[Any]]) -> None:
    found = {str(case): values for case, values in texts.items()}
    assert found["DECIMAL(10,2) from decimal(12,5)"][:2] == [b"0.01", b"-0.01"]
    assert found["DECIMAL(10,2) from decimal(12,5)"][3] == b"0.00"
    assert found["DATETIME(3) from timestamp_ntz"][1] == b"2022-01-01 00:00:00.000"
    assert found["DATETIME from timestamp_ntz"][0] == b"2021-12-20 12:00:01"
    assert found["BINARY(4) from binary"][1] == b"\xff\0\0\0"
    assert found["TIME(3) from string"][:3] == [b"00:00:00.000", b"-00:00:00.001", b"13:00:00.000"]


_REFUSED = [
    ("TINYINT", "int", 128, "Out of range value for column 'v': '128'"),
    ("INT UNSIGNED", "int", -1, "Out of range value for column 'v': '-1'"),
    ("BIGINT UNSIGNED", "decimal(38,0)", Decimal(1 << 64), "'18446744073709551616'"),
    ("DECIMAL(4,2)", "decimal(10,3)", Decimal("99.995"), "Out of range value for column 'v': '99.995'"),
    ("DECIMAL(4,2) UNSIGNED", "decimal(10,3)", Decimal("-1.000"), "Out of range value for column 'v'"),
    ("FLOAT", "double", 3.5e38, "Out of range value for column 'v': '3.5E38'"),
    ("DOUBLE", "double", float("nan"), "Out of range value for column 'v': 'NaN'"),
    ("DOUBLE", "double", float("inf"), "Out of range value for column 'v': 'Infinity'"),
    ("DOUBLE UNSIGNED", "double", -0.5, "Out of range value for column 'v': '-0.5'"),
    ("DOUBLE(5,1)", "double", 9999.96, "Out of range value for column 'v': '9999.96'"),
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


_FAST = {
    "TINYINT", "DECIMAL(4,2)", "DOUBLE(5,1)", "BIT(3)", "TIMESTAMP", "CHAR(2)",
    "VARCHAR(9) CHARACTER SET gbk",
    "SET('a','b')", "JSON", "INT NOT NULL",
}  # fmt: skip
"""A type for each way in which a value does not fit. Every refusal ends a job of Spark."""


@pytest.mark.parametrize(
    ("sql", "kind", "value", "message"),
    [
        pytest.param(sql, *of_case, marks=() if sql in _FAST else pytest.mark.slow)
        for sql, *of_case in _REFUSED
    ],
)
def test_a_value_that_does_not_fit_stops_the_job(
    spark: SparkSession, sql: str, kind: str, value: Any, message: str
) -> None:
    schema = StructType.fromDDL(f"v {kind}")
    made = canonical(Case(sql, kind, ()).column, F.col("v"), schema[0].dataType)
    rows = spark.createDataFrame([(value,)], schema).select(made)
    with pytest.raises(Exception, match=message):
        rows.collect()


def test_bytes_that_are_not_text_stop_the_job(spark: SparkSession) -> None:
    broken: Column = F.lit(b"a\xff").cast("string")
    column = Case("TEXT", "string", ()).column
    rows = spark.range(1).select(canonical(column, broken, StructType.fromDDL("v string")[0].dataType))
    with pytest.raises(Exception, match=r"Incorrect string value \(utf8mb4\) for column 'v'"):
        rows.collect()


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("INT", "string"), ("INT", "decimal(10,1)"), ("INT", "double"), ("DECIMAL(5,2)", "double"),
        ("DOUBLE", "string"), ("VARCHAR(9)", "binary"), ("BLOB", "string"), ("DATE", "timestamp"),
        ("DATETIME", "date"), ("TIME", "timestamp"), ("JSON", "struct<a:int>"), ("ENUM('a')", "double"),
        ("SET('a')", "decimal(3,1)"), ("YEAR", "string"), ("BIT(3)", "binary"),
    ],
)  # fmt: skip
def test_a_type_that_does_not_fit_is_refused_at_once(spark: SparkSession, sql: str, kind: str) -> None:
    field = StructType.fromDDL(f"v {kind}")[0]
    with pytest.raises(ScenarioError, match="column 'v' is") as caught:
        canonical(Case(sql, kind, ()).column, F.col("v"), field.dataType)
    assert field.dataType.simpleString() in caught.value.what
    assert caught.value.column == "v"
    assert caught.value.hint
