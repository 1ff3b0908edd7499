"""INSERTs of literal rows are read without a syntax tree, with the values that the tree gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from tests.scenario.sql.script_results import rows_of
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.dml.literal_rows import LiteralInsert, LiteralRows, literal_insert
from ticdc_producer.scenario.sql.expression.evaluate import evaluate_constant
from ticdc_producer.scenario.sql.text.parse import parse_dml
from ticdc_producer.scenario.sql.text.statements import split_statements

ESCAPES = st.sampled_from(
    ["\\0", "\\'", '\\"', "\\b", "\\n", "\\r", "\\t", "\\Z", "\\\\", "\\%", "\\_", "\\x", "\\;"]
)
TEXT = st.lists(
    ESCAPES | st.text(st.characters(exclude_characters="\\'\"", exclude_categories=["Cs"])), max_size=4
)
LITERALS = st.one_of(
    st.sampled_from(["NULL", "true", "False", "-9223372036854775808", "18446744073709551615", "- 5", "0042"]),
    st.integers(-(1 << 70), 1 << 70).map(str),
    st.integers(-1000, 1000).map(lambda number: f"{number}.250"),
    st.floats(allow_nan=False, allow_infinity=False).map(repr).filter(lambda text: "e" in text),
    TEXT.map(lambda parts: f"'{''.join(parts)}'"),
    TEXT.map(lambda parts: f'"{"".join(parts)}"'),
    st.sampled_from(["'it''s'", '"a""b"', "'\"'", '"\'"', "''''", "_binary 'a\udcff\\0'", "_utf8mb4'ü'"]),
    st.binary(max_size=4).map(lambda octets: f"x'{octets.hex()}'"),
    st.binary(min_size=1, max_size=4).map(lambda octets: f"0x{octets.hex()}"),
    st.integers(0, 1000).map(lambda number: f"b'{number:b}'"),
)


def insert_of(sql: str) -> LiteralInsert | None:
    [statement] = split_statements(sql)
    insert = literal_insert(statement.shape, len(statement.literals))
    if insert is not None:
        insert.fill(statement.literals)
    return insert


@given(st.lists(st.lists(LITERALS, min_size=1, max_size=5), min_size=1, max_size=4))
def test_values_are_those_of_the_syntax_tree(rows: list[list[str]]) -> None:
    sql = "insert into t values " + ",".join(f"({', '.join(row)})" for row in rows)
    insert, (_, expected) = insert_of(sql), parse_dml(sql, 1)
    assert insert is not None
    assert isinstance(insert.tree.expression, LiteralRows)
    for row, wanted in zip(insert.tree.expression.args["rows"], expected.expression.expressions, strict=True):
        nodes = wanted.expressions if isinstance(wanted, exp.Tuple) else [wanted.this]
        values = [evaluate_constant(node, SQLMode()) for node in nodes]
        assert [(type(value), value) for value in row] == [(type(value), value) for value in values]


@pytest.mark.parametrize(
    "sql",
    [
        "insert into t values {} on duplicate key update v = 1",
        "insert into t values {}, (1 + 1)",
        "insert into t values {}, (default)",
        "insert into t values {}, ((1))",
        "insert into t values {}, (now())",
        "insert into t values {},",
        "insert low_priority into t values {}",
        "insert into t select * from u where (id) in ({})",
    ],
)
def test_other_statements_are_parsed_as_a_whole(sql: str) -> None:
    assert insert_of(sql.format("(1)")) is None
    assert insert_of(sql.format(",".join(["(1)"] * 500))) is None


@pytest.mark.parametrize("head", ["INSERT INTO t", "insert ignore t (id,`v`)", "REPLACE`test`.`t`(`id`, v)"])
def test_heads(head: str) -> None:
    rows = ",".join(f"({number},'v{number}')" for number in range(500))
    stored = rows_of(f"create table t (id int primary key, v varchar(9)); {head} VALUES {rows}")
    assert stored == [(b"%d" % number, b"v%d" % number) for number in range(500)]


def test_a_row_of_another_length_is_named() -> None:
    rows = ",".join(["(1,2)"] * 300)
    with pytest.raises(Exception, match="at row 301: columns 2, values 1"):
        rows_of(f"create table t (id int, v int); insert into t values {rows},(3)")
