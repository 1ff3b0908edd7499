"""Topics for consumers under test: golden folders, written once per machine, and their table state.

Other folders that are written once per machine are in the same cache.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import TypedDict

from ticdc_producer.errors import FolderError
from ticdc_producer.model.event import Value
from ticdc_producer.model.event_line import from_json, to_json
from ticdc_producer.model.table import TableInfo
from ticdc_producer.oracle.comparable_tables import tables_of_ddl_text, uncomparable_in_scenario
from ticdc_producer.oracle.folder_content import SNAPSHOT
from ticdc_producer.resources import cache_folder
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import OnStatus, RunOptions, ignore_status
from ticdc_producer.scenario.history import RowImage
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.state import replicated_state
from ticdc_producer.targets.golden.write import table_file


class ConsumerTable(TypedDict):
    """A table of a consumer.

    :ivar key: names of its columns.
    :ivar types: SQL type of each column.
    """

    schema: str
    table: str
    key: list[str]
    types: dict[str, str]
    rows: list[dict[str, str | dict[str, str] | None]]


def consumer_state(
    job: Job, folder: Path, ts: int | None = None, *, follows_ddl: bool = False, at_start: bool = False
) -> list[ConsumerTable]:
    """Return the tables whose rows follow from a topic, with values as its protocol transmits them.

    Tables without a key are omitted, and so are tables that a DDL altered, tables that a DDL emptied without
    a message in the topic, and tables whose names the protocol changes in row events.

    :param folder: a golden folder of the job.
    :param ts: one of the job's ``state_at`` time stamps (TSO); None: the state at the end.
    :param follows_ddl: whether the consumer parses the text of DDLs, so that tables that a DDL altered are
        included if the stream carries what it needs.
    :param at_start: return the tables of the snapshot instead.
    """
    ts, name = (job.start_ts, SNAPSHOT) if at_start else (ts, "state" if ts is None else f"state.at/{ts}")
    state_folder = folder / name
    omitted = _omitted(job, follows_ddl=follows_ddl)
    tables = {
        table.qualified_name: table
        for table in _tables(job, ts)
        if table.handle_index is not None and table.qualified_name not in omitted
    }
    return [
        _consumer_table(job, table, _stored_rows(state_folder, table))
        for _, table in sorted(tables.items())
        if _file(state_folder, table).exists()
    ]


def consumer_state_of_sql(
    job: Job, ts: int | None = None, *, follows_ddl: bool = False, omitted: Collection[str] = ()
) -> list[ConsumerTable]:
    """Return the same tables without a folder, for a scenario of SQL steps only.

    :param follows_ddl: whether the consumer parses the text of DDLs, so that tables that a DDL altered are
        included if the stream carries what it needs.
    :param omitted: ``schema.table`` of further tables that are omitted.
    """
    excluded = _omitted(job, follows_ddl=follows_ddl).union(omitted)
    state = job.history.state if ts is None else job.state_until(ts)
    tables = {
        table.qualified_name: _consumer_table(job, table, _sql_rows(table, rows))
        for table, rows in replicated_state(job, state)
        if table.handle_index is not None and table.qualified_name not in excluded
    }
    return [table for _, table in sorted(tables.items())]


def _omitted(job: Job, *, follows_ddl: bool = False) -> set[str]:
    altered = () if follows_ddl else tables_of_ddl_text(job)
    return {*uncomparable_in_scenario(job), *altered, *_renamed(job)}


def _renamed(job: Job) -> set[str]:
    """Return the tables whose row events and DDL events have different names, and those of the names in rows.

    The protocol replaces characters of names in row events only.
    """
    visible, names = job.encoder.fidelity.visible_name, set[str]()
    for table in job.history.catalog.tables:
        name = f"{visible(table.schema)}.{visible(table.name)}"
        if name != table.qualified_name:
            names |= {name, table.qualified_name}
    return names


def _tables(job: Job, ts: int | None) -> Iterator[TableInfo]:
    state = job.history.state if ts is None else job.state_until(ts)
    yield from (table for table, _ in replicated_state(job, state))
    commits = None if ts is None else job.commits_until(ts)
    yield from (plan.table_after(commits) for plan in job.history.generated)


def _file(state_folder: Path, table: TableInfo) -> Path:
    return state_folder / f"{table_file(table.schema, table.name)}.jsonl"


def _stored_rows(state_folder: Path, table: TableInfo) -> list[dict[str, Value]]:
    with _file(state_folder, table).open(encoding="utf-8", newline="\n") as lines:
        return [{name: from_json(value) for name, value in json.loads(line).items()} for line in lines]


def _sql_rows(table: TableInfo, rows: Iterable[RowImage]) -> list[dict[str, Value]]:
    names = [column.name for column in table.sent_columns]
    return [dict(zip(names, row, strict=True)) for row in rows]


def _consumer_table(job: Job, table: TableInfo, rows: Iterable[Mapping[str, Value]]) -> ConsumerTable:
    fidelity, index = job.encoder.fidelity, table.handle_index
    visible = fidelity.visible_name
    project = {column.name: fidelity.full_projection(column) for column in table.sent_columns}
    flags = zip(table.sent_columns, table.sent_flags, strict=True)
    return {
        "schema": visible(table.schema),
        "table": visible(table.name),
        "key": [visible(table.columns[offset].name) for offset in index.offsets] if index else [],
        "types": {visible(column.name): fidelity.visible_type(column, flag) for column, flag in flags},
        "rows": [
            {visible(name): to_json(project[name](value)) for name, value in row.items()} for row in rows
        ],
    }


class LoadedTableState(ConsumerTable):
    """A table of a snapshot.

    :ivar create: its CREATE TABLE statement.
    """

    create: str


def _loaded_tables(job: Job, folder: Path) -> list[LoadedTableState]:
    tables = job.history.catalog.tables
    creates = {tables[part.version].qualified_name: part.create for part in job.history.definitions}
    return [
        {**table, "create": creates[f"{table['schema']}.{table['table']}"]}
        for table in consumer_state(job, folder, at_start=True, follows_ddl=True)
    ]


_GOLDEN, _STATES = "golden", "consumer_state.json"
_END, _END_WITH_DDL = "end", "end, following DDLs"
PACKAGES = (
    "config",
    "dispatch",
    "engine",
    "faults",
    "model",
    "oracle",
    "pipeline",
    "protocols",
    "runs",
    "scenario",
    "simulate",
    "spark",
    "targets",
)
"""Packages whose code determines the bytes of a topic."""


@dataclass(frozen=True, kw_only=True)
class Topic:
    """The definition of a topic.

    :param scenario: name of a shipped scenario.
    :param sink_uri: a sink URI without a host.
    :param overrides: ``path=value`` for keys of the scenario.
    :param inject: traps to inject.
    :param moments: time stamps (TSO) of consumer states, in addition to the state at the end.
    """

    scenario: str
    sink_uri: str
    overrides: tuple[str, ...] = ()
    inject: tuple[str, ...] = ()
    moments: tuple[int, ...] = ()


@dataclass(frozen=True)
class CachedTopic:
    """A topic in the cache."""

    folder: Path

    def snapshot(self) -> list[LoadedTableState]:
        """Return the tables with which a consumer starts; empty without a start-ts."""
        content = json.loads((self.folder / _STATES).read_text("utf-8"))
        tables: list[LoadedTableState] = content.get(SNAPSHOT, [])
        return tables

    @property
    def golden(self) -> Path:
        """The topic's golden folder."""
        return self.folder / _GOLDEN

    def tables(self, ts: int | None = None, *, follows_ddl: bool = False) -> list[ConsumerTable]:
        """Return the tables that a consumer derives from the topic.

        :param ts: one of the topic's time stamps; None: the state at the end.
        :param follows_ddl: whether the consumer parses DDLs; only for the state at the end.
        """
        content = json.loads((self.folder / _STATES).read_text("utf-8"))
        tables: list[ConsumerTable] = content[
            _END_WITH_DDL if follows_ddl else _END if ts is None else str(ts)
        ]
        return tables


