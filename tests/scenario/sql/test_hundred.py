"""A hundred statements as people have them: which run, and why the others do not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.session.session import Session

_HEADING = re.compile(r"^-- (\d{3}) (\d+|-) (.*)\n", re.MULTILINE)
_FILE = Path(__file__).with_name("hundred.sql")


class Entry(NamedTuple):
    """One entry of the list.

    :param changes: number of row changes as text; ``-`` if it does not matter.
    """

    number: int
    changes: str
    subject: str
    sql: str


def _entries() -> list[Entry]:
    _, *parts = _HEADING.split(_FILE.read_text("utf-8"))
    return [
        Entry(int(number), changes, subject, sql)
        for number, changes, subject, sql in zip(*[iter(parts)] * 4, strict=True)
    ]


SCHEMA, *ENTRIES = _entries()

REFUSED_BY_TIDB = {
    7: "TiDB has no row aliases in INSERT",
    8: "TiDB has no row aliases in INSERT",
    18: "TiDB has no VALUES ROW",
    69: "TiDB has no SELECT … INTO @variable",
    76: "TiDB has no CREATE TABLE … SELECT",
    81: "TiDB has no spatial types and indexes",
    93: "TiDB has no ALTER VIEW",
    97: "TiDB has no stored procedures",
    100: "TiDB has no XA transactions",
}
"""Entries that TiDB rejects, too, with its reason."""


@pytest.fixture
def session() -> Session:
    session = Session(force_replicate=True)
    session.run(SCHEMA.sql)
    return session


def test_the_list_has_a_hundred_entries() -> None:
    assert [entry.number for entry in ENTRIES] == list(range(1, 101))
    assert len(REFUSED_BY_TIDB) <= 10


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.number:03}")
def test_an_entry_runs_unless_a_list_has_its_number(session: Session, entry: Entry) -> None:
    before = len(session.history().changes)
    if entry.number in REFUSED_BY_TIDB:
        with pytest.raises(ScenarioError):
            session.run(entry.sql)
        return
    session.run(entry.sql)
    if entry.changes != "-":
        assert len(session.history().changes) - before == int(entry.changes), entry.subject
