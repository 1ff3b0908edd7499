"""IF, CASE, COALESCE and the like, and the columns of UNION, have the type of all their branches."""

from __future__ import annotations

import pytest

from tests.scenario.sql.expressions import result_text
from ticdc_producer.scenario.sql.session.session import Session

TABLE = """
    create table t (id int primary key, b bigint unsigned, i int unsigned, n decimal(6, 2), d double,
      v varchar(20), x varbinary(20), e enum('one', 'two'), at date, m datetime(3), k time, j json);
    insert into t values (1, 5, 6, 1.50, 0.5, 'text', 'bytes', 'two', '2024-01-02', '2024-01-02 03:04:05',
      '10:00:00', '{"a": 1}'), (2, null, null, null, null, null, null, null, null, null, null, null);
"""


def stored(column_type: str, expression: str) -> bytes | None:
    """What a column of a type has after it got the value of an expression on the first row of the table."""
    session = Session()
    session.run(f"{TABLE} create table r (id int primary key, c {column_type});")
    session.run(f"insert into r select 1, {expression} from t where id = 1")
    return session.history().state["test", "r"].rows[0][1]


@pytest.mark.parametrize(
    ("expression", "integer"),
    [
        ("if(true, 0.5, 1e0)", b"0"),
        ("if(id = 1, n - 1, d)", b"0"),
        ("if(id = 1, n - 1, 2)", b"1"),
        ("case id when 1 then 0.5 when 2 then d end", b"0"),
        ("case when id = 1 then 0.5 else 7 end", b"1"),
        ("coalesce(0.5, d)", b"0"),
        ("ifnull(0.5, null)", b"1"),
        ("ifnull(0.5, (select max(d) from t))", b"0"),
        ("greatest(0.5, 0e0)", b"0"),
        ("least(2.5, 3e0)", b"2"),
        ("coalesce(0.5, d + n)", b"0"),
        ("nullif(0.5, 1e0)", b"1"),
    ],
)
def test_a_double_among_the_branches_is_rounded_as_a_double(expression: str, integer: bytes) -> None:
    assert stored("int", expression) == integer


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("if(true, 1e0, 'a')", b"1"),
        ("json_array(if(id = 1, id, v))", b'["1"]'),
        ("json_array(if(id = 1, i, -1))", b"[6]"),
        ("json_array(coalesce(id, 1e0))", b"[1.0]"),
        ("json_array(if(id = 1, at, m))", b'["2024-01-02 00:00:00.000000"]'),
        ("json_array(if(id = 1, at, at))", b'["2024-01-02"]'),
        ("json_array(coalesce(at, v))", b'["2024-01-02"]'),
        ("json_array(ifnull(j, v))", b'["{\\"a\\": 1}"]'),
        ("json_array(ifnull(j, j))", b'[{"a": 1}]'),
        ("concat(if(id = 1, e, v), '!')", b"two!"),
        ("elt(2, 1, 2.50)", b"2.50"),
        ("greatest(2, '10')", b"2"),
        ("greatest(at, '2023-01-01')", b"2024-01-02"),
        ("if(id = 1, i, -1) - 10", b"-4"),
        ("if(id = 1, b, -1) - 10", b"-5"),
    ],
)
def test_branches_of_several_types_have_one_type(expression: str, text: bytes) -> None:
    assert stored("varchar(60)", expression) == text


@pytest.mark.parametrize(
    ("query", "integer"),
    [
        ("select 0.5 as c union all select d from t where id = 2", b"0"),
        ("select 0.5 as c union all select d from t where id = 9", b"0"),
        ("select 0.5 as c except select d from t where id = 9", b"1"),
        ("select 0.5 as c union all select id from t where id = 9", b"1"),
        ("select d.* from (select 0.5 c union all select null) d limit 1", b"1"),
        ("select d.* from (select 0.5 c union all select 1e0) d limit 1", b"0"),
    ],
)
def test_a_column_of_several_queries_has_the_type_of_their_expressions(query: str, integer: bytes) -> None:
    session = Session()
    session.run(f"{TABLE} create table r (c int);")
    session.run(f"insert into r select * from ({query}) u where c is not null")
    assert session.history().state["test", "r"].rows == ((integer,),)