def cached_topic(topic: Topic, on_status: OnStatus = ignore_status) -> CachedTopic:
    """Return a topic from the cache; write it into the cache if it is missing.

    :param on_status: called with a line of text if the topic must be written.
    :raises ProducerError: if Spark does not start, or the cache cannot be written.
    """

    def write(folder: Path) -> None:
        on_status(f"writing the topic {topic.sink_uri} {' '.join(topic.inject)}".rstrip())
        _make(topic, folder)

    scenario = load_scenario(topic.scenario).sha256
    return CachedTopic(cached_folder("topics", topic.scenario, (scenario, astuple(topic)), write))


def cached_folder(kind: str, label: str, content: object, write: Callable[[Path], None]) -> Path:
    """Return a folder of the cache; write it if it is missing.

    :param kind: the folder in the cache that contains it.
    :param label: the beginning of its name.
    :param content: determines what is in it, besides the code of this program.
    :param write: writes into a new folder.
    :raises FolderError: if the cache cannot be written.
    """
    name = sha256(repr((_program(), content)).encode()).hexdigest()[:32]
    folder = cache_folder() / kind / f"{label}-{name}"
    if folder.exists():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        new = Path(mkdtemp(dir=folder.parent, prefix="partial-"))
    except OSError as error:
        hint = "TICDC_PRODUCER_CACHE sets another folder"
        raise FolderError(
            f"the cache cannot be written: {error.strerror}", path=str(folder), hint=hint
        ) from None
    try:
        write(new)
        with suppress(OSError):  # another process may have been quicker, with the same bytes
            new.replace(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder


@cache
def _program() -> str:
    """Return a digest of the code that determines the bytes of topics."""
    package = Path(__file__).parents[1]
    digest = sha256()
    for path in sorted(path for name in PACKAGES for path in (package / name).rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _make(topic: Topic, folder: Path) -> None:
    job = prepare(
        topic.scenario,
        sink_uri=topic.sink_uri,
        overrides=topic.overrides,
        inject=topic.inject,
        state_at=topic.moments,
    )
    golden = folder / _GOLDEN
    run_job(job, RunOptions(out=golden, verify_output=False))
    states: dict[str, Sequence[ConsumerTable]] = {
        _END: consumer_state(job, golden),
        _END_WITH_DDL: consumer_state(job, golden, follows_ddl=True),
    }
    if job.start_ts is not None:
        states[SNAPSHOT] = _loaded_tables(job, golden)
    states |= {str(ts): consumer_state(job, golden, ts) for ts in job.state_at}
    (folder / _STATES).write_text(json.dumps(states, ensure_ascii=False) + "\n", "utf-8")
