"""Checking a scenario without Spark: all that `run` would refuse before it writes, but for sizes."""

from __future__ import annotations

from pathlib import Path

from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.dispatch.column_selection import ColumnSelection
from ticdc_producer.dispatch.rules import Router
from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.runs.rule_errors import rules_placed
from ticdc_producer.runs.traps import check_protocol, with_traps
from ticdc_producer.scenario.execute import check_commits, clock_of, play
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import ScenarioFile, load_scenario


def validate_scenario(path_or_name: str | Path) -> History:
    """Read a scenario, run its SQL, find the route of every table.

    :raises ProducerError: for anything in it that is wrong.
    """
    scenario, traps = with_traps(load_scenario(path_or_name), ())
    feed = resolve(scenario=scenario.changefeed, name=scenario.name)
    history = play(scenario, force_replicate=feed.force_replicate, profile=feed.profile)
    check_protocol(traps, feed)
    check_commits(scenario, history)
    with rules_placed(scenario):
        _check_rules(scenario, feed, history)
    return history


def _check_rules(scenario: ScenarioFile, feed: Changefeed, history: History) -> None:
    router, names, selection = Router(feed), TableFilter(feed), ColumnSelection(feed)
    names.told(history.catalog, clock_of(scenario, history).ts)
    for table in history.catalog.tables:
        if (table.eligible or feed.force_replicate) and names.accepts(table):
            router.route(selection.of(table))
            if feed.filter.event_filters:  # rare, and what evaluates them is pyspark's
                from ticdc_producer.pipeline.event_filter import check_expressions

                check_expressions(table, feed.filter)
