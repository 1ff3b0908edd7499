"""Row keys of columns have the same bytes as those of ``model.row_key``."""

from __future__ import annotations

import math
import random
import struct
from typing import Any

import pyarrow as pa
import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.row_key import handle_of, index_key, int_key
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import coerce
from ticdc_producer.model.values.collation import KNOWN, charset_of
from ticdc_producer.scenario.columns.key_columns import StoredKey, row_keys, stored_key
from ticdc_producer.scenario.dataframe import tables

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
    "DECIMAL(65,30)": lambda: f"{_RANDOM.choice('+-')}{_RANDOM.randrange(10**28)}.{_RANDOM.randrange(9)}",
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


def _compare(key: StoredKey, rows: list[list[bytes]]) -> None:
    """:param rows: the canonical values of the table's columns."""
    columns = {offset: pa.array(values, pa.binary()) for offset, values in enumerate(zip(*rows, strict=True))}
    keys, _ = row_keys(key, columns)
    for row_key, values in zip(keys.to_pylist(), rows, strict=True):
        expected = (
            int_key(int(values[key.offsets[0]]))
            if key.integer
            else index_key(key.table.columns, key.index, values)
        )
        assert row_key == expected, (key.table.columns, values)
    half = len(rows) // 2
    parts = [
        {offset: column.slice(*part) for offset, column in columns.items()} for part in ((0, half), (half,))
    ]
    assert pa.concat_arrays([row_keys(key, part)[0] for part in parts]).equals(keys)


@pytest.mark.parametrize("sql", _MAKERS)
def test_every_type_of_key_column(sql: str) -> None:
    table = _single(sql)
    rows = [[coerce(table.columns[0], _MAKERS[sql]()) or b""] for _ in range(_ROWS)]
    _compare(stored_key(table), rows)


def test_keys_of_several_columns_and_prefixes() -> None:
    by_name = tables(
        """
        CREATE TABLE p (a VARCHAR(40), b VARBINARY(40), c INT, PRIMARY KEY (b(9), a(3), c) CLUSTERED);
        CREATE TABLE n (a VARCHAR(40) NOT NULL, b VARBINARY(40), c INT NOT NULL, UNIQUE KEY (c, a));
        CREATE TABLE u (a VARCHAR(40), b VARBINARY(40), c INT, PRIMARY KEY (c) NONCLUSTERED);
        """
    )
    indexed = [by_name[name] for name in "pnu"]

    def row(table: TableInfo) -> list[bytes]:
        values = (_latin(30), _RANDOM.randbytes(_RANDOM.randrange(30)), _RANDOM.randrange(99))
        return [coerce(column, value) or b"" for column, value in zip(table.columns, values, strict=True)]

    keys = [stored_key(table) for table in indexed]
    assert [key.integer for key in keys] == [False, False, False]
    for key in keys:
        _compare(key, [row(key.table) for _ in range(_ROWS)])


def test_every_character_of_the_general_collation() -> None:
    table = _single("VARCHAR(700) COLLATE utf8mb4_general_ci")
    characters = [chr(code) for code in range(1, 0x10000) if not 0xD800 <= code <= 0xDFFF]
    texts = ["".join(characters[start : start + 500]) for start in range(0, len(characters), 500)]
    _compare(stored_key(table), [[text.encode()] for text in texts])


@pytest.mark.parametrize("collation", sorted(KNOWN - {"binary"}))
def test_every_collation(collation: str) -> None:
    charset = charset_of(collation)
    table = _single(f"VARCHAR(40) CHARACTER SET {charset} COLLATE {collation}")
    texts = [_text("".join(map(chr, range(128))), 12) + " " * (number % 2) for number in range(_ROWS)]
    others = [] if charset == "ascii" else ["é中", "é中 ", "Ab中 c"]
    _compare(stored_key(table), [[text.encode()] for text in [*texts, *others, ""]])


def test_row_ids() -> None:
    numbers = [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    values = {0: pa.array([str(number).encode() for number in numbers])}
    _, handles = row_keys(stored_key(_single("BIGINT UNSIGNED")), values)
    assert handles.to_pylist() == [handle_of(number) for number in numbers]
    _, none = row_keys(stored_key(_single("VARCHAR(9)")), values)
    assert set(none.to_pylist()) == {0}


@pytest.mark.parametrize("sql", _MAKERS)
def test_null_has_no_key(sql: str) -> None:
    """The old rows of inserts have none."""
    table = _single(sql)
    value = coerce(table.columns[0], _MAKERS[sql]())
    keys, _ = row_keys(stored_key(table), {0: pa.array([None, value], pa.binary())})
    assert [key is None for key in keys.to_pylist()] == [True, False]


def test_tables_without_a_key_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"table test\.t has no primary key"):
        stored_key(tables("CREATE TABLE t (a INT, b INT UNIQUE)")["t"])
