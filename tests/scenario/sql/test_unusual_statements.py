"""Statements and values that TiDB ends in a way of its own, by TiDB's source."""

from __future__ import annotations

import pytest

from tests.scenario.sql.expressions import LAX, result_text, value_of
from tests.scenario.sql.script_results import rows_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.functions.aggregate import AGGREGATES
from ticdc_producer.scenario.sql.session.session import Session

_OCTETS = "12345678123412341234123456789ABC"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("interval(9007199254740993, 9007199254740992, '9007199254740994')", "1"),
        ("interval(9007199254740993, 9007199254740992, 9007199254740994)", "1"),
        ("interval('9007199254740992', '9007199254740993')", "1"),
        ("is_uuid('URN:uuid:12345678-1234-1234-1234-123456789abc')", "1"),
        ("is_uuid('[12345678-1234-1234-1234-123456789abc]')", "1"),
        ("is_uuid('[12345678123412341234123456789abc]')", "0"),
        (
            "hex(uuid_to_bin('urn:uuid:12345678-1234-1234-1234-123456789abc'))",
            _OCTETS,
        ),
        ("hex(uuid_to_bin('(12345678-1234-1234-1234-123456789abc)'))", _OCTETS),
        ("truncate(-4711e0, 2000000000)", "-4711"),
        ("truncate(4711e0, -2000000000)", "0"),
        ("round(0.1e0, 300)", "0.1"),
        ("round(1e10, 305)", "10000000000"),
        ("x'c3a4' like '__'", "1"),
        ("x'c3a4' like '_'", "0"),
        ("'ä' like '_'", "1"),
        ("x'c3a4' like concat('%', x'c3', '_')", "1"),
    ],
)
def test_values(text: str, expected: str) -> None:
    assert result_text(text) == expected


def test_a_nullable_column_without_default_is_null_without_strict_mode() -> None:
    assert rows_of(
        "create table t (id int key, a int, b enum('x'), c int not null);"
        "alter table t alter a drop default, alter b drop default;"
        "insert ignore into t (id) values (1);"
        "set sql_mode = '';"
        "insert into t (id, a, b) values (2, default, default)"
    ) == [(b"1", None, None, b"0"), (b"2", None, None, b"0")]


def test_columns_are_assigned_with_a_colon_too() -> None:
    assert rows_of(
        "create table t (a int key, b int); insert into t set a := 1, t.b := 2;"
        "update t set test.t.b := (@x := b + 1), a := a + @x;"
        "insert into t values (4, 9) on duplicate key update b := values(b)"
    ) == [(b"4", b"9")]


@pytest.mark.parametrize(
    "statement",
    [
        "insert into t select 1, b := 2 from t",
        "update t set a = greatest(1, b := 2)",
        "update t set a = 1 where b := 2",
        "update t set a = 1 order by a, b := 2",
    ],
)
def test_a_column_is_not_assigned_in_an_expression(statement: str) -> None:
    with pytest.raises(ScenarioError, match="SQL does not parse"):
        Session().run(f"create table t (a int, b int); {statement}")


def test_nth_value_of_null_is_null_in_every_row() -> None:
    assert rows_of("create table t (a int); insert into t select nth_value(5, null) over ()") == [(None,)]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("select b from bits union all select 3 limit 1", b"65"),
        ("select ifnull(b, 3) from bits", b"65"),
        ("select case when b then b else 0.5 end from bits", b"65.0"),
        ("select b from bits", b"65"),
        ("select concat(b) from bits", b"A"),
        ("select ifnull(b, 'x') from bits", b"A"),
    ],
)
def test_a_bit_is_a_number_unless_it_is_among_texts(query: str, text: bytes) -> None:
    script = "create table bits (b bit(7)); insert into bits values (65); create table t (v varchar(9));"
    assert rows_of(f"{script} insert into t {query}") == [(text,)]


