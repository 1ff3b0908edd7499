"""Runs ``changes`` steps: small frames in the SQL session, large ones in the tasks that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ticdc_producer.engine import SMALL_EVENTS
from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.scenario.commit_times import CommitTimes
from ticdc_producer.scenario.load import ChangesStep
from ticdc_producer.scenario.sql.session.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

    from ticdc_producer.scenario.frames.bind import BoundFrame


def run_rows(
    session: Session,
    step: ChangesStep,
    rows: pa.Table,
    times: CommitTimes,
    resolved: list[tuple[int, int]],
) -> list[str]:
    """Run the rows of a small frame; return warnings.

    :param resolved: gets the resolved events: the number of commits before each, and its TSO.
    """
    from ticdc_producer.scenario.frames.apply import run_changes_step

    def pin(ts: int) -> None:
        times.pin(session.commits, ts, of_step=step.commit_ts)

    def resolve(ts: int) -> None:
        resolved.append((session.commits, ts))

    warnings = run_changes_step(
        session, step.spec, rows, file=times.scenario.file, line=step.line, pin=pin, resolve=resolve
    )
    times.pinned.pop(session.commits, None)  # of a last statement that commits nothing
    return warnings


def bind_rows(session: Session, step: ChangesStep, times: CommitTimes) -> BoundFrame | None:
    """Run the DDL of a large frame; return its plan, and None if it has no rows.

    :raises UnsupportedSQL: for a frame with canonical values.
    """
    if step.spec.canonical:
        what = f"a frame with canonical values has at most {SMALL_EVENTS:,} rows"
        raise UnsupportedSQL(what, file=times.scenario.file, line=step.line)
    from ticdc_producer.scenario.frames.bind import bind_frame

    pinned: list[int] = []

    def pin(ts: int) -> None:
        if not pinned:
            times.pin(session.commits, ts, of_step=step.commit_ts)
        times.pinned[session.commits] = ts
        pinned.append(session.commits)

    bound = bind_frame(session, step.frame, step.spec, file=times.scenario.file, line=step.line, pin=pin)
    if bound is not None and pinned:
        first, *within = dict.fromkeys(pinned)
        times.number_by_ts(first, bound.plan.stop, within)
    return bound
