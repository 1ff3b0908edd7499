"""Filter rules, event filters on DDL and column selectors: what names and texts decide."""

from __future__ import annotations

from typing import Any

import pytest

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.dispatch import Router
from ticdc_producer.dispatch.table_filter import ColumnSelection, TableFilter
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.catalog import Action, Catalog, DDLJob
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo

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


def _changefeed(section: dict[str, Any], **top: Any) -> Changefeed:
    return resolve("kafka:///t", {"filter": section, **top})


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


@pytest.mark.parametrize(
    ("event", "query", "action", "ignored"),
    [
        ("drop table", "DROP TABLE t", Action.DROP_TABLE, True),
        ("Drop Table", "DROP TABLE t", Action.DROP_TABLE, True),
        ("drop table", "TRUNCATE t", Action.TRUNCATE_TABLE, False),
        ("all ddl", "CREATE INDEX i ON t (a)", Action.ADD_INDEX, True),
        ("alter table", "CREATE INDEX i ON t (a)", Action.ADD_INDEX, False),
        ("alter table", "alter  table t add index i (a)", Action.ADD_INDEX, True),
        ("alter table", "ALTER TABLE t ADD PARTITION …", Action.ADD_TABLE_PARTITION, False),
        ("add table partition", "ALTER TABLE t ADD PARTITION …", Action.ADD_TABLE_PARTITION, True),
        ("all dml", "DROP TABLE t", Action.DROP_TABLE, False),
    ],
)
def test_ignored_kinds_of_ddl(event: str, query: str, action: Action, ignored: bool) -> None:
    section = {"event-filters": [{"matcher": ["shop.*"], "ignore-event": [event]}]}
    reason = _reason(section, _ddl(query, action, "shop.orders"))
    assert reason == ("an event filter ignores it" if ignored else "")
    assert _reason(section, _ddl(query, action, "other.orders")) == ""
    assert _reason(section, _ddl(query, action, "SHOP.orders")) == "", "here case counts always"


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
    assert Changefeed.from_manifest(changefeed.as_manifest()) == changefeed
