"""Statements of dumps: settings, locks, stored programs, DELIMITER."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, jobs_of, rows_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.text.statements import split_statements

T = "create table t (id int auto_increment primary key, at timestamp null, v varchar(9));"


def test_settings_are_saved_and_restored() -> None:
    script = T + (
        "/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;"
        "/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */; /*!40103 SET TIME_ZONE='+08:00' */;"
        "insert into t values (0, '2020-01-01 08:00:00', 'a');"
        "/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */; /*!40101 SET SQL_MODE=@`OLD_SQL_MODE` */;"
        "insert into t values (0, '2020-01-01 08:00:00', 'b')"
    )
    assert rows_of(script) == [
        (b"0", b"2020-01-01 00:00:00", b"a"),
        (b"1", b"2020-01-01 08:00:00", b"b"),
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */",
        "/*!40101 SET NAMES utf8mb4 */",
        "set names latin1 collate latin1_bin",
        "set character set 'utf8'",
        "SET @@SESSION.SQL_LOG_BIN= 0",
        "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ ''",
        "/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */",
        "/*M!999999\\- enable the sandbox mode */",
        "/*M!100616 SET @OLD_NOTE_VERBOSITY=@@NOTE_VERBOSITY, NOTE_VERBOSITY=0 */",
        "set session transaction isolation level repeatable read",
        "lock tables `a` write, `b` read local",
        "unlock tables",
    ],
)
def test_statements_without_an_effect(statement: str) -> None:
    assert history_of(statement + ";").commits == 0


def test_an_option_of_create_database_that_tidb_reads() -> None:
    script = "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `d` /*!40100 DEFAULT CHARACTER SET utf8mb4 */ "
    assert jobs_of(script + "/*!80016 DEFAULT ENCRYPTION='N' */;") == ["CREATE_SCHEMA"]


def test_lock_tables_commits() -> None:
    session = Session()
    session.run(T + "begin; insert into t set id = 1; lock tables t write; insert into t set id = 2")
    assert [change.commit_seq for change in session.history().changes] == [1, 2]


def test_stored_programs_are_noted_with_their_line() -> None:
    script = T + (
        "\nDELIMITER ;;\n/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`%`*/ /*!50003 TRIGGER g BEFORE INSERT ON t\n"
        "FOR EACH ROW begin if new.v = ';;' then set new.v = 'x;'; end if; end */;;\n"
        "create function f(n int) returns int begin return n; end ;;\nDELIMITER ;\n"
        "drop procedure if exists p; create or replace event e on schedule every 1 day do delete from t"
    )
    history = history_of(script)
    assert history.commits == 1
    assert [(note.line, note.text) for note in history.ignored_statements.notes] == [
        (3, "CREATE TRIGGER is ignored: TiDB has no triggers"),
        (5, "CREATE FUNCTION is ignored: TiDB has no stored functions"),
        (7, "DROP PROCEDURE is ignored: TiDB has no stored procedures"),
        (7, "CREATE EVENT is ignored: TiDB has no events"),
    ]


def test_what_only_reads_is_counted() -> None:
    counts = history_of("select 1; show tables; select 2; explain select 1").ignored_statements.counts
    assert counts == {"SELECT": 2, "SHOW": 1, "EXPLAIN": 1}


def test_a_body_that_is_cut_at_its_first_semicolon_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r"line 2: CREATE TRIGGER .* \(write DELIMITER"):
        history_of(T + "\ncreate trigger g before insert on t for each row begin set new.v = 1; end;")


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("delimiter $$\ndo 1$$do '$$'$$\ndelimiter ;\nselect 2", ["do 1", "do '$$'", "select 2"]),
        ("DELIMITER //\nselect 2; select 3//\n-- //\nDELIMITER ;\n", ["select 2", "select 3"]),
        ("select '\ndelimiter x\n'; select 1", ["select '\ndelimiter x\n'", "select 1"]),
        ("/* \ndelimiter x\n*/ select 1; select 2", ["select 1", "select 2"]),
        ("select\ndelimiter x", ["select\ndelimiter x"]),
    ],
)  # fmt: skip
def test_delimiter_commands(text: str, statements: list[str]) -> None:
    assert [statement.text for statement in split_statements(text)] == statements
