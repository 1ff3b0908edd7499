"""Plans the schema files of a history, and the directory of each row event.

A DDL that is sent writes the schema file of the table after the DDL, or of a dropped table before it;
EXCHANGE PARTITION writes those of both tables. Rows are stored under the version of the DDL before them. If
that DDL was not sent, they are stored under the latest version with the same checksum. A table without any
schema file gets one without a query. Source: tiflow ``cloud_storage_ddl_sink.go``, ``path.go``
(``CheckOrWriteSchema``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.config import Changefeed
from ticdc_producer.engine.dataset import Batches, Dataset, Order
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model import tso
from ticdc_producer.model.catalog import Action, Catalog, DDLJob
from ticdc_producer.model.shapes import DELIVERY_KEY, EVENT_STREAM
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.protocols.storage_files import SchemaFile, schema_file, schema_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The parts of the directories of rows.

    :param by_table_id: whether they begin with the physical id of the table instead of its names.
    :param dated: whether they end with a date.
    """

    by_table_id: bool = False
    dated: bool = True

    @classmethod
    def of(cls, changefeed: Changefeed) -> Layout:
        """Return the layout of a changefeed."""
        return cls(by_table_id=changefeed.use_table_id_as_path, dated=changefeed.date_separator != "none")

    def version_folder(self, directory: str) -> str:
        """Return the version directory of a directory with rows: without partition and date.

        >>> Layout().version_folder("d/t/100/7/2020-03-24")
        'd/t/100'
        """
        return "/".join(directory.split("/")[: 2 if self.by_table_id else 3])

    def physical_table(self, directory: str) -> str:
        """Return a directory with rows without version and date.

        >>> Layout().physical_table("d/t/100/7/2020-03-24")
        'd/t/7'
        """
        parts = directory.split("/")[: -1 if self.dated else None]
        del parts[1 if self.by_table_id else 2]
        return "/".join(parts)

    def tables(self, table: TableInfo) -> list[str]:
        """Return the directories of a table; by id, those of its partitions."""
        if not self.by_table_id:
            return [f"{table.schema}/{table.name}"]
        return [str(part.id) for part in table.partitions] or [str(table.table_id)]


@dataclass(frozen=True, kw_only=True)
class StoragePlan:
    """The file layout of a run.

    :param files: schema files of DDLs, by path.
    :param layout: of the directories of rows.
    :param folders: directories of the rows without partition and date, by table version; by table id, those
        of the partitions.
    :param data_only: schema files that are needed only if there are rows, by such a directory.
    :param undescribed: errors of directories that must not have rows, by such a directory.
    """

    files: Mapping[str, SchemaFile]
    layout: Layout
    folders: Mapping[int, Sequence[str]]
    data_only: Mapping[str, SchemaFile]
    undescribed: Mapping[str, ChangefeedError] = field(default_factory=dict)

    def used(self, directories: Iterable[str]) -> dict[str, SchemaFile]:
        """Return all schema files; those of ``data_only`` only for directories with rows.

        :param directories: the directories with rows.
        :raises ChangefeedError: where TiCDC would panic: for rows of a version of a table that has schema
            files, but none for this version.
        """
        folders = set(map(self.layout.version_folder, directories))
        for folder in sorted(folders & set(self.undescribed)):
            raise self.undescribed[folder]
        return self.schemas(folders)

    def schemas(self, folders: Collection[str]) -> dict[str, SchemaFile]:
        """Return all schema files; those of ``data_only`` only for some version directories."""
        added = ((folder, file) for folder, file in self.data_only.items() if folder in folders)
        by_path = {schema_path(file, folder.rpartition("/")[0]): file for folder, file in added}
        return {**self.files, **by_path}


