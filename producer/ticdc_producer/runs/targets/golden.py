"""A golden folder as the target of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from dataclasses import replace as replaced
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Part
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import FolderError
from ticdc_producer.installation import own_version
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.rows.origin import Origin, golden_folder
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport, report_of
from ticdc_producer.runs.targets.snapshot_files import write_snapshot
from ticdc_producer.runs.targets.state_files import write_states
from ticdc_producer.runs.targets.target import MessageTarget
from ticdc_producer.scenario.content_digest import content_sha256
from ticdc_producer.simulate.counts import Counts, discarded
from ticdc_producer.simulate.encode import encode_events, merged_counts
from ticdc_producer.simulate.fitted_faults import with_fitted_faults
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation, simulate
from ticdc_producer.simulate.state import snapshot_tables
from ticdc_producer.targets.encode import Rejection
from ticdc_producer.targets.golden import read as source
from ticdc_producer.targets.golden import write as sink
from ticdc_producer.targets.golden.folder import check_replaceable, is_free, new_folder
from ticdc_producer.targets.golden.parquet import message_groups, parquet_parts, read_group, write_part
from ticdc_producer.targets.record_batches import claim_objects, record_batches
from ticdc_producer.verifier.messages import Messages

_SHORTEST_LINE = 100
"""Bytes of a line of ``messages.jsonl``, at least."""
_BY_OFFSET = ("topic", "partition", "offset")


def write_folder(path: Path, simulation: Simulation, report: RunReport, *, replace: bool = False) -> None:
    """Write messages, expected events, claim-check objects, expected state and the manifest.

    :param path: the folder.
    :param simulation: with the encoded messages, and the events that they carry.
    :param report: counts, discarded and skipped events, and a summary of the faults.
    :param replace: remove the folder that has this path.
    """
    job, stream, total = simulation.job, simulation.encoded, report.counts.total
    with new_folder(path, replace=replace) as folder:
        sink.write_rows(folder, stream.messages.select(*MESSAGES.names), total, sink.MESSAGE_FORM)
        sink.write_rows(folder, stream.expected_events, total, sink.EVENT_FORM)
        _write_schemas(folder, job)
        if job.encode_plan(skip_rejected=True).claim_storage:
            sink.write_claims(folder, claim_objects(stream.messages.select("claims").batches()))
        with ExitStack() as stack:
            at_start = [*snapshot_tables(job, simulation.engine, simulation.log.sources, stack)]
            states = write_states(folder, simulation, at_start)
            if job.start_ts is not None:
                write_snapshot(folder, simulation, at_start)
        if job.faults is not None:
            sink.write_faults(folder, stream.faults)
        sink.write_changefeed(folder, job.changefeed)
        manifest = _manifest(job, report.counts, report.discarded, report.skipped)
        manifest["faults"] = list(report.faults.counts)
        if job.recorded_faults is not None:
            manifest["recorded-faults"] = True
        if report.faults.unmet.count:
            manifest["unmet_faults"] = report.faults.unmet.to_json()
        sink.write_manifest(folder, {**manifest, "tables": states.tables}, states.sums)


def write_only_messages(
    path: Path, simulation: Simulation, *, replace: bool = False
) -> tuple[Counts, list[Rejection]]:
    """Write messages, claim-check objects and the manifest; each event is encoded once.

    :param replace: remove the folder that has this path.
    :return: counts of the written messages, and the skipped events.
    :raises EncodeError: for an event that TiCDC's encoder rejects, with ``on-error: stop``; then no folder is
        left.
    """
    job = simulation.job
    with new_folder(path, replace=replace) as folder:
        files, claims = folder / sink.MESSAGE_FILES, folder / sink.CLAIMS
        files.mkdir()
        if job.encode_plan(skip_rejected=True).claim_storage:
            claims.mkdir()

        def write(part: Part, messages: Batches) -> None:
            written = _with_claims_written(messages, folder)
            write_part(part, (batch.select(MESSAGES.names) for batch in written), files, MESSAGES)

        summaries = encode_events(job, simulation.events, write)
        counts, skipped = merged_counts(job, summaries)
        _write_schemas(folder, job)
        sink.write_changefeed(folder, job.changefeed)
        sink.write_manifest(folder, _manifest(job, counts, discarded(job), skipped))
    return counts, skipped


def _with_claims_written(messages: Batches, folder: Path) -> Batches:
    for batch in messages:
        if batch.column("claims").null_count < batch.num_rows:
            sink.write_claims(folder, claim_objects([batch]))
        yield batch


def _write_schemas(folder: Path, job: Job) -> None:
    if job.schemas:
        sink.write_schemas(folder, job.known_schemas)


def _manifest(
    job: Job, counts: Counts, discarded: list[dict[str, Any]], skipped: list[Rejection]
) -> dict[str, Any]:
    return {
        "tool": f"ticdc-producer {own_version()}",
        "scenario": {"name": job.scenario.name, "sha256": content_sha256(job.scenario)},
        "seed": job.scenario.seed,
        **times_of(job),
        "changefeed": job.changefeed.as_manifest(),
        "counts": {"kinds": counts.by_kind(), "partitions": counts.by_partition()},
        "discarded": discarded,
        "skipped": skipped,
        "traps": {name: asdict(setting) for name, setting in job.traps.items()},
        "faults": [],
    }


def times_of(job: Job) -> dict[str, int]:
    """Return the start-ts and the target-ts of a job, if it has them."""
    times = {"start-ts": job.start_ts, "target-ts": job.target_ts}
    return {name: ts for name, ts in times.items() if ts is not None}


def check_same_run(path: Path, job: Job) -> None:
    """Check that a complete folder was written by this job.

    :raises FolderError: if it belongs to another job or is damaged.
    """
    expected = _manifest(job, Counts(), [], [])
    manifest = source.manifest(path)
    different = [
        key
        for key in ("tool", "scenario", "seed", "start-ts", "target-ts", "changefeed")
        if manifest.get(key) != expected.get(key)
    ]
    if different:
        what = f"the folder belongs to another run: its {different[0]} differs"
        raise FolderError(what, path=str(path), hint="name the folder of the run to resume")


def folder_messages(engine: Engine, path: Path) -> Dataset:
    """Return the messages of a golden folder (shape ``MESSAGES``), whose files were checked by
    ``source.manifest``.

    A part has the messages of a partition in the order of their offsets; the order of the files may differ.
    """
    files = path.absolute() / sink.MESSAGE_FILES
    if not files.exists():
        lines = record_batches(source.message_lines(path / "messages.jsonl"))
        rows = pa.Table.from_batches(lines, MESSAGES)
        return engine.of_batches(_sorted(rows).to_batches(), MESSAGES)
    groups = message_groups(files)
    if groups is not None:
        return engine.of_parts(len(groups), lambda part: read_group(*groups[part], MESSAGES), MESSAGES)
    rows_of_files = parquet_parts(engine, files, MESSAGES)
    return rows_of_files.shuffle(_BY_OFFSET[:2], Order(_BY_OFFSET))


@dataclass(frozen=True)
class FolderSize:
    """The size of the messages of a folder.

    :param count: number of messages, or of lines that could be messages.
    :param nbytes: bytes of the file if it has lines, else 0.
    """

    count: int
    nbytes: int = 0


def folder_size(path: Path) -> FolderSize:
    """Return the size of a golden folder's messages without reading them."""
    files = path.absolute() / sink.MESSAGE_FILES
    if files.exists():
        import pyarrow.dataset as ds

        return FolderSize(ds.dataset(files, format="parquet").count_rows())
    lines = path / "messages.jsonl"
    size = lines.stat().st_size if lines.exists() else 0
    return FolderSize(min(size // _SHORTEST_LINE, sink.MAX_JSON_LINES), size)


def _sorted(rows: pa.Table) -> pa.Table:
    in_order = rows.sort_by([(name, "ascending") for name in _BY_OFFSET])
    return rows if in_order.select(_BY_OFFSET[2:]).equals(rows.select(_BY_OFFSET[2:])) else in_order


def write_small_folder(path: Path, job: Job) -> None:
    """Write the messages, expected events and states of a job, as a run writes them.

    :raises FolderError: if the folder exists, or cannot be created.
    :raises EncodeError: for a row that TiCDC's encoder rejects, with ``on-error: stop``.
    """
    with simulate(with_fitted_faults(job), LocalEngine()) as simulation:
        stream = simulation.encoded
        report = report_of(simulation, stream.counts, stream.rejected_events(), ())
        write_folder(path, simulation, replaced(report, faults=simulation.faults_of(stream)))


class GoldenTarget(MessageTarget):
    """A golden folder.

    :param folder: its path; it gets this name when it is complete.
    """

    holds_expected_events = True

    def __init__(self, job: Job, options: RunOptions, folder: Path) -> None:
        super().__init__(job, options)
        self.folder = folder

    @property
    def name(self) -> str:
        return str(self.folder)

    def check(self) -> None:
        """Check that the folder does not exist or is empty, or that this run may replace or resume it.

        :raises FolderError: if not.
        """
        if is_free(self.folder):
            return
        if self.options.replace:
            check_replaceable(self.folder)
        elif self.options.resume:
            check_same_run(self.folder, self.job)
        else:
            hint = "name a new one, or use `replace`"
            raise FolderError("the folder already exists", path=self.name, hint=hint).about("replace")

    @property
    def is_complete(self) -> bool:
        return self.options.resume and not is_free(self.folder)

    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        self.options.on_status(f"writing {report.counts.total:,} messages to {self.folder}")
        write_folder(self.folder, simulation, report, replace=self.options.replace)
        return report

    def write_in_one_pass(self, simulation: Simulation, /) -> tuple[Counts, list[Rejection]]:
        self.options.on_status(f"writing {self.folder}")
        return write_only_messages(self.folder, simulation, replace=self.options.replace)

    def origin(self) -> Callable[[], Origin]:
        return partial(golden_folder, self.folder.absolute())

    def read(self, simulation: Simulation) -> Messages:
        source.manifest(self.folder)  # checks all files
        return Messages(folder_messages(simulation.engine, self.folder))

    @property
    def claims(self) -> str:
        return source.claims(self.folder)

    @property
    def schemas(self) -> Mapping[int, str]:
        return source.schemas(self.folder)
