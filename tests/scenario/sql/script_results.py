"""Runs a script and returns parts of its history, for tests."""

from __future__ import annotations

from ticdc_producer.model.catalog import Action
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.sql.session.session import Session


def history_of(script: str) -> History:
    session = Session(force_replicate=True)
    session.run(script)
    return session.history()


def table_of(history: History, name: str = "t", schema: str = "test") -> TableInfo:
    return history.catalog.tables[history.state[schema, name].version]


def columns_of(script: str, name: str = "t") -> list[str]:
    """The columns of a table in order."""
    return [column.name for column in table_of(history_of(script), name).columns]


def rows_of(script: str, name: str = "t", schema: str = "test") -> list[tuple[Value, ...]]:
    """The rows of a table in the order of their keys; partition by partition, if it has partitions."""
    return list(history_of(script).state[schema, name].rows)


def jobs_of(script: str) -> list[str]:
    """The action names of the DDL jobs."""
    return [Action(job.job_type).name for job in history_of(script).catalog.ddls]
