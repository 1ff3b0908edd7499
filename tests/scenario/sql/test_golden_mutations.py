"""Golden statements with words removed, repeated or replaced give a history, or an error with its line."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.text.statements import split_statements

_GOLDEN = Path(__file__).resolve().parents[2] / "golden"
_FILES = sorted([*(_GOLDEN / "visible").glob("*.sql"), *(_GOLDEN / "fuzz").glob("*.sql")])
_LONGEST = 400
"""Statements longer than this are INSERTs of many rows, which are slow."""


@cache
def golden_statements() -> list[tuple[str, str]]:
    """Every statement of the golden files, with the last CREATE TABLE before it."""
    statements = []
    for path in _FILES:
        table = ""
        for statement in split_statements(path.read_text()):
            if len(statement.text) > _LONGEST:
                continue
            if statement.word(0) == "CREATE" and statement.word(1) == "TABLE":
                table = statement.text
            statements.append((table, statement.text))
    return statements


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, str]:
    """A CREATE TABLE, and a statement with one to three mutations."""
    table, text = draw(st.sampled_from(golden_statements()))
    words = text.split(" ")
    for _ in range(draw(st.integers(1, 3))):
        if not words:
            break
        index = draw(st.integers(0, len(words) - 1))
        words[index : index + 1] = draw(_changes(words, index))
    return table, " ".join(words)


def _changes(words: list[str], index: int) -> st.SearchStrategy[list[str]]:
    word = words[index]
    other = st.sampled_from(words)
    return st.one_of(
        st.just([]),
        st.just([word, word]),
        other.map(lambda token: [token]),
        other.map(lambda token: [word, token]),
        st.sampled_from(["(", ")", ",", "'", "null", "0", "-1", "default", "1e999", "`x`", "''"]).map(
            lambda token: [token]
        ),
        st.just([word[: len(word) // 2]]),
    )


@settings(max_examples=3 * settings().max_examples)
@given(mutated())
def test_only_scenario_errors_with_a_line(mutation: tuple[str, str]) -> None:
    table, statement = mutation
    session = Session(file="a.sql")
    error: ScenarioError | None = None
    try:
        session.run(table)
        session.run(statement, line=7)
    except ScenarioError as caught:
        error = caught
    lines = range(1, 8 + table.count("\n") + statement.count("\n"))
    assert error is None or (error.file == "a.sql" and error.line in lines and error.what)
    session.history()
