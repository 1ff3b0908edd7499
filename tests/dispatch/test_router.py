"""Rules in their order, topics, key columns, and the worked values of the specification."""

from __future__ import annotations

from typing import Any

import pytest

from tests.dispatch.reference_dispatch import dispatch, row_hash
from ticdc_producer.config import resolve
from ticdc_producer.dispatch import Router
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo

INT = MySQLType.LONG


def _router(*rules: dict[str, Any], **top: Any) -> Router:
    return Router(resolve("kafka:///main", {"sink": {"dispatchers": list(rules)}, **top}))


def _table(
    name: str = "t1",
    columns: str = "id val",
    *indexes: IndexInfo,
    schema: str = "test",
    virtual: str = "",
) -> TableInfo:
    primary = IndexInfo(id=0, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
    return TableInfo(
        schema=schema,
        name=name,
        table_id=1,
        columns=tuple(
            ColumnInfo(name=column, type=INT, generated="virtual" if column == virtual else "")
            for column in columns.split()
        ),
        indexes=indexes or (primary,),
    )


def _rule(partition: str, **more: Any) -> dict[str, Any]:
    return {"matcher": ["*.*"], "partition": partition, **more}


@pytest.mark.parametrize(
    ("value", "hashed", "by_count"),
    [
        (b"1", 0xA854E25B, {2: 1, 3: 2, 16: 11}),
        (b"2", 0x315DB3E1, {2: 1, 3: 0, 16: 1}),
        (b"3", 0x465A8377, {2: 1, 3: 2, 16: 7}),
        (b"4", 0xD83E16D4, {2: 0, 3: 2, 16: 4}),
    ],
)
def test_worked_values_of_index_value(value: bytes, hashed: int, by_count: dict[int, int]) -> None:
    route = _router(_rule("index-value")).route(_table())
    assert row_hash(route, (value, b"x")) == hashed
    for count, partition in by_count.items():
        assert dispatch(route, (value, b"x"), 1, count) == (partition, str(hashed))


def test_worked_values_of_table() -> None:
    route = _router().route(_table())
    assert route.base_hash == 0x405C657F
    assert [dispatch(route, (b"1", None), 7, count) for count in (2, 3, 4, 16)] == [
        (1, "test.t1"), (0, "test.t1"), (3, "test.t1"), (15, "test.t1"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "columns", "image", "partition"),
    [
        ("t1", "a", (b"11",), 2),
        ("t1", "a", (b"22",), 11),
        ("t2", "a b", (b"11", b"22"), 5),
        ("t2", "a b", (b"11", b"0"), 14),
        ("t2", "a b", (b"11", b"33"), 2),
        ("t1", "col2 col1", (b"11", b"22"), 15),
    ],
)
def test_vectors_of_tiflows_unit_tests(
    table: str, columns: str, image: tuple[bytes, ...], partition: int
) -> None:
    route = _router(_rule("columns", columns=columns.split())).route(_table(table, columns))
    assert dispatch(route, image, 1, 16)[0] == partition


def test_ts_takes_the_whole_number() -> None:
    route = _router(_rule("ts")).route(_table())
    ts = 415508878783938562
    assert dispatch(route, (b"1", None), ts, 7) == (ts % 7, str(ts))


def test_null_hashes_as_the_word_null() -> None:
    route = _router(_rule("columns", columns=["val"])).route(_table())
    assert row_hash(route, (b"1", None)) == row_hash(route, (b"1", b"null")) != row_hash(route, (b"1", b""))


def test_a_table_without_a_handle_key_hashes_its_name_only() -> None:
    plain = IndexInfo(id=1, name="i", offsets=(0,))
    route = _router(_rule("index-value")).route(_table("t1", "id val", plain))
    assert route.key_columns == ()
    assert dispatch(route, (b"1", None), 1, 16) == (15, str(0x405C657F))


def test_the_first_rule_that_matches_decides_topic_and_partition() -> None:
    router = _router(
        {"matcher": ["test.a*", "!test.ax"], "partition": "ts", "topic": "first"},
        {"matcher": ["TEST.*"], "partition": "index-value", "topic": "p_{schema}_{table}"},
    )
    routes = {name: router.route(_table(name)) for name in ("a1", "ax", "b")}
    assert {name: (route.topic, route.rule) for name, route in routes.items()} == {
        "a1": ("first", "ts"),
        "ax": ("p_test_ax", "index-value"),
        "b": ("p_test_b", "index-value"),
    }
    other = router.route(_table("a1", schema="other"))
    assert (other.topic, other.rule) == ("main", "table")


def test_case_sensitive_matchers() -> None:
    rule = {"matcher": ["TEST.*"], "partition": "ts"}
    assert _router(rule).route(_table()).rule == "ts"
    assert _router(rule, **{"case-sensitive": True}).route(_table()).rule == "table"


@pytest.mark.parametrize(
    ("name", "rule", "warning"),
    [
        ("default", "table", None),
        ("Index-Value", "index-value", None),
        ("", "table", None),
        ("rowid", "index-value", "deprecated"),
        ("index_value", "table", "did you mean 'index-value'?"),
    ],
)
def test_names_of_partition_rules(name: str, rule: str, warning: str | None) -> None:
    router = _router(_rule(name))
    assert router.route(_table()).rule == rule
    assert len(router.warnings) == (warning is not None)
    assert warning is None or warning in router.warnings[0]


def test_the_deprecated_key_works_with_a_warning() -> None:
    router = _router({"matcher": ["*.*"], "dispatcher": "ts"})
    assert router.route(_table()).rule == "ts"
    assert router.warnings == ["dispatcher is the deprecated name of partition"]


def test_indexes_of_key_columns_do_not_count_virtual_ones() -> None:
    uk = IndexInfo(id=1, name="Uk", offsets=(3, 1), unique=True)
    table = _table("t", "v a b c", uk, virtual="v")
    assert _router(_rule("columns", columns=["C"])).route(table).key_columns == (("c", 2),)
    assert _router(_rule("index-value", index="uK")).route(table).key_columns == (("c", 2), ("a", 0))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (_rule("index-value", index="ukk"), "there is no index 'ukk' (did you mean 'uk'?)"),
        (_rule("index-value", index="plain"), "index 'plain' is not unique"),
        (_rule("index-value", index="on_v"), "column 'v' is virtual"),
        (_rule("index-value", index="PRIMARY"), "leave index out"),
        (_rule("columns", columns=["a", "cc"]), "there is no column 'cc'"),
        (_rule("columns", columns=["v"]), "column 'v' is virtual"),
    ],
)
def test_a_rule_that_the_table_cannot_follow(rule: dict[str, Any], message: str) -> None:
    table = _table(
        "t",
        "a b v",
        IndexInfo(id=0, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True),
        IndexInfo(id=1, name="uk", offsets=(1,), unique=True),
        IndexInfo(id=2, name="plain", offsets=(1,)),
        IndexInfo(id=3, name="on_v", offsets=(2,), unique=True),
        virtual="v",
    )
    with pytest.raises(ChangefeedError) as caught:
        _router(rule).route(table)
    assert message in str(caught.value)
    assert "test.t" in str(caught.value)


