"""Definitions that change, and literals of DDLs: what is refused so that no value stays in clear."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.masks.test_masked_recordings import SECRET, T, rules
from tests.recording.test_record import golden, rows
from ticdc_producer import ProducerError, mask, record
from ticdc_producer.masks.rules import KEY_VARIABLE, read_rules
from ticdc_producer.masks.statements import StatementMasks
from ticdc_producer.masks.tables import MaskedTables
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)


TEXTS = f"{T}, a VARCHAR(9)); INSERT INTO t VALUES (1, 'Alice')"
AGAIN = "test.t.a has definitions that are masked differently"


@pytest.mark.parametrize(
    ("sql", "rule", "what"),
    [
        (f"{TEXTS}; DROP TABLE t; {T}, a INT)", "types: [varchar]", AGAIN),
        (f"{TEXTS}; ALTER TABLE t DROP COLUMN a; ALTER TABLE t ADD COLUMN a INT", "columns: [a]", AGAIN),
        (f"{TEXTS}; DROP TABLE t; {T}, a VARBINARY(9))", "columns: [a]", AGAIN),
        (f"{T}, b INT, a INT AS (b) STORED); DROP TABLE t; {T}, b INT, a INT)", "columns: [b]",
         "test.t has masked columns, and another that is generated at some times only"),
    ],
)  # fmt: skip
def test_definitions_of_a_name_that_are_masked_differently_are_refused(
    tmp_path: Path, sql: str, rule: str, what: str
) -> None:
    folder = golden(tmp_path / "golden", "canal-json&enable-tidb-extension=true", sql)
    with pytest.raises(ProducerError, match=what) as error:
        record(
            folder=folder, out=tmp_path / "r", mask=rules(tmp_path, f"rules: [{{{rule}, method: format}}]")
        )
    assert "Alice" not in str(error.value)
    assert not (tmp_path / "r").exists()


def test_definitions_of_a_name_that_are_masked_alike_are_recorded(tmp_path: Path) -> None:
    folder = golden(tmp_path / "golden", "open-protocol", f"{TEXTS}; DROP TABLE t; {T}, a VARCHAR(20))")
    assert record(
        folder=folder, out=tmp_path / "r", mask=rules(tmp_path, "rules: [{columns: [a], method: format}]")
    )


RANGES = "CREATE TABLE t (a VARCHAR(20), b INT, PRIMARY KEY (a, b)) PARTITION BY RANGE COLUMNS"
BOUND = "PARTITION q VALUES LESS THAN (4711)"


@pytest.mark.parametrize("change", [f"ADD PARTITION ({BOUND})", f"REORGANIZE PARTITION p INTO ({BOUND})"])
def test_bounds_that_may_be_of_masked_columns_are_refused(tmp_path: Path, change: str) -> None:
    given = read_rules(rules(tmp_path, "rules: [{columns: [t.a, t.b], method: format}]"))
    masks, alter = StatementMasks(MaskedTables(given)), f"ALTER TABLE t {change}"
    column = ColumnInfo(name="a", type=MySQLType.VARCHAR, charset="utf8mb4", collation="utf8mb4_bin")
    masks.tables.see_table(TableInfo(table_id=1, schema="s", name="t", columns=(column,)))
    with pytest.raises(ProducerError, match="has bounds, and its PARTITION BY is not known") as error:
        masks.masked(alter, "s", "here")
    assert "4711" not in str(error.value)
    masks.see_partitions(f"{RANGES} (a) (PARTITION p VALUES LESS THAN ('b'))", "s")
    with pytest.raises(ProducerError, match="has bounds of the masked column a"):
        masks.masked(alter, "s", "here")


def test_bounds_of_other_columns_stay(tmp_path: Path) -> None:
    sql = f"{RANGES} (b) (PARTITION p VALUES LESS THAN (5)); ALTER TABLE t ADD PARTITION ({BOUND})"
    given = rules(tmp_path, "rules: [{columns: [a], method: format}]")
    record(folder=golden(tmp_path / "golden", "open-protocol", sql), out=tmp_path / "r", mask=given)
    assert any("4711" in (row["statement"] or "") for row in rows(tmp_path / "r"))
    (tmp_path / "dump.sql").write_text(f"CREATE DATABASE s; USE s; {sql};")
    mask(tmp_path / "dump.sql", rules=given, out=tmp_path / "masked.sql")
    assert "4711" in (tmp_path / "masked.sql").read_text()


def test_bounds_are_refused_if_a_renamed_table_may_have_them(tmp_path: Path) -> None:
    given = read_rules(rules(tmp_path, "rules: [{columns: [a], method: format}]"))
    masks = StatementMasks(MaskedTables(given))
    column = ColumnInfo(name="a", type=MySQLType.VARCHAR, charset="utf8mb4", collation="utf8mb4_bin")
    masks.tables.see_table(TableInfo(table_id=1, schema="s", name="t", columns=(column,)))
    masks.see_partitions(f"{RANGES} (b) (PARTITION p VALUES LESS THAN (5))", "s")
    masks.see_partitions(f"{RANGES} (a) (PARTITION p VALUES LESS THAN ('b'))".replace(" t ", " u "), "s")
    assert masks.masked(f"ALTER TABLE t ADD PARTITION ({BOUND})", "s", "here")
    masks.see_partitions("RENAME TABLE t TO v, u TO t", "s")
    with pytest.raises(ProducerError, match="has bounds of the masked column a"):
        masks.masked(f"ALTER TABLE t ADD PARTITION ({BOUND})", "s", "here")


COMPUTED = "a DATE, b INT AS (YEAR(a)) VIRTUAL, c INT AS (b + b) STORED"


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        (f"CREATE TABLE t ({COMPUTED}) PARTITION BY RANGE (c) (PARTITION p VALUES LESS THAN (4711))",
         "s.t has RANGE partitions by the masked column c"),
        (f"CREATE TABLE t ({COMPUTED}, CHECK (c < 4711))", "an expression about c of s.t has literals"),
        (f"CREATE TABLE t ({COMPUTED}); ALTER TABLE t ADD CHECK (b < 4711)",
         "an expression about b of s.t has literals"),
    ],
)  # fmt: skip
def test_columns_that_are_computed_of_masked_ones_have_no_literals_either(
    tmp_path: Path, sql: str, what: str
) -> None:
    (tmp_path / "dump.sql").write_text(f"CREATE DATABASE s; USE s; {sql};")
    given = rules(tmp_path, "rules: [{columns: [a], method: format}]")
    with pytest.raises(ProducerError, match=what) as error:
        mask(tmp_path / "dump.sql", rules=given, out=tmp_path / "masked.sql")
    assert "4711" not in str(error.value)
    given = rules(tmp_path, "rules: [{columns: [z], method: format}]")
    mask(tmp_path / "dump.sql", rules=given, out=tmp_path / "masked.sql")


def test_bounds_of_a_column_that_is_computed_of_a_masked_one_are_refused(tmp_path: Path) -> None:
    given = read_rules(rules(tmp_path, "rules: [{columns: [a], method: format}]"))
    masks = StatementMasks(MaskedTables(given))
    columns = (
        ColumnInfo(name="a", type=MySQLType.DATE),
        ColumnInfo(name="c", type=MySQLType.LONG, generated="stored", expression="year(`a`)"),
    )
    masks.tables.see_table(TableInfo(table_id=1, schema="s", name="t", columns=columns))
    masks.see_partitions(
        "CREATE TABLE t (id INT) PARTITION BY RANGE (c) (PARTITION p VALUES LESS THAN (5))", "s"
    )
    with pytest.raises(ProducerError, match="has bounds of the masked column c"):
        masks.masked(f"ALTER TABLE t ADD PARTITION ({BOUND})", "s", "here")


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("ALTER TABLE t COMMENT 'Alice", "here: a DDL cannot be read"),
        (f"CREATE TABLE t (a INT, CHECK ({'(' * 3000}a{')' * 3000}))", "here: a DDL with literals of masked"),
        (f"CREATE VIEW v AS SELECT {'(' * 3000}'Alice'{')' * 3000}", "here: a DDL with literals of masked"),
    ],
)
def test_a_ddl_that_cannot_be_read_is_refused_with_its_position(tmp_path: Path, sql: str, what: str) -> None:
    masks = StatementMasks(MaskedTables(read_rules(rules(tmp_path, "rules: [{method: format}]"))))
    masks.see_partitions(f"{sql} PARTITION", "s")
    with pytest.raises(ProducerError, match=what) as error:
        masks.masked(sql, "s", "here")
    assert "Alice" not in str(error.value)
