"""Check a scenario without Spark: everything that ``run`` checks before it writes, except sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.dispatch.rules import Router
from ticdc_producer.dispatch.table_filter import ColumnSelection, TableFilter
from ticdc_producer.errors import ProducerError, ScenarioError, ScenarioProblems
from ticdc_producer.masking import masked
from ticdc_producer.scenario.commit_times import clock_of, sent_part
from ticdc_producer.scenario.execute import check_commits, execute
from ticdc_producer.scenario.history import History, IgnoredStatements
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.scenario.sql.session.refusals import Refusals
from ticdc_producer.simulate.scenario_changefeed import check_protocol, locate_rule_errors, with_traps


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """The result of checking one scenario.

    :param scenario: the scenario as the user named it.
    :param commits: number of commits, without rejected statements.
    :param row_changes: number of row changes, without rejected statements.
    :param ignored_statements: the statements that were not run, because they change nothing.
    :param problems: all errors, in file order.
    :param warnings: what TiCDC accepts and logs a warning about, as in the report of a run.
    :param discarded: the DDLs and rows that TiCDC never sends, as in the report of a run.
    :param unchecked: number of statements that could not be checked, because they depend on a rejected one.
    """

    scenario: str
    commits: int = 0
    row_changes: int = 0
    ignored_statements: IgnoredStatements = field(default_factory=IgnoredStatements)
    problems: tuple[ProducerError, ...] = ()
    warnings: tuple[str, ...] = ()
    discarded: tuple[Mapping[str, object], ...] = ()
    unchecked: int = 0

    @property
    def ok(self) -> bool:
        return not self.problems

    @property
    def exit_code(self) -> int:
        """The exit code of a command that prints the result."""
        return max((problem.exit_code for problem in self.problems), default=0)

    def to_json(self) -> dict[str, object]:
        """Return the result as plain values."""
        return {
            "scenario": self.scenario,
            "ok": self.ok,
            "commits": self.commits,
            "row_changes": self.row_changes,
            "passed_over": dict(sorted(self.ignored_statements.counts.items())),
            "notes": [
                {"file": note.file, "line": note.line, "text": note.text}
                for note in self.ignored_statements.notes
            ],
            "problems": [_problem(problem) for problem in self.problems],
            "unchecked": self.unchecked,
            "warnings": list(self.warnings),
            "discarded": list(self.discarded),
        }


def _problem(problem: ProducerError) -> dict[str, object]:
    located = problem if isinstance(problem, ScenarioError) else ScenarioError("", file=problem.where)
    return {
        "file": located.file,
        "line": located.line or None,
        "what": problem.what,
        "found": located.excerpt,
        "instead": problem.hint,
    }


def validate_scenario(path_or_name: str | Path) -> Validation:
    """Read a scenario, run its SQL, compute the route of every table. All errors are in the result."""
    name = masked(str(path_or_name))
    try:
        scenario, traps = with_traps(load_scenario(path_or_name), ())
        changefeed = resolve(scenario=scenario.changefeed, name=scenario.name)
        check_protocol(traps, changefeed)
    except ProducerError as error:
        return Validation(scenario=name, problems=tuple(_each(error)))
    refusals = Refusals()
    history = execute(
        scenario, force_replicate=changefeed.force_replicate, profile=changefeed.profile, refusals=refusals
    )
    problems: list[ProducerError] = [*refusals.problems]
    warnings, not_sent = [*changefeed.warnings], list[dict[str, object]]()
    try:
        if not problems:
            check_commits(scenario, history)
        with locate_rule_errors(scenario):
            history, of_router = _check_rules(scenario, changefeed, history)
            warnings += of_router
            if not problems:
                not_sent = _not_sent(scenario, changefeed, history)
    except ProducerError as error:
        problems.extend(_each(error))
    return Validation(
        scenario=name,
        commits=history.commits,
        row_changes=history.row_changes,
        ignored_statements=history.ignored_statements,
        problems=tuple(problems),
        warnings=tuple(warnings),
        discarded=tuple(not_sent),
        unchecked=refusals.unchecked,
    )


def _not_sent(scenario: ScenarioFile, changefeed: Changefeed, history: History) -> list[dict[str, object]]:
    """Return the DDLs and rows that TiCDC does not send, of the commits between start-ts and target-ts."""
    from ticdc_producer.protocols import registry
    from ticdc_producer.simulate.counts import discarded
    from ticdc_producer.simulate.job import Job
    from ticdc_producer.simulate.prepare import with_filtered_ddls  # loads Arrow

    history = sent_part(history)
    fidelity = registry.fidelity(changefeed.protocol, changefeed.codec_options())
    history = replace(history, catalog=with_filtered_ddls(history.catalog, fidelity))
    return discarded(Job(scenario=scenario, history=history, changefeed=changefeed))


def _each(error: ProducerError) -> Iterator[ProducerError]:
    """Yield the errors that an error consists of."""
    if isinstance(error, ScenarioProblems):
        yield from error.problems
    else:
        yield error


def _check_rules(
    scenario: ScenarioFile, changefeed: Changefeed, history: History
) -> tuple[History, list[str]]:
    """Check the rules against all tables.

    :return: the history with the DDLs and names of tables that the changefeed sends; the router's warnings.
    """
    router, names, selection = Router(changefeed), TableFilter(changefeed), ColumnSelection(changefeed)
    catalog = names.mark_ddls(history.catalog, clock_of(scenario, history).ts)
    if changefeed.routes_tables:
        from ticdc_producer.simulate.target_names import with_target_names

        catalog = with_target_names(catalog, changefeed, scenario.file)
    for table in catalog.tables:
        if (table.eligible or changefeed.force_replicate) and names.accepts(table):
            router.route(selection.of(table))
            if changefeed.filter.event_filters:  # rare; evaluating them imports pyspark
                from ticdc_producer.pipeline.event_filter import check_expressions

                check_expressions(table, changefeed)
    return replace(history, catalog=catalog), router.warnings
