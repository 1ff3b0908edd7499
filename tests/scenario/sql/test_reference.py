"""Every construct of the reference page runs, or is refused by its name, as the page says."""

from __future__ import annotations

import re

import pytest

from producer.errors import UnsupportedSQL
from producer.scenario.sql.ddl.alter import PARTS
from producer.scenario.sql.ddl.options import OPTIONS
from producer.scenario.sql.ddl.partitions import PARTS as PARTITION_PARTS
from producer.scenario.sql.ddl.statements import STATEMENTS as DDL_STATEMENTS
from producer.scenario.sql.session import READING, Session
from producer.scenario.sql.variables import VARIABLES as SESSION_VARIABLES
from tests.scenario.sql.reference import (
    ALTER_PARTS,
    DEFINITIONS,
    STATEMENTS,
    SYNONYMS,
    VARIABLES,
    Example,
)
from tests.scenario.sql.refusals import REFUSED, Refusal
from tests.scenario.sql.wrong import LINE, failure

PAGE = (STATEMENTS, ALTER_PARTS, DEFINITIONS)
EXAMPLES = [*(one for part in PAGE for group in part.values() for one in group), *SYNONYMS]
REFUSALS = [one for group in REFUSED.values() for one in group]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.construct or example.sql[:40])
def test_what_is_listed_runs(example: Example) -> None:
    session = Session(force_replicate=True)
    session.run(example.before)
    before = session.commits
    session.run(example.sql)
    assert session.commits - before == example.commits
    assert session.history().commits == session.commits


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.sql[:40])
def test_what_is_refused_is_refused_by_name(refusal: Refusal) -> None:
    error = failure(f"{refusal.sql};")
    assert isinstance(error, UnsupportedSQL)
    assert refusal.named in error.what
    assert (error.file, error.line) == ("a.sql", LINE)


@pytest.mark.parametrize("statement", VARIABLES.values())
def test_a_variable_is_set_and_set_back(statement: str) -> None:
    session = Session()
    session.run(f"{statement}; set {statement.split('=')[0].split()[-1]} = default")
    assert session.commits == 0


def test_all_variables_have_an_example() -> None:
    assert set(VARIABLES) == set(SESSION_VARIABLES)


def _words(example: Example) -> list[str]:
    return re.findall(r"\w+", f"{example.before} {example.sql}".upper())


TEXTS = [_words(one) for one in EXAMPLES]
TABLES = {
    "statements": [words for words, _ in DDL_STATEMENTS],
    "parts of ALTER TABLE": [words for words, _ in (*PARTS, *PARTITION_PARTS)],
    "table options": [words for words, _ in OPTIONS],
    "statements that are passed over": [(word,) for word in READING],
}


@pytest.mark.parametrize("table", TABLES)
def test_nothing_runs_that_has_no_example(table: str) -> None:
    missing = [words for words in TABLES[table] if not any(_stands_in(words, text) for text in TEXTS)]
    assert missing == []


def _stands_in(words: tuple[str, ...], text: list[str]) -> bool:
    return any(tuple(text[place : place + len(words)]) == words for place in range(len(text)))
