"""Every construct of docs/sql.md runs, or is refused by its name, as the page lists it."""

from __future__ import annotations

import re

import pytest
from sqlglot import exp

from tests.scenario.sql.expressions import value_of
from tests.scenario.sql.reference import (
    ALTER_PARTS,
    DEFINITIONS,
    EXPRESSIONS,
    STATEMENTS,
    SYNONYMS,
    VARIABLES,
    Example,
)
from tests.scenario.sql.refusals import REFUSED, REJECTED_BY_TIDB, Refusal
from tests.scenario.sql.wrong import LINE, failure
from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.values.collation import KNOWN
from ticdc_producer.scenario.sql.ddl.options import TIDB_ONLY
from ticdc_producer.scenario.sql.ddl.partitions import CHANGES
from ticdc_producer.scenario.sql.expression.evaluate import FORMS
from ticdc_producer.scenario.sql.expression.function_call import CALL_NODES
from ticdc_producer.scenario.sql.query.grouping import GroupKey, GroupLevel
from ticdc_producer.scenario.sql.session.other_statements import READ_ONLY
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.session.variables import VARIABLES as SESSION_VARIABLES
from ticdc_producer.scenario.sql.syntax.alter import PARTS
from ticdc_producer.scenario.sql.syntax.column_type import TYPE_NAMES
from ticdc_producer.scenario.sql.syntax.statement import STATEMENTS as DDL_STATEMENTS
from ticdc_producer.scenario.sql.text.parse import parse_expression

PAGE = (STATEMENTS, ALTER_PARTS, DEFINITIONS)
EXAMPLES = [*(example for part in PAGE for group in part.values() for example in group), *SYNONYMS]
REFUSALS = [*(example for group in REFUSED.values() for example in group), *REJECTED_BY_TIDB]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.construct or example.sql[:40])
def test_every_listed_construct_runs(example: Example) -> None:
    session = Session(force_replicate=True)
    session.run(example.before)
    before = session.commits
    session.run(example.sql)
    assert session.commits - before == example.commits
    assert session.history().commits == session.commits


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.sql[:40])
def test_every_refused_construct_is_refused_by_name(refusal: Refusal) -> None:
    error = failure(f"{refusal.before}; {refusal.sql};")
    assert isinstance(error, UnsupportedSQL)
    assert refusal.named in error.what
    assert error.hint
    assert (error.file, error.line) == ("a.sql", LINE)


@pytest.mark.parametrize("statement", VARIABLES.values())
def test_a_variable_is_set_and_reset(statement: str) -> None:
    session = Session()
    session.run(f"{statement}; set {statement.split('=')[0].split()[-1]} = default")
    assert session.commits == 0


def test_all_variables_have_an_example() -> None:
    assert set(VARIABLES) == set(SESSION_VARIABLES)


@pytest.mark.parametrize("text", EXPRESSIONS.values())
def test_operators_and_literals_are_computed(text: str) -> None:
    value_of(text)


def test_all_kinds_of_expression_have_an_example() -> None:
    trees = [parse_expression(text, 1) for text in EXPRESSIONS.values()]
    in_statements = {
        exp.Column, exp.Subquery, exp.Exists, exp.Any, exp.All, exp.Tuple, exp.Parameter, exp.PropertyEQ,
        exp.GroupConcat, exp.JSONObjectAgg, exp.Window, exp.SessionParameter, GroupKey, GroupLevel,
    }  # fmt: skip
    assert FORMS.keys() - CALL_NODES - {type(node) for tree in trees for node in tree.walk()} == in_statements


@pytest.mark.parametrize("name", TYPE_NAMES)
def test_all_types_make_a_column(name: str) -> None:
    parameters = {"ENUM": "('a')", "SET": "('a')", "NATIONAL": " varchar(5)"}
    text = parameters.get(name, "(5)" if "VAR" in name else "")
    session = Session()
    session.run(f"create table x (c {name}{text})")
    (info,) = session.history().catalog.tables
    assert [column.name for column in info.columns] == ["c"]


@pytest.mark.parametrize("collation", sorted(KNOWN))
def test_all_collations_compare(collation: str) -> None:
    session = Session()
    session.run(
        f"create table x (a varbinary(9) primary key, b varchar(9) collate {collation});"
        "insert into x values ('a', 'a'), ('b', 'b'); delete from x where b < 'b'"
    )
    assert len(session.history().changes) == 3


def _words(example: Example) -> list[str]:
    return re.findall(r"\w+", f"{example.before} {example.sql}".upper())


NOT_RUN = {("ORDER", "BY"), ("WITH", "VALIDATION"), ("WITHOUT", "VALIDATION")}
"""Parts of ALTER TABLE that are printed alone."""
TEXTS = [_words(example) for example in EXAMPLES]
TABLES = {
    "statements": [words for words, _ in DDL_STATEMENTS if words[0] not in ("RECOVER", "FLASHBACK")],
    "parts of ALTER TABLE": [words for words in PARTS if words not in NOT_RUN],
    "changes of partitions": [tuple(kind.split()) for kind in CHANGES],
    "table options": [tuple(kind.split()) for kind in TIDB_ONLY],
    "statements that are skipped": [(word,) for word in READ_ONLY],
}


@pytest.mark.parametrize("table", TABLES)
def test_every_supported_construct_has_an_example(table: str) -> None:
    missing = [words for words in TABLES[table] if not any(_contains(words, text) for text in TEXTS)]
    assert missing == []


def _contains(words: tuple[str, ...], text: list[str]) -> bool:
    return any(tuple(text[index : index + len(words)]) == words for index in range(len(text)))
