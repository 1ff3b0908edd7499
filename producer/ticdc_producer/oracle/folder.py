"""The events and rows that a golden folder expects of its own messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.rules import Router
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import FolderError
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.faults.message_traps import IllegalMessageTrap
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Fidelity, has_commit_ts
from ticdc_producer.model.shapes import EXPECTED_EVENTS, STATE
from ticdc_producer.model.table import TableInfo
from ticdc_producer.oracle import Oracle
from ticdc_producer.oracle.comparable_tables import (
    FILTERED,
    LATER_COMMITS,
    NO_DDL,
    NO_KEY,
    UNORDERED,
    UNSELECTED,
    ObservedTables,
    VisibleDDL,
    uncomparable_tables,
    uncomparable_unordered,
)
from ticdc_producer.pipeline.event_filter import filtered_tables
from ticdc_producer.protocols import registry
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.targets.golden.expectations import (
    EVENT_FILES,
    EVENTS,
    FAULTS,
    FaultLine,
    event_batches,
    fault_lines,
    row_batches,
)
from ticdc_producer.targets.golden.parquet import parquet_parts
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.consumer_state.plan import ExpectedTable, expected_tables
from ticdc_producer.verifier.match import ExpectedState, ExpectedStream
from ticdc_producer.verifier.snapshot import Snapshot, SnapshotTable
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.table_state import MAX_EXAMPLES, Tables

_DDL_UNKNOWN = "the stream carries no DDLs, and one of these could have changed it"
_REJECTED = "some of its rows were rejected"
SNAPSHOT = "snapshot"
"""The folder of the tables and rows at the start-ts."""
_MOST_TABLES = 100_000
_TIME = re.compile("[0-9]{1,18}")


@dataclass(frozen=True, kw_only=True)
class InjectedFaults:
    """The illegal faults of a folder after which its events are not those of a correct stream.

    :param count: number of them.
    :param lines: the first ones.
    """

    count: int = 0
    lines: tuple[FaultLine, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FolderContent:
    """The expectations of a folder that this tool wrote; what a folder does not have is None or empty.

    :param events: ``events.jsonl`` or ``events.parquet``.
    :param states: the tables by time stamp (TSO); None: at the end.
    :param skipped: ``schema.table`` of tables with rejected rows.
    :param discarded: the DDLs that TiCDC does not send.
    :param snapshot: ``snapshot/events.jsonl`` or ``.parquet``; None without a start-ts.
    """

    changefeed: Changefeed
    fidelity: Fidelity
    events: Path | None
    states: Mapping[int | None, Sequence[ExpectedTable]]
    faults: InjectedFaults
    skipped: frozenset[str] = frozenset()
    discarded: tuple[VisibleDDL, ...] = ()
    snapshot: Path | None = None

    @property
    def size(self) -> int:
        """Size of the files in bytes."""
        files = [table.file for tables in self.states.values() for table in tables]
        files += [file for file in (self.events, self.snapshot) if file is not None]
        return sum(file.stat().st_size for file in files)

    def uncomparable_tables(self, observed: ObservedTables) -> dict[str, str]:
        """Return ``schema.table`` of the tables whose rows cannot be derived from the stream, and the reason.

        Without the history of the scenario this leaves out more tables than ``comparable_tables``: all of
        them if the stream carries no DDLs, since one of these could have changed any table.

        :param observed: of the expected events.
        """
        tables = [table for tables in self.states.values() for table in tables]
        if not self.changefeed.output_ddl or self.fidelity.ddl_skip_reason(Action.CREATE_TABLE):
            return dict.fromkeys((table.qualified_name for table in tables), _DDL_UNKNOWN)
        named = [TableInfo(schema=table.schema, name=table.name, table_id=0, columns=()) for table in tables]
        unordered = uncomparable_unordered(named, self.changefeed, Router(self.changefeed), self.fidelity)
        reasons = {
            table.qualified_name: reason for table in tables if (reason := self._reason(table, observed))
        }
        reasons |= dict.fromkeys(unordered, UNORDERED) | dict.fromkeys(self.skipped, _REJECTED)
        filtered = filtered_tables(named, self.changefeed)
        return reasons | dict.fromkeys((table.qualified_name for table in filtered), FILTERED)

    def visible_name(self, table: ExpectedTable) -> tuple[str, str]:
        """Return schema and table as the messages name them."""
        return self.fidelity.visible_name(table.schema), self.fidelity.visible_name(table.name)

    def _reason(self, table: ExpectedTable, observed: ObservedTables) -> str:
        """Return why a table cannot be compared; empty if it can."""
        name = self.visible_name(table)
        if "" in observed.handle_keys.get(name, set()):
            return NO_KEY
        if any(ddl.names(table.schema, table.name) or ddl.names(*name) for ddl in self.discarded):
            return NO_DDL
        altered = any(ddl.names(*name) for ddl in observed.ddls if ddl.may_change_rows)
        return UNSELECTED if altered and self.changefeed.column_selectors else ""

    def state_rows(self, tables: Sequence[ExpectedTable]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of tables as a reader of the messages decodes them (shape ``shapes.STATE``).

        :raises FolderError: for a line that is not a row of its table.
        """
        visible = self.fidelity.visible_name
        for table in tables:
            names = dict(zip(("schema", "table"), self.visible_name(table), strict=True))
            yield pa.RecordBatch.from_pylist([{**names, "row": None}], STATE)
            columns = {column.name: self.fidelity.full_projection(column) for column in table.columns}
            members = [visible(name) for name in columns]
            for rows in row_batches(table.file, columns):
                yield _state_batch(names, members, rows)


