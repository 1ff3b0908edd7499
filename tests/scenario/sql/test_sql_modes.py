"""The sql_modes that change how statements are read, and the one of unsigned differences."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, jobs_of, rows_of, table_of
from ticdc_producer.errors import ScenarioError, UnsupportedSQL

TABLE = "create table r (v varchar(40));\n"


def stored(mode: str, *expressions: str) -> list[str | None]:
    statements = ";\n".join(f"insert into r values ({expression})" for expression in expressions)
    rows = rows_of(f"{TABLE}set sql_mode = '{mode}';\n{statements}", "r")
    return [None if value is None else value.decode() for (value,) in rows]


@pytest.mark.parametrize(
    ("mode", "expression", "expected"),
    [
        ("ANSI_QUOTES", "'it''s' ", "it's"),
        ("ANSI_QUOTES", "'a\\'b;\"c'", "a'b;\"c"),
        ("NO_BACKSLASH_ESCAPES", "'a\\'", "a\\"),
        ("NO_BACKSLASH_ESCAPES", '"a\\n""b;"', 'a\\n"b;'),
        ("NO_BACKSLASH_ESCAPES", "'a\\b' like 'a\\\\b'", "1"),
        ("PIPES_AS_CONCAT", "'x'||'y' || 1", "xy1"),
        ("PIPES_AS_CONCAT", "1 + '2' || '3'", "24"),
        ("PIPES_AS_CONCAT", "'a' || null", None),
        ("PIPES_AS_CONCAT", "'a||b'", "a||b"),
        ("PIPES_AS_CONCAT", "0 or 1 || 0 = 10", "1"),
        ("", "'1' || 0", "1"),
        ("HIGH_NOT_PRECEDENCE", "not 1 between -5 and 5", "1"),
        ("HIGH_NOT_PRECEDENCE", "1 not between 2 and 5 and 1 is not null", "1"),
        ("", "not 1 between -5 and 5", "0"),
        ("ANSI", "'x'||'y'", "xy"),
        ("oracle", "'x'||'y'", "xy"),
        ("DB2", "'x'||'y'", "xy"),
        ("MYSQL40", "not 1 between -5 and 5", "1"),
        (
            "MSSQL",
            (
                "@@sql_mode = 'PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,NO_KEY_OPTIONS,NO_TABLE_OPTIONS,"
                "NO_FIELD_OPTIONS,MSSQL'"
            ),
            "1",
        ),
    ],
)
def test_expressions(mode: str, expression: str, expected: str | None) -> None:
    assert stored(mode, expression, expression) == [expected, expected]


def test_real_is_float_only_under_its_mode() -> None:
    script = """
        set sql_mode = 'REAL_AS_FLOAT';
        create table t (a real primary key, `real` Real(7, 2) default 1, b varchar(9) default 'real'); -- real
        insert into t (a) values (cast(1.23456789012 as real)); update t set t.real = 2.5;
        set sql_mode = default; create table u (a real)
    """
    history = history_of(script)
    assert [column.type.name for column in table_of(history).columns] == ["FLOAT", "FLOAT", "VARCHAR"]
    assert history.state["test", "t"].rows[0][1:] == (b"2.5", b"real")
    assert "(a FLOAT primary key, `real` FLOAT(7, 2) default" in history.catalog.ddls[0].query
    assert table_of(history, "u").columns[0].type.name == "DOUBLE"


def test_names_in_double_quotes() -> None:
    script = """
        set sql_mode = 'ANSI_QUOTES'; -- "
        create table "a ""b`" ("v;" varchar(5) default 'q', "w" int);
        insert into "a ""b`" ("w") values (1); # '
        /*The user's "*/ update "a ""b`" as "x" set "x"."w" = "w" + 1 where "v;" = 'q';
        set sql_mode = default; insert into `a "b``` values ("s", 3)
    """
    assert rows_of(script, 'a "b`') == [(b"q", b"2"), (b"s", b"3")]


def test_a_mode_is_that_of_the_statement() -> None:
    script = f"{TABLE}set sql_mode = 'NO_BACKSLASH_ESCAPES'; insert into r values ('\\'); set sql_mode = '';"
    assert rows_of(f"{script} insert into r values ('\\'');", "r") == [(b"\\",), (b"'",)]
    script = (
        f"{TABLE}set sql_mode = 'PIPES_AS_CONCAT'; prepare p from 'insert into r values (?||1)'; set @a = 2;"
    )
    assert rows_of(f"{script} execute p using @a", "r") == [(b"21",)]
    assert jobs_of("set sql_mode = 'ANSI'; create table t (a int not null)") == ["CREATE_TABLE"]


def test_differences_of_unsigned_numbers() -> None:
    expressions = "cast(1 as unsigned) - 2", "if(1, cast(1 as unsigned) - 2, 1)", "cast(5 as unsigned) - 2"
    assert stored("NO_UNSIGNED_SUBTRACTION", *expressions) == ["-1", "-1", "3"]
    with pytest.raises(ScenarioError, match="BIGINT UNSIGNED value is out of range"):
        stored("", expressions[0])


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("insert into r values ('a)", "' is missing"),
        ('insert into r values ("a")', "Unknown column 'a'"),
        ("create table x (a int, b int as (a || 1))", "DDL with || as CONCAT"),
    ],
)
def test_errors_name_the_line(statement: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        rows_of(f"{TABLE}set sql_mode = 'ANSI';\n\n{statement};", "r")
    assert message in str(error.value)
    assert error.value.line == 4


def test_unknown_modes_are_errors() -> None:
    with pytest.raises(ScenarioError, match="Variable 'sql_mode' can't be set to the value of 'NONSENSE'"):
        stored("NONSENSE", "1")


def test_only_a_select_pads_char_to_full_length() -> None:
    script = "create table a (c char(3)); create table r (v varchar(9)); insert into a values ('x');"
    script += "set sql_mode = 'PAD_CHAR_TO_FULL_LENGTH';"
    assert rows_of(f"{script} insert into r select concat(c, '|') from a", "r") == [(b"x|",)]
    with pytest.raises(UnsupportedSQL, match="under PAD_CHAR_TO_FULL_LENGTH"):
        rows_of(f"{script} select @n := c from a", "r")


@pytest.mark.parametrize("column", ["a int comment 'real'", "`real` int", '"real" int'])
def test_a_name_or_comment_is_not_the_type_real(column: str) -> None:
    assert jobs_of(f"set sql_mode = 'ANSI'; create table x ({column})") == ["CREATE_TABLE"]
