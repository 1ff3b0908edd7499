"""Filter rules, event filters on DDL and column selectors: what names and texts decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.dispatch import Router
from ticdc_producer.dispatch.event_types import event_types
from ticdc_producer.dispatch.table_filter import ColumnSelection, TableFilter
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.catalog import Action, Catalog, DDLJob
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.simulate.prepare import prepare

PRIMARY = IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
UNIQUE = IndexInfo(id=2, name="u", offsets=(1,), unique=True)


def _table(name: str = "shop.orders") -> TableInfo:
    schema, _, table = name.partition(".")
    columns = tuple(
        ColumnInfo(name=column, type=MySQLType.LONG, generated="virtual" if column == "twice" else "")
        for column in ("id", "code", "Note", "twice", "amount")
    )
    return TableInfo(schema=schema, name=table, table_id=1, columns=columns, indexes=(PRIMARY, UNIQUE))


def _ddl(query: str, action: Action, name: str, old: str = "") -> DDLJob:
    schema, _, table = name.partition(".")
    old_schema, _, old_table = (old or name).partition(".")
    return DDLJob(
        commit_seq=0, query=query, job_type=action, ddl_type=action, schema=schema, table=table,
        old_schema=old_schema, old_table=old_table,
    )  # fmt: skip


def _changefeed(section: dict[str, Any], *, profile: str = "classic", **top: Any) -> Changefeed:
    return resolve(f"kafka:///t?profile={profile}", {"filter": section, **top})


def _reason(section: dict[str, Any], ddl: DDLJob, start_ts: int = 99) -> str:
    catalog = TableFilter(_changefeed(section)).mark_ddls(Catalog((), (ddl,)), lambda _: start_ts + 1)
    assert catalog.ddls[0].sent is (catalog.ddls[0].reason == "")
    return catalog.ddls[0].reason


@pytest.mark.parametrize(
    ("rules", "accepted"),
    [
        (["*.*"], True),
        (["shop.*"], True),
        (["SHOP.Orders"], True),
        (["shop.*", "!shop.orders"], False),
        (["!shop.orders", "shop.*"], True),
        (["other.*"], False),
        (["!other.*"], False),
    ],
)
def test_the_last_rule_that_matches_a_table_decides(rules: list[str], accepted: bool) -> None:
    assert TableFilter(_changefeed({"rules": rules})).accepts(_table()) is accepted
    reason = _reason({"rules": rules}, _ddl("DROP TABLE shop.orders", Action.DROP_TABLE, "shop.orders"))
    assert reason == ("" if accepted else "no filter rule accepts the table")


def test_case_matters_if_the_changefeed_is_case_sensitive() -> None:
    rules = {"rules": ["SHOP.*"]}
    assert not TableFilter(_changefeed(rules, **{"case-sensitive": True})).accepts(_table())


@pytest.mark.parametrize(
    ("rules", "accepted"),
    [
        (["shop.orders"], True),
        (["shop.*", "!shop.orders"], True),
        (["*.*", "!shop.*"], False),
        (["a.*"], False),
    ],
)
def test_ddl_of_a_database_is_accepted_if_a_table_of_it_may_be(rules: list[str], accepted: bool) -> None:
    ddl = _ddl("CREATE DATABASE shop", Action.CREATE_SCHEMA, "shop")
    assert (_reason({"rules": rules}, ddl) == "") is accepted


def test_a_rename_is_filtered_by_the_old_name_and_stops_if_only_the_new_one_is_accepted() -> None:
    rules = {"rules": ["shop.*"]}
    assert _reason(rules, _ddl("RENAME …", Action.RENAME_TABLE, "away.orders", old="shop.orders")) == ""
    assert _reason(rules, _ddl("RENAME …", Action.RENAME_TABLE, "away.b", old="away.a")) != ""
    with pytest.raises(ChangefeedError, match="CDC:ErrSyncRenameTableFailed") as stopped:
        _reason(rules, _ddl("RENAME …", Action.RENAME_TABLE, "shop.orders", old="away.orders"))
    assert stopped.value.parameter == "filter.rules"


IGNORED = "an event filter ignores it"
TYPES = [
    ("CREATE DATABASE s2", "create database", False), ("DROP DATABASE s", "drop database", False),
    ("ALTER DATABASE s CHARSET utf8mb4", "modify schema charset and collate", False),
    ("CREATE TABLE u (id INT PRIMARY KEY)", "create table", False),
    ("CREATE TABLE u LIKE t", "create table", False), ("DROP TABLE t", "drop table", False),
    ("TRUNCATE TABLE t", "truncate table", False), ("RENAME TABLE t TO u", "rename table", True),
    ("RENAME TABLE t TO u, p TO q", "rename table", True),
    ("ALTER TABLE t RENAME TO u", "rename table", True),
    ("ALTER TABLE t COMMENT 'c'", "modify table comment", True),
    ("ALTER TABLE t COLLATE utf8mb4_general_ci", "modify table charset and collate", True),
    ("CREATE VIEW w AS SELECT id FROM t", "create view", False), ("DROP VIEW v", "drop view", False),
    ("ALTER TABLE p ADD PARTITION (PARTITION p3 VALUES LESS THAN (30))", "add table partition", True),
    ("ALTER TABLE p DROP PARTITION p1", "drop table partition", True),
    ("ALTER TABLE p TRUNCATE PARTITION p1", "truncate table partition", True),
    ("ALTER TABLE p EXCHANGE PARTITION p1 WITH TABLE x", "exchange table partition", True),
    ("ALTER TABLE p REORGANIZE PARTITION p1, p2 INTO (PARTITION p1 VALUES LESS THAN (20))",
     "reorganize table partition", True),
    ("ALTER TABLE x PARTITION BY HASH (id) PARTITIONS 2", "alter table partitioning", True),
    ("ALTER TABLE p REMOVE PARTITIONING", "remove table partitioning", True),
    ("ALTER TABLE t ADD COLUMN w INT", "add column", True),
    ("ALTER TABLE t DROP COLUMN o", "drop column", True),
    ("ALTER TABLE t MODIFY n BIGINT", "modify column", True),
    ("ALTER TABLE t CHANGE n m BIGINT", "modify column", True),
    ("ALTER TABLE t RENAME COLUMN n TO m", "modify column", True),
    ("ALTER TABLE t ALTER n SET DEFAULT 1", "set default value", True),
    ("ALTER TABLE t AUTO_INCREMENT = 99", "rebase auto id", True),
    ("ALTER TABLE k ADD PRIMARY KEY (u)", "add primary key", True),
    ("ALTER TABLE t DROP PRIMARY KEY", "drop primary key", True),
    ("CREATE INDEX j ON t (n)", "create index", True),
    ("ALTER TABLE t ADD INDEX j (n)", "create index", True),
    ("ALTER TABLE t ADD UNIQUE j (n)", "create index", True), ("DROP INDEX i ON t", "drop index", True),
    ("ALTER TABLE t DROP INDEX i", "drop index", True),
    ("ALTER TABLE t RENAME INDEX i TO j", "rename index", True),
    ("ALTER TABLE t ALTER INDEX i INVISIBLE", "alter index visibility", True),
    ("ALTER TABLE t TTL = d + INTERVAL 1 DAY", "alter ttl info", True),
    ("ALTER TABLE l REMOVE TTL", "alter ttl remove", True),
    ("ALTER TABLE t ADD COLUMN w INT, DROP COLUMN o", "multi schema change", True),
    ("ALTER TABLE f ADD CONSTRAINT c FOREIGN KEY (n) REFERENCES r (id)", "add foreign key", False),
    ("ALTER TABLE f DROP FOREIGN KEY b", "drop foreign key", False),
]  # fmt: skip
"""(DDL, its type, whether ``alter table`` contains it)."""
BEFORE = """
CREATE DATABASE s; USE s;
CREATE TABLE t (id INT PRIMARY KEY NONCLUSTERED, n INT NOT NULL, o INT, d DATE, UNIQUE u (n), INDEX i (d));
CREATE TABLE k (u INT NOT NULL); CREATE TABLE r (id INT PRIMARY KEY); CREATE TABLE x (id INT PRIMARY KEY);
CREATE TABLE p (id INT PRIMARY KEY) PARTITION BY RANGE (id)
  (PARTITION p1 VALUES LESS THAN (10), PARTITION p2 VALUES LESS THAN (20));
