"""Row keys from Spark expressions have the same bytes as those of ``model.row_key``."""

from __future__ import annotations

import math
import random
import struct
from itertools import chain
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.row_key import handle_of, index_key, int_key
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.scenario.dataframe import tables
from ticdc_producer.scenario.dataframe.row_key import StoredKey, stored_key

_RANDOM = random.Random(5)
_ROWS = 150


def _finite(count: int) -> list[float]:
    numbers = struct.unpack(f">{4 * count}d", _RANDOM.randbytes(32 * count))
    return [number for number in numbers if math.isfinite(number)][:count]


def _text(alphabet: str, longest: int) -> str:
    return "".join(_RANDOM.choices(alphabet, k=_RANDOM.randrange(longest)))


def _latin(longest: int) -> str:
    return _text("abcXYZ äßÖéİ\t中가Ǆﬀ😀\uffff", longest)


_MAKERS: dict[str, Any] = {
    "BIGINT": lambda: _RANDOM.randrange(-(1 << 63), 1 << 63),
    "BIGINT UNSIGNED": lambda: _RANDOM.randrange(1 << 64),
    "TINYINT": lambda: _RANDOM.randrange(-128, 128),
    "DOUBLE": lambda: _RANDOM.choice([0.0, 5e-324, -5e-324, -1.0, 2.2250738585072014e-308, *_finite(5)]),
    "FLOAT": lambda: _RANDOM.choice([0.1, -0.1, 1e-45, 3.4e38, _RANDOM.uniform(-9, 9)]),
    "DECIMAL(38,10)": lambda: f"{_RANDOM.choice('+-')}{_RANDOM.randrange(10 ** _RANDOM.randrange(1, 28))}.12",
    "DECIMAL(38,0)": lambda: _RANDOM.choice(["9" * 38, "-" + "9" * 38, "-1", f"{1 << 32}", f"-{1 << 32}"]),
    "TIME(6)": lambda: f"{_RANDOM.choice(['', '-'])}{_RANDOM.randrange(838)}:00:0{_RANDOM.random():.6f}"[:16],
    "DATETIME(3)": lambda: f"{_RANDOM.randrange(1000, 9999)}-02-03 04:05:06.{_RANDOM.randrange(1000):03d}",
    "DATE": lambda: f"{_RANDOM.randrange(1000, 9999)}-02-03",
    "YEAR": lambda: _RANDOM.randrange(1901, 2156),
    "ENUM('a','b','c')": lambda: _RANDOM.choice("abc"),
    "VARBINARY(40)": lambda: _RANDOM.randbytes(_RANDOM.randrange(40)),
    "BINARY(8)": lambda: _RANDOM.randbytes(_RANDOM.randrange(8)),
    "VARCHAR(40)": lambda: _latin(40),
    "VARCHAR(40) COLLATE utf8mb4_general_ci": lambda: _latin(40),
    "VARCHAR(40) COLLATE utf8mb4_unicode_ci": lambda: _latin(40),
    "VARCHAR(40) COLLATE utf8mb4_0900_ai_ci": lambda: _latin(40),
    "VARCHAR(40) CHARACTER SET gbk": lambda: _text("aZ 中国", 40),
    "VARCHAR(40) CHARACTER SET ascii": lambda: _text("aZ ~\0", 40),
}  # fmt: skip


def _single(sql: str) -> TableInfo:
    return tables(f"CREATE TABLE t (v {sql}, PRIMARY KEY (v) CLUSTERED)")["t"]


def _compare(spark: SparkSession, keys: list[StoredKey], columns: list[list[list[bytes]]]) -> None:
    """:param columns: per key, per row, the canonical values of the table's columns."""
    names = [[f"k{k}_{offset}" for offset in range(len(key.table.columns))] for k, key in enumerate(keys)]
    schema = StructType.fromDDL(", ".join(f"{name} binary" for group in names for name in group))
    rows = [list(chain.from_iterable(parts)) for parts in zip(*columns, strict=True)]
    made = [
        key.row_key({offset: F.col(name) for offset, name in enumerate(group)}).alias(f"r{k}")
        for k, (key, group) in enumerate(zip(keys, names, strict=True))
    ]
    found = spark.createDataFrame(rows, schema).coalesce(1).select(*made).collect()
    for k, key in enumerate(keys):
        for row, values in zip(found, columns[k], strict=True):
            if key.integer:
                expected = int_key(int(values[key.offsets[0]]))
            else:
                expected = index_key(key.table.columns, key.index, values) or b""
            assert bytes(row[k]) == expected, (key.table.columns, values)


def test_every_type_of_key_column(spark: SparkSession) -> None:
    found = {sql: _single(sql) for sql in _MAKERS}
    columns = [
        [[coerce(table.columns[0], _MAKERS[sql]()) or b""] for _ in range(_ROWS)]
        for sql, table in found.items()
    ]
    _compare(spark, [stored_key(table) for table in found.values()], columns)


def test_keys_of_several_columns_and_prefixes(spark: SparkSession) -> None:
    found = tables(
        """
        CREATE TABLE p (a VARCHAR(40), b VARBINARY(40), c INT, PRIMARY KEY (b(9), a(3), c) CLUSTERED);
        CREATE TABLE n (a VARCHAR(40) NOT NULL, b VARBINARY(40), c INT NOT NULL, UNIQUE KEY (c, a));
        CREATE TABLE u (a VARCHAR(40), b VARBINARY(40), c INT, PRIMARY KEY (c) NONCLUSTERED);
        """
    )
    chosen = [found[name] for name in "pnu"]

    def row(table: TableInfo) -> list[bytes]:
        values = (_latin(30), _RANDOM.randbytes(_RANDOM.randrange(30)), _RANDOM.randrange(99))
        return [coerce(column, value) or b"" for column, value in zip(table.columns, values, strict=True)]

    keys = [stored_key(table) for table in chosen]
    assert [key.integer for key in keys] == [False, False, False]
    _compare(spark, keys, [[row(table) for _ in range(_ROWS)] for table in chosen])


def test_every_character_of_the_general_collation(spark: SparkSession) -> None:
    table = _single("VARCHAR(700) COLLATE utf8mb4_general_ci")
    characters = [chr(code) for code in range(1, 0x10000) if not 0xD800 <= code <= 0xDFFF]
    texts = ["".join(characters[start : start + 500]) for start in range(0, len(characters), 500)]
    _compare(spark, [stored_key(table)], [[[text.encode()] for text in texts]])


def test_row_ids(spark: SparkSession) -> None:
    numbers = [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    unsigned, text = stored_key(_single("BIGINT UNSIGNED")), stored_key(_single("VARCHAR(9)"))
    rows = spark.createDataFrame([(str(number).encode(),) for number in numbers], "v binary").coalesce(1)
    found = rows.select(unsigned.row_id({0: F.col("v")}), text.row_id({0: F.col("v")})).collect()
    assert [row[0] for row in found] == [handle_of(number) for number in numbers]
    assert {row[1] for row in found} == {0}


def test_tables_without_a_key_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"table test\.t has no primary key"):
        stored_key(tables("CREATE TABLE t (a INT, b INT UNIQUE)")["t"])


def test_keys_that_spark_cannot_order_are_refused_by_name(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedSQL, match="more than 38 digits") as caught:
        stored_key(_single("DECIMAL(39,0)")).row_key({0: F.col("v")})
    assert caught.value.column == "v"
