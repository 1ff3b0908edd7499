"""ALTER TABLE of columns: their order, the values of existing rows, and the jobs."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import columns_of, history_of, jobs_of, rows_of, table_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

T = "create table t (a int primary key, b varchar(9), c int); insert into t values (1, '7', 5);"


@pytest.mark.parametrize(
    ("part", "columns"),
    [
        ("add x int", "abcx"),
        ("add x int first", "xabc"),
        ("add x int after a", "axbc"),
        ("add (x int, y int)", "abcxy"),
        ("add x int after b, add y int after b", "abyxc"),
        ("modify c int first", "cab"),
        ("modify a int after c", "bca"),
        ("change b x varchar(9) after c", "acx"),
        ("drop b", "ac"),
        ("rename column b to x", "axc"),
        ("rename column b to x, rename column c to y", "axy"),
    ],
)
def test_first_and_after_set_the_column_order(part: str, columns: str) -> None:
    assert "".join(columns_of(f"{T} alter table t {part}")) == columns


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ("rename column b to c, rename column c to b", "c"),
        ("drop b, add b int", "b"),
        ("modify b int, alter b set default 5", "b"),
        ("add x int, modify x bigint", "x"),
        ("add x int, add y int after x", "x"),
        ("add x int after b, drop b", "b"),
        ("add x int, add index (x)", "x"),
        ("add x int, add index ((x + 1))", "x"),
        ("add unique index (c), modify c bigint", "c"),
        ("add x int, add y int as (x + 1)", "x"),
    ],
)
def test_a_statement_cannot_concern_a_column_twice(parts: str, name: str) -> None:
    with pytest.raises(ScenarioError, match=f"Unsupported operate same column '{name}'"):
        history_of(f"{T} alter table t {parts}")


def test_a_column_may_follow_one_that_the_statement_modifies() -> None:
    assert columns_of(f"{T} alter table t add x int after b, modify b varchar(40)") == ["a", "b", "x", "c"]


def test_a_column_cannot_move_after_itself() -> None:
    with pytest.raises(ScenarioError, match="Unknown column 'b'"):
        history_of(f"{T} alter table t modify b varchar(9) after b")


@pytest.mark.parametrize(
    ("part", "row"),
    [
        ("add x int", (b"1", b"7", b"5", None)),
        ("add x int not null", (b"1", b"7", b"5", b"0")),
        ("add x int default 3 first", (b"3", b"1", b"7", b"5")),
        ("add x date not null", (b"1", b"7", b"5", b"0000-00-00")),
        ("add x enum('p','q') not null", (b"1", b"7", b"5", b"1")),
        ("add x int as (a + c)", (b"1", b"7", b"5")),  # virtual columns are not sent
        ("modify b int", (b"1", b"7", b"5")),
        ("modify b decimal(5,2)", (b"1", b"7.00", b"5")),
        ("change c x varchar(3) first", (b"5", b"1", b"7")),
        ("rename column b to x", (b"1", b"7", b"5")),
    ],
)
def test_existing_rows_are_converted(part: str, row: tuple[bytes | None, ...]) -> None:
    assert rows_of(f"{T} alter table t {part}") == [row]


def test_existing_rows_have_the_default_of_their_ddl() -> None:
    script = T + (
        "alter table t add x int default 3; alter table t alter x set default 4;"
        "insert into t (a) values (2); alter table t alter x drop default;"
    )
    assert [row[3] for row in rows_of(script)] == [b"3", b"4"]
    with pytest.raises(ScenarioError, match="'x' doesn't have a default value"):
        rows_of(script + "insert into t (a) values (3)")
    assert [row[3] for row in rows_of(script + "insert into t (a, x) values (3, null)")] == [b"3", b"4", None]


@pytest.mark.parametrize(
    "statement",
    [
        "alter table t add column if not exists b int",
        "alter table t drop column if exists x",
        "alter table t modify column if exists x int",
        "alter table t change column if exists x y int",
        "alter table t add index if not exists i (b)",
        "alter table t drop index if exists x",
        "alter table if exists x add y int",
        "create index if not exists i on t (c)",
        "drop index if exists x on t",
        "create table if not exists t (z int)",
        "create table if not exists t like t",
        "drop table if exists x",
        "drop view if exists x",
        "drop sequence if exists x",
        "drop database if exists x",
        "alter table t engine = innodb",
        "alter table t",
    ],
)
def test_a_statement_without_effect_takes_no_commit_ts(statement: str) -> None:
    before = history_of(f"{T} create index i on t (b)")
    after = history_of(f"{T} create index i on t (b); {statement}")
    assert (after.commits, after.catalog) == (before.commits, before.catalog)


@pytest.mark.parametrize(
    "parts",
    [
        "add x int, drop column nope",
        "add x int, add x int",
        "drop column b, drop column b",
        "add x int, modify b int unsigned, modify b varchar(0)",
        "add unique key u (c), add unique key u (b)",
        "auto_increment = 500, drop column nope",
        "add x int not null, add y int as (nope)",
    ],
)
def test_a_failed_part_undoes_the_whole_statement(parts: str) -> None:
    session = Session()
    session.run(T)
    before = session.history()
    with pytest.raises(ScenarioError):
        session.run(f"alter table t {parts}")
    assert session.history() == before


def test_a_failed_alteration_does_not_change_the_auto_increment() -> None:
    session = Session()
    session.run("create table t (a int primary key auto_increment, b int); insert into t values (null, 1)")
    with pytest.raises(ScenarioError):
        session.run("alter table t auto_increment = 500, drop column nope")
    session.run("insert into t values (null, 2)")
    assert session.history().state["test", "t"].rows == ((b"1", b"1"), (b"2", b"2"))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("add unique key u (b)", "Duplicate entry '7' for key 't.u'"),
        ("modify c int not null", "Column 'c' cannot be null"),
        ("modify b varchar(0)", "Data too long (at most 0 characters) for column 'b': '7'"),
    ],
)
def test_rows_that_do_not_fit_fail_the_alteration(part: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        history_of(f"{T} insert into t values (2, '7', null); alter table t {part}")
    assert caught.value.what == message


@pytest.mark.parametrize(
    ("parts", "job"),
    [
        ("add x int", "ADD_COLUMN"),
        ("add (x int, y int)", "MULTI_SCHEMA_CHANGE"),
        ("add x int, drop b", "MULTI_SCHEMA_CHANGE"),
        ("add x int, engine = innodb", "MULTI_SCHEMA_CHANGE"),
        ("drop b", "DROP_COLUMN"),
        ("modify b varchar(20)", "MODIFY_COLUMN"),
        ("rename column b to x", "MODIFY_COLUMN"),
        ("alter b set default 'x'", "SET_DEFAULT_VALUE"),
        ("add index (b)", "ADD_INDEX"),
    ],
)
def test_the_kind_of_job(parts: str, job: str) -> None:
    assert jobs_of(f"{T} alter table t {parts}")[-1] == job


def test_an_index_follows_its_columns() -> None:
    info = table_of(history_of(f"{T} create unique index k on t (b, c); alter table t modify c int first"))
    (index,) = [index for index in info.indexes if index.name == "k"]
    assert [info.columns[offset].name for offset in index.offsets] == ["b", "c"]
    with pytest.raises(ScenarioError, match=r"Duplicate entry '7-5' for key 't\.k'"):
        history_of(
            f"{T} create unique index k on t (b, c); alter table t modify c int first;"
            "insert into t values (5, 2, '7')"
        )


def test_dropping_a_column_drops_its_own_index() -> None:
    info = table_of(history_of(f"{T} create unique index k on t (b); alter table t drop column b"))
    assert [index.name for index in info.indexes] == ["PRIMARY"]


def test_generated_columns_may_use_each_other() -> None:
    script = (
        "create table t (a int primary key, b int as (a + 1), c int as (b * 2) stored,"
        " d varchar(9) as (concat(c, '!')) stored);"
        "insert into t (a) values (1), (2); update t set a = 5 where b = 3"
    )
    assert rows_of(script) == [(b"1", b"4", b"4!"), (b"5", b"12", b"12!")]


def test_unique_expression_indexes_reject_duplicates() -> None:
    script = T + "create unique index k on t ((lower(b))); insert into t values (2, 'x', 1);"
    with pytest.raises(ScenarioError, match=r"for key 't\.k'"):
        history_of(f"{script} insert into t values (3, 'X', 1)")
    assert columns_of(f"{script} alter table t drop index k") == ["a", "b", "c"]


def test_defaults_are_computed_row_by_row() -> None:
    script = (
        "create table t (a int primary key, b varchar(9) default (json_quote('x')),"
        " c json default (json_array()));"
        "insert into t (a) values (1); insert into t values (2, default, '{}');"
        "update t set b = 'y' where a = 2;"
        "update t set b = default where a = 2"
    )
    assert rows_of(script) == [(b"1", b'"x"', b"[]"), (b"2", b'"x"', b"{}")]


@pytest.mark.parametrize(
    ("default", "what"),
    [
        ("(upper('b'))", "disallowed function: UPPER"),
        ("(date_format(now(), '%y'))", "disallowed function: DATE_FORMAT"),
        ("(str_to_date(concat('1980', '-01-01'), '%Y-%m-%d'))", "disallowed function: STR_TO_DATE"),
    ],
)
def test_a_default_that_tidb_does_not_accept(default: str, what: str) -> None:
    with pytest.raises(ScenarioError, match=what) as caught:
        history_of(f"\ncreate table t (a int primary key, b varchar(9) default {default})")
    assert (caught.value.line, caught.value.column) == (2, "b")


@pytest.mark.parametrize(
    "default", ["(1 + 1)", "-'1'", "--1", "((1))", "cast(1 as char)", "date '2020-01-01'"]
)
def test_the_grammar_of_default_has_no_operators(default: str) -> None:
    with pytest.raises(ScenarioError, match="SQL does not parse") as caught:
        history_of(f"\ncreate table t (a int primary key, b varchar(9) default {default})")
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        ("varchar(16383)", "varchar"),
        ("varchar(16384)", "mediumtext"),
        ("varchar(70000) charset latin1", "mediumtext"),
        ("varchar(65535) charset latin1", "varchar"),
        ("varchar(5000000)", "longtext"),
        ("varbinary(65536)", "mediumblob"),
    ],
)
def test_a_varchar_that_is_too_long_is_a_text_without_strict_mode(type_: str, name: str) -> None:
    """Source: tidb ``checkTooBigFieldLengthAndTryAutoConvert``."""
    for script in (
        f"create table t (a {type_})",
        f"create table t (b int); alter table t add a {type_}",
    ):
        columns = table_of(history_of(f"set sql_mode = ''; {script}")).columns
        assert columns[-1].type_name == name


@pytest.mark.parametrize(
    ("part", "what"),
    [
        ("add index i (b), drop index i", "Unsupported operate same index 'i'"),
        ("drop index k, add index k (v)", "Unsupported operate same index 'k'"),
        ("drop index k, add unique K (b)", "Unsupported operate same index 'K'"),
        ("rename index k to m, add index k (b)", "Unsupported operate same index 'k'"),
        ("rename index k to m, drop index m", "Unsupported operate same index 'm'"),
        ("modify b int as (c)", "'Changing the STORED status' is not supported"),
        ("modify v int", "'Changing the STORED status' is not supported"),
        ("modify s int as (c + 1) virtual", "'Changing the STORED status' is not supported"),
        ("modify s int as (c + 2) stored", "'modifying a stored column' is not supported"),
        ("modify b int as (c) stored", "'modifying a stored column' is not supported"),
        ("modify v int as (c + 9)", "'modifying an indexed column' is not supported"),
    ],
)
def test_parts_that_tidb_does_not_run(part: str, what: str) -> None:
    """Source: tidb ``checkOperateSameColAndIdx``, ``checkModifyGeneratedColumn``."""
    columns = "b int, c int, v int as (c + 1), s int as (c + 1) stored, key k (b), key (v)"
    with pytest.raises(ScenarioError, match=what):
        history_of(f"create table t (a int primary key, {columns}); alter table t {part}")


def test_generated_columns_that_change() -> None:
    table = "create table t (a int primary key, v int as (a + 1), s int as (a + 1) stored);"
    script = f"{table} insert into t (a) values (1); alter table t modify v bigint as (a + 2);"
    script += "alter table t modify s bigint as (a+1) stored; alter table t modify s int; update t set s = 9"
    assert rows_of(script) == [(b"1", b"9")]


def test_a_table_that_is_renamed_to_itself_has_no_job() -> None:
    script = "create table t (a int primary key); alter table t rename to T; alter table t rename as test.t"
    assert jobs_of(script) == ["CREATE_TABLE"]
