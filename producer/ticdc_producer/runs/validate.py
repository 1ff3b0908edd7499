"""Check a scenario without Spark: everything that ``run`` checks before it writes, except sizes."""

from __future__ import annotations

from pathlib import Path

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.dispatch.column_selection import ColumnSelection
from ticdc_producer.dispatch.rules import Router
from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.runs.rule_errors import locate_rule_errors
from ticdc_producer.runs.traps import check_protocol, with_traps
from ticdc_producer.scenario.execute import check_commits, clock_of, execute
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import ScenarioFile, load_scenario


def validate_scenario(path_or_name: str | Path) -> History:
    """Read a scenario, run its SQL, compute the route of every table.

    :raises ProducerError: for any error in the scenario.
    """
    scenario, traps = with_traps(load_scenario(path_or_name), ())
    changefeed = resolve(scenario=scenario.changefeed, name=scenario.name)
    history = execute(scenario, force_replicate=changefeed.force_replicate, profile=changefeed.profile)
    check_protocol(traps, changefeed)
    check_commits(scenario, history)
    with locate_rule_errors(scenario):
        _check_rules(scenario, changefeed, history)
    return history


def _check_rules(scenario: ScenarioFile, changefeed: Changefeed, history: History) -> None:
    router, names, selection = Router(changefeed), TableFilter(changefeed), ColumnSelection(changefeed)
    names.mark_ddls(history.catalog, clock_of(scenario, history).ts)
    for table in history.catalog.tables:
        if (table.eligible or changefeed.force_replicate) and names.accepts(table):
            router.route(selection.of(table))
            if changefeed.filter.event_filters:  # rare; evaluating them imports pyspark
                from ticdc_producer.pipeline.event_filter import check_expressions

                check_expressions(table, changefeed.filter)