def _state_batch(
    table: Mapping[str, str], columns: Sequence[str], rows: Sequence[Sequence[Value]]
) -> pa.RecordBatch:
    """Return rows of a table (shape ``STATE``).

    :param table: its ``schema`` and its name, as ``table``.
    """
    count, width = len(rows), len(columns)
    images = pa.MapArray.from_arrays(
        pa.array(range(0, (count + 1) * width, width) if width else [0] * (count + 1), pa.int32()),
        pa.array([*columns] * count, pa.string()),
        pa.array([value for row in rows for value in row], pa.binary()),
    )
    names = [pa.repeat(pa.scalar(table[name], pa.string()), count) for name in ("schema", "table")]
    return pa.RecordBatch.from_arrays([*names, images], schema=STATE)


def folder_content(
    folder: Path, manifest: Mapping[str, object], changefeed: Changefeed
) -> FolderContent | None:
    """Return the expectations of a folder for its own messages; None if it has no such files.

    :param manifest: of the folder, whose files were checked.
    :raises FolderError: for expectations that cannot be read.
    """
    fidelity = registry.fidelity(changefeed.protocol, changefeed.codec_options())
    content = FolderContent(
        changefeed=changefeed,
        fidelity=fidelity,
        events=_existing(folder),
        snapshot=_existing(folder / SNAPSHOT),
        states=_states(folder, manifest, fidelity),
        faults=_faults(folder, manifest),
        skipped=frozenset(str(entry["table"]) for entry in _objects(manifest, "skipped") if "table" in entry),
        discarded=tuple(
            VisibleDDL(str(entry.get("schema")), str(entry.get("table")), str(entry.get("query")), 0)
            for entry in _objects(manifest, "discarded")
            if entry.get("kind") == "ddl"
        ),
    )
    return content if content.events or content.states or content.faults.count else None


def _existing(folder: Path) -> Path | None:
    """Return the events of a folder; None if it has none."""
    return next((folder / name for name in (EVENTS, EVENT_FILES) if (folder / name).exists()), None)


