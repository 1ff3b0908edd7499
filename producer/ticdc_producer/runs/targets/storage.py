"""The files of a storage sink: the target of a run, and the verification of its folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from typing import TypeAlias

import pyarrow.compute as pc

from ticdc_producer.config import Changefeed
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import EngineStart, Estimate
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part
from ticdc_producer.model.event import Kind
from ticdc_producer.model.shapes import DECODED, DECODED_WIRE
from ticdc_producer.oracle import Oracle
from ticdc_producer.oracle.scenario import expected_messages, rows_of_table
from ticdc_producer.protocols.registry import file_format
from ticdc_producer.protocols.storage_files import SchemaFile
from ticdc_producer.rows.origin import Origin, known_tables, selected_names, storage_folder
from ticdc_producer.runs.run_options import OnStatus
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.targets.target import Target
from ticdc_producer.runs.verification import (
    EVENTS_ALONE,
    OnVerdict,
    VerifiedStream,
    ignore_verdict,
    wire_decoder,
)
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.encode import encoded
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation, estimate_of
from ticdc_producer.targets.decode import event_decoder
from ticdc_producer.targets.message_rows import KindCount
from ticdc_producer.targets.storage.plan import Layout, StoragePlan, in_directories, plan_storage
from ticdc_producer.targets.storage.read import Listing, Names, listing_of, reading_options, storage_rows
from ticdc_producer.targets.storage.schemas import schema_problems
from ticdc_producer.targets.storage.write import (
    FileRules,
    check_empty,
    file_headers,
    write_data,
    write_metadata,
    write_schema_files,
)
from ticdc_producer.verifier.comparison import OUT_OF_ORDER, Comparison
from ticdc_producer.verifier.finding import Example, Finding
from ticdc_producer.verifier.match import ExpectedStream
from ticdc_producer.verifier.message_comparison import compare_events
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.verdict import Verdict
from ticdc_producer.verifier.wire import WireDecoder

LAYOUT, SCHEMA, DECODE = "STORAGE-LAYOUT", "STORAGE-SCHEMA", "STORAGE-DECODE"
_MAX_EXAMPLES = 3
_STATEMENTS = {
    LAYOUT: "Directories, schema files, index files and metadata of the storage belong together.",
    SCHEMA: "The schema files have the text, the type and the columns of each DDL of the scenario.",
    DECODE: "Every data file consists of rows of its protocol, as its schema file describes them.",
}
_HINTS = {
    LAYOUT: "a file was lost, changed or is still to come",
    SCHEMA: "a DDL was lost or changed, or the folder is of another scenario",
    DECODE: "the file was cut short, or written with other options than those of the sink URI",
}


def storage_verdict(
    engine: Engine,
    changefeed: Changefeed,
    listing: Listing,
    expected: ExpectedStream | None = None,
    names: Names | None = None,
    *,
    schemas: Mapping[str, SchemaFile] | None = None,
    scenario: str = "",
    on_verdict: OnVerdict = ignore_verdict,
) -> Verdict:
    """Verify a storage folder.

    :param engine: that of all datasets.
    :param listing: its files.
    :param expected: the events that must be in it, with their directory as ``topic``.
    :param names: the columns of the rows per directory; None: all columns of the schema files.
    :param schemas: the schema files that must be in it, by path; None: they are not compared.
    """
    options, protocol = changefeed.codec_options(), changefeed.protocol
    rows = storage_rows(engine, listing, protocol, options)
    options_of_rows = reading_options(listing, options, names)
    decode = event_decoder(protocol, options_of_rows)
    wire = wire_decoder(changefeed, options_of_rows, expected)
    decoded = rows.map(decode, DECODED) if wire is None else rows.map(wire.decode_bytes, DECODED_WIRE)
    with decoded.cached() as stream:
        kinds: Counter[str] = Counter()
        damaged: list[_Damage] = []
        for of_part, errors in stream.results(_kinds):
            kinds += of_part
            damaged += errors
        findings = _findings(listing, schemas, sorted(damaged)[:_MAX_EXAMPLES], kinds.pop("error", 0))
        verdict = Verdict(
            findings=tuple(findings),
            checked=(LAYOUT, DECODE) if schemas is None else (LAYOUT, SCHEMA, DECODE),
            kinds={"row": kinds.get("row", 0), "ddl": len(listing.tables)},
            comparison=None
            if expected is None
            else _comparison(engine, listing, expected, stream, Messages(rows), wire),
        )
        events = stream.select(*DECODED.names)
        on_verdict(
            VerifiedStream(changefeed, scenario, events, verdict, decode, Messages(rows), options_of_rows)
        )
        return verdict


_ORDER = {"order of rows": "several dispatchers wrote files into one directory"}


def _comparison(
    engine: Engine,
    listing: Listing,
    expected: ExpectedStream,
    decoded: Dataset,
    rows: Messages,
    wire: WireDecoder | None,
) -> Comparison:
    comparison = compare_events(engine, expected, decoded, rows, wire)
    if listing.shares_directories:
        diff = tuple(line for line in comparison.diff if not line.startswith(OUT_OF_ORDER))
        unknown = {**comparison.not_compared, **_ORDER}
        comparison = replace(comparison, out_of_order=0, diff=diff, not_compared=unknown)
    if wire is None:
        comparison = replace(comparison, not_compared={**comparison.not_compared, **EVENTS_ALONE})
    return comparison


_Damage: TypeAlias = tuple[str, int, str]
"""Directory, offset and text of a row that does not decode."""
_BY_OFFSET = [("topic", "ascending"), ("offset", "ascending")]


def _kinds(_part: Part, batches: Batches) -> tuple[Counter[str], list[_Damage]]:
    """Return the number of events by kind, and the first rows that do not decode."""
    kinds: Counter[str] = Counter()
    damaged: list[_Damage] = []
    for batch in batches:
        kinds.update(batch.column("kind").to_pylist())
        errors = batch.filter(pc.equal(batch.column("kind"), "error"))
        # A batch has the files of several directories in any order; the examples are those of the first.
        first = errors.sort_by(_BY_OFFSET).slice(0, _MAX_EXAMPLES)
        damaged += [
            (row["topic"], row["offset"], f"{row['topic']}: {row['error']}: {row['error_expected']}")
            for row in first.to_pylist()
        ]
    return kinds, sorted(damaged)[:_MAX_EXAMPLES]


def _findings(
    listing: Listing, schemas: Mapping[str, SchemaFile] | None, damaged: Sequence[_Damage], count: int
) -> Iterator[Finding]:
    unreadable = {problem.path for problem in listing.problems}
    readable = {path: file for path, file in (schemas or {}).items() if path not in unreadable}
    of_schemas = () if schemas is None else tuple(schema_problems(listing.schemas, readable))
    for name, problems in ((LAYOUT, listing.problems), (SCHEMA, of_schemas)):
        if problems:
            first = (Example((), f"{problem.path}: {problem.what}") for problem in problems[:_MAX_EXAMPLES])
            yield replace(_finding(name, len(problems)), examples=tuple(first))
    if damaged:
        examples = [Example((), text) for *_, text in damaged]
        yield replace(_finding(DECODE, count), examples=tuple(examples))


def _finding(name: str, count: int) -> Finding:
    return Finding(id=name, severity="error", count=count, statement=_STATEMENTS[name], hint=_HINTS[name])


class StorageTarget(Target):
    """The folder of a storage sink."""

    @property
    def name(self) -> str:
        return self.job.changefeed.sink_uri.path

    def check(self) -> None:
        """Check the layout, and that the folder is empty.

        :raises ChangefeedError: for a layout that TiCDC could not write.
        :raises FolderError: if the folder is not empty.
        """
        _ = self._layout
        if not self.options.dry_run:
            check_empty(self.name)

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.job.changefeed.warnings, *self.job.history.warnings)  # there are no topics

    @cached_property
    def _layout(self) -> StoragePlan:
        return layout_of(self.job)

    def events(self, simulation: Simulation, stack: ExitStack) -> Dataset:
        job = self.job
        rows = simulation.log.rows(simulation.engine, job.stream, stack)
        return in_directories(rows, self._layout, job.history.catalog, job.changefeed)

    def check_encoded(self, simulation: Simulation, /) -> None:
        """Check that the layout has a directory for all rows.

        :raises ChangefeedError: where TiCDC would panic.
        """
        self._files(simulation)

    def _files(self, simulation: Simulation) -> dict[str, SchemaFile]:
        return self._layout.used({topic for topic, *_ in simulation.encoded.counts.messages})

    def write(self, simulation: Simulation, report: RunReport, /) -> RunReport:
        """Write schema files first and ``metadata`` last: a concurrent reader finds no undescribed rows."""
        self.options.on_status(f"writing {self.name}")
        headers = file_headers(self.job.encode_plan(skip_rejected=True), self._layout.folders)
        write_schema_files(self.name, self._files(simulation))
        rules = file_rules(self.job.changefeed)
        messages, layout = simulation.encoded.messages, self._layout.layout
        written = write_data(messages, headers, self.name, rules, layout)
        write_metadata(self.name, checkpoint_ts(self.job))
        counts = Counts()
        for directory in written:
            of_files = directory.counts
            count = KindCount(of_files.rows, of_files.rows, of_files.size)
            counts.set(directory.name, 0, Kind.ROW.label, count)
        return replace(report, counts=counts)

    def origin(self) -> Callable[[], Origin]:
        expected = partial(rows_of_table, self.job)
        return partial(storage_folder, self.job.changefeed, known_tables(self.job.catalog), expected)

    def verified(self, simulation: Simulation, oracle: Oracle, report: RunReport) -> RunReport:
        self.options.on_status("reading the files again and verifying them")
        verdict = storage_verdict(
            simulation.engine,
            self.job.changefeed,
            listing_of(self.job.changefeed),
            oracle.events(),
            row_columns(self.job, self._layout),
            schemas=self._files(simulation),
            scenario=self.job.scenario.name,
            on_verdict=self.options.on_verdict,
        )
        return replace(report, verdict=verdict)


def layout_of(job: Job) -> StoragePlan:
    """Return the directories of a job's rows, and its schema files.

    :raises ChangefeedError: for a table name that cannot be the name of a directory.
    """
    return plan_storage(
        job.history.catalog,
        [table.version for table in job.stream.replicated],
        job.stream.resolved.clock,
        Layout.of(job.changefeed),
        column_ids=job.changefeed.output_column_id,
        first_version=_version_at_start(job),
    )


def _version_at_start(job: Job) -> int | None:
    """Return the version of tables that exist when the changefeed starts; None without a start-ts.

    Classic TiCDC reads their definitions one TSO before its start-ts. Source: tiflow
    ``cdc/processor/processor.go`` (``initDDLHandler``); ticdc
    ``downstreamadapter/eventcollector/dispatcher_stat.go``.
    """
    if job.start_ts is None:
        return None
    return job.start_ts - 1 if job.changefeed.profile == "classic" else job.start_ts


def row_columns(job: Job, plan: StoragePlan) -> Names:
    """Return the columns of the rows in each version directory; schema files have those left out, too."""
    tables = job.stream.selection.apply(job.history.catalog).tables
    return {
        folder: {column.name for column in tables[version].sent_columns}
        for version, folders in plan.folders.items()
        for folder in folders
    }


def checkpoint_ts(job: Job) -> int:
    """Return the last resolved-ts of a job; every change up to it is written."""
    clock = job.stream.resolved.clock
    return max([clock.ts(job.history.commits - 1), *(ts for ts, _ in job.stream.resolved.explicit)])


def file_rules(changefeed: Changefeed) -> FileRules:
    """Return the rules by which the files of a changefeed are named, and by which a file ends."""
    return FileRules(
        extension=file_format(changefeed.protocol).extension,
        width=changefeed.file_index_digit,
        size=changefeed.file_size,
        flush_ms=changefeed.flush_interval,
        with_dispatcher=changefeed.enable_table_across_nodes and changefeed.profile == "new",
    )


def verify_storage(
    changefeed: Changefeed,
    job: Job | None,
    *,
    engine: EngineOption,
    on_status: OnStatus,
    on_verdict: OnVerdict,
) -> Verdict:
    """Verify a storage folder; with a job also that the scenario's rows are in their directories.

    :raises ProducerError: for a folder that cannot be read; violations in it are part of the verdict.
    """
    listing = listing_of(changefeed)
    estimate = Estimate(events=0, nbytes=listing.nbytes) if job is None else estimate_of(job)
    start = EngineStart.of(engine, estimate, on_status)
    verdict = _verdict(start(), changefeed, listing, job, on_status, on_verdict)
    return replace(verdict, engine=start.choice)


def _verdict(
    engine: Engine,
    changefeed: Changefeed,
    listing: Listing,
    job: Job | None,
    on_status: OnStatus,
    on_verdict: OnVerdict,
) -> Verdict:
    on_status(f"verifying {len(listing.data):,} data files of {changefeed.sink_uri.path}")
    if job is None:
        names = selected_names(changefeed, listing)
        return storage_verdict(engine, changefeed, listing, names=names, on_verdict=on_verdict)
    plan, simulation = layout_of(job), Simulation.of(job, engine)
    with ExitStack() as stack:
        rows = simulation.log.rows(engine, job.stream, stack)
        events = in_directories(rows, plan, job.history.catalog, changefeed)
        stream = stack.enter_context(encoded(job, events, expected_events=True, faults=False, digests=True))
        expected = ExpectedStream(stream.compared_events, wire=expected_messages(job, events))
        return storage_verdict(
            engine,
            changefeed,
            listing,
            expected,
            row_columns(job, plan),
            schemas=plan.schemas({plan.layout.version_folder(name) for name, *_ in stream.counts.messages}),
            scenario=job.scenario.name,
            on_verdict=on_verdict,
        )
