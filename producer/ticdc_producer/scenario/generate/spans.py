"""Spans: consecutive transactions of a ``generate`` step whose changes are drawn together.

The changes do not depend on where one span ends and the next begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.domain import is_string
from ticdc_producer.scenario.generate.events import (
    GeneratedEvents,
    RowFilter,
    first_inserts,
    transaction_events,
)
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.table_spec import ROWS_PER_LOAD

_CHANGES, _VALUES, _BYTES = 1 << 16, 1 << 20, 32 << 20
"""What a span may have at most: changes, values and bytes of new images; but at least one transaction."""
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

    def events(self, wanted: RowFilter | None) -> GeneratedEvents:
        """The row changes in order.

        :param wanted: whose changes are returned; None: all.
        """
        draw = first_inserts if self.first else transaction_events
        return draw(self.plan, self.start, self.stop, wanted)

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

    :param stop: number of the commit behind them; DDLs of the step behind the last transaction are before it.
    """

    start: int
    stop: int
    tables: tuple[TableSpan, ...]


def spans(plans: Sequence[GeneratePlan], until: int | None = None, *, share: int = 1) -> Iterator[Span]:
    """The spans of all steps, in order.

    :param plans: those of a step are adjacent; the steps are in the order of their commits.
    :param until: only commits with lower numbers; None: all.
    :param share: how many times larger a span may be, because only a part of its changes are drawn.
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
        parts = tuple(TableSpan(one, False, start, stop) for one in plans)
        yield Span(plan.commit_of(start), plan.commit_of(stop), parts)
        start = stop


def changes_at_once(plans: Sequence[GeneratePlan]) -> int:
    """How many changes may be drawn together, by the size of their images."""
    columns = max(len(plan.columns) for plan in plans)
    size = max(map(_row_bytes, plans))
    return max(1, min(_CHANGES, _VALUES // columns, _BYTES // size))


def _row_bytes(plan: GeneratePlan) -> int:
    return sum(
        max(column.length[1], _OTHER_BYTES) if is_string(column.column) else _OTHER_BYTES
        for column in plan.columns
    )
