"""The changes of ``generate`` steps, and the rows that exist after them.

Changes are drawn by spans: consecutive transactions whose changes are drawn together. The changes do not
depend on where one span ends and the next begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np

from ticdc_producer.model.column_functions import Flags
from ticdc_producer.model.shapes import ChangeBatch, TableRowsBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.arrays import Longs
from ticdc_producer.scenario.generate.cells import Expressions
from ticdc_producer.scenario.generate.change_rows import change_rows, existing_rows
from ticdc_producer.scenario.generate.domain import is_string
from ticdc_producer.scenario.generate.events import (
    GeneratedEvents,
    RowFilter,
    first_inserts,
    transaction_events,
)
from ticdc_producer.scenario.generate.partitions import partitions_of_versions
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.row_history import RowChanges, RowFollower
from ticdc_producer.scenario.generate.table_spec import ROWS_PER_LOAD

_CHANGES, _VALUES, _BYTES = 1 << 16, 1 << 20, 32 << 20
"""Maximum of changes, values and bytes of new images in a span; a span has at least one transaction."""
_OTHER_BYTES = 16
MOST_CHANGES = 1 << 21
"""Maximum number of changes of a span, however small the part is that a task draws."""


@dataclass(frozen=True, slots=True)
class TableSpan:
    """The part of one table in a span.

    :param start: number of the first row if rows are inserted first, else of the first transaction.
    :param first: whether it inserts the rows that are inserted first.
    """

    plan: GeneratePlan
    first: bool
    start: int
    stop: int

    def events(self, row_filter: RowFilter | None) -> GeneratedEvents:
        """Return the row changes in order.

        :param row_filter: the rows whose changes are returned; None: all.
        """
        draw = first_inserts if self.first else transaction_events
        return draw(self.plan, self.start, self.stop, row_filter)

    @property
    def table(self) -> TableInfo:
        """The version of the table."""
        return self.plan.versions[self._version] if self.plan.versions else self.plan.table

    @property
    def truncations(self) -> int:
        """Number of times that the table was truncated before."""
        return self.plan.truncate_generation[self._version] if self.plan.truncate_generation else 0

    @property
    def _version(self) -> int:
        return 0 if self.first or not self.plan.ddl_every else self.start // self.plan.ddl_every


@dataclass(frozen=True, slots=True)
class Span:
    """Consecutive commits.

    :param stop: number of the commit after them; DDLs of the step after the last transaction are before it.
    """

    start: int
    stop: int
    tables: tuple[TableSpan, ...]


def spans(plans: Sequence[GeneratePlan], until: int | None = None, *, share: int = 1) -> Iterator[Span]:
    """Yield the spans of all steps, in order.

    :param plans: the plans of a step are adjacent; the steps are in the order of their commits.
    :param until: only commits with lower numbers; None: all.
    :param share: factor by which a span may be larger, because only a part of its changes is drawn.
    """
    for _, step in groupby(plans, key=lambda plan: plan.step_commit):
        of_step = [*step]
        for plan in of_step:
            yield from _first_rows(plan, until, share)
        yield from _transactions(of_step, until, share)


def _first_rows(plan: GeneratePlan, until: int | None, share: int) -> Iterator[Span]:
    most = max(1, min(changes_at_once([plan]) * share, MOST_CHANGES) // ROWS_PER_LOAD) * ROWS_PER_LOAD
    rows = plan.rows
    if until is not None:
        rows = min(rows, max(0, until - plan.first_commit) * ROWS_PER_LOAD)
    for start in range(0, rows, most):
        stop = min(start + most, rows)
        commits = (start // ROWS_PER_LOAD, -(-stop // ROWS_PER_LOAD))
        first, after = (plan.first_commit + number for number in commits)
        yield Span(first, after, (TableSpan(plan, True, start, stop),))


def _transactions(plans: Sequence[GeneratePlan], until: int | None, share: int) -> Iterator[Span]:
    plan = plans[0]
    most = max(1, min(changes_at_once(plans) * share, MOST_CHANGES) // plan.rows_per_transaction)
    count = plan.transactions if until is None else min(plan.transactions, plan.transactions_before(until))
    start = 0
    while start < count:
        stop = min(start + most, count)
        if plan.ddl_every:  # all changes of a span have the same version of the table
            stop = min(stop, (start // plan.ddl_every + 1) * plan.ddl_every)
        parts = tuple(TableSpan(table_plan, False, start, stop) for table_plan in plans)
        yield Span(plan.commit_of(start), plan.commit_of(stop), parts)
        start = stop


def changes_at_once(plans: Sequence[GeneratePlan]) -> int:
    """Return the number of changes that may be drawn together, by the size of their images."""
    columns = max(len(plan.columns) for plan in plans)
    size = max(map(_row_bytes, plans))
    return max(1, min(_CHANGES, _VALUES // columns, _BYTES // size))


def _row_bytes(plan: GeneratePlan) -> int:
    return sum(
        max(column.length[1], _OTHER_BYTES) if is_string(column.column) else _OTHER_BYTES
        for column in plan.columns
    )


RowFilters: TypeAlias = Callable[[GeneratePlan], RowFilter | None]
"""Returns the filter of a table's rows; None: the changes of all rows are drawn."""
ChangeFilter: TypeAlias = Callable[[GeneratePlan, RowChanges], RowChanges]
"""Returns the changes of a table that get images."""


