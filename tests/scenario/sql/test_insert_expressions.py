"""Expressions of INSERT that read columns of the row, and DEFAULT(column) in INSERT and UPDATE."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError


@pytest.mark.parametrize(
    ("columns", "insert", "row"),
    [
        ("a int default 7, b int", "set b = a + 1, a = 2", (b"2", b"8")),
        ("a int default 7, b int", "set a = 2, b = a + 1", (b"2", b"3")),
        ("a int default 7, b int", "(b) values (a * 2)", (b"7", b"14")),
        ("a int, b int", "set b = a + 1, a = 2", (b"2", None)),
        ("a int not null, b int", "set b = a + 1, a = 2", (b"2", b"1")),
        ("a int not null, b int", "values (a + 5, a)", (b"5", b"5")),
        ("a varchar(5) not null, b varchar(5)", "values (concat(a, 'x'), a)", (b"x", b"x")),
        ("a enum('p', 'q') not null, b int", "values (a, a + 0)", (b"1", b"1")),
        ("a json not null, b text", "values (a, cast(a as char))", (b"null", b"null")),
        ("a int as (b + 1) stored not null, b int", "set b = a + 9", (b"10", b"9")),
        ("a int as (b + 1) stored, b int", "set b = a + 9", (None, None)),
        ("a int as (b + 1) stored, b int default 3", "set b = coalesce(a, 1)", (b"2", b"1")),
        ("a int auto_increment primary key, b int", "(b) values (a)", (b"1", b"0")),
        ("a int auto_increment primary key, b int", "values (a, a + 1)", (b"1", b"1")),
        ("a int auto_increment primary key, b int", "set b = a, a = 4", (b"4", b"0")),
    ],
)
@pytest.mark.parametrize("verb", ["insert into", "replace into"])
def test_a_column_before_its_value_has_its_default_or_a_zero_value(
    columns: str, insert: str, row: tuple[bytes | None, ...], verb: str
) -> None:
    (stored,) = rows_of(f"create table t ({columns}); {verb} t {insert}")
    assert stored == row


def test_a_column_without_a_value_and_a_default_is_still_an_error() -> None:
    with pytest.raises(ScenarioError, match="Field 'a' doesn't have a default value"):
        history_of("create table t (a int not null, b int); insert into t (b) values (a)")


GENERATED = "create table t (a int default 9 primary key, b int as (-a) stored, c int as (-a) stored);"


@pytest.mark.parametrize(
    ("statement", "row"),
    [
        ("insert into t set a = 1, b = default(b), c = default(c)", (b"1", b"-1", b"-1")),
        (
            "insert into t values (1, default(b), default); update t set c = default(c), a = 2",
            (b"2", b"-2", b"-2"),
        ),
        ("insert into t values (1, default, default); update t set a = default(a) - 1", (b"8", b"-8", b"-8")),
        (
            "insert t (a) values (1); insert t (a) values (1) on duplicate key update c = default(c), a = 5",
            (b"5", b"-5", b"-5"),
        ),
    ],
)
def test_default_of_the_assigned_column_is_default(statement: str, row: tuple[bytes, ...]) -> None:
    assert rows_of(f"{GENERATED} {statement}") == [row]


@pytest.mark.parametrize(
    "statement",
    [
        "insert into t set b = default(a)",
        "insert into t set a = default(b)",
        "insert into t values (1, default(c), default)",
        "insert into t (a) values (1); update t set c = default(b)",
        "insert into t (a) values (1) on duplicate key update b = default(a)",
    ],
)
def test_default_of_another_column_is_no_value_of_a_generated_column(statement: str) -> None:
    with pytest.raises(ScenarioError, match="The value specified for generated column"):
        history_of(f"{GENERATED} {statement}")


def test_updates_may_assign_the_default_of_a_generated_column_which_is_null() -> None:
    script = "create table t (a int, b int as (-a) stored); insert into t (a) values (1);"
    assert rows_of(f"{script} update t set a = default(b)") == [(None, None)]


def test_on_duplicate_key_update_of_generated_columns_alone_has_no_effect() -> None:
    with pytest.raises(ScenarioError, match="Duplicate entry '1'"):
        history_of(
            f"{GENERATED} insert into t (a) values (1), (1)"
            " on duplicate key update b = default, c = default(c)"
        )


def test_default_of_a_column_with_a_computed_default() -> None:
    script = (
        "set timestamp = 1700000000;"
        "create table t (id int primary key, d datetime default current_timestamp);"
        "insert into t values (1, default(d)), (2, '2001-01-01'), (3, '2001-01-01');"
        "update t set d = default(d) where id = 2;"
        "insert into t (id) values (3) on duplicate key update d = default(d)"
    )
    assert {row[1] for row in rows_of(script)} == {b"2023-11-14 22:13:20"}


def test_tables_of_an_update_change_in_their_order_whatever_that_of_the_assignments() -> None:
    script = "create table t (a int primary key, b int); insert into t values (1, 0);"
    assert rows_of(f"{script} update t x, t y, t z set z.b = 3, y.b = 2, x.b = 1") == [(b"1", b"3")]


@pytest.mark.parametrize("assigned", ["a = 5", "a = 1"])
def test_update_ignore_leaves_rows_that_no_partition_accepts(assigned: str) -> None:
    script = (
        "create table t (a int, b int)"
        " partition by list (a) (partition p values in (0), partition q values in (1));"
        f"insert into t values (0, 0); update ignore t partition (p) set {assigned}, b = 1"
    )
    assert rows_of(script) == [(b"0", b"0")]
    with pytest.raises(ScenarioError):
        history_of(script.replace("ignore ", ""))


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("1" * 81, "1" * 81),
        ("1" * 82, "9" * 65),
        ("-" + "1" * 500, "-" + "9" * 65),
        ("0" * 90 + "7", "7"),
        ("0." + "1" * 90, "0." + "1" * 72),
        ("1" * 73 + ".25", "1" * 73),
        ("1" * 72 + ".0123456789", "1" * 72 + ".012345678"),
    ],
)
def test_a_literal_has_the_digits_that_a_decimal_holds(number: str, text: str) -> None:
    script = "create table t (a varchar(99));"
    assert rows_of(f"{script} insert into t values ({number})") == [(text.encode(),)]
    assert rows_of(f"{script} insert into t values (({number}))") == [(text.encode(),)]
