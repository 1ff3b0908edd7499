"""The rows that a reader has at the end, by handle key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from tests.golden_events import GoldenRow
from tests.peers.flink import Change, Form, old_image
from tests.peers.golden_cases import Case

State: TypeAlias = dict[tuple[Any, ...], dict[str, Any]]
"""Rows by table and handle key."""


def state_of_changes(cases: Sequence[Case], changes: Sequence[list[Change]]) -> State:
    """Apply a changelog to a table that is updated by key."""
    state: State = {}
    for case, rows in zip(cases, changes, strict=True):
        for kind, row in rows:
            if kind in ("+I", "+U"):
                state[_key(case, row)] = row
            else:
                state.pop(_key(case, row), None)
    return state


def state_of_events(cases: Sequence[Case], form: Form) -> State:
    """The last image of each row that was not deleted, computed from the events."""
    last: dict[tuple[Any, ...], dict[str, Any] | None] = {}
    for case in cases:
        assert case.row
        if case.row.before is not None:
            last[_key(case, form.image(case.columns, old_image(case.row)))] = None
        if case.row.after is not None:
            row = form.image(case.columns, case.row.after)
            last[_key(case, row)] = row
    return {key: row for key, row in last.items() if row is not None}


def _key(case: Case, row: dict[str, Any]) -> tuple[Any, ...]:
    event = case.event
    assert isinstance(event, GoldenRow)
    names = event.handle_key_columns or tuple(row)
    return (event.table.schema, event.table.name, *(row[name] for name in names))