def every_table(_plan: GeneratePlan) -> bool:
    """Accept every table."""
    return True


def every_row(_plan: GeneratePlan) -> None:
    """Accept every row of a table."""


def part_of_rows(task: int, tasks: int) -> RowFilters:
    """Return the filter of the rows that one of several tasks draws; every row belongs to one task."""

    def is_mine(rows: Longs) -> Flags:
        of_task: Flags = rows % tasks == task
        return of_task

    return lambda _plan: is_mine


def every_change(_plan: GeneratePlan, changes: RowChanges) -> RowChanges:
    """Accept every change."""
    return changes


@dataclass(frozen=True, kw_only=True)
class ChangeSource:
    """A source that draws the changes of steps.

    :param plans: the plans of one step are adjacent; the steps are in the order of their commits.
    :param expressions: computes the columns with an ``expression``.
    :param accepts: whether the changes of a table are drawn.
    :param rows: the rows whose changes are drawn; the changes of one row do not depend on others.
    :param changes: the changes of these rows that get images.
    :param share: the number of parts, similar in size, of which these filters choose one.
    :param net: one change per row and transaction, as it is stored; else every change.
    """

    plans: Sequence[GeneratePlan]
    expressions: Expressions
    accepts: Callable[[GeneratePlan], bool] = every_table
    rows: RowFilters = every_row
    changes: ChangeFilter = every_change
    share: int = 1
    net: bool = True

    def spans(self) -> Iterator[tuple[Span, list[ChangeBatch]]]:
        """Yield each span with the changes of each table (shape ``CHANGE_LOG``) in the order of execution."""
        histories = {id(plan): self._history(plan) for plan in self.plans if self.accepts(plan)}
        for span in spans(self.plans, share=self.share):
            tables = [(part, histories[id(part.plan)]) for part in span.tables if id(part.plan) in histories]
            yield span, [self._batch(part, history.followed(part)) for part, history in tables]

    def batches(self) -> Iterator[ChangeBatch]:
        """Yield the changes of all spans (shape ``CHANGE_LOG``), in the order of ``spans``."""
        for _, batches in self.spans():
            yield from batches

    def _batch(self, part: TableSpan, changes: RowChanges) -> ChangeBatch:
        selected = self.changes(part.plan, changes)
        return change_rows(part.plan, part.table, selected, self.expressions, net=self.net)

    def existing_rows(self, plan: GeneratePlan, until: int | None = None) -> Iterator[TableRowsBatch]:
        """Yield the rows of one table after the step (shape ``TABLE_ROWS``).

        Their images are those of ``plan.step_table_after(until)``, their order is the same on every run.

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

    def __init__(self, plan: GeneratePlan, row_filter: RowFilter | None, *, net: bool) -> None:
        self._rows = RowFollower(plan, partitions_of_versions)
        self._row_filter, self._net = row_filter, net
        self._truncations = 0
        self.existing = self._rows.existing

    def followed(self, part: TableSpan) -> RowChanges:
        """Return the changes of a span."""
        if part.truncations > self._truncations:
            self._truncations = part.truncations
            self._rows.forget()
        return self._rows.changes(part.events(self._row_filter), net=self._net)


def in_parts(count: int, most: int) -> Iterator[Longs]:
    """Yield the numbers below ``count``, at most ``most`` at once."""
    for start in range(0, count, most):
        yield np.arange(start, min(start + most, count))
