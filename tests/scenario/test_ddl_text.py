"""The text of a DDL that TiCDC builds from names instead of the user's statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sql_messages import catalog_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.simulate.prepare import prepare

TABLE = (
    "create table `a``b` (id int primary key)"
    " partition by range (id) (partition `p``0` values less than (9));\n"
)
OTHER = "create table c (id int primary key);\n"
REBUILT = [
    ("DROP TABLE", f"{TABLE}drop table `a``b`", "DROP TABLE `test`.`a``b`"),
    ("DROP VIEW", "create view `a``b` as select 1 as x;\ndrop view `a``b`", "DROP VIEW `test`.`a``b`"),
    (
        "RENAME TABLE",
        f"{OTHER}{TABLE}rename table c to d, `a``b` to e",
        "RENAME TABLE `test`.`a``b` TO `test`.`e`;",
    ),
    (
        "EXCHANGE PARTITION",
        f"{OTHER}{TABLE}alter table `a``b` exchange partition `p``0` with table c",
        "ALTER TABLE `test`.`a``b` EXCHANGE PARTITION `p``0` WITH TABLE `test`.`c`",
    ),
]


@pytest.mark.parametrize("text", ["original", "tidb"])
@pytest.mark.parametrize(("statement", "script", "sent"), REBUILT)
def test_a_back_quote_in_a_rebuilt_name_stops_classic_ticdc(
    tmp_path: Path, statement: str, script: str, sent: str, text: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        catalog_of(tmp_path, script, f"protocol=open-protocol&ddl-text={text}")
    assert f"text of {statement} without escaping the back-quote" in caught.value.what
    assert caught.value.line == script.count("\n") + 1
    assert caught.value.value == sent.replace("``", "`").removesuffix(";")


@pytest.mark.parametrize("text", ["original", "tidb"])
@pytest.mark.parametrize(("statement", "script", "sent"), REBUILT)
def test_new_architecture_escapes_back_quotes(
    tmp_path: Path, statement: str, script: str, sent: str, text: str
) -> None:
    catalog = catalog_of(tmp_path, script, f"protocol=open-protocol&profile=new&ddl-text={text}")
    assert statement in sent
    assert catalog.ddls[-1].query == sent


@pytest.mark.parametrize(
    ("script", "original", "tidb"),
    [
        (f"{TABLE}truncate table `a``b`", "truncate table `a``b`", "TRUNCATE TABLE `a``b`"),
        (f"{TABLE}rename table `a``b` to d", "rename table `a``b` to d", "RENAME TABLE `a``b` TO `d`"),
        ("create database `a``b`; drop database `a``b`", "drop database `a``b`", "DROP DATABASE `a``b`"),
    ],
)
def test_statements_that_ticdc_does_not_rebuild_may_have_back_quotes(
    tmp_path: Path, script: str, original: str, tidb: str
) -> None:
    assert catalog_of(tmp_path, script, "protocol=craft&ddl-text=original").ddls[-1].query == original
    assert catalog_of(tmp_path, script, "protocol=craft").ddls[-1].query == tidb


MEMBERS = [
    "create table t (id int primary key, e enum('a\\\\','b'));",
    "create table t (id int primary key, e set('a','b\\\\') not null);",
    "create table t (id int primary key);\nalter table t add column e enum('a\\\\');",
]


@pytest.mark.parametrize("text", ["original", "tidb"])
@pytest.mark.parametrize("protocol", ["open-protocol", "canal-json", "debezium&output-ddl=true"])
@pytest.mark.parametrize("script", MEMBERS)
def test_a_member_that_ends_in_a_backslash_stops_the_new_architecture(
    tmp_path: Path, script: str, protocol: str, text: str
) -> None:
    with pytest.raises(ScenarioError, match="stops the changefeed here") as caught:
        catalog_of(tmp_path, script, f"protocol={protocol}&profile=new&ddl-text={text}")
    assert caught.value.line == script.count("\n") + 1


@pytest.mark.parametrize("script", MEMBERS)
def test_classic_ticdc_sends_such_a_member(tmp_path: Path, script: str) -> None:
    sent = catalog_of(tmp_path, script, "protocol=open-protocol&ddl-text=tidb").ddls[-1].query
    assert "\\'" in sent


@pytest.mark.parametrize(
    "column", ["e enum('a\\\\b','c')", "e varchar(9) default 'a\\\\'", "e int comment 'a\\nb'"]
)
def test_other_backslashes_do_not_stop_the_new_architecture(tmp_path: Path, column: str) -> None:
    script = f"create table t (id int primary key, {column})"
    options = "protocol=open-protocol&profile=new&ddl-text=original"
    assert catalog_of(tmp_path, script, options).ddls[0].query == script


def test_a_table_that_is_not_replicated_may_have_back_quotes(tmp_path: Path) -> None:
    (_, dropped) = catalog_of(tmp_path, "create table `a``b` (id int); drop table `a``b`").ddls
    assert not dropped.sent


def test_a_ddl_that_cannot_be_printed_is_sent_as_typed_with_a_note(tmp_path: Path) -> None:
    script = tmp_path / "scenario.sql"
    view = "create view v as select /*+ hash_join(t) */ id from t"
    script.write_text(f"create table t (id int primary key);\n{view};\n")
    history = prepare(script, sink_uri="kafka:///t?protocol=open-protocol").history
    assert [job.query for job in history.catalog.ddls] == ["CREATE TABLE `t` (`id` INT PRIMARY KEY)", view]
    (note,) = history.ignored_statements.notes
    assert note.line == 2
    assert note.text.startswith("the DDL is sent as it was typed, not as TiDB prints it: ")
