"""A reserved word of TiDB is a name only in back quotes, after a dot, or as a user variable."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.text.dialect import WITHOUT_BRACKETS
from ticdc_producer.scenario.sql.text.reserved_words import RESERVED_WORDS

NOW = datetime(2024, 1, 1, tzinfo=UTC)
ONE_ROW = "CREATE TABLE t (`{0}` INT PRIMARY KEY); INSERT INTO t VALUES (1);"
EMPTY = "CREATE TABLE `{0}` (a INT);"
VALUES = {*WITHOUT_BRACKETS, "FALSE", "NULL", "TRUE"}
"""Words that are values by themselves."""


def _runs(script: str) -> bool:
    session = Session(now=NOW)
    try:
        session.run(f"CREATE DATABASE d; USE d; {script}")
    except ScenarioError:
        return False
    return True


@pytest.mark.parametrize(
    ("script", "others"),
    [
        ("CREATE TABLE t ({0} INT)", set()),
        ("CREATE TABLE {0} (a INT)", set()),
        ("CREATE TABLE t (a INT, KEY {0} (a))", set()),
        ("CREATE TABLE t (a INT, `{0}` INT); ALTER TABLE t DROP COLUMN {0}", set()),
        ("CREATE TABLE t (a INT); RENAME TABLE t TO {0}", set()),
        ("CREATE TABLE t (a INT); INSERT INTO t SELECT 1 AS {0}", set()),
        ("CREATE TABLE t (a INT); INSERT INTO t SELECT 1 FROM t {0}", {"AS"}),
        ("CREATE TABLE t (a INT); INSERT INTO t WITH {0} AS (SELECT 1) SELECT 1", set()),
        (f"{ONE_ROW} DELETE FROM t WHERE {{0}} = 1", VALUES | {"DEFAULT"}),
        (f"{EMPTY} DELETE FROM {{0}}", {"DUAL"}),
    ],
)
def test_a_reserved_word_is_no_name(script: str, others: set[str]) -> None:
    assert {word for word in RESERVED_WORDS if _runs(script.format(word))} <= others


@pytest.mark.parametrize(
    ("script", "others"),
    [
        (f"{ONE_ROW} UPDATE t SET t.{{0}} = 2", {"MOD", "NOT", "SELECT"}),
        ("CREATE TABLE t (a INT); SET @{0} = 1; INSERT INTO t VALUES (@{0})", set()),
        ("CREATE TABLE `{0}` (`{0}` INT, KEY `x{0}` (`{0}`)); UPDATE `{0}` AS `{0}` SET `{0}` = 2", set()),
    ],
)
def test_quoted_and_qualified_names_may_be_reserved(script: str, others: set[str]) -> None:
    """After a dot, sqlglot reads three of the words otherwise: they need back quotes."""
    assert {word for word in RESERVED_WORDS if not _runs(script.format(word))} <= others


def test_the_error_has_the_name_in_back_quotes() -> None:
    with pytest.raises(ScenarioError) as raised:
        Session(now=NOW).run("CREATE TABLE test.t (id INT,\n rank INT)")
    assert raised.value.line == 2
    assert "write `rank` in back quotes" in raised.value.hint
