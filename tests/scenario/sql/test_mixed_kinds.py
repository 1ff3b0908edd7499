"""Bit literals, ENUM members, binary strings and quotients in calls, groups and sums."""

from __future__ import annotations

from sys import float_info

import pytest

from tests.scenario.sql.expressions import LAX, result_text, value_of
from tests.scenario.sql.script_results import rows_of
from ticdc_producer.errors import ScenarioError


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("concat(coalesce(2, 2.5))", "2"),  # no digits are added
        ("concat(ifnull(2, 2.5))", "2.0"),
        ("hex(b'111')", "07"),
        ("oct(b'111')", "7"),
        ("conv(b'111', 10, 16)", "7"),
        ("oct(-1e30)", "1777777777777777777777"),
        ("interval(3, null, 2, 5)", "2"),
        ("insert('abc', 2, 1, x'ff')", "0x61ff63"),
        ("hex(weight_string(7 as binary(3)))", "370000"),
        ("if(1, null, 'a') is null", "1"),
        ("'3' between '20' and 4", "0"),  # numbers, because one of the three is
        ("json_unquote('\"a\\\\tb\"')", "a\tb"),
        ("cast('99999999999999999999' as signed)", "-1"),
        ("cast('-99999999999999999999' as signed)", "-9223372036854775808"),
        ("cast(cast(1e30 as json) as signed)", "9223372036854775807"),
        ("convert(x'61ff' using utf8mb4)", None),
        ("json_array_append(date'2021-12-03', '$', 1)", '["2021-12-03", 1]'),
    ],
)
def test_calls(call: str, expected: str | None) -> None:
    assert result_text(call, LAX) == expected


@pytest.mark.parametrize(
    "call",
    [
        "convert('a' using klingon)",
        "char(97 using klingon)",
        "cast(1 as decimal(3,4))",
        "cast(1 as decimal(66,0))",
        "'a' collate latin1_bin = 'a'",
        "json_extract(1, '$')",
    ],
)
def test_errors(call: str) -> None:
    with pytest.raises(ScenarioError):
        value_of(call, LAX)


_MEMBERS = (
    "create table t (id int primary key, e enum('b','a',''), s set('b','a'), b bit(64), y year, j json,"
    " n int not null, d decimal(10,2));"
    "insert into t values (1, 'b', 'b', b'11', 2, '0', 3, 1.00), (2, 'a', 'b,a', b'1', 12, '1', 7, 2.00);"
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select e + 1 from t where id = 2", [("3",)]),  # a DOUBLE
        ("select concat(e + 0.5) from t where id = 2", [("2.5",)]),
        ("select concat(b + 0.50) from t where id = 1", [("3.50",)]),  # a DECIMAL
        ("select if(n > 5, e, s) + 0 from t order by id", [("1",), ("2",)]),
        ("select sum(e), avg(e) from t", [("3", "1.5")]),
        ("select concat(sum(n / 3)), concat(avg(n / 3)) from t", [("3.3333", "1.66666667")]),
        ("select id from t where j", [("2",)]),
        ("select id from t where y = 2", [("1",)]),
        ("select id from t where y > 2", [("2",)]),
        ("select values(n) from t where id = 1", [(None,)]),
        ("select json_objectagg(id, n) from t", [('{"1": 3, "2": 7}',)]),
        ("select group_concat(n, id order by 1 desc separator ';') from t", [("72;31",)]),
        ("select n as id from t group by id having id > 1", [("7",)]),
        ("select count(*), b'1' as y from t group by y", [("1", "\x01"), ("1", "\x01")]),
    ],
)
def test_queries(query: str, expected: list[tuple[str | None, ...]]) -> None:
    columns = ", ".join(f"c{number} varchar(100)" for number in range(len(expected[0])))
    rows = rows_of(_MEMBERS + f"create table r ({columns}); insert into r {query}", "r")
    assert [tuple(value and value.decode() for value in row) for row in rows] == expected


def test_a_name_of_two_columns_is_ambiguous_to_group_by() -> None:
    with pytest.raises(ScenarioError, match="ambiguous"):
        rows_of(_MEMBERS + "create table r (c int); insert into r select n as y, y from t group by y")


def test_group_concat_has_at_most_the_bytes_of_a_variable() -> None:
    script = "create table r (c text); set group_concat_max_len = {};"
    query = "insert into r select group_concat(n separator '--') from (select 11 n union all select 22) x"
    assert rows_of(script.format(6) + query, "r") == [(b"11--22",)]
    with pytest.raises(ScenarioError, match="more than 5"):
        rows_of(script.format(5) + query, "r")


def test_a_value_that_is_no_enum_member_is_not_the_empty_member() -> None:
    script = (
        "set sql_mode = ''; create table t (id int primary key, e enum('a','')); create table r (c int);"
        "insert into t values (1, 'x'), (2, ''), (3, 'y'); insert into r select count(*) from t group by e"
    )
    assert sorted(rows_of(script, "r")) == [(b"1",), (b"2",)]


def test_a_text_beyond_double_is_the_largest_double() -> None:
    script = "set sql_mode = ''; create table t (a double); insert into t values ('1e400'), ('-1e400')"
    assert [float(value or 0) for (value,) in rows_of(script)] == [float_info.max, -float_info.max]
