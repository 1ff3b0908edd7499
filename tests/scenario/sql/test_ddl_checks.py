"""What TiDB checks in DDL: names, keys, defaults, changes together, foreign keys and partitions."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import columns_of, history_of, rows_of
from ticdc_producer.errors import ScenarioError

VIEWED = "create table u (a int, b int); create view v as select * from u;"
REFUSED = [
    ("create table t (other.t.a int)", "Incorrect database name 'other'"),
    ("create table t (u.a int)", "Incorrect table name 'u'"),
    ("create table t (a int); alter table t modify u.a bigint", "Incorrect table name 'u'"),
    ("create table t (a int); alter table t change a other.t.b bigint", "Incorrect database name 'other'"),
    ("create table t (a char(0), key (a))", "The used storage engine can't index column 'a'"),
    (
        "create table t (a varchar(0)); create index k on t (a)",
        "The used storage engine can't index column 'a'",
    ),
    ("create table t (a int, key `primary` (a))", "Incorrect index name 'primary'"),
    ("create table t (a int default null, primary key (a))", "All parts of a PRIMARY KEY must be NOT NULL"),
    (
        "create table t (a int not null, unique k (a)); alter table t alter index k invisible",
        "A primary key index",
    ),
    (
        "create table t (a int primary key); alter table t alter index primary invisible",
        "expected an index name",
    ),
    ("create table t (a int) auto_id_cache = 9223372036854775808", "auto_id_cache overflows int64"),
    (
        "create table t (a int); alter table t auto_id_cache = 1",
        "Can't Alter AUTO_ID_CACHE between 1 and non-1",
    ),
    ("create table t (a int); alter table t add b int, auto_id_cache = 9", "Unsupported multi schema change"),
    (
        "create table t (a date) ttl = a + interval 1 day; alter table t add b int, remove ttl",
        "Unsupported multi schema change",
    ),
    (
        "create table t (a varchar(5), key ((upper(a)))); alter table t drop column a",
        "generated column|delete all",
    ),
    ("create table t (a int, key ((1 + 1))); alter table t drop column a", "You can't delete all columns"),
    ("create view v as select 1 as a, 2 as A", "Duplicate column name 'a'"),
    ("create table u (a int); create view v as select x.a, y.a from u x, u y", "Duplicate column name 'a'"),
    ("create view v (a, a) as select 1, 2", "Duplicate column name 'a'"),
    ("create view v (a) as select 1, 2", "different column counts"),
    ("create table u (a int); create view v (a, b) as select * from u", "different column counts"),
    (f"{VIEWED} create view w (a) as select * from v union select 1, 2", "different column counts"),
    ("create table t (a int primary key); alter table t modify a bigint null", "must be NOT NULL"),
    ("create table t (a int null not null primary key)", "must be NOT NULL"),
    ("create table t (a int, b int, primary key (a, b)); alter table t modify b int default null", "NOT NUL"),
    ("create table t (a int auto_increment, key (a)); alter table t modify a int", "can't remove auto_incr"),
    ("create table t (a int); alter table t modify a int references u (a)", "can't modify with references"),
    ("create table t (a int); alter table t modify a int check (a > 1)", "can't modify with check"),
    (
        "create temporary table l (a int); drop global temporary table if exists l",
        "can only drop global temporary",
    ),
    ("create table t (a int, unique key (a) clustered)", "only supported for primary key"),
    ("create table t (a int, key (a) nonclustered)", "only supported for primary key"),
    (
        "create table t (a varchar(9), unique (a(5))) partition by key (a) partitions 2",
        "must include all columns",
    ),
    (
        "create table t (a varchar(9)) partition by key (a) partitions 2; alter table t add unique (a(5))",
        "must include all columns",
    ),
    ("set sql_mode = ''; create table t (a tinyint default '1000')", "Invalid default value for 'a'"),
    ("set sql_mode = ''; create table t (a bit(2) default b'111')", "Invalid default value for 'a'"),
    (
        "set sql_mode = ''; create table t (a int); alter table t add b date default 'x'",
        "Invalid default value",
    ),
]


KEY_BYTES = [
    ("tinyint", 1), ("smallint", 2), ("mediumint", 3), ("int", 4), ("bigint", 8), ("year", 1), ("date", 3),
    ("time(6)", 3), ("datetime", 8), ("timestamp(1)", 4), ("float", 4), ("float(25)", 8), ("double", 8),
    ("decimal(9)", 4), ("decimal(10)", 5), ("decimal(17)", 8), ("bit(26)", 4), ("bit(33)", 5),
    ("varchar(2)", 8), ("binary(2)", 2),
]  # fmt: skip


@pytest.mark.parametrize(("column", "size"), KEY_BYTES)
def test_a_key_has_at_most_3072_bytes(column: str, size: int) -> None:
    definition = f"create table t (a blob, b {column}, key (a({{}}), b))"
    history_of(definition.format(3072 - size))
    with pytest.raises(ScenarioError, match=r"too long \(3073 bytes\)"):
        history_of(definition.format(3073 - size))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("convert to character set utf8mb4", "too long"),
        ("modify a varchar(1025) character set utf8", "too long"),
        ("modify a text", "key specification without a key length"),
    ],
)
def test_a_changed_column_still_fits_its_key(change: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        history_of(f"create table t (a varchar(1000) character set utf8, key (a)); alter table t {change}")


@pytest.mark.parametrize(
    ("column", "change", "message"),
    [
        ("a varbinary(9), key k (a)", "modify a blob", "without a key length"),
        ("a varchar(9), unique key k (a)", "change a b mediumtext", "without a key length"),
        ("a varchar(9), key k (a)", "modify a text, drop key k", "without a key length"),
        ("a text, key k (a(300))", "modify a tinytext", "without a key length"),
        ("a varchar(9), key k (a)", "modify a json", "JSON column 'a'"),
        ("a varchar(9), key k (a)", "modify a varchar(0)", "can't index column 'a'"),
    ],
)
@pytest.mark.parametrize("checks", [0, 1])
def test_a_column_of_a_key_does_not_become_a_whole_text(
    column: str, change: str, message: str, checks: int
) -> None:
    script = f"set foreign_key_checks = {checks}; create table t ({column}); alter table t {change}"
    with pytest.raises(ScenarioError, match=message):
        history_of(script)


def test_a_key_of_a_prefix_fits_a_longer_text_and_is_whole_for_other_types() -> None:
    table = "create table t (a varchar(9), unique key k (a(2))); insert into t values ('12');"
    with pytest.raises(ScenarioError, match="Duplicate entry"):
        history_of(f"{table} alter table t modify a text; insert into t values ('123')")
    for new in ("int", "varchar(2)"):
        history_of(f"{table} alter table t modify a {new}; insert into t values ('1'), ('13')")
    assert rows_of(f"{table} alter table t modify a int; insert into t values (123)") == [(b"12",), (b"123",)]


@pytest.mark.parametrize(("script", "message"), REFUSED)
def test_ddl_is_refused(script: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        history_of(script)


def test_without_strict_mode_defaults_may_be_zero_dates_and_empty_texts() -> None:
    script = (
        "set sql_mode = ''; create table t (a date default '0000-00-00', b text not null default '',"
        " c json not null default '', d tinyblob default ''); insert into t values ()"
    )
    assert rows_of(script) == [(b"0000-00-00", b"", b"null", b"")]
    with pytest.raises(ScenarioError, match="have no default"):
        history_of("create table t (a text default '')")


def test_add_column_may_have_keys_in_its_brackets() -> None:
    script = "create table t (a int); insert into t values (1), (2);"
    script += " alter table t add column (b int default 3, {})"
    assert rows_of(script.format("key (a), unique u (a)")) == [(b"1", b"3"), (b"2", b"3")]
    with pytest.raises(ScenarioError, match=r"Duplicate entry '1' for key 't\.u'"):
        history_of(f"{script.format('unique u (a)')}; insert into t values (1, 1)")


def test_all_columns_may_be_replaced_in_one_statement() -> None:
    script = "create table t (a int, b int); insert into t values (1, 2);"
    assert rows_of(f"{script} alter table t drop a, drop b, add c int default 3, add d int") == [(b"3", None)]
    assert columns_of(f"{script} alter table t drop a, add c int") == ["b", "c"]


def test_an_enum_may_have_any_number_of_members() -> None:
    members = ", ".join(f"'m{number}'" for number in range(70_000))
    script = "create table t (a enum({})); insert into t values ('m69999')"
    assert rows_of(script.format(members)) == [(b"70000",)]
    with pytest.raises(ScenarioError, match="duplicated value 'M7' in ENUM"):
        history_of("create table t (a enum('m7', 'm8', 'M7') collate utf8mb4_general_ci)")


@pytest.mark.parametrize("kind", ["enum", "set"])
def test_a_member_of_enum_and_set_has_at_most_255_bytes_in_its_collation(kind: str) -> None:
    create = f"create table t (a {kind}('{{}}') collate {{}})"
    history_of(create.format("é" * 127, "utf8mb4_bin"))
    history_of(create.format("x" * 127, "utf8mb4_general_ci"))
    for text, collation in (("é" * 128, "utf8mb4_bin"), ("x" * 128, "utf8mb4_general_ci")):
        with pytest.raises(ScenarioError, match="Too long enumeration/set value for column a"):
            history_of(create.format(text, collation))


def test_members_of_enum_and_set_may_be_hexadecimal() -> None:
    script = "create table t (a enum(0x61, x'6262'), b set(b'01100011')); insert into t values ('bb', 'c')"
    assert rows_of(script) == [(b"2", b"1")]


def test_blanks_beyond_the_length_are_cut_whatever_they_are() -> None:
    script = "create table t (a varchar(3), b char(3)); insert into t values ('ab\\n\\n\\t', 'ab \\r\\n')"
    assert rows_of(script) == [(b"ab\n", b"ab")]
    with pytest.raises(ScenarioError, match="Data too long"):
        history_of("create table t (a varchar(3)); insert into t values ('ab\\n\\nx')")


def test_a_negative_number_in_bits_is_that_of_64_bits() -> None:
    assert rows_of("create table t (a bit(64)); insert into t values (-1)") == [(b"18446744073709551615",)]
    with pytest.raises(ScenarioError, match="Data too long"):
        history_of("create table t (a bit(63)); insert into t values (-1)")


FAMILY = (
    "create table p (id int primary key, v varchar(9), d decimal(5, 2), i int, key (v), key (d), key (i));"
    "create table t (v varchar(9), d decimal(5, 2), i int, constraint fv foreign key (v) references p (v),"
    " constraint fd foreign key (d) references p (d), constraint fi foreign key (i) references p (i));"
)


@pytest.mark.parametrize("table", ["p", "t"])
@pytest.mark.parametrize("new", ["v varchar(8)", "v text", "d decimal(6, 2)", "d decimal(5, 3)", "i bigint"])
def test_a_column_of_a_foreign_key_has_the_type_of_its_parent(table: str, new: str) -> None:
    with pytest.raises(ScenarioError, match=r"Cannot change column|are incompatible"):
        history_of(f"{FAMILY} alter table {table} modify {new}")
    with pytest.raises(ScenarioError, match=r"Cannot change column|are incompatible"):
        history_of(f"{FAMILY} set foreign_key_checks = 0; alter table {table} modify {new}")


def test_a_text_of_a_foreign_key_is_as_long_as_its_parent() -> None:
    parent = "create table p (v varchar(9), key (v))"
    family = f"{parent}; create table t (v varchar(5), foreign key (v) references p (v));"
    with pytest.raises(ScenarioError, match="Cannot change column 'v'"):
        history_of(f"{family} alter table t modify v varchar(8)")
    history_of(f"{family} alter table t modify v varchar(9)")


@pytest.mark.parametrize("table", ["p", "t"])
def test_a_text_of_a_foreign_key_may_become_longer_and_a_number_have_another_width(table: str) -> None:
    history_of(f"{FAMILY} alter table {table} modify v varchar(20); alter table {table} modify i int(3)")


@pytest.mark.parametrize("table", ["p", "t"])
def test_a_column_of_a_foreign_key_cannot_be_dropped(table: str) -> None:
    with pytest.raises(ScenarioError, match="needed in a foreign key constraint 'fi'"):
        history_of(f"{FAMILY} alter table {table} drop column i")


def test_the_index_of_a_new_foreign_key_cannot_be_dropped_with_it() -> None:
    script = "create table p (id int primary key); create table t (a int, b int, key k (a) {});"
    change = "alter table t drop index k, add foreign key (a) references p (id)"
    with pytest.raises(ScenarioError, match="Cannot drop index 'k': needed in a foreign key constraint"):
        history_of(f"{script.format('')} {change}")
    history_of(f"{script.format(', key ab (a, b)')} {change}")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("alter table t add z int, algorithm = foo", "Unknown ALGORITHM 'FOO'"),
        ("alter table t lock = foo", "Unknown LOCK 'FOO'"),
        ("create index i on t (a) algorithm = foo", "Unknown ALGORITHM 'FOO'"),
        ("alter table t alter index k invisible, drop index k", "Unsupported operate same index 'k'"),
        ("alter table t add z double(5)", "a length without a scale"),
    ],
)  # fmt: skip
def test_a_definition_is_refused(statement: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        history_of(f"create table p (a int primary key); create table t (a int, key k (a)); {statement}")


LISTS = "create table t (a int) partition by list (a) (partition p values in (0, 4), partition q default)"
PARTITIONS = [
    ("create table t (a int) partition by range (a) (partition p values less than (default))", "not parse"),
    ("create table t (a int) partition by list (a) (partition p values in (maxvalue))", "does not parse"),
    ("create table t (a int) partition by list (a) (partition `p ` values in (1))", "Incorrect partition"),
    (f"{LISTS}; alter table t add partition (partition r values in (9))", "contains DEFAULT partition"),
    (f"{LISTS}; insert t values (4); alter table t reorganize partition p into (partition p values in (0))",
     "Table has no partition"),
    (("create table t (a int) partition by range (a) (partition p values less than (9));"
      " alter table t add partition partitions 2"), "each partition must be defined"),
    ("create table t (a date) partition by range columns (a) (partition p values less than (20200101))",
     "values of incorrect type"),
    ("create table t (a int) partition by list columns (a) (partition p values in ('1'))", "incorrect type"),
    ("create table t (a char) partition by list columns (a) (partition p values in (1))", "incorrect type"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "message"), PARTITIONS)
def test_partitions_are_refused(script: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        history_of(script)


@pytest.mark.parametrize("bound", ["(30)", "(15)", "maxvalue"])
def test_the_last_range_may_get_any_end(bound: str) -> None:
    script = (
        "create table t (a int) partition by range (a) (partition p values less than (10),"
        " partition q values less than {}); insert into t values (12);"
        f"alter table t reorganize partition q into (partition q values less than {bound})"
    )
    assert rows_of(script.format("(20)")) == rows_of(script.format("maxvalue")) == [(b"12",)]
    with pytest.raises(ScenarioError, match="no partition"):
        history_of(script.format("(20)").replace(f"than {bound})", "than (12))"))


@pytest.mark.parametrize(
    "statement",
    [
        "create table x (a int, {0}, {0})",
        "alter table t add {0}, add {0}",
        "alter table t add {0}; alter table t add {0}",
    ],
)
def test_foreign_keys_of_a_table_have_different_names(statement: str) -> None:
    key = "constraint f foreign key (a) references p (a)"
    with pytest.raises(ScenarioError, match="Duplicate foreign key constraint name 'f'"):
        history_of(f"create table p (a int primary key); create table t (a int); {statement.format(key)}")