@pytest.mark.parametrize(
    ("names", "topic"),
    [
        (("", "", "test", "new"), "p_test_new"),  # CREATE TABLE
        (("test", "old", "test", "new"), "p_test_old"),  # RENAME
        (("test", "old", "test", ""), "p_test_old"),  # a drop that names no table after it
        (("", "", "test", ""), "main"),  # DDL of a database
        (("test", "", "test", ""), "main"),
        (("other", "t", "other", "t"), "main"),
    ],
)
def test_topic_of_a_ddl(names: tuple[str, str, str, str], topic: str) -> None:
    assert _router({"matcher": ["test.*"], "topic": "p_{schema}_{table}"}).ddl_topic(*names) == topic


@pytest.mark.parametrize(
    ("expression", "schema", "table", "topic"),
    [
        ("fixed.name-1", "s", "t", "fixed.name-1"),
        ("{schema}", "s", "t", "s"),
        ("a_{schema}-{table}.z", "s", "t", "a_s-t.z"),
        ("x{table}", "s", "t", "xt"),
        ("{schema}_{table}", "a b", "データ$", "a_b_____"),
        ("{schema}_{table}", "s", "{table}", "s__table_"),
        ("{schema}_{table}", "s" * 200, "t" * 100, "s" * 200 + "_" + "t" * 48),
        ("{table}", "s", ".", "_"),
        ("{schema}{table}", ".", ".", "__"),
    ],
)
def test_topic_expressions(expression: str, schema: str, table: str, topic: str) -> None:
    router = _router({"matcher": ["*.*"], "topic": expression})
    assert router.route(_table(table, schema=schema)).topic == topic


@pytest.mark.parametrize(
    "expression", ["{table}{schema}", "{schema}{schema}", "a b", "{Schema}", "ä", "{}", ".", "t" * 250]
)
def test_topic_expressions_that_are_refused(expression: str) -> None:
    with pytest.raises(ChangefeedError) as caught:
        _router({"matcher": ["*.*"], "topic": expression})
    assert repr(expression) in str(caught.value)
