"""Values that do not fit, statements left open, and the lines that errors name."""

from __future__ import annotations

import pytest

from tests.scenario.sql.wrong import LINE, failure
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

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
    others = "2, 'a'" if column != "v" else "2"
    error = failure(f"insert into t ({named}, {column}) values ({others}, {value});")
    assert what in error.what
    assert (error.file, error.line, error.column) == ("a.sql", LINE, column)
    assert error.value or value == "''"


OPEN = [
    (
        "insert into t (id, v) values (2, 'a;",
        (
            "SQL does not parse: ' is missing after the ' of this line "
            "(a ' before it may be one too many; '' is a ' inside of a text)"
        ),
    ),
    ("insert into t (id, v) values (2, 'a'); /* open", "SQL does not parse: */ is missing"),
    ("create table x (id int", "SQL does not parse: expected ) near the end of the statement"),
    ("begin; insert into t (id, v) values (2, 'a')", "BEGIN without COMMIT or ROLLBACK"),
    ("insert into t (id, v) values (" + "(" * 4000 + "1" + ")" * 4000 + ", 'a')", "SQL is nested too deeply"),
]


@pytest.mark.parametrize(("statement", "message"), OPEN, ids=lambda text: text[:40])
def test_an_open_statement_is_named(statement: str, message: str) -> None:
    assert str(failure(statement)) == f"a.sql:{LINE}: {message}"


WITHOUT_SEMICOLON = [
    "create table x (id int)",
    "alter table t add column w int",
    "insert into t (id, v) values (2, 'a')",
    "delete from t",
    "drop table t",
]


@pytest.mark.parametrize("statement", WITHOUT_SEMICOLON)
@pytest.mark.parametrize("following", ["insert into t (id, v) values (3, 'b');", "create table y (id int);"])
def test_a_missing_semicolon_is_suspected_where_the_next_statement_begins(
    statement: str, following: str
) -> None:
    error = failure(f"{statement}\n{following}")
    word = following.split()[0]
    assert error.line == LINE + 1
    assert error.what.startswith("SQL does not parse: ")
    assert error.hint.lower() == f"is a ; missing before {word}?"


def test_a_parse_error_inside_a_statement_has_the_line_of_the_word() -> None:
    error = failure("insert into t\n  (id, v)\n  values (1, 'a')\n  nonsense 5;")
    assert error.line == LINE + 3


def test_a_ddl_error_has_the_line_of_the_word() -> None:
    error = failure("create table x (\n  id int primary key,\n  v nonsense\n);")
    assert (error.line, "NONSENSE" in error.what) == (LINE + 2, True)


def test_a_default_that_does_not_fit_has_the_line_of_its_column() -> None:
    assert failure("create table x (\n  id int primary key,\n  v int default 'x'\n);").line == LINE + 2


def test_lines_count_from_the_line_that_the_caller_names() -> None:
    with pytest.raises(ScenarioError) as caught:
        Session(file="s.yaml").run("\n\ndrop table nope", line=40)
    assert str(caught.value).startswith("s.yaml:42: ")


def test_nothing_of_a_failed_transaction_step_is_committed() -> None:
    session = Session()
    session.run("create table t (id int primary key)")
    with pytest.raises(ScenarioError):
        session.transaction("insert into t values (1); insert into t values (1);")
    assert session.commits == 1
    assert session.history().changes == []


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("SELEC 1", "SELECT"),
        ("INSRT INTO t VALUES (1)", "INSERT"),
        ("updte t SET a = 1", "UPDATE"),
        ("CRAETE TABLE u (id INT)", "CREATE"),
        ("COMIT", "COMMIT"),
        ("PREPARE s FROM 'DELET FROM t'", "DELETE"),
    ],
)
def test_a_misspelt_first_word_has_a_hint(statement: str, word: str) -> None:
    error = failure(statement)
    assert error.what.startswith("SQL does not parse: expected a statement near")
    assert error.hint == f"did you mean {word!r}?"


def test_text_that_is_like_no_statement_has_no_hint() -> None:
    assert failure("zzz: x").hint == ""
