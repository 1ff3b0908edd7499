"""Runs a ``generate`` step in the session of a scenario."""

from __future__ import annotations

from collections.abc import Sequence

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.binding.alterations import Alterations
from ticdc_producer.scenario.generate.binding.column import with_table_versions
from ticdc_producer.scenario.generate.binding.step import bind
from ticdc_producer.scenario.generate.plan import GeneratePlan
from ticdc_producer.scenario.generate.spec import Generate, SourceLines
from ticdc_producer.scenario.generate.table_spec import DDLMix
from ticdc_producer.scenario.load import GenerateStep, ScenarioFile
from ticdc_producer.scenario.sql.session import Session


def run_generate_step(
    session: Session, step: GenerateStep, scenario: ScenarioFile, earlier: Sequence[GeneratePlan]
) -> tuple[GeneratePlan, ...]:
    """Bind a step to its tables, and let the session skip its commits.

    :param earlier: the plans of earlier steps, with the effects of SQL on their tables so far.
    :return: a plan per table.
    :raises ScenarioError: with file and line, for settings that do not fit the tables.
    """
    lines, first_commit = SourceLines(step.lines), session.commits
    names = {
        work.table: (lines.of_table(number) if step.spec.tables else lines).of("table")
        for number, work in enumerate(step.spec.resolved_tables())
    }
    plans = bind(
        step.spec,
        [session.table(name, line=line) for name, line in names.items()],
        first_commit=first_commit,
        seed=scenario.seed,
        file=scenario.file,
        lines=lines,
        earlier=earlier,
    )
    for name, line in names.items():
        session.reserve_table(name, line=line)
    if step.spec.ddl is None:
        session.skip_commits(step.spec.commits)
    else:
        [plan] = plans
        versions = _run_ddl_mix(session, step.spec, step.spec.ddl, plan, lines.of("ddl"))
        plans = (with_table_versions(plan, versions),)
    for plan in plans:
        session.open_generated(plan)
    return plans


def _run_ddl_mix(
    session: Session, spec: Generate, mix: DDLMix, plan: GeneratePlan, line: int
) -> list[TableInfo]:
    """Run the drawn DDLs of a step between its transactions; return all versions of its table."""
    versions = [plan.table]
    alterations = Alterations(mix.weights(), plan.table, f"{plan.seed}/{plan.step_commit}")
    session.skip_commits(plan.first_transaction - session.commits)
    for _ in range(spec.ddls):
        session.skip_commits(mix.every)
        try:
            alteration = alterations.next(versions[-1])
        except ScenarioError as error:
            raise error.at(plan.file, line) from None
        versions.append(session.alter_reserved(versions[-1], alteration.text, alteration.name, line=line))
    session.skip_commits(plan.commits_after - session.commits)
    return versions