def test_a_user_variable_has_the_type_of_its_value() -> None:
    session = Session()
    session.run(f"{TABLE} create table r (c int); set @v = 1e0; insert into r values (if(true, 0.5, @v))")
    assert session.history().state["test", "r"].rows == ((b"0",),)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("if(true, 9007199254740993, 1e0)", "9007199254740992"),
        ("if(true, 18446744073709551615, -1)", "18446744073709551615"),
        ("if(true, null, 1e0)", None),
        ("coalesce(x'61', 'b')", "0x61"),
        ("if(true, 1, x'61')", "0x31"),
    ],
)
def test_constants(expression: str, text: str | None) -> None:
    assert result_text(expression) == text


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("json_array(if(id = 1, date_add(at, interval 1 day), m))", b'["2024-01-03 00:00:00.000000"]'),
        ("json_array(if(id = 1, date_add(at, interval 1 day), at))", b'["2024-01-03"]'),
        ("json_array(if(id = 1, at, date_sub(at, interval 1 hour)))", b'["2024-01-02 00:00:00.000000"]'),
        ("json_array(if(id = 1, 5, date_add(v, interval 1 day)))", b'["5"]'),
        ("json_array(if(id = 1, at, addtime(m, k)))", b'["2024-01-02 00:00:00.000000"]'),
        ("json_array(if(id = 1, 5, subtime(at, k)))", b'["5"]'),
        ("json_array(if(id = 1, at, str_to_date(v, '%H:%i')))", b'["2024-01-02 00:00:00.000000"]'),
        ("json_array(if(id = 1, at, str_to_date(v, '%Y-%m-%d')))", b'["2024-01-02"]'),
        ("json_array(if(id = 1, at, str_to_date(v, v)))", b'["2024-01-02 00:00:00.000000"]'),
        ("json_array(if(id = 1, 5, timestampadd(hour, 1, m)))", b'["5"]'),
        ("if(id = 1, 1e15, unix_timestamp()) + 0.0", b"1000000000000000"),
        ("json_type(json_extract(json_array(if(id = 1, i, unix_timestamp(at))), '$[0]'))", b"INTEGER"),
        ("json_type(json_extract(json_array(if(id = 1, id, unix_timestamp(m))), '$[0]'))", b"DOUBLE"),
        ("json_type(json_extract(json_array(if(id = 1, id, unix_timestamp(v))), '$[0]'))", b"DOUBLE"),
        (
            "json_type(json_extract(json_array(if(id = 1, id, unix_timestamp('2024-01-02'))), '$[0]'))",
            b"INTEGER",
        ),
        ("json_array(if(id = 1, 'a', char(66)))", b'["base64:type253:YQ=="]'),
        ("json_array(if(id = 1, 'a', char(66 using utf8mb4)))", b'["a"]'),
        ("json_type(json_extract(json_array(if(id = 1, i, ceil(n))), '$[0]'))", b"INTEGER"),
        ("json_type(json_extract(json_array(if(id = 1, i, floor(n * 1e0))), '$[0]'))", b"DOUBLE"),
        ("json_type(json_extract(json_array(if(id = 1, id, ceil(n / id))), '$[0]'))", b"INTEGER"),
        ("json_type(json_extract(json_array(if(id = 1, id, ceil(b + 0.5))), '$[0]'))", b"DOUBLE"),
        (
            "json_type(json_extract(json_array(if(id = 1, i, ceil(cast(n as decimal(30, 2))))), '$[0]'))",
            b"DOUBLE",
        ),
    ],
)
def test_branches_have_the_type_of_the_functions_in_them(expression: str, text: bytes) -> None:
    assert stored("varchar(60)", expression) == text


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("select 0.5 as c union all select n from t where id = 9", ["0.50"]),
        ("select 0.5 as c union all select null", ["0.5", None]),
        ("select 1 as c union all select cast(2 as decimal(10, 3))", ["1.000", "2.000"]),
        ("select n * 0.5 as c from t where id = 2 union all select 2.5", [None, "2.500"]),
        (
            "select n + 1.125 as c from t where id = 2 union all select id from t where id = 1",
            [None, "1.000"],
        ),
        ("select if(id = 2, 1.25, null) as c from t where id = 1 union all select 7", [None, "7.00"]),
        ("select max(n) as c from t where id = 9 union all select length('four')", [None, "4.00"]),
        ("select sum(n) as c from t union all select 7", ["1.50", "7.00"]),
        ("select avg(n) as c from t union all select 7", ["1.500000", "7.000000"]),
        ("select round(n, 1) as c from t where id = 1 union all select 7", ["1.5", "7.0"]),
        ("select round(n) as c from t where id = 1 union all select 0.5", ["2.0", "0.5"]),
        (
            "select truncate(n, -1) as c from t where id = 1 union all select abs(n) from t where n > 9",
            ["0.00"],
        ),
        ("select (select max(n) from t where id = 9) as c union all select 7", [None, "7.00"]),
        ("select 1 / 3 as c union all select 2", ["0.3333", "2.0000"]),
        ("select n / 7 as c from t where id = 1 union all select 12345.5", ["0.214286", "12345.500000"]),
        ("select n / 7 as c from t where id = 1 union all select n / 7 from t where id = 9", ["0.214286"]),
        ("select 0.5 as c union all select s.x from (select n as x from t where id = 9) s", ["0.50"]),
        ("select 1.5 as c union all (select 2 union all select n from t where id = 9)", ["1.50", "2.00"]),
    ],
)
def test_a_decimal_column_of_a_union_has_the_scale_of_its_expressions(
    query: str, texts: list[str | None]
) -> None:
    session = Session()
    session.run(f"{TABLE} create table r (id int primary key auto_increment, c varchar(20));")
    session.run(f"insert into r (c) select * from ({query}) u")
    stored = [row[1] for row in session.history().state["test", "r"].rows]
    assert [None if text is None else text.decode() for text in stored] == texts
