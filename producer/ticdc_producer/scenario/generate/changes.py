"""The changes of ``generate`` steps, and the rows that they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.model.shapes import IMAGE
from ticdc_producer.scenario.generate.arrays import Flags, Longs
from ticdc_producer.scenario.generate.cells import Expressions
from ticdc_producer.scenario.generate.change_rows import change_rows, existing_rows
from ticdc_producer.scenario.generate.events import RowFilter
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.row_history import RowChanges, RowFollower
from ticdc_producer.scenario.generate.spans import Span, TableSpan, changes_at_once, spans

RowFilters: TypeAlias = Callable[[GeneratePlan], RowFilter | None]
"""Returns the filter of a table's rows; None: the changes of all rows are wanted."""
ChangeFilter: TypeAlias = Callable[[GeneratePlan, RowChanges], RowChanges]
"""Returns those changes of a table that are wanted."""

ROWS = pa.schema([("row_key", pa.binary()), ("row", IMAGE)])
"""Rows of one table: their row key, and their image."""


def every_table(_plan: GeneratePlan) -> bool:
    """No filter of tables."""
    return True


def every_row(_plan: GeneratePlan) -> None:
    """No filter of rows."""


def part_of_rows(task: int, tasks: int) -> RowFilters:
    """The filter of the rows that one of several tasks draws; every row belongs to one task."""

    def is_mine(rows: Longs) -> Flags:
        found: Flags = rows % tasks == task
        return found

    return lambda _plan: is_mine


def every_change(_plan: GeneratePlan, changes: RowChanges) -> RowChanges:
    """No filter of changes."""
    return changes


@dataclass(frozen=True, kw_only=True)
class ChangeSource:
    """Draws the changes of steps.

    :param plans: those of one step are adjacent; the steps are in the order of their commits.
    :param expressions: computes the columns with an ``expression``.
    :param drawn: the tables whose changes are drawn.
    :param rows: whose changes are drawn; the changes of one row do not depend on others.
    :param changes: which of their changes get images.
    :param share: the number of parts, similar in size, of which these filters choose one.
    :param net: one change per row and transaction, as it is stored; else every change.
    """

    plans: Sequence[GeneratePlan]
    expressions: Expressions
    drawn: Callable[[GeneratePlan], bool] = every_table
    rows: RowFilters = every_row
    changes: ChangeFilter = every_change
    share: int = 1
    net: bool = True

    def spans(self) -> Iterator[tuple[Span, list[pa.RecordBatch]]]:
        """The changes of each span (shape ``CHANGE_LOG``): those of each table in the order of execution."""
        histories = {id(plan): self._history(plan) for plan in self.plans if self.drawn(plan)}
        for span in spans(self.plans, share=self.share):
            drawn = [(part, histories[id(part.plan)]) for part in span.tables if id(part.plan) in histories]
            yield span, [self._batch(part, history.followed(part)) for part, history in drawn]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The changes of all spans."""
        for _, found in self.spans():
            yield from found

    def _batch(self, part: TableSpan, changes: RowChanges) -> pa.RecordBatch:
        wanted = self.changes(part.plan, changes)
        return change_rows(part.plan, part.table, wanted, self.expressions, net=self.net)

    def existing_rows(self, plan: GeneratePlan, until: int | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of one table after the step (shape ``ROWS``), images of ``plan.step_table_after(until)``.

        :param until: after the commits with lower numbers; None: at the end.
        """
        history, table = self._history(plan), plan.step_table_after(until)
        for span in spans([plan], until, share=self.share):
            (part,) = span.tables
            if part.truncations < plan.truncations_before(until):
                continue
            changes = history.followed(part)
            if not plan.revisits_rows:
                inserted = changes.take(np.flatnonzero(changes.exists))
                yield existing_rows(plan, table, inserted.row, inserted.after, self.expressions)
        if plan.revisits_rows:
            rows, versions = history.existing()
            for few in in_parts(len(rows), changes_at_once([plan])):
                yield existing_rows(plan, table, rows[few], versions.take(few), self.expressions)

    def _history(self, plan: GeneratePlan) -> _History:
        return _History(plan, self.rows(plan), net=self.net)


class _History:
    """The history of a table's rows in one pass over the spans."""

    def __init__(self, plan: GeneratePlan, wanted: RowFilter | None, *, net: bool) -> None:
        self._rows, self._wanted, self._net = RowFollower(plan), wanted, net
        self._truncations = 0
        self.existing = self._rows.existing

    def followed(self, part: TableSpan) -> RowChanges:
        """The changes of a span."""
        if part.truncations > self._truncations:
            self._truncations = part.truncations
            self._rows.forget()
        return self._rows.changes(part.events(self._wanted), net=self._net)


def in_parts(count: int, most: int) -> Iterator[Longs]:
    """The numbers below ``count``, at most ``most`` at once."""
    for start in range(0, count, most):
        yield np.arange(start, min(start + most, count))
