"""The texts of DDL events, as TiCDC sends them; those that TiCDC new architecture builds itself.

Source: ticdc ``pkg/common/event/ddl_event.go``, ``logservice/schemastore`` (persist storage DDL handlers).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.catalog import Action, Catalog, DDLJob
from ticdc_producer.model.parameter import Profile
from ticdc_producer.scenario.sql.ddl.context import quoted


def new_arch_ddl(catalog: Catalog, *, rebuilt: bool) -> Catalog:
    """The catalog with the DDL events of TiCDC new architecture.

    :param rebuilt: whether TiCDC also builds the text of a RENAME of one table.
    """
    return replace(catalog, ddls=tuple(_new_arch_job(job, rebuilt=rebuilt) for job in catalog.ddls))


def is_rebuilt(job: DDLJob) -> bool:
    """Whether TiCDC new architecture builds the text of an event itself, so that TiDB does not restore it."""
    return job.ddl_type == Action.RENAME_TABLE


def _new_arch_job(job: DDLJob, *, rebuilt: bool) -> DDLJob:
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
    """The catalog with rewritten DDLs that are sent; an error names the line of the DDL."""

    def rewritten(job: DDLJob) -> DDLJob:
        try:
            return rewrite(job)
        except ScenarioError as error:
            raise error.at(file, job.line) from error.__cause__

    return replace(catalog, ddls=tuple(rewritten(job) if job.sent else job for job in catalog.ddls))


def _without_escapes(job: DDLJob) -> DDLJob:
    """The text that classic TiCDC builds from names: it does not double their back-quotes.

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
    """A job whose text TiCDC new architecture can parse again after TiDB has printed it.

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
    """The text that TiDB prints; one history is sent with several options, whose texts are the same.

    :raises ScenarioError: for a text that TiDB cannot parse, or that this tool cannot print.
    """
    from ticdc_producer.scenario.sql.restore import print_ddl  # most scenarios do not need its grammar

    return print_ddl(query)