@pytest.mark.parametrize(
    "statement",
    [
        "update t use index (nope) set a = 2",
        "update t x force index (i, nope) set x.a = 2",
        "update t ignore index (nope), (select 1 b) y set t.a = 2",
        "delete from t use index (nope)",
        "insert into t select 2 from t use key for join (nope)",
        "select @a := a from t force index (i, nope)",
    ],
)
def test_an_index_that_does_not_exist_cannot_be_used(statement: str) -> None:
    session = Session()
    session.run("create table t (a int, key ia (a), key ib (a), key `in` (a)); insert into t values (1)")
    with pytest.raises(ScenarioError, match="doesn't exist in table 't'"):
        session.run(statement)


@pytest.mark.parametrize(
    "hint", ["use index (ia)", "force index (k)", "ignore key (primary)", "use index ()"]
)
def test_the_indexes_of_a_hint_have_no_effect(hint: str) -> None:
    table = "create table t (a int key, index ia (a), index k2 (a)); insert into t values (1);"
    assert rows_of(f"{table} update t {hint} set a = 2; delete from t {hint} where a = 1") == [(b"2",)]


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ("add column x int, add column if not exists x int", "Unsupported operate same column 'x'"),
        ("drop column a, drop column if exists a", "Unsupported operate same column 'a'"),
        ("drop index i, drop index if exists i", "Unsupported operate same index 'i'"),
        ("add index j (a), algorithm = instant", "ALGORITHM=INSTANT is not supported"),
        ("modify d double(0, 0)", "is not allowed for a floating point type"),
    ],
)
def test_alterations_that_tidb_does_not_run(parts: str, what: str) -> None:
    session = Session()
    session.run("create table t (a int, b int, d double, index i (b))")
    with pytest.raises(ScenarioError, match=what):
        session.run(f"alter table t {parts}")


@pytest.mark.parametrize(
    ("charset", "change", "what"),
    [
        ("ascii", "convert to charset utf8mb4", "Unsupported modify charset from ascii to utf8mb4"),
        ("ascii", "charset utf8mb4", "Unsupported modify charset from ascii to utf8mb4"),
        ("gbk", "convert to charset utf8mb4", "Unsupported modify charset from gbk to utf8mb4"),
        ("binary", "charset utf8mb4", "Unsupported modify charset from binary to utf8mb4"),
        ("gbk", "collate gbk_bin", "Unsupported modify change collate from gbk_chinese_ci to gbk_bin"),
        ("gbk", "modify a char collate gbk_bin", "Unsupported modify change collate from gbk_chinese_ci"),
    ],
)
def test_charsets_that_tidb_does_not_change(charset: str, change: str, what: str) -> None:
    session = Session()
    session.run(f"create table t (a char, b int) charset {charset}")
    with pytest.raises(ScenarioError, match=what):
        session.run(f"alter table t {change}")


def test_a_column_of_another_charset_is_not_converted() -> None:
    session = Session()
    session.run("create table t (a char charset ascii)")
    with pytest.raises(ScenarioError, match="Unsupported modify charset from ascii to utf8mb4"):
        session.run("alter table t convert to charset utf8mb4")


def test_if_exists_concerns_the_table_before_the_statement() -> None:
    script = "create table t (a int, b int); insert into t values (1, 2);"
    assert rows_of(f"{script} alter table t drop column b, add column if not exists b int") == [(b"1",)]


@pytest.mark.parametrize("text", [" ,", "ansi , strict_trans_tables"])
def test_an_sql_mode_has_no_blanks(text: str) -> None:
    with pytest.raises(ScenarioError, match="Variable 'sql_mode' can't be set to the value of ' "):
        Session().run(f"set sql_mode = '{text}'")


def test_a_vector_has_a_default_expression_but_no_literal_default() -> None:
    script = "create table t (a int, v vector default (vec_from_text('[1,2]'))); insert into t (a) values (1)"
    assert rows_of(script) == [(b"1", b"[1,2]")]
    with pytest.raises(ScenarioError, match="VECTOR column 'v' can't have a literal default"):
        Session().run("create table t (v vector default '[1,2]')")


