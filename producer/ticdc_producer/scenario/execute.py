"""Executes a scenario: runs its steps in order and returns the committed history."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ticdc_producer.errors import ScenarioError, ScenarioProblems
from ticdc_producer.model import tso
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.scenario.commit_times import CommitTimes, clock_of, commit_range, commits_until
from ticdc_producer.scenario.data_steps import DataPlan, PlannedChanges
from ticdc_producer.scenario.file_steps import DumpPlan, DumpStep
from ticdc_producer.scenario.frames.readings import FrameReadings
from ticdc_producer.scenario.history import CheckSize, History
from ticdc_producer.scenario.scenario_file import (
    ChangesStep,
    DataStep,
    GenerateStep,
    RecordingStep,
    ResolvedStep,
    ScenarioFile,
    ScenarioStep,
    SnapshotStep,
    SQLStep,
)
from ticdc_producer.scenario.sql.dml.statement_cache import StatementCache
from ticdc_producer.scenario.sql.session.refusals import Refusals
from ticdc_producer.scenario.sql.session.session import Session

if TYPE_CHECKING:
    from ticdc_producer.scenario.frames.bind import BoundFrame
    from ticdc_producer.scenario.generate.plan import GeneratePlan

_CommittingStep: TypeAlias = SQLStep | GenerateStep | DataStep | ChangesStep | RecordingStep | DumpStep


def execute(
    scenario: ScenarioFile,
    *,
    force_replicate: bool = False,
    profile: Profile = "classic",
    state_at: Sequence[int] = (),
    state_after: Collection[int] = (),
    refusals: Refusals | None = None,
    statements: StatementCache | None = None,
    check_size: CheckSize | None = None,
) -> History:
    """Run all steps.

    :param force_replicate: whether tables without a handle key are replicated, too.
    :param profile: the TiCDC architecture that replicates.
    :param state_at: time stamps for which the history contains the state of all tables.
    :param state_after: numbers of commits after which the history contains the state of all tables, without
        ``state_at``; the number of all commits is one of them.
    :param refusals: collects the errors of statements and steps, which are then skipped.
    :param statements: a cache of parsed statements; None: that of the thread.
    :param check_size: called after each row change of SQL.
    :raises ScenarioError: with file and line, for SQL that fails and time stamps that do not increase.
    """
    readings = [FrameReadings() for _ in scenario.steps]
    history = _execute_steps(
        scenario,
        force_replicate,
        profile,
        state_after,
        refusals,
        statements,
        check_size,
        readings=readings,
    )
    with _collected(refusals):
        _check_end(scenario, history)
    _check_resolved(scenario, history)
    if state_after:
        history = replace(history, state_at={history.commits: history.state, **history.state_at})
    with _collected(refusals):
        history = replace(history, sent=commit_range(scenario, history))
    sent = history.sent
    if sent is None and not state_at:
        return history
    # The number of commits up to a time stamp is known only after a first run.
    after = {commits_until(scenario, history, ts) for ts in state_at}
    if sent is not None:
        after |= {sent.first, sent.end}
    again = _execute_steps(
        scenario,
        force_replicate,
        profile,
        after,
        refusals=None if refusals is None else Refusals(),
        statements=statements,
        defined_after=None if sent is None else sent.first,
        readings=readings,
    )
    return replace(again, sent=sent)


def _check_end(scenario: ScenarioFile, history: History) -> None:
    """Refuse commits after the largest TSO.

    :raises ScenarioError: if there are any.
    """
    before = commits_until(scenario, history, tso.MAX_TS)
    if before < history.commits:
        commits = f"the scenario has {history.commits:,} commits"
        what = f"{commits}: only the first {before:,} are before the largest TSO, {tso.MAX_TS}"
        hint = "set clock.every lower, or an earlier clock.start or commit-ts"
        raise ScenarioError(what, file=scenario.file, hint=hint)


def _check_resolved(scenario: ScenarioFile, history: History) -> None:
    """Refuse a resolved step within uncounted commits: the number of commits before it is unknown.

    :raises ScenarioError: for the first one.
    """
    clock = clock_of(scenario, history)
    for _, ts in history.resolved if history.uncounted else ():
        commit = commits_until(scenario, history, ts) - 1
        if any(first <= commit < stop and clock.ts(commit) == ts for first, stop in history.uncounted):
            what = f"the resolved-ts {ts} is among the commits of a large DataFrame with commit_ts"
            raise ScenarioError(what, file=scenario.file, hint="leave it out, or use a later time")


def check_commits(scenario: ScenarioFile, history: History) -> None:
    """Refuse a scenario that has no commits, and therefore no messages.

    :raises ScenarioError: if it commits nothing.
    """
    if history.commits == 0:
        hint = "it needs SQL that changes something, such as CREATE TABLE"
        raise ScenarioError("the scenario commits nothing", file=scenario.file, hint=hint)


def _execute_steps(
    scenario: ScenarioFile,
    force_replicate: bool,
    profile: Profile,
    snapshots: Collection[int] = (),
    refusals: Refusals | None = None,
    statements: StatementCache | None = None,
    check_size: CheckSize | None = None,
    defined_after: int | None = None,
    *,
    readings: Sequence[FrameReadings],
) -> History:
    times = CommitTimes(scenario)

    def commit_time(commit: int) -> datetime:
        return tso.to_datetime(min(times.newest(commit), tso.MAX_TS))

    session = Session(
        file=scenario.file,
        sourced=scenario.sourced,
        database=scenario.database,
        time_zone=scenario.time_zone,
        now=scenario.now or commit_time,
        force_replicate=force_replicate,
        profile=profile,
        snapshots=snapshots,
        refusals=refusals,
        statements=statements,
        check_size=check_size,
        defined_after=defined_after,
        seed=scenario.seed,
    )
    for file, plural in scenario.unread:
        session.ignored_statements.note_file(file, plural)
    run = _Run(scenario, times, session, refusals)
    for step, read in zip(scenario.steps, readings, strict=True):
        run.add(step, read)
    return run.history()


@dataclass
class _Run:
    """The steps that have run.

    :ivar resolved: the resolved events of steps: the number of commits before each, and its TSO.
    :ivar generated, data: the plans of the steps that tasks carry out.
    :ivar frames: the large frames of ``changes`` steps by the number of their plan in ``data``.
    :ivar with_resolved: see ``History``.
    """

    scenario: ScenarioFile
    times: CommitTimes
    session: Session
    refusals: Refusals | None
    snapshot_after: int | None = None
    resolved: list[tuple[int, int]] = field(default_factory=list)
    generated: list[GeneratePlan] = field(default_factory=list)
    data: list[PlannedChanges] = field(default_factory=list)
    frames: dict[int, BoundFrame] = field(default_factory=dict)
    with_resolved: list[tuple[int, int]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, step: ScenarioStep, readings: FrameReadings) -> None:
        """Run a step.

        :param readings: what was read of its frame.
        :raises ScenarioError: for a step that fails, unless errors are collected.
        """
        if isinstance(step, ResolvedStep):
            self.resolved.append((self.session.commits, step.ts))
            return
        if isinstance(step, SnapshotStep):
            self.snapshot_after = self.session.commits
            return
        with _collected(self.refusals):
            before = self.session.commits
            if step.commit_ts is not None:
                self.times.pinned[before] = step.commit_ts
            self._commit(step, readings)
            if step.commit_ts is not None:
                self.times.check_step(step.commit_ts, step.line, before, self.session.commits)

    def _commit(self, step: _CommittingStep, readings: FrameReadings) -> None:
        if isinstance(step, GenerateStep):
            # A scenario without such a step, as most are, does not load what it needs.
            from ticdc_producer.scenario.generate.binding.run_step import run_generate_step

            edited = [self.session.edited(plan) for plan in self.generated]
            self.generated.extend(run_generate_step(self.session, step, self.scenario, edited))
        elif isinstance(step, DataStep):
            self.data.append(_bind_data_step(self.session, step, self.scenario))
        elif isinstance(step, ChangesStep):
            self._change(step, readings)
        elif isinstance(step, RecordingStep):
            self._replay(step, readings)
        elif isinstance(step, DumpStep):
            self.data.append(_bind_dump_step(self.session, step, self.scenario, self.times.clock))
        else:
            _run_sql(self.session, step)

    def _replay(self, step: RecordingStep, readings: FrameReadings) -> None:
        if (replay := step.replay) is None:
            raise ScenarioError("the recording was not read", file=self.scenario.file, line=step.line)
        settings = replay.database, replay.time_zone
        with self.session.of_recording(replay.file, *settings, line=step.line):
            for each in replay.steps:
                self._commit(each, readings)

    def _change(self, step: ChangesStep, readings: FrameReadings) -> None:
        before = self.session.commits
        self._run_frame(step, readings)
        if step.has_resolved:
            self.with_resolved.append((before, self.session.commits))

    def _run_frame(self, step: ChangesStep, readings: FrameReadings) -> None:
        from ticdc_producer.scenario.frames.bind import bind_rows, run_rows

        if step.frame.rows is not None:
            self.warnings += run_rows(self.session, step, step.frame.rows, self.times, self.resolved)
            return
        bound = bind_rows(self.session, step, self.times, self.frames.values(), readings)
        if bound is not None:
            self.frames[len(self.data)] = bound
            self.data.append(bound.plan)
            self.warnings += bound.warnings

    def history(self) -> History:
        """Return what the steps committed."""
        data = [
            self.frames[number].plan_with_later_ddl if number in self.frames else plan
            for number, plan in enumerate(self.data)
        ]
        return replace(
            self.session.history(),
            pinned=self.times.pinned,
            resolved=tuple(self.resolved),
            generated=tuple(self.session.edited(plan) for plan in self.generated),
            data=tuple(data),
            by_ts=tuple(self.times.by_ts),
            with_resolved=tuple(self.with_resolved),
            warnings=tuple(self.warnings),
            snapshot_after=self.snapshot_after,
        )


@contextmanager
def _collected(refusals: Refusals | None) -> Iterator[None]:
    """Collect the errors of a step in this context, if errors are collected."""
    try:
        yield
    except ScenarioError as error:
        if refusals is None:
            raise
        refusals.add_step(error)
    except ScenarioProblems as error:
        if refusals is None:
            raise
        for problem in error.problems:
            refusals.add_step(problem)


def _run_sql(session: Session, step: SQLStep) -> None:
    if step.transaction:
        session.transaction(step.text, line=step.line)
    else:
        session.run(step.text, line=step.line)


def _bind_data_step(session: Session, step: DataStep, scenario: ScenarioFile) -> DataPlan:
    """Return the plan of a step whose data are not read before Spark runs."""
    spec = step.spec
    plan = DataPlan(
        file=scenario.file,
        line=step.line,
        table=session.table(spec.table, line=step.line),
        source=spec,
        op=spec.op,
        order=spec.order,
        before=spec.before,
        first_commit=session.commits,
        transactions=spec.transactions,
    )
    session.reserve_table(spec.table, line=step.line)
    session.skip_commits(spec.transactions)
    return plan


def _bind_dump_step(session: Session, step: DumpStep, scenario: ScenarioFile, clock: CommitClock) -> DumpPlan:
    table, mode = session.reserve_dumped(*step.table, line=step.line)
    plan = DumpPlan(
        file=str(Path(scenario.file).absolute()),
        step=step,
        table=table.info,
        partitioning=table.partitioning,
        mode=mode,
        clock=clock if scenario.now is None else None,
        first_commit=session.commits,
    )
    session.skip_commits(step.statements)
    return plan
