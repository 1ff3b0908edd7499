"""Write a golden folder from a job, and read its messages as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.errors import FolderError
from ticdc_producer.model.shapes import IMAGE, MESSAGES
from ticdc_producer.model.table import TableInfo, table_json
from ticdc_producer.pipeline.event_filter import selected_columns
from ticdc_producer.runs.counts import Counts, count, discarded, skipped_events
from ticdc_producer.runs.encoded import Encoded
from ticdc_producer.runs.fault_frames import fault_occurrences
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.small_task import Outcome
from ticdc_producer.runs.step_rows import StepRows, local_rows
from ticdc_producer.scenario.generate.changes import ROWS
from ticdc_producer.scenario.history import RowImage, State
from ticdc_producer.spark.background_jobs import background_jobs
from ticdc_producer.targets.decoding.dataframes import messages_dataframe, record_batches
from ticdc_producer.targets.encoding.claims import claims
from ticdc_producer.targets.encoding.encoded_stream import REFUSED, Wanted, encoded_stream, messages_of
from ticdc_producer.targets.encoding.ordered_events import OrderedEvents, row_limited_batches
from ticdc_producer.targets.golden import read as source
from ticdc_producer.targets.golden import write as sink
from ticdc_producer.targets.golden.json_lines import state_lines

_TableLines: TypeAlias = tuple[TableInfo, Iterable[bytes]]
"""A table, and the lines of its rows."""


def write_folder(
    path: Path, encoded: Encoded, steps: StepRows, report: RunReport, *, replace: bool = False
) -> None:
    """Write messages, expected events, claim-check objects, expected state and the manifest.

    :param path: the folder.
    :param encoded: the messages, the events that they carry, and their faults.
    :param steps: the rows of the steps of the scenario.
    :param report: counts, discarded and skipped events, and a summary of the faults.
    :param replace: remove the folder that has this path.
    """
    job, total = encoded.job, report.counts.total
    with sink.golden_folder(path, replace=replace) as folder, background_jobs(steps.spark) as submit:
        messages_written = submit(partial(sink.write_messages, folder, encoded.messages, total))
        sink.write_events(folder, encoded.expected_events(), total)
        messages_written()
        _write_schemas(folder, job)
        if job.encode_plan(skip_refused=True).claim_storage:
            sink.write_claims(folder, encoded.claims)
        tables = _write_states(folder, job, {ts: _in_key_order(job, steps, ts) for ts in _times(job)})
        if job.faults is not None:
            sink.write_faults(folder, fault_occurrences(encoded.entries))
        sink.write_changefeed(folder, job.changefeed)
        manifest = _manifest(job, report.counts, report.discarded, report.skipped)
        sink.write_manifest(folder, {**manifest, "faults": list(report.faults.counts), "tables": tables})


def _times(job: Job) -> tuple[int | None, ...]:
    """The times (TSO) of the expected states; None: the end."""
    return (None, *job.state_at)


def _in_key_order(job: Job, steps: StepRows, ts: int | None) -> Iterator[_TableLines]:
    """The tables of ``generate`` and ``data`` steps and their rows at a time.

    Tasks make the lines, and the driver writes them: the disk is its own.
    """
    for table, rows in steps.at(job, None if ts is None else job.commits_until(ts)):
        in_order = rows(lambda batches: batches, from_arrow_schema(ROWS)).orderBy("row_key")
        yield table, _lines(table, in_order)


def _lines(table: TableInfo, rows: DataFrame) -> Iterator[bytes]:
    def lines(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch([pa.array([state_lines(table, batch["row"])], pa.binary())], ["lines"])

    return (bytes(row["lines"]) for row in rows.mapInArrow(lines, "lines binary").toLocalIterator())


def _write_states(
    folder: Path, job: Job, of_steps: Mapping[int | None, Iterable[_TableLines]]
) -> dict[str, Any]:
    """Write the expected rows at the end and at the ``state_at`` time stamps.

    :param of_steps: by time, the lines of the tables that ``generate`` and ``data`` steps filled.
    :return: the table definition for each file.
    """
    forms = {}
    for ts, steps in of_steps.items():
        state_folder = folder / "state" if ts is None else folder / "state.at" / str(ts)
        state_folder.mkdir(parents=True, exist_ok=True)  # even without tables at this time
        of_sql = replicated_state(job, job.history.state if ts is None else job.state_until(ts))
        lines_of_sql = ((table, [state_lines(table, pa.array(rows, IMAGE))]) for table, rows in of_sql)
        for table, lines in chain(lines_of_sql, steps):
            file = sink.write_state(state_folder, table, lines)
            forms[file.relative_to(folder).as_posix()] = table_json(table)
    return forms


def write_files(path: Path, job: Job, done: Outcome, report: RunReport, *, replace: bool = False) -> None:
    """Write a golden folder of what a task has made, with the expected states and the manifest.

    :param replace: remove the folder that has this path.
    """
    with sink.golden_folder(path, replace=replace) as folder:
        if job.encode_plan(skip_refused=True).claim_storage:
            (folder / sink.CLAIMS).mkdir()
        if done.messages is not None and done.events is not None:
            sink.write_small_messages(folder, done.messages)
            sink.write_small_events(folder, done.events)
        for name, content in done.files.items():
            (folder / name).write_bytes(content)
        of_steps = {
            ts: [
                (table, [state_lines(table, batch["row"]) for batch in rows.to_batches()])
                for table, rows in done.step_states.get(ts, ())
            ]
            for ts in _times(job)
        }
        tables = _write_states(folder, job, of_steps)
        sink.write_changefeed(folder, job.changefeed)
        manifest = _manifest(job, report.counts, report.discarded, report.skipped)
        sink.write_manifest(folder, {**manifest, "faults": list(report.faults.counts), "tables": tables})


def write_only_messages(
    path: Path, job: Job, events: OrderedEvents, *, replace: bool = False
) -> tuple[Counts, list[dict[str, Any]]]:
    """Write messages, claim-check objects and the manifest; each event is encoded once.

    :param replace: remove the folder that has this path.
    :return: counts of the written messages, and the skipped events.
    :raises EncodeError: for an event that TiCDC's encoder rejects, with ``on-error: stop``; then no folder is
        left.
    """
    plan = job.encode_plan(skip_refused=True)
    entries = encoded_stream(events, plan, Wanted(messages=True))
    rejected = Observation()
    observed = entries.observe(rejected, F.count_if(F.col("type") == REFUSED).alias("refused"))
    with sink.golden_folder(path, replace=replace) as folder:
        with row_limited_batches(events.spark, plan.catalog):
            sink.write_message_files(folder, messages_of(observed))
        # Encodes once more if there are any: the files that were just written are those of the messages.
        skipped = skipped_events(job, entries, rejected.get["refused"])
        _write_schemas(folder, job)
        if plan.claim_storage:
            sink.write_claims(folder, claims(events, plan))
        counts = count(events.spark.read.parquet(str(folder / sink.MESSAGE_FILES)))
        sink.write_changefeed(folder, job.changefeed)
        sink.write_manifest(folder, _manifest(job, counts, discarded(job), skipped))
    return counts, skipped


def _write_schemas(folder: Path, job: Job) -> None:
    if job.schemas:
        sink.write_schemas(folder, job.known_schemas)


def replicated_state(job: Job, state: State) -> list[tuple[TableInfo, tuple[RowImage, ...]]]:
    """``(table, rows)`` of the tables that TiCDC replicates as a whole, in the changefeed's time zone."""
    tables = job.history.catalog.tables
    return [
        selected_rows(
            job,
            tables[table.version],
            local_rows(tables[table.version], table.rows, job.changefeed.time_zone),
        )
        for _, table in sorted(state.items())
        if table.version in job.stream.whole
    ]