@pytest.mark.parametrize("kind", ["date", "datetime", "time"])
def test_a_vector_is_no_time(kind: str) -> None:
    with pytest.raises(ScenarioError, match="cannot cast a vector to a date or time"):
        value_of(f"cast(vec_from_text('[1]') as {kind})", LAX)


def test_values_of_a_new_row_are_not_in_generated_columns() -> None:
    with pytest.raises(ScenarioError, match="contains a disallowed function"):
        Session().run("create table t (a int, b int as (values(a)))")


FOREIGN = """
update t set a = 1 where a == 1
update t set a = 1 where a is not distinct from 1
insert into t select * except (a) from t
insert into t (a) select distinct on (a) 5 from t
insert into t (a) select a + 1 from t offset 0
insert into t (a) select a + 1 from t order by a nulls first
insert into t (a) select x.a + 1 from t x asof join t y on x.a = y.a
insert into t (a) select x.a + 1 from t x natural inner join t y
insert into t (a) with x as materialized (select 5) select 5 from x
insert into table t values (3, null, '')
update t set a = a between symmetric 2 and 1
update t set a = b isnull
update t set a = b notnull
update t set a = if(1, 2)
update t set a = if 1 then 2 end
update t set a = (from t select 1)
update t set b = (select string_agg(a, ','))
update t set b = chr(65)
update t set b = try_cast(b as signed)
update t set a = cast('5' as bigint)
update t set a = convert('5', bigint)
update t set a = cast('5' as numeric)
update t set b = cast(a as char format 'x')
update t set b = a::char
update t set b = char 'x'
update t set a = signed '5'
insert into t (a) select a + 5 from t limit 5 percent
insert into t (a) select a + 5 from t limit 1 with ties
insert into t (a) select c + 5 from (select 1) as x (c)
insert into t (a) select x.a + 5 from t x outer join t y on 1
insert into t (a) select x.a + 5 from t x left inner join t y on 1
insert into t (a) select 9 from t for no key update
update t set b = x'4'
insert into t values (2, null, x'4')
insert into t values (0X11, null, 0)
update t set a = 0B01
create table v (a int default 0X11)
update t set b = json_object('a', 1)->'$.a'
update t set b = (j)->>'$.a'
update t set a = extract(year, '2020-01-01')
update t set a = extract('year' from '2020-01-01')
update t set a = position('a', b)
update t set b = substring(b for 1)
update t set b = substring(b for 1 from 1)
update t set b = substring(b)
insert into t (a) select x.a + 1 from t x join t y using a
insert into t (a) select x.a + 1 from t x join t y using ()
delete t
delete t x where a = 1
delete from t x, t y
delete from t x join t y on x.a = y.a
insert into t (a) select 5 from t not indexed
insert into t (a) select 5 from t@x
update t set a = cast(b as dec)
update t set a = cast(b as int64)
update t set a = cast(b as ``)
update t set b = cast(b as varchar(3))
update t set b = cast(b as nchar(3))
update t set b = cast('1' as date default 1 on conversion error)
update t set a = abs(all a)
update t set a = coalesce(all a, 1)
update t set a = (select count (*) from t x)
update t set b = trim (b)
update t set b = if(1, substring (b, 1), 2)
insert into max(a) values (1)
insert into t (a) with max(x) as (select 5) select x from max
create table max(a int)
create table v (a datetime default now ())
create table 1 (a int)
insert into t (a) select a + 5 from t for share
insert into t (a) select a + 5 from t lock in share mode
insert into t (a) select a + 5 from t for update skip locked
"""
"""Statements that sqlglot reads."""
TIDBS = """
update t set b = date '2020-01-01'
update t set b = cast('x' as char character set utf8mb4)
insert into t (a) with x (c) as (select 9) select c from x
insert into t (a) select x.a + 5 from t x right outer join t y on 1
insert into t (a) select x.a + 5 from t x cross join t y using (a)
insert into t (a) select a + 5 from t for update
update t set a = isnull(b)
update t set a = if(1, 2, 3)
update t set a = case when a is null then 2 end where 0
insert into t (a) select a + 1 from t limit 1 offset 0
insert into t (a) select a + 1 from t limit 0, 1
update t set a = cast('5' as signed integer)
update t set a = convert('5', signed)
update t set b = trim(leading 'a' from 'abc')
update t set b = 'if 1 == nulls first'
update t set b = x'41', a = 0x05
update t x natural left join t y set x.b = 'c'
insert into t (a) select rank() over w + 5 from t window w as (order by a)
insert into t (a, b) values (7, default) on duplicate key update b = values(a)
update t use index (primary) set b = left('abc', 2)
update t set b = t.j->'$.a'
update t set b = test.t.j->>'$.a'
update t set a = extract(year_month from '2020-01-01')
update t set a = position('a' in b)
update t set b = substring(b from 1), b = substring(b from 1 for 2), b = substring(b, 1, a > 1)
insert into t (a) select x.a + 1 from t x join t y using (a, `b`)
delete from x using t x join t y on x.a = y.a where 0
delete x from t x, t y where 0
insert into t (a) select sum(all a) + count(all a) + 5 from t
insert into t (a, b) select max(all a) + 5, group_concat(all b) from t where a = all (select 1)
update t set b = cast('1.5' as decimal(10, 2)), b = cast(b as character(3) charset utf8mb4)
update t set b = cast(b as binary(3)), b = cast('[1]' as vector(1)), b = cast('1' as unsigned int)
update t set b = mid (b, 1), a = coalesce (a, 1), j = json_array (1)
insert into t (a) select avg (a) + 5 from t
insert into t (a) with max (x) as (select 5) select x from max
insert into t (a) select a + 5 from t for update nowait
create table max (count int, key count (count)); insert into max (count) values (1)
create table `1` (1a int)
delete delayed from t where 0
update high_priority t set a = 2
"""
_TABLE = "create table t (a int primary key, j json, b varchar(20)); insert into t values (1, '{}', '');"