def _states(
    folder: Path, manifest: Mapping[str, Any], fidelity: Fidelity
) -> dict[int | None, list[ExpectedTable]]:
    if manifest.get("tables") is None:
        return {}
    moments: list[int | None] = [None] if (folder / "state").is_dir() else []
    if has_commit_ts(fidelity.commit_ts):  # without it, later rows look the same
        names = sorted(path.name for path in (folder / "state.at").glob("*"))
        moments += [int(name) for name in names if _TIME.fullmatch(name)]
    by_time = {}
    for ts in moments:
        tables = [table for table in expected_tables(folder, manifest, ts) if table.key]
        listed = manifest["files"]
        for table in tables:
            if table.file.relative_to(folder).as_posix() not in listed:
                raise FolderError("the manifest lists this table without its file", path=str(table.file))
        by_time[ts] = tables
    return by_time


def _faults(folder: Path, manifest: Mapping[str, object]) -> InjectedFaults:
    """Return the faults of ``faults.jsonl``; the manifest counts them as well."""
    counted = sum(
        entry["places"]
        for entry in _objects(manifest, "faults")
        if isinstance(entry.get("places"), int) and changes_events(str(entry.get("trap")), entry)
    )
    path = folder / FAULTS
    if not path.exists():
        return InjectedFaults(count=max(counted, 0))
    lines: list[FaultLine] = []
    count = 0
    for line in fault_lines(path):
        if changes_events(line.trap, {}):
            count += 1
            if len(lines) < MAX_EXAMPLES:
                lines.append(line)
    return InjectedFaults(count=max(count, counted), lines=tuple(lines))


def uncounted_faults(manifest: Mapping[str, object]) -> list[str]:
    """Return the traps whose illegal faults a folder may have, although it neither counts nor lists them.

    Such a folder has messages alone.
    """
    counted = {entry.get("trap") for entry in _objects(manifest, "faults")}
    traps = manifest.get("traps")
    requested = map(str, traps) if isinstance(traps, Mapping) else ()
    known = catalogue()
    return [name for name in requested if name not in counted and name in known and not known[name].legal]


def changes_events(name: str, counted: Mapping[str, object]) -> bool:
    """Return whether a trap is an illegal fault after which the events differ from those of a correct stream.

    :param name: the id; one that the catalogue does not have is a later version's.
    :param counted: the manifest's entry of the trap.
    """
    known = catalogue().get(name)
    legal = bool(counted.get("legal", True)) if known is None else known.legal
    return not legal and not (isinstance(known, IllegalMessageTrap) and known.keeps_events)


def _objects(manifest: Mapping[str, object], key: str) -> Iterator[Mapping[str, Any]]:
    """Return the objects of a list in the manifest.

    :raises FolderError: if it is no list of objects.
    """
    objects = manifest.get(key) or []
    if not isinstance(objects, list) or not all(isinstance(entry, dict) for entry in objects):
        raise FolderError(f"its {key} are not a list of objects", path="manifest.json")
    return iter(objects)


