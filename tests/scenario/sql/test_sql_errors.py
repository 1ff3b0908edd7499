"""Each way a statement can be wrong, and what the error says of it."""

from __future__ import annotations

import pytest

from producer.errors import ScenarioError, UnsupportedSQL
from producer.scenario.sql.session import Session

TABLE = """create table t (
  id int primary key, u int unique, v varchar(5) not null, d decimal(5,2), dt datetime,
  e enum('a','b'), s set('x','y'), y year, ti tinyint unsigned, j json, b bit(3), bin binary(2), tm time,
  ts timestamp null default null, asc_ varchar(5) character set ascii, f float(5,2)
);
"""
LINE = TABLE.count("\n") + 1


def failure(statement: str, before: str = TABLE) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        Session(file="a.sql").run(before + statement)
    return caught.value


VALUES = [
    ("ti", "256", "Out of range value"),
    ("ti", "-1", "Out of range value"),
    ("ti", "'1x'", "Incorrect integer value"),
    ("ti", "''", "Incorrect integer value"),
    ("v", "'abcdef'", "Data too long"),
    ("v", "x'ff'", "Incorrect string value"),
    ("asc_", "'é'", "Incorrect string value"),
    ("bin", "'abc'", "Data too long"),
    ("d", "1000", "Out of range value"),
    ("d", "'x'", "Incorrect decimal value"),
    ("d", "'1e999999999'", "Out of range value"),
    ("f", "1000", "Out of range value"),
    ("dt", "'2021-02-30'", "Incorrect datetime value"),
    ("dt", "'2021-13-01'", "Incorrect datetime value"),
    ("dt", "'0000-00-00'", "Incorrect datetime value"),
    ("dt", "'2021-00-01'", "Incorrect datetime value"),
    ("dt", "'noon'", "Incorrect datetime value"),
    ("ts", "'1969-12-31 23:59:59'", "Incorrect timestamp value"),
    ("ts", "'2038-01-19 03:14:08'", "Incorrect timestamp value"),
    ("tm", "'839:00:00'", "Incorrect time value"),
    ("tm", "'1:60:00'", "Incorrect time value"),
    ("y", "1900", "Out of range value"),
    ("e", "'c'", "no such ENUM member"),
    ("e", "3", "no such ENUM member"),
    ("s", "'x,z'", "no such SET member"),
    ("s", "4", "no such SET member"),
    ("b", "8", "Data too long"),
    ("j", "'{bad'", "Invalid JSON"),
]


@pytest.mark.parametrize(("column", "value", "what"), VALUES)
def test_a_value_that_does_not_fit_names_its_column(column: str, value: str, what: str) -> None:
    named = "id, v" if column != "v" else "id"
    others = "1, 'a'" if column != "v" else "1"
    error = failure(f"insert into t ({named}, {column}) values ({others}, {value});")
    assert what in error.what
    assert (error.file, error.line, error.column) == ("a.sql", LINE, column)
    assert error.value or value == "''"


STATEMENTS = [
    ("insert into tt values (1);", "Table 'test.tt' doesn't exist"),
    ("insert into nodb.t values (1);", "Unknown database 'nodb'"),
    ("insert into t (idd) values (1);", "Unknown column 'idd'"),
    ("insert into t (id, v, id) values (1, 'a', 1);", "specified twice"),
    ("insert into t (id, v) values (1);", "Column count doesn't match value count at row 1"),
    ("insert into t (id, v) values (1, 'a'), (2);", "at row 2"),
    ("insert into t (id, v) values (1, null);", "Column 'v' cannot be null"),
    ("insert into t (id) values (1);", "Field 'v' doesn't have a default value"),
    ("insert into t (id, v) values (1, 'a'), (1, 'b');", "Duplicate entry '1' for key 't.PRIMARY'"),
    ("insert into t (id, v, u) values (1, 'a', 5), (2, 'b', 5);", "Duplicate entry '5' for key 't.u'"),
    ("insert into t (id, v) values (1 / 0, 'a');", "Division by 0"),
    ("insert into t (id, v) values (9223372036854775807 + 1, 'a');", "BIGINT value is out of range"),
    ("insert into t (id, v) values (1e999, 'a');", "Illegal double"),
    ("update t set nope = 1;", "Unknown column 'nope'"),
    ("update t set v = 'x' where t2.id = 1;", "Unknown table 't2'"),
    ("delete from t where nope = 1;", "Unknown column 'nope'"),
    ("drop table nope;", "doesn't exist"),
    ("drop database test; create table x (id int);", "No database selected"),
    ("drop database test; insert into t values (1);", "No database selected"),
    ("drop database nope;", "Unknown database 'nope'"),
    ("use nope;", "Unknown database 'nope'"),
    ("create table t (id int);", "already exists"),
    ("create database test;", "database exists"),
    ("create table x (id int, ID int);", "Duplicate column name"),
    ("create table x (id int primary key, primary key (id));", "Multiple primary keys"),
    ("create table x (id int, primary key (nope));", "Key column 'nope' doesn't exist"),
    ("create table x (a text primary key);", "without a key length"),
    ("create table x (id int auto_increment);", "it must be defined as a key"),
    ("create table x (id int not null default null);", "Invalid default value"),
    ("create table x (id int default 'abc');", "Incorrect integer value"),
    ("create table x (id int default current_timestamp);", "CURRENT_TIMESTAMP is for"),
    ("create table x (a varchar(16384));", "max = 16383"),
    ("create table " + "x" * 65 + " (a int);", "at most 64 characters"),
    ("create table x (a decimal(66,1));", "at most (65,30)"),
    ("create table x (a set('a,b'));", "must not contain a comma"),
    ("create table x (a varchar(5) charset ascii collate utf8mb4_bin);", "does not belong to charset"),
    ("insert into t (id, v) values (1e5.0, 'a');", "does not parse"),
    ("set time_zone = null;", "can't be set to the value of NULL"),
    ("set time_zone = 'Mars';", "Unknown or incorrect time zone"),
    ("insert into t (id, v) values (1, 'a') where;", "does not parse"),
    ("insert into t (id, v) values (1, 'a;", "Missing '"),
    ("insert into t (id, v) values (1, 'a'); /* open", "*/ is missing"),
    ("create table x (id int", "expected )"),
    ("selec 1;", "expected a statement near 'selec'"),
    ("begin; insert into t (id, v) values (1, 'a');", "BEGIN without COMMIT"),
    ("insert into t (id, v) values (" + "(" * 4000 + "1" + ")" * 4000 + ", 'a');", "nested too deeply"),
]


