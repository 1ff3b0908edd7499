"""Prints every DDL of the golden data, and compares it with the text that real TiCDC sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden_events import event_files
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.restore import print_ddl

_PAIRS = 218


def _pairs(path: Path) -> list[tuple[str, str]]:
    with path.open(encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines if '"kind":"ddl"' in line or '"kind": "ddl"' in line]
    sent = [event for event in events if event["kind"] == "ddl"]
    return [(event["query_before_restore"], event["query"]) for event in sent]


@pytest.mark.parametrize("path", event_files(), ids=lambda path: path.name)
def test_the_printed_text_equals_the_sent_text(path: Path) -> None:
    pairs = _pairs(path)
    assert [print_ddl(before) for before, _ in pairs] == [after for _, after in pairs]


def test_all_golden_statements_are_compared() -> None:
    assert sum(len(_pairs(path)) for path in event_files()) == _PAIRS


@pytest.mark.parametrize("path", event_files(), ids=lambda path: path.name)
def test_printing_is_idempotent(path: Path) -> None:
    """Except for backslashes in members of ENUM and SET, which TiDB prints unescaped."""
    printed = [after for _, after in _pairs(path) if "\\" not in after]
    assert [print_ddl(text) for text in printed] == printed


def test_a_member_that_ends_in_a_backslash_breaks_the_statement() -> None:
    text = print_ddl(r"create table t (a enum('x\\'), b int)")
    assert text == r"CREATE TABLE `t` (`a` ENUM('x\'),`b` INT)"
    with pytest.raises(ScenarioError, match="does not parse"):
        print_ddl(text)
