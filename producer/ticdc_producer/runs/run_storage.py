"""The run job into a storage: data files, schema files, metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ArgumentError, StorageError
from ticdc_producer.model.event import Kind
from ticdc_producer.protocols.storage.schema_file import SchemaFile
from ticdc_producer.runs.change_log import Upstream
from ticdc_producer.runs.counts import Counts, count, discarded
from ticdc_producer.runs.expected_positions import expected_events
from ticdc_producer.runs.kafka_target import check_speculation
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.rejected_rows import skipped_events
from ticdc_producer.runs.run_report import RunReport, Say
from ticdc_producer.runs.storage_verification import judge_storage
from ticdc_producer.runs.verification import Observe, unobserved
from ticdc_producer.spark.materialize import kept
from ticdc_producer.targets.encoding.event_offsets import event_places
from ticdc_producer.targets.encoding.messages import messages
from ticdc_producer.targets.storage.data_files import FileRules
from ticdc_producer.targets.storage.directories import in_directories
from ticdc_producer.targets.storage.listing import list_storage
from ticdc_producer.targets.storage.plan import StoragePlan, plan_storage
from ticdc_producer.targets.storage.read import Names
from ticdc_producer.targets.storage.write import check_empty, write_data, write_metadata, write_schema_files


def check_storage(job: Job, *, dry_run: bool, **not_here: object) -> StoragePlan:
    """What can be said before Spark starts.

    :param not_here: options of a run that are of topics and golden folders.
    :return: the layout.
    :raises ArgumentError: if one of those is given.
    :raises ChangefeedError: for a layout that TiCDC could not write.
    :raises FolderError: if the folder holds anything.
    """
    for name, value in {**not_here, "inject": job.traps}.items():
        if value:
            raise ArgumentError(
                f"--{name.replace('_', '-')} does not go with a storage sink",
                argument=name,
                hint="it is of topics and golden folders",
            )
    plan = layout_of(job)
    if not dry_run:
        check_empty(job.changefeed.sink_uri.place)
    return plan


def layout_of(job: Job) -> StoragePlan:
    """Where the rows of a job stand, and its schema files.

    :raises ChangefeedError: for a name that cannot be a directory's.
    """
    return plan_storage(
        job.history.catalog,
        [table.version for table in job.stream.replicated],
        job.stream.resolved.clock,
        column_ids=job.changefeed.output_column_id,
    )


def run_storage(
    job: Job,
    committed: Upstream,
    plan: StoragePlan,
    *,
    dry_run: bool,
    say: Say,
    observe: Observe = unobserved,
) -> RunReport:
    """Write a job's files; everything is encoded once before the first is written.

    :param plan: as ``check_storage`` gives it.
    """
    place = job.changefeed.sink_uri.place
    rows = in_directories(committed.rows(job.stream), plan, job.history.catalog, job.changefeed)
    with kept(rows, in_order=True) as events:
        encode_plan = job.encode_plan(skip_refused=True)
        encoded = messages(events, encode_plan)
        counts = count(encoded)
        skipped = skipped_events(job, encoded, counts.refused)
        say(f"encoded {sum(counts.events.values())} rows")
        report = RunReport(
            scenario=job.scenario.name,
            target="" if dry_run else place,
            dry_run=dry_run,
            counts=counts,
            discarded=discarded(job),
            skipped=skipped,
            warnings=job.changefeed.warnings,
        )
        files = plan.used({topic for topic, *_ in counts.messages})
        if dry_run:
            return report
        say(f"writing {place}")
        report = replace(report, counts=_written(job, events, files))
        say("reading back and verifying")
        verdict = judge_storage(
            committed.spark,
            job.changefeed,
            list_storage(place, job.changefeed.protocol),
            lambda: expected_events(job, events, event_places(events, encode_plan)),
            row_columns(job, plan),
            scenario=job.scenario.name,
            observe=observe,
        )
        return replace(report, verdict=verdict)


def row_columns(job: Job, plan: StoragePlan) -> Names:
    """By version directory the columns that its rows have."""
    tables = job.history.catalog.tables
    return {
        folder: {column.name for column in tables[version].sent_columns}
        for version, folder in plan.folders.items()
    }


def _written(job: Job, events: DataFrame, files: Mapping[str, SchemaFile]) -> Counts:
    """Schema files first, ``metadata`` last: who reads meanwhile never finds rows that nothing describes."""
    check_speculation(events.sparkSession)
    place = job.changefeed.sink_uri.place
    write_schema_files(place, files)
    work = write_data(events, job.encode_plan(skip_refused=True), place, file_rules(job.changefeed))
    account = work.orderBy("directory").collect()  # a line per directory
    for line in account:
        if line["failure"] is not None:
            raise StorageError(line["failure"], location=f"{place}/{line['directory']}")
    write_metadata(place, checkpoint_ts(job))

    def counted(column: str) -> Counter[tuple[str, int, str]]:
        return Counter({(line["directory"], 0, Kind.ROW.word): line[column] for line in account})

    return Counts(messages=counted("rows"), events=counted("rows"), size=counted("bytes"))


def checkpoint_ts(job: Job) -> int:
    """The last resolved-ts of a job: everything up to it is there."""
    clock = job.stream.resolved.clock
    return max([clock.ts(job.history.commits - 1), *(ts for ts, _ in job.stream.resolved.explicit)])


def file_rules(feed: Changefeed) -> FileRules:
    """How the files of a changefeed are named, and when one ends."""
    return FileRules(
        protocol=feed.protocol,
        width=feed.file_index_digit,
        size=feed.file_size,
        flush_ms=feed.flush_interval,
    )
