"""Integers of two digits next to a YEAR."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import rows_of

TABLE = """
    CREATE TABLE t (y YEAR, n INT, v INT);
    INSERT INTO t VALUES (2001, 1, NULL), (1999, 1, NULL), (NULL, 1, NULL);
"""


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("y = 1", (b"1", b"0", None)),
        ("99 = y", (b"0", b"1", None)),
        ("y < 70", (b"0", b"0", None)),
        ("y < 3", (b"1", b"1", None)),
        ("y <=> 1", (b"1", b"0", b"0")),
        ("1 BETWEEN y AND 2001", (b"1", b"1", None)),
        ("1 BETWEEN y AND n", (b"0", b"0", b"0")),  # the last one as in a case of tidb_cases
        ("CASE y WHEN 1 THEN 1 ELSE 0 END", (b"1", b"0", b"0")),
        ("y = n", (b"0", b"0", None)),
        ("y = '1'", (b"1", b"0", None)),
        ("y = 101", (b"0", b"0", None)),
    ],
)
def test_a_constant_of_two_digits_is_a_year(condition: str, values: tuple[bytes | None, ...]) -> None:
    assert tuple(row[2] for row in rows_of(f"{TABLE} UPDATE t SET v = {condition}")) == values


def test_a_year_has_four_digits_as_a_text_but_not_in_a_text_column() -> None:
    script = "create table y (a year); insert into y values (0); create table t (v varchar(9), w varchar(9))"
    assert rows_of(f"{script}; insert into t select a, concat(a, 'x') from y") == [(b"0", b"0000x")]
