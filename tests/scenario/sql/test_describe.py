"""What TiCDC's Debezium encoder reads in the statement of a DDL."""

from __future__ import annotations

import pytest

from ticdc_producer.model.event import ColumnDefinition, TemporalDefinition
from ticdc_producer.scenario.sql.definition.describe import defined_columns
from ticdc_producer.scenario.sql.syntax import parse_ddl
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.statements import split_statements


def described(query: str) -> tuple[ColumnDefinition, ...]:
    (statement,) = split_statements(query)
    return defined_columns(parse_ddl(Cursor(statement)))


@pytest.mark.parametrize(
    ("column", "temporal"),
    [
        ("int default 5 comment 'x'", None),
        ("date default '2020-01-01'", None),
        ("datetime", TemporalDefinition()),
        ("year(4) not null", TemporalDefinition(length=4)),
        ("timestamp(3) null default null", TemporalDefinition(length=3, has_default=True)),
        ("time default '1:2:3'", TemporalDefinition(has_default=True, default="1:2:3")),
        ("time default _utf8mb4'it''s'", TemporalDefinition(has_default=True, default="it's")),
        ("time default ''", TemporalDefinition(has_default=True, default="")),
        ("time default ('1:2:3')", TemporalDefinition(has_default=True, default="1:2:3")),
        ("time default 10203 comment 'x'", TemporalDefinition(has_default=True, default="10203")),
        ("time default -10203", TemporalDefinition()),
        ("year default 2001", TemporalDefinition(has_default=True, default="2001")),
        (
            "timestamp(6) default now(6) on update now(6)",
            TemporalDefinition(length=6, has_default=True, default="CURRENT_TIMESTAMP"),
        ),
        (
            "datetime default (str_to_date('2020-01-01', '%Y-%m-%d'))",
            TemporalDefinition(has_default=True, default="STR_TO_DATE"),
        ),
    ],
)
def test_a_column(column: str, temporal: TemporalDefinition | None) -> None:
    (definition,) = described(f"create table t (c {column})")
    assert definition == ColumnDefinition(name="c", temporal=temporal)
    assert described(f"alter table t add column (c {column})") == (definition,)
    assert described(f"alter table t change old c {column} first") == (definition,)
    assert described(f"alter table t modify t.c {column}") == (definition,)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("create table t (`A``b` int, key (`A``b`), t.b int, primary key (b))", ["A`b", "b"]),
        ("create table t like s", []),
        ("alter table t add a int after b, add key (c), add (d int, e int), drop column f", ["a", "d", "e"]),
        ("alter table t alter column a set default 5, alter b drop default", ["a", "b"]),
        ("alter table t rename column a to b, comment = '(`c` int)'", []),
        ("create view v (a) as select 1", []),
        ("create index i on t (a)", []),
        ("rename table a to b", []),
    ],
)
def test_the_columns_of_a_statement(query: str, names: list[str]) -> None:
    assert [definition.name for definition in described(query)] == names