CREATE TABLE l (id INT PRIMARY KEY, d DATE) TTL = d + INTERVAL 1 DAY;
CREATE TABLE f (id INT PRIMARY KEY, n INT, m INT, CONSTRAINT b FOREIGN KEY (m) REFERENCES r (id));
CREATE VIEW v AS SELECT id FROM t;
"""


def _sent(tmp_path: Path, query: str, event: str, profile: Profile) -> bool:
    """Whether a DDL that a real history contains is sent if an event type is ignored."""
    path = tmp_path / "history.sql"
    path.write_text(f"{BEFORE}{query};\n")
    filters = {"filter": {"event-filters": [{"matcher": ["s*.*"], "ignore-event": [event]}]}}
    config = {**filters, "case-sensitive": True}
    catalog = prepare(path, sink_uri=f"kafka:///t?profile={profile}", config=config).history.catalog
    last = [ddl for ddl in catalog.ddls if ddl.commit_seq == catalog.ddls[-1].commit_seq]
    assert {ddl.reason for ddl in last if not ddl.sent} <= {IGNORED}
    return all(ddl.sent for ddl in last)


@pytest.mark.parametrize(("query", "event", "alters"), TYPES)
def test_each_ddl_has_one_event_type(tmp_path: Path, query: str, event: str, alters: bool) -> None:
    assert not _sent(tmp_path, query, event, "classic")
    assert not _sent(tmp_path, query, "all ddl", "classic")
    assert _sent(tmp_path, query, "alter table", "classic") is not alters
    assert _sent(tmp_path, query, "recover table", "classic")


@pytest.mark.parametrize(
    ("query", "event", "alters"), [case for case in TYPES if "foreign key" not in case[1]]
)
def test_the_new_architecture_has_the_same_types(
    tmp_path: Path, query: str, event: str, alters: bool
) -> None:
    assert not _sent(tmp_path, query, event, "new")
    assert _sent(tmp_path, query, "alter table", "new") is not alters


def test_every_type_that_ticdc_documents_is_known() -> None:
    of_ddl = {event for _, event, _ in TYPES} | {"recover table", "alter table", "all ddl"}
    of_rows = {"insert", "update", "delete", "all dml"}
    known = of_ddl | of_rows | {"create schema", "drop schema"}
    assert set(event_types("classic")) == known
    assert set(event_types("new")) == known | {"add fulltext index", "create hybrid index"}


def test_the_new_architecture_drops_a_rule_about_foreign_keys_and_stops_at_them(tmp_path: Path) -> None:
    rule = {"matcher": ["*.*"], "ignore-event": ["drop table", "insert", "add foreign key"]}
    changefeed = _changefeed({"event-filters": [rule]}, profile="new")
    drop = _ddl("DROP TABLE t", Action.DROP_TABLE, "a.t")
    assert TableFilter(changefeed).mark_ddls(Catalog((), (drop,)), lambda _: 100).ddls[0].sent
    with pytest.raises(ChangefeedError, match="event type drop foreign key not valid"):
        _sent(tmp_path, "ALTER TABLE f DROP FOREIGN KEY b", "insert", "new")


@pytest.mark.parametrize(
    ("profile", "case_sensitive", "ignored"),
    [("classic", False, False), ("new", False, True), ("new", True, False)],
)
def test_case_of_matchers(profile: str, case_sensitive: bool, ignored: bool) -> None:
    section = {"event-filters": [{"matcher": ["SHOP.*"], "ignore-event": ["Drop Table"]}]}
    changefeed = _changefeed(section, profile=profile, **{"case-sensitive": case_sensitive})
    ddl = _ddl("DROP TABLE t", Action.DROP_TABLE, "shop.orders")
    assert TableFilter(changefeed).mark_ddls(Catalog((), (ddl,)), lambda _: 100).ddls[0].sent is not ignored


def test_ignored_texts_and_start_ts() -> None:
    texts = {"event-filters": [{"matcher": ["*.*"], "ignore-sql": ["^drop", "add\\s+column"]}]}
    assert _reason(texts, _ddl("ALTER TABLE t Add  Column c INT", Action.ADD_COLUMN, "a.t"))
    assert not _reason(texts, _ddl("ALTER TABLE t DROP COLUMN c", Action.DROP_COLUMN, "a.t"))
    drop = _ddl("DROP TABLE t", Action.DROP_TABLE, "a.t")
    assert _reason({"ignore-txn-start-ts": [99]}, drop) == "ignore-txn-start-ts names it"
    assert not _reason({"ignore-txn-start-ts": [100]}, drop)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"rules": ["shop"]}, "schemaPattern.tablePattern"),
        ({"event-filters": [{"matcher": ["*.*"], "ignore-event": ["inserts"]}]}, "did you mean 'insert'?"),
        ({"event-filters": [{"matcher": ["*.*"], "ignore-sql": ["("]}]}, "not a regular expression"),
        ({"event-filters": [{"ignore-event": ["insert"]}]}, "is missing"),
        ({"event-filters": [{"matcher": ["*.*"], "ignore-events": []}]}, "did you mean 'ignore-event'?"),
        ({"rule": []}, "did you mean 'rules'?"),
    ],
)
def test_a_filter_that_cannot_be_read(section: dict[str, Any], message: str) -> None:
    with pytest.raises(ChangefeedError) as rejected:
        TableFilter(_changefeed(section))
    assert message in str(rejected.value)


def _selected(*selectors: tuple[str, list[str]]) -> TableInfo:
    content = [{"matcher": [matcher], "columns": columns} for matcher, columns in selectors]
    return ColumnSelection(resolve("kafka:///t", {"sink": {"column-selectors": content}})).of(_table())


@pytest.mark.parametrize(
    ("columns", "selected"),
    [
        (["*"], ["id", "code", "Note", "amount"]),
        (["*", "!note"], ["id", "code", "amount"]),
        (["ID", "code", "a*"], ["id", "code", "amount"]),
        (["*", "!*", "id", "code"], ["id", "code"]),
    ],
)
def test_the_last_pattern_that_matches_a_column_decides(columns: list[str], selected: list[str]) -> None:
    assert [column.name for column in _selected(("shop.*", columns)).sent_columns] == selected


def test_the_first_selector_of_a_table_counts_and_the_others_tables_stay_whole() -> None:
    assert len(_selected(("other.*", ["id"])).sent) == 4
    assert len(_selected(("shop.*", ["id", "code"]), ("*.*", ["*"])).sent) == 2


def test_rows_cannot_be_dispatched_by_a_column_that_is_left_out() -> None:
    selector = {"matcher": ["*.*"], "columns": ["*", "!amount"]}
    rule = {"matcher": ["*.*"], "partition": "columns", "columns": ["amount"]}
    changefeed = resolve("kafka:///t", {"sink": {"column-selectors": [selector], "dispatchers": [rule]}})
    with pytest.raises(ChangefeedError, match="'amount' is left out by a column selector"):
        Router(changefeed).route(ColumnSelection(changefeed).of(_table()))


@pytest.mark.parametrize("columns", [["*", "!id"], ["id"], []])
def test_a_column_of_a_key_cannot_be_left_out(columns: list[str]) -> None:
    with pytest.raises(ChangefeedError, match="CDC:ErrColumnSelectorFailed") as rejected:
        _selected(("shop.*", columns))
    assert rejected.value.where == "column selector of shop.orders"


def test_a_manifest_restores_filter_and_selectors() -> None:
    changefeed = _changefeed(
        {"rules": ["a.*"], "event-filters": [{"matcher": ["a.b"], "ignore-event": ["insert"]}]},
        sink={"column-selectors": [{"matcher": ["*.*"], "columns": ["*", "!x"]}]},
    )
    restored = Changefeed.from_manifest(changefeed.as_manifest())
    # A manifest has the number of partitions, whether it was set or not.
    assert restored == changefeed.model_copy(update={"sets_partition_num": True})
