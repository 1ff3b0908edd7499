"""What a golden folder expects of its own messages: events, rows, and illegal faults that it lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ticdc_producer.config import Changefeed
from ticdc_producer.dispatch.rules import Router
from ticdc_producer.errors import FolderError
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.faults.message_traps import IllegalMessageTrap
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Fidelity, has_commit_ts
from ticdc_producer.model.shapes import STATE, StateBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.oracle.comparable_tables import (
    COLUMNS_SELECTED,
    FILTERED,
    NO_DDL,
    NO_KEY,
    UNORDERED,
    ObservedTables,
    VisibleDDL,
    uncomparable_unordered,
)
from ticdc_producer.pipeline.event_filter import filtered_tables
from ticdc_producer.protocols import registry
from ticdc_producer.targets.golden.expectations import (
    EVENT_FILES,
    EVENTS,
    FAULTS,
    FaultLine,
    fault_lines,
    row_batches,
)
from ticdc_producer.verifier.consumer_state.plan import ExpectedTable, expected_tables
from ticdc_producer.verifier.table_state import MAX_EXAMPLES

_DDL_UNKNOWN = "the stream carries no DDLs, and one of these could have changed it"
_REJECTED = "some of its rows were rejected"


SNAPSHOT = "snapshot"
"""The folder of the tables and rows at the start-ts."""
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
    :param rejected_tables: ``schema.table`` of tables with rejected rows.
    :param discarded: the DDLs that TiCDC does not send.
    :param snapshot: ``snapshot/events.jsonl`` or ``.parquet``; None without a start-ts.
    """

    changefeed: Changefeed
    fidelity: Fidelity
    events: Path | None
    states: Mapping[int | None, Sequence[ExpectedTable]]
    faults: InjectedFaults
    rejected_tables: frozenset[str] = frozenset()
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
        reasons |= dict.fromkeys(unordered, UNORDERED) | dict.fromkeys(self.rejected_tables, _REJECTED)
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
        return COLUMNS_SELECTED if altered and self.changefeed.column_selectors else ""

    def state_rows(self, tables: Sequence[ExpectedTable]) -> Iterator[StateBatch]:
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
) -> StateBatch:
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
    batch: StateBatch = pa.RecordBatch.from_arrays([*names, images], schema=STATE)
    return batch


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
        rejected_tables=frozenset(rejected_tables(manifest)),
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


def rejected_tables(manifest: Mapping[str, object]) -> list[str]:
    """Return the tables with rows that the run has left out, as ``SCHEMA.TABLE``.

    :raises FolderError: if the manifest is invalid.
    """
    return [str(entry["table"]) for entry in _objects(manifest, "skipped") if "table" in entry]


def uncounted_faults(manifest: Mapping[str, object]) -> list[str]:
    """Return the traps whose illegal faults a folder may have, although it neither counts nor lists them.

    Such a folder has messages alone.
    """
    counted = {str(entry.get("trap")) for entry in _objects(manifest, "faults")}
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


def injected_faults(manifest: Mapping[str, object]) -> Counter[str]:
    """Return how often each trap was injected.

    :raises FolderError: if the manifest is invalid.
    """
    counted: Counter[str] = Counter()
    for fault in _objects(manifest, "faults"):
        if isinstance(fault.get("places"), int) and fault["places"] > 0:
            counted[str(fault.get("trap"))] += fault["places"]
    return counted


def _objects(manifest: Mapping[str, object], key: str) -> Iterator[Mapping[str, Any]]:
    """Return the objects of a list in the manifest.

    :raises FolderError: if it is not a list of objects.
    """
    objects = manifest.get(key) or []
    if not isinstance(objects, list) or not all(isinstance(entry, dict) for entry in objects):
        raise FolderError(f"its {key} are not a list of objects", path="manifest.json")
    return iter(objects)
