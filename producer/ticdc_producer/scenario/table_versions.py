"""Time stamps of the versions of a table, and the texts of DDL events.

TiDB's ``UpdateTS`` is the schema version that rows of the Simple protocol carry. A DDL that changes a table
sets it to the TSO before its commit-ts. RENAME TABLE, TRUNCATE TABLE and EXCHANGE PARTITION do not change it.
Source: tidb ``pkg/ddl`` (``updateVersionAndTableInfo``); ticdc ``pkg/common/event/ddl_event.go``,
``logservice/schemastore`` (persist storage DDL handlers).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.catalog import DISCARDED, Action, Catalog, DDLJob
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.scenario.sql.ddl.context import quoted

_EXCHANGE = Action.EXCHANGE_TABLE_PARTITION
_UNCHANGED_BY = frozenset({
    Action.RENAME_TABLE, Action.RENAME_TABLES, Action.TRUNCATE_TABLE, Action.TRUNCATE_TABLE_PARTITION,
    _EXCHANGE,
})  # fmt: skip


def with_update_ts(catalog: Catalog, clock: CommitClock, profile: Profile) -> Catalog:
    """Set ``update_ts`` of each version of each table; 0 for a version that no DDL created."""
    jobs, tables = catalog.creating_jobs(), list[TableInfo]()
    own: list[int] = []  # TiDB's time stamp, by version
    visible: dict[tuple[str, str], int] = {}  # by name, the last time stamp that TiCDC knows
    of_name: dict[tuple[str, str], int] = {}
    for number, table in enumerate(catalog.tables):
        job, name = jobs.get(number), (table.schema, table.name)
        if job is None:
            own.append(0)
        elif job.job_type not in _UNCHANGED_BY:
            own.append(clock.ts(job.commit_seq) - 1)
        elif job.job_type == _EXCHANGE:
            own.append(of_name.get(_name_after_exchange(catalog, job, table, profile), 0))
        else:
            own.append(own[job.version_before])
        of_name[name] = own[number]
        if job is None or job.job_type not in DISCARDED:  # TiCDC does not receive discarded DDLs
            visible[name] = own[number]
        tables.append(replace(table, update_ts=visible.get(name, 0)))
    return replace(catalog, tables=tuple(tables))


def _name_after_exchange(
    catalog: Catalog, job: DDLJob, table: TableInfo, profile: Profile
) -> tuple[str, str]:
    """Return the name of the table whose time stamp a table has after EXCHANGE PARTITION.

    In TiCDC new architecture both tables have the time stamp of the partitioned table.
    """
    source = catalog.tables[job.version_after] if profile == "new" else table
    return source.schema, source.name


def new_arch_ddl(catalog: Catalog, *, rebuilt: bool) -> Catalog:
    """Replace the DDL events of a catalog by those of TiCDC new architecture.

    :param rebuilt: whether TiCDC also builds the text of a RENAME of one table.
    """
    return replace(catalog, ddls=tuple(_new_arch_job(job, rebuilt=rebuilt) for job in catalog.ddls))


def is_rebuilt(job: DDLJob) -> bool:
    """Return whether TiCDC new architecture builds the text of an event itself, so that TiDB prints none."""
    return job.ddl_type == Action.RENAME_TABLE


def _new_arch_job(job: DDLJob, *, rebuilt: bool) -> DDLJob:
    if job.as_sent and job.job_type != Action.EXCHANGE_TABLE_PARTITION:
        return job
    match job.job_type:
        case Action.EXCHANGE_TABLE_PARTITION:  # named by the table whose rows became the partition
            return replace(
                job,
                schema=job.old_schema,
                table=job.old_table,
                old_schema=job.schema,
                old_table=job.table,
            )
        case Action.RENAME_TABLES:
            return replace(job, query=f"{_rename(job)};")
        case Action.RENAME_TABLE if rebuilt:
            return replace(job, query=_rename(job))
    return job


def _rename(job: DDLJob) -> str:
    return f"RENAME TABLE {quoted(job.old_schema, job.old_table)} TO {quoted(job.schema, job.table)}"


_REBUILT = {
    Action.DROP_TABLE: "DROP TABLE",
    Action.DROP_VIEW: "DROP VIEW",
    Action.RENAME_TABLES: "RENAME TABLE",
    Action.EXCHANGE_TABLE_PARTITION: "EXCHANGE PARTITION",
}
"""Jobs whose text TiCDC builds from names. Source: tiflow ``DDLEvent.FromJob``."""


def rewrite_ddl_text(
    catalog: Catalog,
    file: str,
    *,
    profile: Profile = "classic",
    text: str = "tidb",
    on_typed: Callable[[DDLJob, UnsupportedSQL], None] = lambda _job, _reason: None,
) -> Catalog:
    """Rewrite the DDL events of a catalog as TiCDC sends them.

    :param file: the scenario file, for messages.
    :param text: ``original`` or ``tidb``, as in the changefeed's ``ddl-text``.
    :param on_typed: called for each DDL that this tool cannot print, and the reason; it has its typed text.
    :raises ScenarioError: for a DDL at which TiCDC stops the changefeed.
    """
    if profile == "new":
        catalog = _each_sent(catalog, file, _checked)
        catalog = new_arch_ddl(catalog, rebuilt=text == "tidb")
    else:
        catalog = _each_sent(catalog, file, _without_escapes)
    if text == "original":
        return catalog

    def restore_text(job: DDLJob) -> DDLJob:
        if profile == "new" and is_rebuilt(job):
            return job
        try:
            return replace(job, query=_printed(job.query))
        except UnsupportedSQL as reason:
            on_typed(job, reason)
            return job

    return _each_sent(catalog, file, restore_text)


def _each_sent(catalog: Catalog, file: str, rewrite: Callable[[DDLJob], DDLJob]) -> Catalog:
    """Rewrite the DDLs of a catalog that are to be sent; an error names the line of the DDL."""

    def rewritten(job: DDLJob) -> DDLJob:
        try:
            return rewrite(job)
        except ScenarioError as error:
            raise error.at(file, job.line) from error.__cause__

    return replace(
        catalog,
        ddls=tuple(rewritten(job) if job.sent and not job.as_sent else job for job in catalog.ddls),
    )


def _without_escapes(job: DDLJob) -> DDLJob:
    """Replace the text of a job by that of classic TiCDC, which does not double back-quotes in names.

    :raises ScenarioError: if TiDB cannot parse this text: TiCDC then stops the changefeed.
    """
    statement = _REBUILT.get(Action(job.job_type))
    if statement is None or "``" not in job.query:
        return job
    query = job.query.replace("``", "`")
    try:
        _printed(query)
    except ScenarioError as error:
        raise ScenarioError(
            f"TiCDC builds the text of {statement} without escaping the back-quote in a name,"
            f" cannot parse it, and stops the changefeed here: {query}",
            value=query,
            hint="use a name without a back-quote, or `profile=new`, which escapes it",
        ) from error
    return replace(job, query=query)


def _checked(job: DDLJob) -> DDLJob:
    """Check that TiCDC new architecture can parse the text of a job again after TiDB has printed it.

    TiDB does not escape a backslash in the members of ENUM and SET, nor in comments.

    :raises ScenarioError: if it cannot: TiCDC then stops the changefeed.
    """
    if "\\" not in job.query:
        return job
    try:
        printed = _printed(job.query)
    except UnsupportedSQL:  # a view; it has no members and comments
        return job
    try:
        _printed(printed)
    except ScenarioError as error:
        raise ScenarioError(
            "TiDB prints the backslash at the end of a text unescaped; TiCDC new architecture cannot parse"
            f" the result, and stops the changefeed here: {printed[:200]}",
            value=printed,
            hint="let no member of an ENUM or SET end in a backslash, or use `profile=classic`",
        ) from error
    return job


@lru_cache(maxsize=256)
def _printed(query: str) -> str:
    """Return the text that TiDB prints.

    It is cached because a history may be sent several times, with different options but the same texts.

    :raises ScenarioError: for a text that TiDB cannot parse, or that this tool cannot print.
    """
    from ticdc_producer.scenario.sql.restore import print_ddl  # most scenarios do not need its grammar

    return print_ddl(query)
