"""Playing a scenario: its steps run in order, and what was committed comes out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.clock import Clock
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.data_step import DataPlan, bind_data
from ticdc_producer.scenario.generate.alterations import Alterations
from ticdc_producer.scenario.generate.bind import bind
from ticdc_producer.scenario.generate.bind_versions import with_table_versions
from ticdc_producer.scenario.generate.ddl_form import DDLMix
from ticdc_producer.scenario.generate.form import Generate
from ticdc_producer.scenario.generate.places import Lines
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import DataStep, GenerateStep, ResolvedStep, ScenarioFile, SQLStep
from ticdc_producer.scenario.new_arch_ddl import is_rebuilt, told_by_new
from ticdc_producer.scenario.sql.session import Session


def play(
    scenario: ScenarioFile,
    *,
    force_replicate: bool = False,
    profile: Profile = "classic",
    state_at: Sequence[int] = (),
) -> History:
    """Run all steps.

    :param force_replicate: whether tables without a handle key are replicated too.
    :param profile: the program that replicates.
    :param state_at: time stamps at which the history shall hold the state of all tables.
    :raises ScenarioError: placed in the file, for SQL that does not run and time stamps that do not grow.
    """
    history = _played(scenario, force_replicate, profile)
    if not state_at:
        return history
    # Only now is it known which commit has which time stamp.
    after = {commits_until(scenario, history, ts) for ts in state_at}
    return _played(scenario, force_replicate, profile, after)


def check_commits(scenario: ScenarioFile, history: History) -> None:
    """Refuse a scenario of which there is nothing to write.

    :raises ScenarioError: if it commits nothing.
    """
    if history.commits == 0:
        hint = "it needs SQL that changes something, such as CREATE TABLE"
        raise ScenarioError("the scenario commits nothing", file=scenario.file, hint=hint)


def commits_until(scenario: ScenarioFile, history: History, ts: int) -> int:
    """How many commits of a played scenario have a commit-ts up to ``ts``."""
    return bisect_right(range(history.commits), ts, key=clock_of(scenario, history).ts)


def _played(
    scenario: ScenarioFile, force_replicate: bool, profile: Profile, snapshots: Collection[int] = ()
) -> History:
    session = Session(
        file=scenario.file,
        database=scenario.database,
        time_zone=scenario.time_zone,
        now=scenario.now,
        force_replicate=force_replicate,
        profile=profile,
        snapshots=snapshots,
    )
    pinned: dict[int, int] = {}
    resolved: list[tuple[int, int]] = []
    generated: list[GeneratePlan] = []
    data: list[DataPlan] = []
    for step in scenario.steps:
        if isinstance(step, ResolvedStep):
            resolved.append((session.commits, step.ts))
            continue
        before = session.commits
        if isinstance(step, GenerateStep):
            generated.extend(_generate(session, step, scenario, generated))
        elif isinstance(step, DataStep):
            data.append(_data(session, step, scenario))
        else:
            _run(session, step)
        if step.commit_ts is not None:
            pinned[before] = step.commit_ts
            _check_pin(scenario, step, pinned, before, session.commits)
    return replace(
        session.history(),
        pinned=pinned,
        resolved=tuple(resolved),
        generated=tuple(generated),
        data=tuple(data),
    )


def told(catalog: Catalog, file: str, *, profile: Profile = "classic", text: str = "original") -> Catalog:
    """The catalog, its DDL events as TiCDC tells them.

    :param file: the scenario, for messages.
    :param text: ``original`` or ``tidb``, as in the changefeed's ``ddl-text``.
    :raises ScenarioError: for a DDL whose text cannot be re-printed.
    """
    if profile == "new":
        catalog = told_by_new(catalog, rebuilt=text == "tidb")
    return catalog if text == "original" else _reprinted(catalog, file, profile)


def _reprinted(catalog: Catalog, file: str, profile: Profile) -> Catalog:
    """The catalog, its DDLs in the words in which current TiCDC sends them.

    :raises ScenarioError: for a DDL whose text cannot be re-printed.
    """

    from ticdc_producer.scenario.sql.restore import restored  # most scenarios do without its grammar

    def reprint(job: DDLJob) -> DDLJob:
        if profile == "new" and is_rebuilt(job):
            return job
        try:
            return replace(job, query=restored(job.query))
        except ScenarioError as error:
            raise error.at(file, job.line) from error.__cause__

    return replace(catalog, ddls=tuple(reprint(job) if job.sent else job for job in catalog.ddls))


def clock_of(scenario: ScenarioFile, history: History) -> Clock:
    """The commit clock of a played scenario."""
    return Clock(start=scenario.start, every_us=_microseconds(scenario), pinned=history.pinned)


def _microseconds(scenario: ScenarioFile) -> int:
    return scenario.every // timedelta(microseconds=1)


def _run(session: Session, step: SQLStep) -> None:
    if step.transaction:
        session.transaction(step.text, line=step.line)
    else:
        session.run(step.text, line=step.line)


def _generate(
    session: Session, step: GenerateStep, scenario: ScenarioFile, earlier: Sequence[GeneratePlan]
) -> tuple[GeneratePlan, ...]:
    lines, first_commit = Lines(step.lines), session.commits
    names = {
        work.table: (lines.of_table(number) if step.form.tables else lines).of("table")
        for number, work in enumerate(step.form.works())
    }
    plans = bind(
        step.form,
        [session.table(name, line=line) for name, line in names.items()],
        first_commit=first_commit,
        seed=scenario.seed,
        file=scenario.file,
        lines=lines,
        earlier=earlier,
    )
    for name, line in names.items():
        session.leave(name, line=line)
    if step.form.ddl is None:
        session.pass_over(step.form.commits)
        return plans
    [plan] = plans
    versions = _changed(session, step.form, step.form.ddl, plan, lines.of("ddl"))
    return (with_table_versions(plan, versions),)


def _changed(session: Session, form: Generate, mix: DDLMix, plan: GeneratePlan, line: int) -> list[TableInfo]:
    """The versions of a step's table, its DDLs being run between its transactions."""
    versions = [plan.table]
    drawn = Alterations(mix.weights(), plan.table, f"{plan.seed}/{plan.step_commit}")
    session.pass_over(plan.first_transaction - session.commits)
    for _ in range(form.ddls):
        session.pass_over(mix.every)
        try:
            alteration = drawn.next(versions[-1])
        except ScenarioError as error:
            raise error.at(plan.file, line) from None
        versions.append(session.change(versions[-1], alteration.text, alteration.name, line=line))
    session.pass_over(plan.commits_behind - session.commits)
    return versions


def _data(session: Session, step: DataStep, scenario: ScenarioFile) -> DataPlan:
    table = session.table(step.form.table, line=step.line)
    plan = bind_data(step.form, table, first_commit=session.commits, file=scenario.file, line=step.line)
    session.leave(step.form.table, line=step.line)
    session.pass_over(step.form.transactions)
    return plan


def _check_pin(
    scenario: ScenarioFile,
    step: SQLStep | GenerateStep | DataStep,
    pinned: dict[int, int],
    before: int,
    commits: int,
) -> None:
    if commits == before:
        raise ScenarioError(
            "the step has a commit-ts and commits nothing", file=scenario.file, line=step.line
        )
    clock = Clock(start=scenario.start, every_us=_microseconds(scenario), pinned=pinned)
    if before and clock.ts(before) <= clock.ts(before - 1):
        raise ScenarioError(
            f"commit-ts {step.commit_ts} is not after that of the commit before, {clock.ts(before - 1)}",
            file=scenario.file,
            line=step.line,
            hint="commit-ts must grow; clock.every sets the distance of those without",
        )
