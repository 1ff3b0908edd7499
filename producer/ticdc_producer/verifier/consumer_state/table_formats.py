"""Tables of Delta, Iceberg, Hudi and Paimon, which the Python libraries of the formats read.

The libraries stream Arrow batches. One task of Spark reads a table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from ticdc_producer.engine.dataset import Batches, Dataset, Engine
from ticdc_producer.errors import StateError
from ticdc_producer.hints import nearest
from ticdc_producer.installation import missing_part
from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence
from ticdc_producer.spark.storage import quoted_column
from ticdc_producer.verifier.consumer_state.comparable_columns import actual_batches
from ticdc_producer.verifier.consumer_state.compare import COMPARABLE_ROWS
from ticdc_producer.verifier.consumer_state.dataframes import dataframe_dataset, dataframe_rows
from ticdc_producer.verifier.consumer_state.plan import (
    ActualTable,
    BatchReader,
    ExpectedTable,
    StateSource,
    TablePlan,
)

DELETED, VERSION = "deleted", "version"
"""Options: the column that is true in deleted rows, and the one by which the newest row of a key counts."""
PARQUET = "parquet"


@dataclass(frozen=True)
class OpenTable:
    """A table of a format, opened by its library.

    :param batches: reads the given columns.
    """

    columns: tuple[str, ...]
    batches: Callable[[Sequence[str]], Batches]


def _delta(location: str, as_of: str | None) -> OpenTable:
    from deltalake import DeltaTable

    table = DeltaTable(location, version=None if as_of is None else int(as_of))
    names = tuple(field.name for field in table.schema().fields)
    # The engine reads deletion vectors and mapped columns; `to_pyarrow_dataset` rejects them.
    return OpenTable(names, lambda columns: iter(pa.RecordBatchReader.from_stream(table.scan([*columns]))))


def _iceberg(location: str, as_of: str | None) -> OpenTable:
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(location)
    snapshot = None if as_of is None else int(as_of)

    def scan(columns: Sequence[str]) -> Any:
        return table.scan(selected_fields=tuple(columns), snapshot_id=snapshot)

    names = tuple(scan(["*"]).projection().column_names)
    return OpenTable(names, lambda columns: iter(scan(columns).to_arrow_batch_reader()))


def _hudi(location: str, as_of: str | None) -> OpenTable:
    from hudi import HudiReadOptions, HudiTable

    table = HudiTable(location)

    def read(columns: Sequence[str]) -> Batches:
        options = HudiReadOptions(projection=[*columns])
        return iter(table.read_stream(options.with_as_of_timestamp(as_of) if as_of else options))

    return OpenTable(tuple(table.get_schema().names), read)


def _paimon(location: str, as_of: str | None) -> OpenTable:
    from pypaimon import CatalogFactory

    database, name = location.rstrip("/").rsplit("/", 2)[1:]
    warehouse = location.rstrip("/").removesuffix(f"/{database}/{name}")
    table = CatalogFactory.create({"warehouse": warehouse}).get_table(
        f"{database.removesuffix('.db')}.{name}"
    )
    if as_of is not None:
        table = table.copy({"scan.snapshot-id": as_of})

    def read(columns: Sequence[str]) -> Batches:
        builder = table.new_read_builder().with_projection([*columns])
        splits = builder.new_scan().plan().splits()
        return iter(builder.new_read().to_arrow_batch_reader(splits))

    return OpenTable(tuple(field.name for field in table.fields), read)


@dataclass(frozen=True)
class TableFormat:
    """A format.

    :param open: opens the table of a location, as of a version or now.
    :param as_of: the option that has the version, as Spark's source of the format spells it.
    """

    open: Callable[[str, str | None], OpenTable]
    as_of: str


FORMATS = {
    "delta": TableFormat(_delta, "versionAsOf"),
    "iceberg": TableFormat(_iceberg, "snapshot-id"),
    "hudi": TableFormat(_hudi, "as.of.instant"),
    "paimon": TableFormat(_paimon, "scan.snapshot-id"),
}
_PATTERN = "FORMAT:PATH?OPTION=VALUE with {schema} and {table} in PATH"


def is_table_format(actual: str) -> bool:
    """Return whether a text is ``FORMAT:PATH`` of a table format or of Parquet."""
    return actual.partition(":")[0] in {*FORMATS, PARQUET} and ":" in actual


@dataclass(frozen=True)
class _Location:
    """The parts of ``FORMAT:PATH?OPTION=VALUE``."""

    format: str
    template: str
    options: Mapping[str, str]

    def of_table(self, schema: str, table: str) -> str:
        return self.template.replace("{schema}", schema).replace("{table}", table)


def _location(pattern: str) -> _Location:
    kind, _, rest = pattern.partition(":")
    path, _, query = rest.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    known = [DELETED, VERSION if kind == PARQUET else FORMATS[kind].as_of]
    for name, value in options.items():
        if name not in known:
            what = f"{kind} has no option {name!r}"
            raise StateError(what, source=pattern, hint=nearest(name, known) or f"it has {', '.join(known)}")
        if not value:
            raise StateError(f"the option {name!r} is empty", source=pattern, hint=_PATTERN)
    if not path:
        raise StateError("not a pattern of tables", source=pattern, hint=_PATTERN)
    return _Location(kind, path, options)


class _Tables(ABC):
    """Tables by a pattern ``FORMAT:PATH?OPTION=VALUE``.

    :param tables: number of tables to compare.
    :ivar label: the pattern.
    :raises StateError: for a malformed pattern, or for one of a single table if there are several.
    """

    def __init__(self, pattern: str, *, tables: int) -> None:
        self.label, self._location = pattern, _location(pattern)
        if tables != 1 and "{table}" not in pattern:
            what = f"this is one table, but {tables} tables are to be compared"
            raise StateError(what, source=pattern, hint=_PATTERN)

    def find(self, table: ExpectedTable, name: str | None, _unique_name: bool, /) -> ActualTable | None:
        schema, _, relation = (name or table.qualified_name).rpartition(".")
        location = self._location.of_table(schema, relation)
        if "://" not in location and not Path(location).exists():
            return None
        own = {self._location.options.get(option) for option in (DELETED, VERSION)}
        columns = self._columns(location)
        for column in own - {None, *columns}:
            raise StateError(
                f"it has no column {column!r}", source=location, hint=f"it has {', '.join(columns)}"
            )
        return ActualTable(name=location, columns=tuple(column for column in columns if column not in own))

    @abstractmethod
    def _columns(self, location: str) -> tuple[str, ...]:
        """Return the names of the columns of a table.

        :raises StateError: if it cannot be opened.
        """


class FormatTables(_Tables):
    """Tables of Delta, Iceberg, Hudi or Paimon."""

    def _columns(self, location: str) -> tuple[str, ...]:
        of_format = FORMATS[self._location.format]
        try:
            return self._open(location).columns
        except ImportError as error:
            raise missing_part(error) or error from None
        except Exception as error:  # each library has exceptions of its own
            what = f"the library of {self._location.format} cannot open it: {_first_line(error)}"
            hint = f"{of_format.as_of} names an older version"
            raise StateError(what, source=location, hint=hint) from None

    def _open(self, location: str) -> OpenTable:
        of_format = FORMATS[self._location.format]
        return of_format.open(location, self._location.options.get(of_format.as_of))

    def rows(self, spark: SparkSession, plan: TablePlan) -> DataFrame:
        """Return the rows of a table, which one task reads."""
        return spark.range(1, numPartitions=1).mapInArrow(self._reader(plan), COMPARABLE_ROWS)

    def dataset(self, engine: Engine, plan: TablePlan) -> Dataset:
        schema = pa.schema([(name, pa.null()) for name in plan.actual_columns])
        return engine.of_parts(1, lambda _part: self._batches(plan), schema)

    def _reader(self, plan: TablePlan) -> BatchReader:
        def read(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in self._batches(plan):
                yield from actual_batches(plan, batch)

        return read

    def _batches(self, plan: TablePlan) -> Batches:
        """Yield the rows of a table that exist."""
        deleted = self._location.options.get(DELETED)
        columns = [*plan.actual_columns, *([deleted] if deleted else [])]
        for batch in self._open(plan.actual).batches(columns):
            plain = pa.record_batch([_without_view(array) for array in batch.columns], batch.schema.names)
            yield plain if deleted is None else plain.filter(_exists(plain.column(deleted)))


_OF_VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
"""Most kernels of Arrow, such as that of a filter, have no views."""


def _without_view(array: pa.Array) -> pa.Array:
    return array.cast(_OF_VIEWS[array.type]) if array.type in _OF_VIEWS else array


def _exists(deleted: pa.Array) -> pa.Array:
    return pc.invert(pc.fill_null(deleted.cast(pa.bool_()), False))


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class VersionTables(_Tables):
    """Folders of Parquet that have several versions of a row: the newest one of each handle key counts."""

    def __init__(self, pattern: str, spark: SparkSession, *, tables: int) -> None:
        super().__init__(pattern, tables=tables)
        self._spark = spark

    def _columns(self, location: str) -> tuple[str, ...]:
        try:
            return tuple(self._spark.read.parquet(location).columns)
        except READ_ERRORS as error:
            raise StateError(f"Spark cannot read it: {first_sentence(error)}", source=location) from None

    def rows(self, spark: SparkSession, plan: TablePlan) -> DataFrame:
        return dataframe_rows(self._newest(spark, plan), plan)

    def dataset(self, _engine: Engine, plan: TablePlan) -> Dataset:
        return dataframe_dataset(self._newest(self._spark, plan), plan)

    def _newest(self, spark: SparkSession, plan: TablePlan) -> DataFrame:
        """Return the newest row of each handle key, unless it is deleted."""
        frame = spark.read.parquet(plan.actual)
        version, deleted = (self._location.options.get(option) for option in (VERSION, DELETED))
        exists = sf.lit(True) if deleted is None else ~sf.coalesce(quoted_column(deleted), sf.lit(False))
        if version is not None:
            # At one commit-ts a delete comes before an insert.
            newest = sf.max_by(sf.struct("*"), sf.struct(quoted_column(version), exists)).alias("newest")
            keys = [quoted_column(plan.names[column.name]) for column in plan.key]
            frame = frame.groupBy(*keys).agg(newest).select("newest.*")
        return frame.where(exists)


def table_source(actual: str, start: Callable[[], SparkSession], *, tables: int) -> StateSource:
    """Return the tables of ``FORMAT:PATH?OPTION=VALUE``.

    :param start: starts the Spark session.
    :param tables: number of tables to compare.
    :raises StateError: for a malformed pattern, or for one of a single table if there are several.
    """
    if _location(actual).format == PARQUET:
        return VersionTables(actual, start(), tables=tables)
    return FormatTables(actual, tables=tables)
