"""The names under which tables are sent, by the rules of ticdc ``pkg/routing``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.dispatch.table_route import TableRoute, TargetTables
from ticdc_producer.errors import ChangefeedError


def route(rules: Sequence[dict[str, Any]], *, case_sensitive: bool = False) -> TableRoute:
    config = {"sink": {"dispatchers": rules}, "case-sensitive": case_sensitive}
    return TableRoute(resolve("kafka:///t?profile=new", config))


def rule(matcher: str, schema: str = "", table: str = "", **others: Any) -> dict[str, Any]:
    return {"matcher": [matcher], "target-schema": schema, "target-table": table, **others}


@pytest.mark.parametrize(
    ("schema", "table", "sent"),
    [
        ("sales_bak", "", ("sales_bak", "Orders")),
        ("{schema}_bak", "", ("sales_bak", "Orders")),
        ("", "{schema}_{table}", ("sales", "sales_Orders")),
        ("{table}", "{table}-{table}", ("Orders", "Orders-Orders")),
    ],
)
def test_placeholders_are_the_names_upstream(schema: str, table: str, sent: tuple[str, str]) -> None:
    assert route([rule("sales.*", schema, table)]).table("sales", "Orders") == sent


def test_the_first_rule_with_a_target_applies() -> None:
    rules = [
        {"matcher": ["a.*"], "partition": "ts"},
        rule("a.t", "first"),
        rule("a.*", "second"),
    ]
    names = route(rules)
    assert [names.table("a", table) for table in ("t", "u")] == [("first", "t"), ("second", "u")]
    assert names.table("b", "t") == ("b", "t")


@pytest.mark.parametrize(("case_sensitive", "schema"), [(False, "x"), (True, "A")])
def test_matchers_follow_case_sensitive(case_sensitive: bool, schema: str) -> None:
    assert route([rule("a.*", "x")], case_sensitive=case_sensitive).table("A", "t") == (schema, "t")


def test_a_database_has_the_one_target_of_its_tables() -> None:
    names = route([rule("a.t", "x"), rule("a.u", "{schema}_x"), rule("b.*", "y"), rule("b.z", "y")])
    assert names.name("b", "") == ("y", "")
    assert names.name("", "") == ("", "")
    with pytest.raises(ChangefeedError, match="ambiguous schema routing for schema a: target schema a_x"):
        names.name("a", "")


def test_two_tables_cannot_have_one_name_at_once() -> None:
    tables = TargetTables(route([rule("*.*", "x")]))
    tables.change((), [("a", "t")], "file:1")
    tables.change((), [("a", "t")], "file:2")
    tables.change([("a", "t")], [("b", "t")], "file:3")
    with pytest.raises(ChangefeedError) as error:
        tables.change((), [("a", "t")], "file:4")
    assert error.value.where == "file:4"
    assert "target `x`.`t` is mapped by both source `b`.`t` and source `a`.`t`" in error.value.what
    assert tables.of_database("b") == [("b", "t")]
    assert tables.of_database("a") == []
