"""Run a scenario into a storage sink: data files, schema files, metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ArgumentError, StorageError
from ticdc_producer.model.event import Kind
from ticdc_producer.protocols.storage.schema_file import SchemaFile
from ticdc_producer.runs.change_log import ChangeLog
from ticdc_producer.runs.counts import Counts, discarded
from ticdc_producer.runs.encoded import Encoded, encode_once
from ticdc_producer.runs.kafka_target import check_speculation
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.rejected_rows import skipped_events
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.storage_verification import storage_verdict
from ticdc_producer.targets.storage.data_files import FileRules
from ticdc_producer.targets.storage.directories import in_directories
from ticdc_producer.targets.storage.listing import list_storage
from ticdc_producer.targets.storage.plan import StoragePlan, plan_storage
from ticdc_producer.targets.storage.read import Names
from ticdc_producer.targets.storage.write import (
    check_empty,
    file_headers,
    write_data,
    write_metadata,
    write_schema_files,
)


def check_storage(job: Job, *, dry_run: bool, **rejected_options: object) -> StoragePlan:
    """Check a storage run as far as possible without Spark.

    :param rejected_options: options of ``run`` that apply to topics and golden folders only.
    :return: the layout.
    :raises ArgumentError: if one of these options is set.
    :raises ChangefeedError: for a layout that TiCDC could not write.
    :raises FolderError: if the folder is not empty.
    """
    for name, value in {**rejected_options, "inject": job.traps}.items():
        if value:
            raise ArgumentError(
                f"`{name}` cannot be combined with a storage sink",
                argument=name,
                hint="it applies to topics and golden folders",
            ).about(name)
    plan = layout_of(job)
    if not dry_run:
        check_empty(job.changefeed.sink_uri.path)
    return plan


def layout_of(job: Job) -> StoragePlan:
    """The directories of a job's rows, and its schema files.

    :raises ChangefeedError: for a table name that cannot be the name of a directory.
    """
    return plan_storage(
        job.history.catalog,
        [table.version for table in job.stream.replicated],
        job.stream.resolved.clock,
        column_ids=job.changefeed.output_column_id,
    )


def run_storage(job: Job, committed: ChangeLog, plan: StoragePlan, options: RunOptions) -> RunReport:
    """Write a job's files, after everything was encoded once.

    :param plan: result of ``check_storage``.
    :param options: those that ``check_storage`` rejects have no effect.
    """
    root = job.changefeed.sink_uri.path
    rows = in_directories(committed.rows(job.stream), plan, job.history.catalog, job.changefeed)
    written = not options.dry_run
    with encode_once(job, rows, messages=written, carried=written and options.verify_output) as encoded:
        counts = encoded.counts
        skipped = skipped_events(job, encoded.entries, counts.rejected)
        options.on_status(f"encoded {sum(counts.events.values())} rows")
        report = RunReport(
            scenario=job.scenario.name,
            target="" if options.dry_run else root,
            dry_run=options.dry_run,
            counts=counts,
            discarded=discarded(job),
            skipped=skipped,
            warnings=job.changefeed.warnings,
        )
        files = plan.used({topic for topic, *_ in counts.messages})
        if options.dry_run:
            return report
        options.on_status(f"writing {root}")
        report = replace(report, counts=_written(encoded, plan, files))
        if not options.verify_output:
            return report
        options.on_status("reading the files again and verifying them")
        verdict = storage_verdict(
            committed.spark,
            job.changefeed,
            list_storage(root, job.changefeed.protocol),
            encoded.expected_events,
            row_columns(job, plan),
            scenario=job.scenario.name,
            on_verdict=options.on_verdict,
        )
        return replace(report, verdict=verdict)


def row_columns(job: Job, plan: StoragePlan) -> Names:
    """The columns of the rows in each version directory."""
    tables = job.history.catalog.tables
    return {
        folder: {column.name for column in tables[version].sent_columns}
        for version, folder in plan.folders.items()
    }


def _written(encoded: Encoded, plan: StoragePlan, files: Mapping[str, SchemaFile]) -> Counts:
    """Write schema files first and ``metadata`` last; a concurrent reader never finds undescribed rows."""
    job = encoded.job
    check_speculation(encoded.entries.sparkSession)
    root = job.changefeed.sink_uri.path
    headers = file_headers(job.encode_plan(skip_refused=True), plan.folders)
    write_schema_files(root, files)
    work = write_data(encoded.entries, headers, root, file_rules(job.changefeed))
    written = work.orderBy("directory").collect()  # one row per directory
    for row in written:
        if row["failure"] is not None:
            raise StorageError(row["failure"], location=f"{root}/{row['directory']}")
    write_metadata(root, checkpoint_ts(job))

    def counted(column: str) -> Counter[tuple[str, int, str]]:
        return Counter({(row["directory"], 0, Kind.ROW.label): row[column] for row in written})

    return Counts(messages=counted("rows"), events=counted("rows"), size=counted("bytes"))


def checkpoint_ts(job: Job) -> int:
    """The last resolved-ts of a job: every change up to it is written."""
    clock = job.stream.resolved.clock
    return max([clock.ts(job.history.commits - 1), *(ts for ts, _ in job.stream.resolved.explicit)])


def file_rules(changefeed: Changefeed) -> FileRules:
    """How the files of a changefeed are named, and when one ends."""
    return FileRules(
        protocol=changefeed.protocol,
        width=changefeed.file_index_digit,
        size=changefeed.file_size,
        flush_ms=changefeed.flush_interval,
    )