def selected_rows(
    job: Job, table: TableInfo, rows: tuple[RowImage, ...]
) -> tuple[TableInfo, tuple[RowImage, ...]]:
    """The table and its rows without the columns that the column selectors exclude."""
    columns = selected_columns(table, job.stream.selection)
    if columns is None:
        return table, rows
    return job.stream.selection.of(table), tuple(tuple(row[index] for index in columns) for row in rows)


def _manifest(
    job: Job, counts: Counts, discarded: list[dict[str, Any]], skipped: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "tool": f"ticdc-producer {version('ticdc-producer')}",
        "scenario": {"name": job.scenario.name, "sha256": job.scenario.sha256},
        "seed": job.scenario.seed,
        "changefeed": job.changefeed.as_manifest(),
        "counts": {"kinds": counts.by_kind(), "partitions": counts.by_partition()},
        "discarded": discarded,
        "skipped": skipped,
        "traps": {name: asdict(setting) for name, setting in job.traps.items()},
        "faults": [],
    }


def check_same_run(path: Path, job: Job) -> None:
    """Check that a complete folder was written by this job.

    :raises FolderError: if it belongs to another job or is damaged.
    """
    wanted = _manifest(job, Counts(), [], [])
    found = source.manifest(path)
    different = [key for key in ("tool", "scenario", "seed", "changefeed") if found.get(key) != wanted[key]]
    if different:
        what = f"the folder belongs to another run: its {different[0]} differs"
        raise FolderError(what, path=str(path), hint="name the folder of the run to resume")


def folder_messages(spark: SparkSession, path: Path) -> DataFrame:
    """The messages of a golden folder (shape ``MESSAGES``), whose files were checked by ``source.manifest``.

    A task has the messages of a partition in the order of their offsets, whatever that of the files is.
    """
    parquet = path.absolute() / sink.MESSAGE_FILES
    if parquet.exists():
        rows = spark.read.parquet(str(parquet))
    else:
        rows = messages_dataframe(spark, source.records(path / "messages.jsonl"))
    in_order = ("topic", "partition", "offset")
    return rows.repartitionByRange(*in_order).sortWithinPartitions(*in_order)


def folder_table(path: Path) -> pa.Table:
    """The messages of a small golden folder (shape ``MESSAGES``), likewise."""
    return pa.Table.from_batches(record_batches(source.message_lines(path / "messages.jsonl")), MESSAGES)
