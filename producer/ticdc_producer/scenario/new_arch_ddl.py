"""DDL events whose content TiCDC new architecture builds itself; all others equal those of classic TiCDC.

Source: ticdc ``pkg/common/event/ddl_event.go``, ``logservice/schemastore`` (persist storage DDL handlers).
"""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.model.catalog import Catalog, DDLJob
from ticdc_producer.model.ddl_action import Action
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