@pytest.mark.parametrize(("statement", "what"), STATEMENTS, ids=lambda text: text[:40])
def test_a_wrong_statement_says_what_and_where(statement: str, what: str) -> None:
    error = failure(statement)
    assert what in error.what
    assert not isinstance(error, UnsupportedSQL)
    assert (error.file, error.line) == ("a.sql", LINE)


REFUSED = [
    ("select 1;", "SELECT"),
    ("insert ignore into t (id, v) values (1, 'a');", "INSERT IGNORE"),
    ("insert into t (id, v) select 1, 'a';", "INSERT … SELECT"),
    ("insert into t partition (p0) values (1);", "one plain table"),
    ("insert /*+ set_var(x=1) */ into t (id, v) values (1, 'a');", "HINT"),
    ("update t set v = soundex(v);", "the function SOUNDEX"),
    ("delete from t where id in (select 1);", "SUBQUERY"),
    ("update t as x set x.id = 1;", "one plain table"),
    ("update t, t set v = 1;", "one plain table"),
    ("delete t from t;", "DELETE with TABLES"),
    ("alter table t add column x int;", "ALTER TABLE"),
    ("create view w as select 1;", "CREATE VIEW"),
    ("create table x like t;", "LIKE"),
    ("create table x (a geometry);", "the column type GEOMETRY"),
    ("create table x (a int, b int as (a));", "the column attribute AS"),
    ("create table x (a int) partition by hash (a) partitions 2;", "PARTITION"),
    ("create table x (a varchar(5) collate utf8mb4_tolkien_ci);", "the collation utf8mb4_tolkien_ci"),
    ("set foreign_key_checks = 0;", "the variable foreign_key_checks"),
    ("set sql_mode = 'ANSI_QUOTES';", "ANSI_QUOTES"),
    ("lock tables t write;", "LOCK"),
]


@pytest.mark.parametrize(("statement", "name"), REFUSED, ids=lambda text: text[:40])
def test_what_is_not_supported_is_refused_by_name(statement: str, name: str) -> None:
    error = failure(statement)
    assert isinstance(error, UnsupportedSQL)
    assert name in error.what
    assert error.line == LINE


def test_a_parse_error_inside_a_statement_has_the_line_of_the_word() -> None:
    error = failure("insert into t\n  (id, v)\n  values (1, 'a')\n  nonsense 5;")
    assert error.line == LINE + 3


def test_a_ddl_error_has_the_line_of_the_word() -> None:
    error = failure("create table x (\n  id int primary key,\n  v nonsense\n);")
    assert (error.line, "NONSENSE" in error.what) == (LINE + 2, True)


def test_lines_count_from_the_line_that_the_caller_names() -> None:
    with pytest.raises(ScenarioError) as caught:
        Session(file="s.yaml").run("\n\nselect 1", line=40)
    assert str(caught.value).startswith("s.yaml:42: ")


def test_nothing_of_a_failed_transaction_step_is_committed() -> None:
    session = Session()
    session.run("create table t (id int primary key)")
    with pytest.raises(ScenarioError):
        session.transaction("insert into t values (1); insert into t values (1);")
    assert session.commits == 1
    assert session.history().changes == []
