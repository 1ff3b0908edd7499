"""Checking a scenario without Spark: all that `run` would refuse before it writes, but for sizes."""

from __future__ import annotations

from pathlib import Path

from producer.changefeed import resolve
from producer.dispatch.column_selection import ColumnSelection
from producer.dispatch.rules import Router
from producer.dispatch.table_filter import TableFilter
from producer.scenario.history import History
from producer.scenario.load import load_scenario
from producer.scenario.play import clock_of, play


def validate_scenario(path_or_name: str | Path) -> History:
    """Read a scenario, run its SQL, find the route of every table.

    :raises ProducerError: for anything in it that is wrong.
    """
    scenario = load_scenario(path_or_name)
    feed = resolve(scenario=scenario.changefeed, name=scenario.name)
    history = play(scenario, force_replicate=feed.force_replicate, profile=feed.profile)
    router, names, selection = Router(feed), TableFilter(feed), ColumnSelection(feed)
    names.told(history.catalog, clock_of(scenario, history).ts)
    for table in history.catalog.tables:
        if (table.eligible or feed.force_replicate) and names.accepts(table):
            router.route(selection.of(table))
    return history
