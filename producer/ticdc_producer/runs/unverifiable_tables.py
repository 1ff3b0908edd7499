"""Tables whose rows at the end the stream alone does not tell."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame

from ticdc_producer.model.catalog import DDLJob
from ticdc_producer.model.ddl_action import CHANGES_ROWS, CLEARS_TABLES, DISCARDED, Action
from ticdc_producer.model.fidelity import tells_time
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.event_filter import filtered_tables
from ticdc_producer.runs.prepare import Job

_HARMLESS = DISCARDED | {Action.CREATE_SCHEMA, Action.CREATE_TABLE, Action.CREATE_VIEW, Action.DROP_VIEW}
"""Jobs that leave the rows and columns of the tables that there are as they were."""
_SEVERAL_TABLES = (Action.RENAME_TABLE, Action.RENAME_TABLES, Action.EXCHANGE_TABLE_PARTITION)


def untold_tables(job: Job) -> set[str]:
    """``schema.table`` of the tables that cannot be compared.

    Those with rows that event filters ignore; those that a DDL altered, which the reference consumer does not
    follow; those whose rows move from partition to partition and do not tell their commit-ts; those that a
    DDL emptied of which the protocol does not say so; and those whose key the protocol does not tell.
    """
    catalog, losses = job.history.catalog, job.encoder.losses
    untold = {
        table.qualified_name
        for table in catalog.tables
        if table.handle_index is not None and not losses.tells_handle_key(table)
    }
    untold |= _filtered(job) | _unordered(job)
    for ddl in catalog.ddls:
        untold |= _altered(job, ddl) | _cleared(job, ddl) | _left(job, ddl)
    return untold & _in_the_stream(job)


def _in_the_stream(job: Job) -> set[str]:
    """Tables that rows or DDLs of the stream can speak of."""
    told = {f"{ddl.schema}.{ddl.table}" for ddl in job.history.catalog.ddls if ddl.sent}
    return told | {table.qualified_name for table in job.stream.replicated}


def _left(job: Job, ddl: DDLJob) -> set[str]:
    """The new name of a table that was renamed to one that no filter rule accepts: no more rows come."""
    replicated = {table.version for table in job.stream.replicated}
    gone = ddl.sent and ddl.version_before in replicated and ddl.version_after >= 0
    return {f"{ddl.schema}.{ddl.table}"} if gone and ddl.version_after not in replicated else set()


def _filtered(job: Job) -> set[str]:
    """Tables of which event filters ignore rows."""
    found = filtered_tables(job.history.catalog.tables, job.changefeed.filter)
    return {table.qualified_name for table in found}


def _unordered(job: Job) -> set[str]:
    """Tables of whose rows nobody can tell which event is the last: it may stand in any partition."""
    if tells_time(job.encoder.losses.commit_ts):
        return set()
    feed, router = job.changefeed, job.stream.router
    found = set()
    for table in job.stream.replicated if feed.partition_num > 1 else ():
        rule = router.rule_of(table.schema, table.name)
        if rule.rule not in ("table", "index-value") or rule.index:
            found.add(table.qualified_name)
    return found


def _altered(job: Job, ddl: DDLJob) -> set[str]:
    """The table of a DDL that a reader would have to follow.

    DDL that gives a table another handle key counts: its rows are told apart by other columns then.
    """
    if ddl.version_before < 0 or ddl.version_after < 0:
        return set()
    tables = job.history.catalog.tables
    before, after = tables[ddl.version_before], tables[ddl.version_after]
    if ddl.job_type in CHANGES_ROWS or _handle_key(before) != _handle_key(after):
        return {before.qualified_name, after.qualified_name}
    return set()


def _handle_key(table: TableInfo) -> list[str]:
    index = table.handle_index
    return [] if index is None else [table.columns[offset].name for offset in index.offsets]


def _cleared(job: Job, ddl: DDLJob) -> set[str]:
    """Tables that a DDL emptied or dropped without a word of it in the stream."""
    told = _told(job, ddl) and job.encoder.losses.told_ddl_type(ddl.ddl_type)
    if ddl.job_type not in CLEARS_TABLES or told:
        return set()
    return set(_concerned(job, ddl))


def _told(job: Job, ddl: DDLJob) -> bool:
    """Whether a DDL is in the stream."""
    return ddl.sent and job.changefeed.output_ddl and not job.encoder.losses.omits_ddl(ddl.ddl_type)


def untraced_tables(job: Job) -> set[str]:
    """``schema.table`` of the tables that changed without a word of it in the stream."""
    tables = job.history.catalog.tables
    untraced = _filtered(job)
    for ddl in job.history.catalog.ddls:
        if ddl.job_type in _HARMLESS or _told(job, ddl):
            continue
        if ddl.job_type in _SEVERAL_TABLES:
            return {table.qualified_name for table in tables}
        versions = [tables[at] for at in (ddl.version_before, ddl.version_after) if at >= 0]
        untraced |= {table.qualified_name for table in versions} | set(_concerned(job, ddl))
    return untraced


def _concerned(job: Job, ddl: DDLJob) -> Iterator[str]:
    for table in job.history.catalog.tables:
        if table.schema == ddl.schema and (ddl.job_type == Action.DROP_SCHEMA or table.name == ddl.table):
            yield table.qualified_name


def tables_with_refused_rows(places: DataFrame) -> set[str]:
    """``schema.table`` of the tables with rows that TiCDC would not send.

    :param places: shape ``EVENT_PLACES``.
    """
    refused = places.where("refused is not null").select("refused").distinct()
    return {row["refused"] for row in refused.collect()}


def tables_in_part(stream: DataFrame) -> set[str]:
    """``schema.table`` of the tables with rows that were too large, of which only the handle key came.

    :param stream: decoded events.
    """
    found = stream.where("handle_key_only = 1").select("schema", "table").distinct().collect()
    return {f"{row['schema']}.{row['table']}" for row in found}