@dataclass(frozen=True)
class FolderOracle(Oracle):
    """The expectations of a golden folder for its own messages."""

    folder: FolderContent
    engine: Engine
    job: None = None
    skipped: frozenset[str] = frozenset()

    def events(self) -> ExpectedStream | None:
        path = self.folder.events
        return None if path is None else ExpectedStream(self._events(path).reused())

    def snapshot(self) -> Snapshot | None:
        path = self.folder.snapshot
        if path is None:
            return None
        events = self._events(path)
        creates = events.map(partial(_of_kind, "ddl"), EXPECTED_EVENTS).small(_MOST_TABLES).to_pylist()
        return Snapshot(
            tables=tuple(
                SnapshotTable(
                    topic=ddl["topic"],
                    schema=ddl["schema"],
                    table=ddl["table"],
                    ts=ddl["commit_ts"],
                    create=ddl["query"],
                )
                for ddl in creates
            ),
            rows=events.map(partial(_of_kind, "row"), EXPECTED_EVENTS).reused(),
        )

    def _events(self, path: Path | None) -> Dataset:
        """Return events (shape ``EXPECTED_EVENTS``), read by one part from JSON, or by many from Parquet."""
        if path is None:
            return self.engine.of_batches([], EXPECTED_EVENTS)
        if path.name == EVENTS:
            return self.engine.of_parts(1, lambda _part: event_batches(path), EXPECTED_EVENTS)
        return parquet_parts(self.engine, path, EXPECTED_EVENTS)

    def states(self, stats: StreamStats) -> list[ExpectedState]:
        if not self.folder.states:
            return []
        reasons = self.folder.uncomparable_tables(self._observed_tables())
        states = []
        for ts, tables in self.folder.states.items():
            names = {table.qualified_name for table in tables}
            uncomparable = {
                name: reason
                for name, reason in uncomparable_tables(reasons, stats, ts).items()
                if name in names
            }
            if ts is not None and self.folder.fidelity.commit_ts == "seconds":
                uncomparable |= dict.fromkeys(names, LATER_COMMITS.format("seconds"))
            compared = [table for table in tables if table.qualified_name not in uncomparable]
            visible = {self.folder.visible_name(table) for table in compared}
            rows = partial(self._rows_of, compared)
            states.append(ExpectedState(rows, visible, uncomparable, ts))
        return states

    def rows(self, name: str, ts: int | None) -> Dataset | None:
        """Return the rows of a table (shape ``STATE``).

        :param name: ``SCHEMA.TABLE``.
        :param ts: the time (TSO); None: the end.
        :return: None if the folder has no such rows, or if they do not follow from its messages.
        """
        tables = [table for table in self.folder.states.get(ts, ()) if table.qualified_name == name]
        if not tables or name in self.folder.uncomparable_tables(self._observed_tables()):
            return None
        return self._rows_of(tables, {self.folder.visible_name(table) for table in tables})

    def complete(self, comparison: Comparison | None) -> Comparison | None:
        return with_injected(comparison, self.folder.faults)

    def _observed_tables(self) -> ObservedTables:
        total = ObservedTables()
        total.merge(self._events(self.folder.events).results(_observed))
        return total

    def _rows_of(self, tables: Sequence[ExpectedTable], names: Tables) -> Dataset:
        """Return the rows of tables (shape ``STATE``); each table is read by its own part."""
        folder = self.folder
        own = [table for table in tables if folder.visible_name(table) in names]
        return self.engine.of_parts(len(own), lambda part: folder.state_rows([own[part]]), STATE)


def rows_of_table(folder: Path, name: str, ts: int | None) -> Dataset | None:
    """Return the rows of a table that a folder expects, as a reader decodes them (shape ``STATE``).

    :param name: ``SCHEMA.TABLE``.
    :param ts: the time (TSO); None: the end.
    :return: None if the folder has no such rows, or if they do not follow from its messages.
    """
    manifest = golden.manifest(folder)
    content = folder_content(folder, manifest, golden.changefeed(folder, manifest))
    if content is None or content.faults.count:
        return None
    return FolderOracle(content, LocalEngine()).rows(name, ts)


def _of_kind(kind: str, batches: Batches) -> Batches:
    return (batch.filter(pc.equal(batch.column("kind"), kind)) for batch in batches)


def _observed(_part: Part, batches: Batches) -> ObservedTables:
    tables = ObservedTables()
    for batch in batches:
        tables.add(batch)
    return tables


def with_injected(comparison: Comparison | None, faults: InjectedFaults) -> Comparison | None:
    """Return the comparison with the illegal faults that the folder lists, as differences."""
    if not faults.count:
        return comparison
    nothing = Comparison(expected=0, missing=0, unexpected=0, duplicates=0, out_of_order=0)
    delivered = comparison or nothing
    return replace(delivered, injected=faults.count, diff=(*delivered.diff, *map(_fault_text, faults.lines)))


def _fault_text(fault: FaultLine) -> str:
    known = catalogue().get(fault.trap)
    where = f"{fault.topic}/{fault.partition}" + ("" if fault.offset is None else f"@{fault.offset}")
    return f"! {where} {fault.trap} at ts {fault.commit_ts}" + ("" if known is None else f": {known.summary}")