def plan_storage(
    catalog: Catalog,
    versions: Collection[int],
    clock: CommitClock,
    layout: Layout,
    *,
    column_ids: bool = False,
    first_version: int | None = None,
) -> StoragePlan:
    """Plan the layout of a history.

    :param versions: the replicated table versions.
    :param layout: of the directories of rows.
    :param column_ids: whether schema files contain column ids.
    :param first_version: version of the schema files of tables that no DDL created; None: the first
        commit-ts.
    :raises ChangefeedError: for a name that cannot be a directory name.
    """
    first = clock.ts(0) if first_version is None else first_version
    planner = _Planner(catalog, clock, layout, column_ids, first)
    for job in catalog.ddls:
        if job.sent:
            planner.write(job)
    created_by = catalog.creating_jobs()
    for version in sorted(versions):
        planner.assign_folder(version, created_by.get(version))
    return StoragePlan(
        files=planner.files,
        layout=layout,
        folders=planner.folders,
        data_only=planner.data_only,
        undescribed=planner.undescribed,
    )


@dataclass
class _Planner:
    catalog: Catalog
    clock: CommitClock
    layout: Layout
    column_ids: bool
    first_version: int
    files: dict[str, SchemaFile] = field(default_factory=dict)
    folders: dict[int, list[str]] = field(default_factory=dict)
    data_only: dict[str, SchemaFile] = field(default_factory=dict)
    undescribed: dict[str, ChangefeedError] = field(default_factory=dict)
    described: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Version and checksum of the schema files, by directory of the table."""

    def write(self, job: DDLJob) -> None:
        for folder, file in self._of(job):
            self._check_names(folder, file)
            self.files[schema_path(file, folder)] = file
            self._note(folder, file)

    def _check_names(self, folder: str, file: SchemaFile) -> None:
        """Check the names of database and table, if the directory has them.

        :raises ChangefeedError: for a name that cannot be a directory name.
        """
        if self.layout.by_table_id and folder.isdecimal():
            return
        for name in filter(None, (file.schema, file.table)):
            _check_name(name)

    def _note(self, folder: str, file: SchemaFile) -> None:
        self.described.setdefault(folder, []).append((file.version, file.checksum))

    def _of(self, job: DDLJob) -> Iterator[tuple[str, SchemaFile]]:
        """Yield the schema files of a DDL with the directories of their tables.

        By table id there are none for DDL of databases.
        """
        ts = self.clock.ts(job.commit_seq)
        after, before = self.catalog.tables_of(job)
        table = after or before
        if table is None or not job.table:
            if not self.layout.by_table_id:
                yield job.schema, _of_database(job, ts)
            return
        yield self._folder(table), self._file(table, ts, job)
        if job.job_type == Action.EXCHANGE_TABLE_PARTITION and before is not None:
            yield self._folder(before), self._file(before, ts)

    def _folder(self, table: TableInfo) -> str:
        """Return the directory of a whole table; a view without columns is always named."""
        by_id = self.layout.by_table_id and table.columns
        return str(table.table_id) if by_id else f"{table.schema}/{table.name}"

    def _file(self, table: TableInfo, ts: int, job: DDLJob | None = None) -> SchemaFile:
        query, kind = ("", 0) if job is None else (job.query, job.ddl_type)
        return schema_file(table, ts, query, kind, column_ids=self.column_ids)

    def assign_folder(self, version: int, job: DDLJob | None) -> None:
        """Determine the directory of a table version.

        :param job: the DDL that created it; None for a table that existed before the history.
        """
        table = self.catalog.tables[version]
        file = self._file(table, self.first_version if job is None else self.clock.ts(job.commit_seq))
        self.folders[version] = [
            self._described_folder(folder, table, file) for folder in self.layout.tables(table)
        ]

    def _described_folder(self, parent: str, table: TableInfo, file: SchemaFile) -> str:
        """Return the version directory of rows in the directory of a table; see that a file describes it."""
        earlier = [entry for entry in self.described.get(parent, ()) if entry[0] <= file.version]
        alike = [known for known, checksum in earlier if checksum == file.checksum]
        folder = f"{parent}/{max(alike, default=file.version)}"
        if earlier and not alike and not self.layout.by_table_id:
            self.undescribed[folder] = _undescribed(table, file.version)
        elif not alike:
            self._check_names(parent, file)
            self.data_only[folder] = file
            self._note(parent, file)
        return folder


def _of_database(job: DDLJob, ts: int) -> SchemaFile:
    return SchemaFile(schema=job.schema, table="", version=ts, query=job.query, type=job.ddl_type)


def _undescribed(table: TableInfo, ts: int) -> ChangefeedError:
    return ChangefeedError(
        f"a DDL of {table.qualified_name} is not sent, and no schema file describes its rows after {ts}",
        parameter="filter",
        where="storage sink",
        hint="TiCDC panics here; remove the filter of that DDL",
    )


def _check_name(name: str) -> None:
    """Check the name of a database or table.

    :raises ChangefeedError: for a name that cannot be a directory name.
    """
    if name in (".", "..", "meta") or "/" in name or "\\" in name or not name.isprintable():
        raise ChangefeedError(
            f"{name!r} cannot be the name of a directory",
            parameter="sink-uri",
            where="storage sink",
            hint="the storage sink names directories after databases and tables; rename it",
        )


_FORMATS = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
_DIRECTORY = ("topic",)


def in_directories(rows: Dataset, plan: StoragePlan, catalog: Catalog, changefeed: Changefeed) -> Dataset:
    """Return row events with their directory as ``topic``, in commit order, those of a directory together.

    The date of a transaction is that of its commit, in the changefeed's time zone; TiCDC uses the date of
    writing.

    :param rows: row events (shape ``EVENT_STREAM``), unordered.
    """
    with_directory = rows.map(partial(_with_directories, plan, catalog, changefeed), EVENT_STREAM)
    return with_directory.shuffle(_DIRECTORY, Order((*_DIRECTORY, *DELIVERY_KEY)))


def _with_directories(
    plan: StoragePlan, catalog: Catalog, changefeed: Changefeed, batches: Batches
) -> Batches:
    by_id = plan.layout.by_table_id
    shared = [next(iter(plan.folders.get(number, ())), None) for number in range(len(catalog.tables))]
    folders, of_tables = pa.array(shared, pa.string()), _folders_of_tables(plan)
    for batch in batches:
        versions = pc.fill_null(batch.column("table_version"), -1)
        known = batch.filter(pc.is_in(versions, pa.array([*plan.folders], pa.int32())))
        parts = [of_tables(known) if by_id else folders.take(known.column("table_version"))]
        if not by_id and changefeed.enable_partition_separator:
            parts.append(_partition_ids(known, catalog))
        if changefeed.date_separator != "none":
            parts.append(_dates(known.column("commit_ts"), changefeed))
        directory = pc.binary_join_element_wise(*parts, "/", null_handling="skip")
        zeros = pa.array(np.zeros(known.num_rows, np.int32))
        columns = {"topic": directory, "partition": zeros, "partition_index": zeros}
        yield pa.record_batch(
            [columns.get(field.name, known.column(field.name)) for field in EVENT_STREAM], schema=EVENT_STREAM
        )


def _folders_of_tables(plan: StoragePlan) -> Callable[[pa.RecordBatch], pa.Array]:
    """Return a function from rows to the directories of their table versions, by the ids of their tables."""
    pairs = [
        (f"{version}/{folder.partition('/')[0]}", folder)
        for version, folders in plan.folders.items()
        for folder in folders
    ]
    keys, values = (pa.array([pair[at] for pair in pairs], pa.string()) for at in (0, 1))

    def folders_of(rows: pa.RecordBatch) -> pa.Array:
        own = (rows.column(name).cast(pa.string()) for name in ("table_version", "table_id"))
        return values.take(pc.index_in(pc.binary_join_element_wise(*own, "/"), keys))

    return folders_of


def _partition_ids(rows: pa.RecordBatch, catalog: Catalog) -> pa.Array:
    """Return the physical id of each row of a partitioned table as text; NULL for another table."""
    partitioned = pa.array([bool(table.partitions) for table in catalog.tables], pa.bool_())
    ids = rows.column("table_id").cast(pa.string())
    return pc.if_else(partitioned.take(rows.column("table_version")), ids, None)


def _dates(commit_ts: pa.Array, changefeed: Changefeed) -> pa.Array:
    """Return the date of each commit in the changefeed's time zone."""
    milliseconds = pc.shift_right(commit_ts, tso.LOGICAL_BITS)
    local = milliseconds.cast(pa.timestamp("ms", changefeed.time_zone))
    return pc.strftime(local, _FORMATS[changefeed.date_separator])
