"""A golden folder from a job, and back as a DataFrame of messages."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from ticdc_producer.errors import FolderError
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.table_form import table_form
from ticdc_producer.pipeline.select import kept_places
from ticdc_producer.runs.change_log import Upstream
from ticdc_producer.runs.counts import Counts, count, discarded
from ticdc_producer.runs.expected_positions import expected_events
from ticdc_producer.runs.generated_state import generated_state, images
from ticdc_producer.runs.local_rows import local_rows
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.rejected_rows import skipped_events
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.scenario.history import RowImage, State
from ticdc_producer.spark.background_jobs import aside
from ticdc_producer.targets.decoding.dataframes import frame as message_frame
from ticdc_producer.targets.encoding.arrow_batches import limited_by_rows
from ticdc_producer.targets.encoding.claims import claims
from ticdc_producer.targets.encoding.messages import NOTES, REFUSED, messages
from ticdc_producer.targets.golden import read as source
from ticdc_producer.targets.golden import write as sink


def write_folder(
    place: Path,
    job: Job,
    committed: Upstream,
    events: DataFrame,
    encoded: DataFrame,
    places: DataFrame,
    report: RunReport,
    faults: DataFrame | None = None,
) -> None:
    """Messages, expected events, claim-check objects, expected state and the manifest.

    :param events: the event stream of ``committed``; ``encoded`` its messages.
    :param places: where these carry its events.
    :param report: what was counted, discarded and skipped.
    :param faults: where faults happened, if there are any.
    """
    told = encoded.where(~F.col("type").isin(*NOTES))
    plan = job.encode_plan(skip_refused=True)
    with sink.golden_folder(place) as folder, aside(events.sparkSession) as begin:
        messages_written = begin(partial(sink.write_messages, folder, told, report.counts.total))
        sink.write_events(folder, expected_events(job, events, places), report.counts.total)
        messages_written()
        _write_schemas(folder, job)
        if plan.claim_storage:
            sink.write_claims(folder, claims(events, plan))
        tables = _write_states(folder, job, committed)
        if faults is not None:
            sink.write_faults(folder, faults)
        manifest = _manifest(job, report.counts, report.discarded, report.skipped)
        sink.write_manifest(folder, {**manifest, "faults": list(report.faults.counts), "tables": tables})


def _write_states(folder: Path, job: Job, committed: Upstream) -> dict[str, Any]:
    """The rows at the end and at the chosen time stamps.

    :return: the form of each file's table.
    """
    places: dict[Path, tuple[State, int | None]] = {folder / "state": (job.history.state, None)}
    for ts in job.state_at:
        places[folder / "state.at" / str(ts)] = (job.state_until(ts), job.commits_until(ts))
    forms = {}
    for place, (state, commits) in places.items():
        place.mkdir(parents=True, exist_ok=True)  # there may have been no table yet
        made = ((table, images(frame)) for table, frame in generated_state(committed, job, commits))
        for table, rows in chain(replicated_state(job, state), made):
            file = sink.write_state(place, table, rows)
            forms[file.relative_to(folder).as_posix()] = table_form(table)
    return forms


def write_only_messages(place: Path, job: Job, events: DataFrame) -> tuple[Counts, list[dict[str, Any]]]:
    """Messages, claim-check objects and the manifest; each event is encoded once.

    :return: what was written, and what was skipped.
    :raises EncodeError: for an event that TiCDC refuses, where the scenario says stop; no folder is left.
    """
    plan = job.encode_plan(skip_refused=True)
    encoded = messages(events, plan)
    seen = Observation()
    watched = encoded.observe(seen, F.count_if(F.col("type") == REFUSED).alias("refused"))
    with sink.golden_folder(place) as folder:
        with limited_by_rows(events.sparkSession, plan.catalog):
            sink.write_message_files(folder, watched.where(~F.col("type").isin(*NOTES)))
        skipped = skipped_events(job, encoded, seen.get["refused"])
        _write_schemas(folder, job)
        if plan.claim_storage:
            sink.write_claims(folder, claims(events, plan))
        counts = count(events.sparkSession.read.parquet(str(folder / sink.MESSAGE_FILES)))
        sink.write_manifest(folder, _manifest(job, counts, discarded(job), skipped))
    return counts, skipped


def _write_schemas(folder: Path, job: Job) -> None:
    if job.schemas:
        sink.write_schemas(folder, job.known_schemas)


def replicated_state(job: Job, state: State) -> list[tuple[TableInfo, tuple[RowImage, ...]]]:
    """``(table, rows)`` of the tables that TiCDC replicates as a whole, in the changefeed's time zone."""
    tables = job.history.catalog.tables
    return [
        shown_rows(
            job,
            tables[table.version],
            local_rows(tables[table.version], table.rows, job.changefeed.time_zone),
        )
        for _, table in sorted(state.items())
        if table.version in job.stream.whole
    ]


def shown_rows(
    job: Job, table: TableInfo, rows: tuple[RowImage, ...]
) -> tuple[TableInfo, tuple[RowImage, ...]]:
    """The table and its rows without the columns that no column selector asks for."""
    places = kept_places(table, job.stream.selection)
    if places is None:
        return table, rows
    return job.stream.selection.of(table), tuple(tuple(row[place] for place in places) for row in rows)


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


def check_same_run(place: Path, job: Job) -> None:
    """A complete folder must be of this job.

    :raises FolderError: if it is of another one, or damaged.
    """
    wanted = _manifest(job, Counts(), [], [])
    found = source.manifest(place)
    different = [key for key in ("tool", "scenario", "seed", "changefeed") if found.get(key) != wanted[key]]
    if different:
        what = f"the folder is of another run: its {different[0]} differs"
        raise FolderError(what, path=str(place), hint="name the folder of the run to resume")


def folder_messages(spark: SparkSession, place: Path) -> DataFrame:
    """The messages of a golden folder, whose files were checked by ``source.folder.manifest``."""
    parquet = place.absolute() / sink.MESSAGE_FILES
    if parquet.exists():
        return spark.read.parquet(str(parquet))
    return message_frame(spark, source.records(place / "messages.jsonl"))
