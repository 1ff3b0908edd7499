"""Runs ``changes`` steps: small frames in the SQL session, large ones in the tasks that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ticdc_producer.engine import SMALL_EVENTS
from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.scenario.commit_times import CommitTimes
from ticdc_producer.scenario.data_steps import DataPlan
from ticdc_producer.scenario.load import ChangesStep
from ticdc_producer.scenario.sql.session.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

    from ticdc_producer.scenario.frames.bind import BoundFrame


def run_rows(session: Session, step: ChangesStep, rows: pa.Table, times: CommitTimes) -> list[str]:
    """Run the rows of a small frame; return warnings."""
    from ticdc_producer.scenario.frames.apply import run_changes_step

    def pin(ts: int) -> None:
        times.pin(session.commits, ts, of_step=step.commit_ts)

    file = times.scenario.file
    warnings = run_changes_step(session, step.spec, rows, file=file, line=step.line, pin=pin)
    times.pinned.pop(session.commits, None)  # of a last statement that commits nothing
    return warnings


def bind_tables(session: Session, step: ChangesStep, times: CommitTimes) -> BoundFrame | None:
    """Run the DDL of a large frame with several tables; return its plan, and None if it has no rows."""
    from ticdc_producer.scenario.frames.bind import bind_frame

    pinned: list[int] = []

    def pin(ts: int) -> None:
        if not pinned:
            times.pin(session.commits, ts, of_step=step.commit_ts)
        times.pinned[session.commits] = ts
        pinned.append(session.commits)

    bound = bind_frame(session, step.frame, file=times.scenario.file, line=step.line, pin=pin)
    if bound is not None and pinned:
        first, *within = dict.fromkeys(pinned)
        times.number_by_ts(first, bound.plan.stop, within)
    return bound


def bind_large_frame(session: Session, step: ChangesStep, file: str) -> DataPlan:
    """Return the plan of a frame with one table that Spark reads.

    :raises ScenarioError: for what only small frames can have.
    """
    spec, line = step.spec, step.line
    if spec.table is None or spec.order is None:
        raise TypeError("the columns of the frame name its tables")
    table = session.table(spec.table, line=line)
    last = step.frame.last_number(spec.order[0])
    try:
        session.reserve_table(spec.table, line=line)
    except UnsupportedSQL as error:
        hint = f"a DataFrame of more than {SMALL_EVENTS:,} rows needs an empty table without foreign keys"
        raise UnsupportedSQL(error.what, file=file, line=line, hint=hint) from None
    first_commit, transactions = session.commits, 0 if last is None else last + 1
    session.skip_commits(transactions)
    return DataPlan(
        file=file,
        line=line,
        table=table,
        source=step.frame,
        op=spec.op,
        order=spec.order,
        before=spec.before,
        first_commit=first_commit,
        transactions=transactions,
    )
