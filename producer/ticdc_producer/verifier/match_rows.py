"""Compares expected rows of any number with delivered ones; equal ones are brought together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Sides, united
from ticdc_producer.verifier.event_lookup import rows_with
from ticdc_producer.verifier.expected import ExpectedState
from ticdc_producer.verifier.table_state import (
    RowDifferences,
    StateComparison,
    StateRows,
    compare_rows,
    expected_state,
    state_comparison,
)
from ticdc_producer.verifier.violations import EventID


def compare_states(
    engine: Engine,
    states: Sequence[ExpectedState],
    delivered: Dataset,
    decoded_at: Callable[[Iterable[EventID]], dict[EventID, dict[str, Any]]],
) -> list[StateComparison]:
    """Compare expected rows with delivered ones.

    :param delivered: ``StateRows``, with the number of the state in ``states``.
    :param decoded_at: returns the decoded events at some positions.
    """
    if not states:
        return []
    expected = united([_numbered(state, number) for number, state in enumerate(states)])
    grouped = engine.grouped({"delivered": delivered, "expected": expected}, "content")
    by_state: dict[int, RowDifferences] = {}
    for of_part in grouped.results(_differences):
        _add(by_state, of_part)
    return [
        state_comparison(
            differences,
            len(state.tables),
            state.not_compared,
            _lacking(state, differences),
            decoded_at(differences.unexpected_events).values(),
        )
        for number, state in enumerate(states)
        for differences in [by_state.get(number, RowDifferences())]
    ]


def _lacking(state: ExpectedState, differences: RowDifferences) -> list[dict[str, Any]]:
    """Return the missing rows that are examples; the rows of their tables are made again."""
    tables = {(schema, table) for schema, table, *_ in differences.lacking}
    return rows_with(state.rows(tables), {content for *_, content in differences.lacking}) if tables else []


def _numbered(state: ExpectedState, number: int) -> Dataset:
    rows = state.rows(state.tables)
    return rows.map(partial(_state_rows, number), StateRows.arrow_schema())


def _state_rows(number: int, batches: Batches) -> Batches:
    return (expected_state(batch, number).to_batch() for batch in batches)


def _differences(sides: Iterator[Sides]) -> dict[int, RowDifferences]:
    by_state: dict[int, RowDifferences] = {}
    for groups in sides:
        rows = StateRows.joined([StateRows.of(side) for side in groups.values()])
        _add(by_state, compare_rows(rows))
    return by_state


def _add(by_state: dict[int, RowDifferences], others: dict[int, RowDifferences]) -> None:
    for number, differences in others.items():
        by_state.setdefault(number, RowDifferences()).merge(differences)
