"""Table options and their columns: charsets, engines, TTL and AUTO_RANDOM: what TiDB accepts."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import columns_of, history_of
from ticdc_producer.errors import ScenarioError

T = "create table t (a varchar(3) charset utf8 collate utf8_bin, b int);"
OTHER_CHARSET = [
    "create table x (a varchar(3) charset utf8 collate utf8mb4_bin)",
    "create table x (a varchar(3) collate utf8_bin collate utf8mb4_bin)",
    "create table x (a enum('a') charset latin1 collate utf8mb4_bin)",
    "create table x (a binary(3) collate utf8mb4_bin)",
    "create table x (a blob collate utf8mb4_bin)",
    "create table x (a json collate utf8mb4_bin)",
    "create table x (a int) charset utf8 collate utf8mb4_bin",
    "create table x (a int) collate utf8_bin collate utf8mb4_bin",
    "create database x charset utf8 collate utf8mb4_bin",
    "create database x collate utf8mb4_bin charset utf8",
    "alter database d charset utf8 collate utf8mb4_bin",
    "alter table t charset utf8mb4 collate utf8_bin",
    "alter table t convert to charset utf8mb4 collate utf8_bin",
    "alter table t modify a varchar(3) charset utf8mb4 collate utf8_bin",
    "alter table t add c text charset utf8mb4 collate utf8_bin",
    "set names utf8 collate utf8mb4_bin",
    "update t set b = convert(a using utf8) collate utf8mb4_bin",
    "update t set b = _utf8'a' collate utf8mb4_bin",
    "update t set b = cast('a' as char charset latin1) collate utf8mb4_bin",
    "update t set b = b collate utf8mb4_bin",
    "update t set b = now() collate utf8mb4_bin",
    "update t set b = x'41' collate utf8mb4_bin",
]


@pytest.mark.parametrize("statement", OTHER_CHARSET)
def test_a_collation_belongs_to_its_charset(statement: str) -> None:
    with pytest.raises(ScenarioError, match=r"does not belong to charset|is not valid for CHARACTER SET"):
        history_of(f"create database d; {T} {statement}")


@pytest.mark.parametrize(
    "options",
    ["charset utf8 charset utf8mb4", "collate utf8mb4_bin charset utf8", "charset latin1 charset gbk"],
)
@pytest.mark.parametrize("statement", ["create table x (a int)", "alter table t", "alter database d"])
def test_two_charsets_conflict(statement: str, options: str) -> None:
    with pytest.raises(ScenarioError, match="Conflicting declarations"):
        history_of(f"create database d; {T} {statement} {options}")


def test_a_charset_may_be_repeated_and_a_number_have_a_collation() -> None:
    history_of(
        "create table x (a int collate utf8_bin, b blob collate binary)"
        " charset utf8 collate utf8_bin charset utf8"
    )
    history_of("create database d charset latin1 charset utf8 collate utf8_bin")
    history_of("set names utf8mb4 collate utf8mb4_bin; set names default; set character set 'utf8'")


@pytest.mark.parametrize("statement", ["set names koi8r", "set names utf8mb4 collate x", "set charset koi8r"])
def test_the_charset_of_the_connection_is_one_of_tidb(statement: str) -> None:
    with pytest.raises(ScenarioError, match=r"koi8r|collation x"):
        history_of(statement)


@pytest.mark.parametrize("option", ["union = (t)", "insert_method = last", "engine = foo"])
def test_an_option_that_tidb_refuses(option: str) -> None:
    for statement in ("create table x (a int)", "alter table t"):
        with pytest.raises(ScenarioError, match=r"option is not supported|Unknown storage engine 'foo'"):
            history_of(f"{T} {statement} {option}")


@pytest.mark.parametrize("part", ["with validation", "without validation", "add c int, with validation"])
def test_validation_has_no_effect(part: str) -> None:
    assert columns_of(f"{T} alter table t {part}")[:2] == ["a", "b"]


TTL = "create table t (id int primary key, d date, b int) ttl = d + interval 1 day;"
PARENT = (
    "create table p (id int primary key, d date); create table c (a int, foreign key (a) references p (id));"
)
WRONG_TTL = [
    ("create table t (d date) ttl_enable = 'on'", "Cannot set TTL_ENABLE on a table without TTL config"),
    ("create table t (d date) ttl_job_interval = '1h'", "Cannot set TTL_JOB_INTERVAL on a table without TTL"),
    ("create table t (d date); alter table t ttl_enable = 'off'", "on a table without TTL config"),
    (
        f"{TTL} alter table t remove ttl; alter table t ttl_job_interval = '1h'",
        "on a table without TTL config",
    ),
    (f"{TTL} alter table t ttl_enable = 'yes'", "TTL_ENABLE is 'ON' or 'OFF'"),
    (f"{TTL} alter table t drop column d", "Cannot drop column 'd': needed in TTL config"),
    (f"{TTL} alter table t rename column d to e; alter table t drop column e", "needed in TTL config"),
    (f"{TTL} truncate table t; alter table t drop column d", "needed in TTL config"),
    (f"{TTL} create table l like t; alter table l drop column d", "needed in TTL config"),
    (f"{TTL} alter table t modify d varchar(20)", "expect DATETIME, DATE or TIMESTAMP"),
    (f"{TTL} create table c (a int, foreign key (a) references t (id))", "referenced by foreign key"),
    (f"{PARENT} alter table p ttl = d + interval 1 day", "referenced by foreign key"),
    (
        "create table t (d date, a double primary key) ttl = d + interval 1 day",
        "primary key type FLOAT/DOUBLE",
    ),
]


@pytest.mark.parametrize(("script", "message"), WRONG_TTL)
def test_a_ttl_is_refused(script: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        history_of(script)


def test_a_column_may_change_within_a_ttl_and_be_dropped_after_it() -> None:
    script = f"{TTL} alter table t modify d datetime; alter table t ttl_enable = 'off';"
    assert columns_of(f"{script} alter table t remove ttl; alter table t drop column d") == ["id", "b"]
    history_of("create table t (d date, a double, primary key (a) nonclustered) ttl = d + interval 1 day")


R = "create table t (a bigint auto_random(5, 40) primary key, b int);"
WRONG_RANDOM = [
    ("create table t (a bigint auto_random(5, 32) primary key)", "fewer than 27"),
    ("create table t (a bigint unsigned auto_random(6, 32) primary key)", "fewer than 27"),
    (f"{R} alter table t modify a bigint auto_random(5, 41)", "range bits"),
    (f"{R} alter table t modify a bigint auto_random(5)", "range bits"),
    (f"{R} alter table t modify a bigint auto_random(4, 40)", "decreasing auto_random shard bits"),
    (f"{R} alter table t modify a bigint", "decreasing auto_random shard bits"),
    (f"{R} alter table t modify a bigint auto_random(6, 40) default 3", "incompatible with auto_increment"),
    (f"{R} alter table t add c bigint auto_random", "unsupported add column 'c' constraint AUTO_RANDOM"),
    ("create table t (a bigint primary key); alter table t modify a bigint auto_random", "only be converted"),
]


@pytest.mark.parametrize(("script", "message"), WRONG_RANDOM)
def test_a_change_of_auto_random_is_refused(script: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        history_of(script)


def test_auto_random_may_get_more_bits_or_replace_auto_increment() -> None:
    history_of("create table t (a bigint unsigned auto_random(5, 32) primary key)")
    history_of(f"{R} alter table t modify a bigint auto_random(6, 40)")
    script = "create table t (a bigint auto_increment primary key); alter table t modify a bigint auto_random"
    history_of(f"set tidb_allow_remove_auto_inc = on; {script}")
    with pytest.raises(ScenarioError, match="can't remove auto_increment"):
        history_of(script)
