"""Debezium's ``tableChanges`` depend on what the statement defines, whichever text is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sql_messages import job_of, values_of

CREATE = (
    "create table t (id int primary key comment 'the key', y year not null,"
    " ts timestamp(3) default '2021-12-20 00:00:00');"
)


def columns_of(folder: Path, script: str, options: str = "") -> dict[str, dict[str, Any]]:
    """The columns in the message of a script's last DDL, by name."""
    query = f"protocol=debezium&output-ddl=true&debezium-disable-schema=true{options}"
    payload = values_of(folder, script, query, "ddl")[-1]["payload"]
    return {column["name"]: column for column in payload["tableChanges"][0]["table"]["columns"]}


@pytest.mark.parametrize("text", ["original", "tidb"])
@pytest.mark.parametrize("profile", ["classic", "new"])
def test_columns_are_those_of_the_statement(tmp_path: Path, profile: str, text: str) -> None:
    columns = columns_of(tmp_path, CREATE, f"&profile={profile}&ddl-text={text}")
    assert columns["y"]["length"] is None
    assert columns["ts"]["defaultValueExpression"] == "2021-12-20 00:00:00"
    assert columns["id"]["comment"] is None


@pytest.mark.parametrize(
    "alteration",
    [
        "add column a time(2) default '1:2:3', add b year default 2001 comment 'x'",
        "add (a time(2) default '1:2:3', b year default 2001 comment 'x')",
        "modify ts timestamp(3) default '2021-12-20 01:00:00', change y z year",
        "change column ts /* a comment */ `new` datetime(1) default current_timestamp(1)",
        "drop column y",
    ],
)
def test_alterations_read_the_same_from_every_text(tmp_path: Path, alteration: str) -> None:
    script = f"{CREATE} alter table t {alteration};"
    printed = columns_of(tmp_path, script)
    assert columns_of(tmp_path, script, "&ddl-text=original") == printed
    upper = alteration.replace("add", "ADD").replace("column", "COLUMN").replace("default", "DEFAULT")
    assert columns_of(tmp_path, f"{CREATE} alter table t {upper};") == printed


PROFILES = ["", "&profile=new"]


@pytest.mark.parametrize("options", PROFILES)
@pytest.mark.parametrize(
    ("column", "length", "default"),
    [
        ("datetime not null", None, None),
        ("datetime(3) not null", 3, None),
        ("timestamp not null", None, None),
        ("timestamp(6) not null", 6, None),
        ("time not null", None, None),
        ("time(2) not null", 2, None),
        ("year not null", None, "0000"),
        ("date not null", None, None),
        ("int not null", None, None),
        ("varchar(3) not null", 3, None),
        ("datetime", None, None),
        ("year", None, None),
        ("datetime not null default '2020-01-02 03:04:05'", None, "2020-01-02 03:04:05"),
        ("time not null default '1:2:3'", None, "1:2:3"),
        ("year not null default 2001", None, "2001"),
        ("timestamp(3) not null default current_timestamp(3)", 3, "1970-01-01 00:00:00"),
    ],
)
def test_only_year_has_the_value_of_existing_rows_as_default(
    tmp_path: Path, column: str, length: int | None, default: str | None, options: str
) -> None:
    script = f"{CREATE} insert into t values (1, 2020, default); alter table t add column n {column}"
    added = columns_of(tmp_path, script, options)["n"]
    assert (added["length"], added["defaultValueExpression"]) == (length, default)


COMMENTED = "create table t (id int primary key, c int default 5, d datetime(3), e int);" + "".join(
    f" alter table t modify {column} comment 'x', add column n{number} int;"
    for number, column in enumerate(["c int default 5", "d datetime(3) default '2020-01-01'", "e int"])
)


@pytest.mark.parametrize("options", PROFILES)
@pytest.mark.parametrize(
    ("alteration", "commented", "default"),
    [
        ("alter column c set default 7", ["d", "e"], "7"),
        ("alter c set default 7", ["d", "e"], "7"),
        ("alter column c drop default", ["d", "e"], None),
        ("alter column d set default '2021-01-01 00:00:00'", ["c", "e"], "5"),
        ("alter c set default 7, alter d drop default", ["e"], "7"),
        ("modify c int default 9 comment 'y'", ["d", "e"], "9"),
        ("change e f int comment 'y'", ["c", "d"], "5"),
        ("rename column e to f", ["c", "d", "f"], "5"),
        ("drop column e", ["c", "d"], "5"),
        ("add index (c)", ["c", "d", "e"], "5"),
        ("comment = 'alter column c set default 7'", ["c", "d", "e"], "5"),
    ],
)
def test_columns_that_the_statement_names_have_no_comment(
    tmp_path: Path, alteration: str, commented: list[str], default: str | None, options: str
) -> None:
    columns = columns_of(tmp_path, f"{COMMENTED} alter table t {alteration}", options)
    assert sorted(name for name, column in columns.items() if column["comment"]) == commented
    assert columns["c"]["defaultValueExpression"] == default
    assert columns["d"]["length"] == 3


def test_the_text_that_is_sent_stays_the_users(tmp_path: Path) -> None:
    query = "protocol=debezium&output-ddl=true&debezium-disable-schema=true&ddl-text=original"
    (value,) = values_of(tmp_path, CREATE, query, "ddl")
    assert value["payload"]["ddl"] == CREATE.removesuffix(";")


UNPRINTABLE = CREATE.replace(");", ", v varchar(9) not null character set utf8mb4);")


@pytest.mark.parametrize("text", ["original", "tidb"])
@pytest.mark.parametrize("script", [UNPRINTABLE, f"/*!40101 {CREATE.removesuffix(';')} */;"])
def test_a_ddl_that_is_sent_as_typed_or_in_a_comment_defines_columns(
    tmp_path: Path, script: str, text: str
) -> None:
    columns = columns_of(tmp_path, script, f"&ddl-text={text}")
    assert columns["id"]["comment"] is None
    assert (columns["ts"]["length"], columns["y"]["length"]) == (3, None)


def test_a_column_attribute_that_cannot_be_printed_is_sent_as_typed(tmp_path: Path) -> None:
    (job,) = job_of(tmp_path, UNPRINTABLE, "protocol=debezium&output-ddl=true").history.catalog.ddls
    assert job.query == UNPRINTABLE.removesuffix(";")
