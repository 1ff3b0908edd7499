"""Gives the tables of a catalog the names under which TiCDC new architecture sends them.

Dispatch rules and filters apply to the names upstream. Messages, schemas, the text of DDLs and the paths of
files have the others. Source: ticdc ``pkg/routing``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.dispatch.table_route import Name, TableRoute, TargetTables
from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.catalog import Action, Catalog, DDLJob
from ticdc_producer.model.table import TableInfo


def with_target_names(catalog: Catalog, changefeed: Changefeed, file: str) -> Catalog:
    """Return the catalog as it is sent, with the names upstream in addition to the others.

    :param catalog: with the texts of DDLs as TiCDC has them, and the DDLs marked that are not sent.
    :param file: the scenario file, for messages.
    :raises ChangefeedError: for two tables with one name, and for a database whose tables have several.
    :raises ScenarioError: for a DDL whose names this tool cannot change.
    """
    if not changefeed.routes_tables:
        return catalog
    route, names = TableRoute(changefeed), TableFilter(changefeed)
    _check_conflicts(catalog, route, names, file)
    return Catalog(
        tuple(_sent_table(table, route) if names.accepts(table) else table for table in catalog.tables),
        tuple(_sent_ddl(job, route, file) if job.sent else job for job in catalog.ddls),
    )


def _check_conflicts(catalog: Catalog, route: TableRoute, names: TableFilter, file: str) -> None:
    created = catalog.creating_jobs()
    existing = [
        (table.schema, table.name)
        for table in catalog.tables
        if table.version not in created and names.accepts(table) and not table.is_view
    ]
    tables = TargetTables(route)
    tables.change((), existing, file)
    for _, events in groupby((job for job in catalog.ddls if job.sent), key=attrgetter("commit_seq")):
        removed, added, line = [], [], 0
        for job in events:
            line = job.line
            removed += _removed(job, tables)
            added += [(job.schema, job.table)] * (job.job_type in _ADDS)
        tables.change(removed, added, f"{file}:{line}")


_RENAMES = (Action.RENAME_TABLE, Action.RENAME_TABLES)
_ADDS = (Action.CREATE_TABLE, *_RENAMES)
_REMOVES = (Action.DROP_TABLE, *_RENAMES)
"""DDLs that change the names of tables. Source: ticdc ``logservice/schemastore`` (``TableNameChange``)."""


def _removed(job: DDLJob, tables: TargetTables) -> list[Name]:
    if job.job_type == Action.DROP_SCHEMA:
        return tables.of_database(job.schema)
    return [(job.old_schema, job.old_table)] if job.job_type in _REMOVES else []


def _sent_table(table: TableInfo, route: TableRoute) -> TableInfo:
    own = table.schema, table.name
    schema, name = route.table(*own)
    return table if (schema, name) == own else replace(table, schema=schema, name=name, upstream=own)


def _sent_ddl(job: DDLJob, route: TableRoute, file: str) -> DDLJob:
    try:
        query = _with_targets(job, route)
    except UnsupportedSQL as error:
        what = f"this DDL cannot be sent under other names of tables: {error.what}"
        raise ScenarioError(what, value=job.query[:200]).at(file, job.line) from error
    except ScenarioError as error:
        raise error.at(file, job.line) from error.__cause__
    if query == job.query:
        return job
    (old_schema, old_table), (schema, table) = (
        route.name(job.old_schema, job.old_table),
        route.name(job.schema, job.table),
    )
    return replace(
        job,
        query=query,
        schema=schema,
        table=table,
        old_schema=old_schema,
        old_table=old_table,
        upstream=job.upstream_names,
    )


def _with_targets(job: DDLJob, route: TableRoute) -> str:
    from ticdc_producer.scenario.sql.restore import print_ddl_with_targets  # few changefeeds need its grammar

    query = print_ddl_with_targets(job.query, job.schema, route.name)
    # TiCDC ends each statement of several, such as those of a RENAME of several tables.
    ends = job.query.endswith(";") and query != job.query
    return f"{query};" if ends else query
