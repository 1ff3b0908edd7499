"""Runs ``changes`` steps: small frames in the SQL session, large ones in the tasks that read them.

A large frame is bound to the session: its DDL runs, and the commits and tables of its rows are found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.commit_times import CommitTimes
from ticdc_producer.scenario.data_steps import Changes
from ticdc_producer.scenario.frames.apply import lacking_row_ids, unchecked_keys
from ticdc_producer.scenario.frames.commit_sizes import largest_commit
from ticdc_producer.scenario.frames.frame import Frame
from ticdc_producer.scenario.frames.frame_plan import FramePlan, Numbering
from ticdc_producer.scenario.frames.frame_rows import (
    FrameColumnNames,
    FrameColumns,
    FrameSummary,
    names_without_order,
    summary_engine,
    summary_of,
)
from ticdc_producer.scenario.frames.readings import FrameReadings
from ticdc_producer.scenario.frames.row_ids.counted_tables import counted_tables
from ticdc_producer.scenario.frames.session_rows import loaded_rows, store_rows
from ticdc_producer.scenario.frames.statements import (
    NumberedStatement,
    check_jobs,
    check_statement,
    check_table,
    in_order,
    renamed_tables,
)
from ticdc_producer.scenario.frames.table_frame import TableColumns
from ticdc_producer.scenario.scenario_file import ChangesStep
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.store.followed_tables import FollowedTables
from ticdc_producer.scenario.sql.store.storage import Table

if TYPE_CHECKING:
    import pyarrow as pa


Pin: TypeAlias = Callable[[int], None]
"""Sets the commit-ts of the next commit."""


@dataclass(frozen=True)
class BoundFrame:
    """A large frame that is bound to the session.

    :param followed: the tables, which later DDL of the session may change.
    :param warnings: what differs from a real cluster.
    """

    plan: FramePlan
    followed: FollowedTables
    warnings: list[str]

    @property
    def plan_with_later_ddl(self) -> FramePlan:
        """The plan with the DDL that the session ran after the frame."""
        return replace(
            self.plan, entries=tuple(self.followed.entries), table_ids=frozenset(self.followed.table_ids)
        )


def bind_frame(
    session: Session,
    step: ChangesStep,
    *,
    pin: Pin,
    earlier: Collection[BoundFrame],
    readings: FrameReadings,
) -> BoundFrame | None:
    """Run the DDL of a large frame, and return its plan.

    The rows are not read, except for their numbers and the names of their tables.

    :param pin: sets the commit-ts of the next commit; called with the commit-ts of the first row and of each
        statement, if the frame has them.
    :param earlier: the frames before.
    :param readings: of the step.
    :return: None if the frame has no rows.
    :raises ScenarioError: for a statement that fails or is no DDL, and for tables that it cannot change.
    """
    frame, spec = step.frame, step.spec
    try:
        columns: FrameColumns = (
            FrameColumnNames.of(frame.names(), canonical=spec.canonical)
            if spec.table is None
            else _columns_of(session, frame, spec, spec.table, step.line)
        )
        if readings.summary is None:
            with translate_worker_errors():
                readings.summary = summary_of(summary_engine(frame), frame, columns)
        summary = readings.summary
        if summary.first is None or summary.last is None:
            return None
        first = summary.first if spec.table is None else 0
        binding = _Binding(session, step, columns, pin, earlier, readings)
        return binding.bind(summary, first, summary.last)
    except ScenarioError as error:
        raise error.at(step.file, step.line) from None


def _columns_of(session: Session, frame: Frame, spec: Changes, table: str, line: int) -> TableColumns:
    """Return the columns of a frame of one table."""
    info = session.table(table, line=line)
    qualified = spec.model_copy(update={"table": info.qualified_name})
    return TableColumns.of(qualified, frame.names(), [*info.visible_offsets])


class _Binding:
    """A frame whose statements run in the session."""

    def __init__(
        self,
        session: Session,
        step: ChangesStep,
        columns: FrameColumns,
        pin: Pin,
        earlier: Collection[BoundFrame],
        readings: FrameReadings,
    ) -> None:
        self._session, self._step, self._columns = session, step, columns
        self._frame, self._file, self._line = step.frame, step.file, step.line
        self._pin, self._earlier, self._readings = pin, earlier, readings

    @property
    def _name(self) -> str:
        """The column of the numbers, for messages."""
        columns = self._columns
        return columns.order[0] if isinstance(columns, TableColumns) else columns.number

    @property
    def _by_ts(self) -> bool:
        """Whether the numbers of the rows and statements are commit-ts."""
        return self._columns.number == "commit_ts"

    def bind(self, summary: FrameSummary, first: int, last: int) -> BoundFrame:
        session, first_commit = self._session, self._session.commits
        if self._by_ts:
            self._pin(first)
        followed, before = session.follow_tables(self._table_names(summary), check_table)
        earlier = tuple(each.plan_with_later_ddl for each in self._earlier if each.followed in before)
        taken = session.take_rows(followed)
        statements = in_order(summary.statements, self._is_canonical)
        numbering, databases = self._run_all(statements, first)
        stop = last + numbering.offsets[-1] + 1
        session.skip_commits(stop - session.commits)
        followed.close()
        row_ids, sharing, without = self._row_ids(followed, earlier, summary)
        plan = FramePlan(
            file=self._file,
            line=self._line,
            frame=self._frame,
            columns=self._columns,
            numbering=numbering,
            first_commit=first_commit,
            stop=stop,
            databases=databases,
            rows_before=tuple(
                (table, tuple((row.row_id, row.values) for row in rows)) for table, rows in taken
            ),
            row_ids=row_ids,
            sharing=sharing,
            mode=session.mode,
            largest_commit=largest_commit(summary.sizes),
            entries=tuple(followed.entries),
            table_ids=frozenset(followed.table_ids),
            earlier=earlier,
            has_resolved=self._step.has_resolved,
        )
        enforced = session.tables_with_enforced_keys(followed)
        warnings = [unchecked_keys(self._file, self._line, name) for name in enforced]
        warnings += [lacking_row_ids(self._file, self._line, *each) for each in sorted(without.items())]
        bound = BoundFrame(plan, followed, warnings)
        followed.load = partial(self._load, bound)
        return bound

    def _row_ids(
        self, followed: FollowedTables, earlier: Collection[FramePlan], summary: FrameSummary
    ) -> tuple[dict[int, int], frozenset[int], dict[str, str]]:
        """Return the tables whose rows get hidden row ids, and why others do not; see ``counted_tables``."""
        if self._is_canonical:
            return {}, frozenset(), {}
        unordered = partial(names_without_order, self._frame, self._columns, summary)
        return counted_tables(followed, earlier, unordered)

    def _table_names(self, summary: FrameSummary) -> set[tuple[str, str]]:
        """Return the names of the tables of the rows: the database, empty if it may be any, and the table.

        A table that the statements rename has its former names, too.
        """
        database = self._session.database.lower()
        moves = any("use" in text.lower() for _, _, text, _ in summary.statements)
        # If a statement may change the current database, a table without a schema may be in any.
        names = {(schema or ("" if moves else database), table) for schema, table in summary.tables}
        for _, _, text, _ in sorted(summary.statements, reverse=True):
            for former, new in renamed_tables(text):
                of_rows = (schema for schema, table in [*names] if table == new.name.lower())
                names |= {
                    (former.schema.lower() or schema, former.name.lower())
                    for schema in of_rows
                    if not schema or new.schema.lower() in ("", schema)
                }
        return names

    def _run_all(
        self, statements: Sequence[NumberedStatement], first: int
    ) -> tuple[Numbering, tuple[tuple[int, str], ...]]:
        """Run the statements, each at its commit.

        :param first: number of the first row.
        :return: the commits of the numbers; the databases, each with the first commit in it.
        """
        session = self._session
        offset = session.commits - first
        databases, starts, offsets = [(session.commits, session.database.lower())], [first], [offset]
        for number, texts, schema in statements:
            session.skip_commits(number + offset - session.commits)
            if self._by_ts:
                self._pin(number)
            jobs = self._run(texts, schema, number)
            if self._by_ts:
                check_jobs(texts[0], jobs)
            elif jobs != 1:
                offset += jobs - 1
                starts.append(number + 1)
                offsets.append(offset)
            if session.database.lower() != databases[-1][1]:
                databases.append((session.commits, session.database.lower()))
        numbers = tuple(number for number, _, _ in statements)
        return Numbering(self._name, tuple(starts), tuple(offsets), numbers), tuple(databases)

    def _load(self, bound: BoundFrame, table: Table) -> None:
        """Store the rows of a table in the session."""
        key, rows = (table.info.table_id, self._session.commits), self._readings.rows
        if key not in rows:
            with translate_worker_errors():
                engine = summary_engine(self._frame)
                rows[key] = loaded_rows(engine, bound.plan_with_later_ddl, table.info)
        store_rows(table, rows[key], self._session.mode)

    @property
    def _is_canonical(self) -> bool:
        return isinstance(self._columns, FrameColumnNames) and self._columns.canonical

    def _run(self, texts: Sequence[str], schema: str, number: int) -> int:
        """Run a statement, or a DDL as it was sent; return the number of its jobs."""
        before = self._session.commits
        at = f"in the statement of {self._name} {number}: {' '.join(texts[0].split())[:300]}"
        try:
            for text in texts:
                check_statement(text)
            if self._is_canonical:
                self._session.run_sent(texts, schema, line=self._line)
            else:
                self._session.run(texts[0], line=self._line)
        except ScenarioError as error:
            raise type(error)(
                f"{error.what}, {at}", file=self._file, line=self._line, hint=error.hint
            ) from None
        return self._session.commits - before


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
        session, step.spec, rows, file=step.file, line=step.line, pin=pin, resolve=resolve
    )
    times.pinned.pop(session.commits, None)  # of a last statement that commits nothing
    return warnings


def bind_rows(
    session: Session,
    step: ChangesStep,
    times: CommitTimes,
    earlier: Collection[BoundFrame],
    readings: FrameReadings,
) -> BoundFrame | None:
    """Run the DDL of a large frame; return its plan, and None if it has no rows.

    :param earlier: the frames before.
    :param readings: of the step.
    """
    pinned: list[int] = []

    def pin(ts: int) -> None:
        if not pinned:
            times.pin(session.commits, ts, of_step=step.commit_ts)
        times.pinned[session.commits] = ts
        pinned.append(session.commits)

    bound = bind_frame(session, step, pin=pin, earlier=earlier, readings=readings)
    if bound is not None and pinned:
        first, *within = dict.fromkeys(pinned)
        times.number_by_ts(first, bound.plan.stop, within)
    return bound