def test_a_reserved_word_is_a_name_after_a_dot() -> None:
    columns = "create table r (`mod` int, `not` int, `select` int, `left` int, `case` int)"
    script = f"{columns}; insert into r (r.mod, r.select) values (1, 2);"
    changes = "update r set r.not = r.mod + r.select, r.left = test.r.mod, r.case = r . mod where r.mod = 1"
    assert rows_of(f"{script} {changes} order by r.select", "r") == [(b"1", b"3", b"2", b"1", b"1")]


@pytest.mark.parametrize("statement", FOREIGN.strip().splitlines())
def test_what_the_grammar_of_tidb_does_not_have(statement: str) -> None:
    with pytest.raises(ScenarioError):
        rows_of(f"{_TABLE} {statement}")


@pytest.mark.parametrize("statement", TIDBS.strip().splitlines())
def test_what_resembles_it_runs(statement: str) -> None:
    assert rows_of(f"{_TABLE} {statement}")


def test_blanks_before_the_bracket_of_a_function_may_be_ignored() -> None:
    mode = "set sql_mode = 'IGNORE_SPACE';"
    assert rows_of(f"{_TABLE} {mode} update t set a = (select count \n (*) + 1 from t x)")[0][0] == b"2"
    with pytest.raises(ScenarioError, match="expected a table name near 'max'"):
        rows_of(f"{_TABLE} {mode} create table max (a int)")
    with pytest.raises(ScenarioError) as error:
        rows_of(f"{_TABLE} {mode} update t set a = (select count \n\n (*) from t x);\n update t set x = 1")
    assert error.value.line == 4


@pytest.mark.parametrize("name", sorted(AGGREGATES.keys() - {"ANY_VALUE", "JSON_OBJECTAGG"}))
def test_all_may_precede_the_argument_of_an_aggregate(name: str) -> None:
    assert rows_of(f"{_TABLE} update t set b = (select {name}(all a) from t)")


def test_no_all_precedes_the_argument_of_any_value() -> None:
    with pytest.raises(ScenarioError, match="SQL does not parse near 'all a"):
        rows_of(f"{_TABLE} update t set b = (select any_value(all a) from t)")
