"""Dumps with rules: what they leave out, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.masks.test_masked_recordings import SECRET, T, rules
from ticdc_producer import ProducerError, mask, suggest_rules
from ticdc_producer.masks.rules import KEY_VARIABLE

FORMAT = "rules: [{columns: [a], method: format}]"
DATABASE = "CREATE DATABASE s; USE s;\n"


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, SECRET)


def masked(folder: Path, sql: str, text: str = FORMAT) -> str:
    (folder / "dump.sql").write_bytes(f"{DATABASE}{sql}".encode("utf-8", "surrogateescape"))
    mask(folder / "dump.sql", rules=rules(folder, text), out=folder / "masked.sql")
    return (folder / "masked.sql").read_text()


def test_rules_of_a_dump_are_those_of_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "dump.sql").write_text("")
    with pytest.raises(ProducerError, match="give exactly one source: `sink_uri`, `folder` or `dump`"):
        suggest_rules(tmp_path / "dump.sql", sink_uri="kafka://127.0.0.1:1/t?protocol=simple")
    with pytest.raises(ProducerError, match="`kafka_properties` cannot be combined with `dump`"):
        suggest_rules(tmp_path / "dump.sql", kafka_properties=["a=b"])


def test_no_statement_keeps_its_comments(tmp_path: Path) -> None:
    text = masked(
        tmp_path,
        f"{T}, a VARCHAR(9)); CREATE TABLE u (id INT PRIMARY KEY, -- Ann\n b VARCHAR(20));"
        "INSERT INTO u /* by Bob */ VALUES (1, '-- a text #1') -- Carol\n;"
        "INSERT INTO t VALUES (1, /* Dave */ 'x'); SET NAMES utf8mb4 -- Eve\n; SET NAMES /* Fay */ utf8mb4;"
        "ALTER TABLE u # Gina\n COMMENT = 'kept /* here */'; USE /* Hal */ s;",
    )
    assert not [name for name in ("Ann", "Bob", "Carol", "Dave", "Eve", "Fay", "Gina", "Hal") if name in text]
    assert "'-- a text #1'" in text
    assert "'kept /* here */'" in text


def test_executable_comments_stay_in_statements_without_others(tmp_path: Path) -> None:
    text = masked(tmp_path, f"{T}); /*!40000 ALTER TABLE t DISABLE KEYS */;")
    assert "/*!40000 ALTER TABLE t DISABLE KEYS */;\n" in text


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("SET PASSWORD = 'Alice';", "dump.sql:2: SET PASSWORD has a secret"),
        ("INSERT INTO t (id, b) VALUES (1, 'Alice');", "this INSERT names a column that s.t lacks"),
        ("INSERT INTO t VALUES (1, 'José Alice'); ALTER TABLE t ADD UNIQUE KEY (a);",
         "dump.sql:2: its rule does not keep a value of s.t.a unique"),
        ("CREATE TABLE w (a ENUM('©Alice', 'éAlice'));", "masked members of an ENUM or SET are equal"),
        ("CREATE VIEW v AS SELECT id FROM t WHERE a = 'Alice';", "the query of a view has literals"),
        ("CREATE VIEW v AS SELECT id FROM x WHERE id = 'Alice';", "dump.sql:2: "),
        ("CREATE VIEW v AS SELECT 'Alice' AS a;", "the query of a view has literals"),
        ("INSERT INTO t VALUES (1, 'x'); Alice', 'y');", "dump.sql:2: SQL does not parse"),
        ("ALICE ('y');", "dump.sql:2: this statement has values that cannot be masked"),
    ],
)  # fmt: skip
def test_what_cannot_be_masked_is_refused_without_its_values(tmp_path: Path, sql: str, what: str) -> None:
    with pytest.raises(ProducerError, match=what) as error:
        masked(tmp_path, f"{T}, a VARCHAR(20)); {sql}")
    assert "alice" not in str(error.value).lower()
    assert not (tmp_path / "masked.sql").exists()


def test_views_of_other_tables_keep_their_literals(tmp_path: Path) -> None:
    view = "CREATE VIEW v AS SELECT id FROM u WHERE b = 'x1';"
    sql = f"{T}, a VARCHAR(20)); CREATE TABLE u (id INT PRIMARY KEY, b VARCHAR(9)); {view}"
    assert "'x1'" in masked(tmp_path, sql)


def test_rules_are_proposed_for_a_dump_with_views(tmp_path: Path) -> None:
    view = "CREATE VIEW v AS SELECT id FROM t WHERE id = 5"
    sql = f"{DATABASE}{T}, email VARCHAR(20)); {view}; INSERT INTO t VALUES (1, 'x');"
    (tmp_path / "dump.sql").write_text(sql)
    assert "- s.t.email" in suggest_rules(tmp_path / "dump.sql")


def test_an_empty_dump_stays_empty(tmp_path: Path) -> None:
    (tmp_path / "dump.sql").touch()
    mask(tmp_path / "dump.sql", rules=rules(tmp_path, FORMAT), out=tmp_path / "masked.sql")
    assert not (tmp_path / "masked.sql").read_bytes()
    assert "rules: []" in suggest_rules(tmp_path / "dump.sql")


def test_a_file_in_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dump.sql").touch()
    with pytest.raises(ProducerError, match="there is no folder"):
        mask(tmp_path / "dump.sql", rules=rules(tmp_path, FORMAT), out=tmp_path / "none" / "masked.sql")


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dump.sql").touch()
    out = tmp_path / f"{'x' * 250}.sql"
    with pytest.raises(ProducerError, match="the file cannot be used: File name too long"):
        mask(tmp_path / "dump.sql", rules=rules(tmp_path, FORMAT), out=out)
