"""The statement cache does not change results."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tiers import one_in
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.sql.dml.statement_cache import StatementCache, shared_statements
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.text.dialect import TokenType, words
from ticdc_producer.scenario.sql.text.parse import parse_dml
from ticdc_producer.scenario.sql.text.statements import Statement, split_statements

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
FILES = sorted(path for folder in ("visible", "fuzz") for path in (GOLDEN / folder).glob("*.sql"))


def history_of(text: str, max_statements: int) -> History:
    session = Session(force_replicate=True, statements=shared_statements(max_statements))
    with suppress(ScenarioError):
        session.run(text)
    return session.history()


@pytest.mark.parametrize(
    ("path", "max_statements"),
    one_in(3, product(FILES, (1, 100_000))),
    ids=[f"{path.stem}-{number}" for path, number in product(FILES, (1, 100_000))],
)
def test_golden_files_give_one_history_with_any_number_of_shapes(path: Path, max_statements: int) -> None:
    text = path.read_text()
    assert history_of(text, max_statements) == history_of(text, 0)


def statement(sql: str) -> Statement:
    (statement,) = split_statements(sql)
    return statement


class Parser:
    """Counts what was parsed."""

    def __init__(self) -> None:
        self.parsed: list[str] = []
        self.cache = StatementCache(self._parse)

    def _parse(self, statement: Statement) -> tuple[str, object]:
        self.parsed.append(statement.sql)
        return parse_dml(statement.sql, statement.line)

    def same(self, sql: str) -> bool:
        """Whether the tree is that of the statement parsed by itself."""
        parsed = self.cache.parsed(statement(sql))
        return (parsed.verb, repr(parsed.tree)) == (parse_dml(sql, 1)[0], repr(parse_dml(sql, 1)[1]))


VALUES = (
    "1", "-1", "+7", "1.50", ".5", "5.", "1e3", "1.5E-3", "'a'", "'it''s'", "'a\\n\\'b\\%'", '"dq""x"', "''",
    "0x4aB", "x'41'", "X'4a'", "b'101'", "0b11", "B''", "N'abc'", "_utf8mb4'x'", "_binary x'00ff'", "'a' 'b'",
    "'x' collate utf8mb4_bin", "date '2020-01-01'", "timestamp'2020-01-01 00:00:00'", "d + interval 5 day",
    "interval '1:1' minute_second + d", "date_sub(d, interval '2' hour)", "j->'$.a'", "j->>'$[0].b'",
    "json_extract(j, '$.c')", "cast(3 as decimal(10,2))", "cast('5' as char(3))", "convert(5, signed)",
    "a between 1 and 2", "a in (1, 2, 3)", "case when a > 5 then 'x' else 0 end", "a like 'b%' escape '!'",
    "5--3", "5-3*2/4", "concat('a', 1)", "null", "true", "@a", "trim(leading '0' from '00a')",
    "extract(year from '2020-01-01')", "`1`", "`a'b`", "a1 + 1b",
)  # fmt: skip


@pytest.mark.parametrize("first", VALUES)
def test_a_tree_of_the_shape_is_the_tree_of_the_statement(first: str) -> None:
    parser = Parser()
    assert parser.same(f"insert into t (a, b) values ({first}, 8)")
    assert parser.same(f"insert into t (a, b) values ({first}, 91)")
    assert parser.same(f"update t set a = {first}, b = 'q' where c = 'x' order by d limit 3")


@given(
    st.lists(st.sampled_from(VALUES), min_size=1, max_size=4), st.lists(st.sampled_from(VALUES), min_size=1)
)
def test_trees_stay_right_while_shapes_alternate(first: list[str], second: list[str]) -> None:
    parser = Parser()
    for values in (first, second, first):
        assert parser.same(f"insert into t values ({', '.join(values)})")


def test_statements_of_one_shape_are_parsed_once() -> None:
    parser = Parser()
    for number in range(100):
        assert parser.same(
            f"update t set a = a + {number}, v = 'v{number}', b = 0x{number:04x} where id = {number}"
        )
    assert len(parser.parsed) == 1


def test_an_interval_is_part_of_the_shape() -> None:
    parser = Parser()
    for number in range(20):
        assert parser.same(f"update t set d = d + interval {number % 2} day where id = {number}")
    assert len(parser.parsed) == 3


def test_an_insert_of_many_rows_is_not_cached() -> None:
    parser = Parser()
    sql = "insert into t values " + ", ".join(f"({number}, 'v')" for number in range(1000))
    assert parser.same(sql)
    assert parser.parsed == [sql]


FRAGMENTS = (
    "insert", "x1", "1x", "1", "1.5", ".5", "1..2", "1e5", "1e", "0x1F", "0xZZ", "0b12", "x'41'", "b'01'",
    "ax'41'", "'a;b'", "'it''s'", "'\\''", '"d\'q"', "`a;b`", "`a``b`", "-- c ; '\n", "--5", "---1",
    "# ' ;\n", "/* ' ; */", "/**/", ";", "(", ")", ",", "- 1", "*", "/", "->>", ":=", "@a", "@@b", "a.1b",
    "é5", "😀", "$", "\\", "~", "\n", "\t", " ", "\u00a0",
)  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12), st.sampled_from([" ", ""]))
def test_statements_end_where_those_of_the_tokenizer_end(parts: list[str], between: str) -> None:
    text = between.join(parts)
    assume("\\." not in text)  # a command of the client, which the tokenizer knows
    groups: list[list[str]] = [[]]
    try:
        tokens = words(text)
    except ScenarioError:
        return
    cut = [[token.text for token in statement.tokens] for statement in split_statements(text)]
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            groups.append([])
        else:
            groups[-1].append(token.text)
    assert cut == [group for group in groups if group]
