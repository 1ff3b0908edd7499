"""Debezium's ``tableChanges`` depend on the statement as TiDB prints it, whichever text is sent."""

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


@pytest.mark.parametrize("options", ["", "&ddl-text=tidb", "&profile=new", "&profile=new&ddl-text=tidb"])
def test_columns_are_those_of_the_printed_statement(tmp_path: Path, options: str) -> None:
    columns = columns_of(tmp_path, CREATE, options)
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
    printed = columns_of(tmp_path, script, "&ddl-text=tidb")
    assert columns_of(tmp_path, script) == printed
    upper = alteration.replace("add", "ADD").replace("column", "COLUMN").replace("default", "DEFAULT")
    assert columns_of(tmp_path, f"{CREATE} alter table t {upper};") == printed


def test_the_text_that_is_sent_stays_the_users(tmp_path: Path) -> None:
    query = "protocol=debezium&output-ddl=true&debezium-disable-schema=true"
    (value,) = values_of(tmp_path, CREATE, query, "ddl")
    assert value["payload"]["ddl"] == CREATE.removesuffix(";")


def test_other_protocols_do_not_parse_the_statement_again(tmp_path: Path) -> None:
    assert not job_of(tmp_path, CREATE, "protocol=canal-json").history.catalog.ddls[0].printed
