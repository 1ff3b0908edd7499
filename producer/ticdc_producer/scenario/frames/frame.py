"""The DataFrames of ``changes`` steps: an Arrow table if they are small, else a DataFrame of Spark.

Any library's DataFrame is accepted that exports an Arrow stream (``__arrow_c_stream__``), and pandas'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from hashlib import sha256
from io import RawIOBase
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from ticdc_producer.engine import SMALL_BYTES, SMALL_EVENTS
from ticdc_producer.engine.dataset import Batches, Dataset, Engine
from ticdc_producer.errors import ArgumentError, ScenarioError
from ticdc_producer.scenario.columns.temporal_columns import arrow_zone
from ticdc_producer.scenario.frames.plain_table import plain_table, with_empty_nulls
from ticdc_producer.scenario.frames.zones import SESSION_ZONE, has_zones, in_zone, with_zones

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_DIGEST_LENGTH = 12


class Frame(ABC):
    """The rows of one ``changes`` step. Tasks of Spark get a job without them."""

    def __getstate__(self) -> dict[str, object]:
        return {}

    @cached_property
    def rows(self) -> pa.Table | None:
        """The rows in their order; None if they are too many for this process."""
        table = self._few_rows()
        small = table is not None and table.num_rows <= SMALL_EVENTS and table.nbytes <= SMALL_BYTES
        return plain_table(table) if table is not None and small else None

    @abstractmethod
    def _few_rows(self) -> pa.Table | None:
        """Return all rows, or at least one more than are small; None if they are known to be too many."""

    @property
    def is_local(self) -> bool:
        """Whether this process can read the rows without Spark."""
        return True

    @property
    def has_fixed_parts(self) -> bool:
        """Whether a part has the same rows whenever it is read, and whichever columns are read."""
        return True

    @property
    def unnamed_location(self) -> str | None:
        """Path or URI of rows that the text of the scenario does not determine; None: it does."""
        return None

    def dataset(self, engine: Engine, names: Sequence[str]) -> Dataset:
        """Return some columns of all rows as a dataset.

        :raises ArgumentError: if only Spark can read them, and the engine is another one.
        """
        if engine.name == "spark":
            from ticdc_producer.engine.spark import SparkEngine
            from ticdc_producer.spark.storage import arrow_schema

            if not isinstance(engine, SparkEngine):
                raise TypeError(f"{type(engine).__name__} is named spark")
            rows = self.spark_frame(engine.spark)
            selected = rows.select(*(f"`{name}`" for name in names))
            in_utc = arrow_schema(selected.schema)
            # The batches of a task have the time zone of the session.
            read = engine.of_frame(selected, in_zone(in_utc, str(engine.spark.conf.get(SESSION_ZONE))))
            zoned = self._zoned(in_utc)
            return read if zoned == read.schema else read.map(partial(_cast, zoned), zoned)
        return self._local_dataset(engine, names)

    def _zoned(self, schema: pa.Schema) -> pa.Schema:
        """Return columns that Spark read with the time zones of the frame, which Spark does not retain.

        :param schema: with time stamps in UTC.
        """
        own = self._types()
        if own is None:
            return schema
        types = (with_zones(field.type, own.field(field.name).type) for field in schema)
        return pa.schema([field.with_type(kind) for field, kind in zip(schema, types, strict=True)])

    def _types(self) -> pa.Schema | None:
        """Return the types of the columns; None if only Spark knows them."""
        return None

    def _local_dataset(self, _engine: Engine, _names: Sequence[str]) -> Dataset:
        what = "a large DataFrame of Spark or at a URI requires Spark"
        raise ArgumentError(what, argument="engine", hint="leave out `engine`, or choose `spark`").about(
            "engine"
        )

    @abstractmethod
    def names(self) -> Sequence[str]:
        """Return the names of the columns."""

    @abstractmethod
    def spark_frame(self, spark: SparkSession, /) -> DataFrame:
        """Return the rows as a DataFrame of Spark."""


class GivenFrame(Frame):
    """A DataFrame that a user hands over; its rows can be written."""

    @cached_property
    def digest(self) -> str:
        """A digest of the rows, so that equal scenarios have equal names of files, and others other ones."""
        return self._digest_of_large() if self.rows is None else _digest(with_empty_nulls(self.rows))

    @abstractmethod
    def _digest_of_large(self) -> str:
        """Return the digest of rows that are too many for this process."""

    def write(self, path: Path) -> None:
        """Write the rows as Parquet; a large DataFrame of Spark becomes a folder.

        :raises ScenarioError: for a column that Parquet does not have.
        """
        if self.rows is None:
            self._write_large(path)
        else:
            _write_table(self.rows, path)

    @abstractmethod
    def _write_large(self, path: Path) -> None:
        """Write rows that are too many for this process."""


class ArrowFrame(GivenFrame):
    """A table of Arrow.

    :param table: in the order of the changes.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def _few_rows(self) -> pa.Table:
        return self._table

    def names(self) -> Sequence[str]:
        return list(self._table.column_names)

    def _types(self) -> pa.Schema:
        return self._table.schema

    def _local_dataset(self, engine: Engine, names: Sequence[str]) -> Dataset:
        rows = self._table.select([*names])
        return engine.of_batches(rows.to_batches(), rows.schema)

    def spark_frame(self, spark: SparkSession, /) -> DataFrame:
        return spark.createDataFrame(plain_table(self._table))

    def _digest_of_large(self) -> str:
        return _digest(self._table.replace_schema_metadata())

    def _write_large(self, path: Path) -> None:
        _write_table(plain_table(self._table), path)


class SparkFrame(GivenFrame):
    """A DataFrame of Spark, whose time stamps are in the time zone of the session, as Spark shows them.

    :param frame: its small results have the order in which Spark collects them.
    """

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    def _few_rows(self) -> pa.Table:
        rows = self._frame.limit(SMALL_EVENTS + 1).toArrow()
        return rows.cast(self._zoned(rows.schema))

    def _zoned(self, schema: pa.Schema) -> pa.Schema:
        return in_zone(schema, arrow_zone(self._session_zone))

    @property
    def _session_zone(self) -> str:
        return str(self._frame.sparkSession.conf.get(SESSION_ZONE))

    @property
    def is_local(self) -> bool:
        return False

    @property
    def has_fixed_parts(self) -> bool:
        """Whether the plan of Spark moves no rows.

        Where it moves them, it samples the bounds of sorted parts, and joins parts by their size.
        """
        explained = self._frame.sparkSession.sql("EXPLAIN SELECT * FROM {rows}", rows=self._frame).first()
        return explained is not None and "Exchange" not in explained[0]

    def names(self) -> Sequence[str]:
        return list(self._frame.columns)

    def spark_frame(self, _spark: SparkSession, /) -> DataFrame:
        return self._frame

    def _digest_of_large(self) -> str:
        """Return a random text: neither the plan nor its hash says which rows Spark will read."""
        return token_hex(_DIGEST_LENGTH // 2)

    def _write_large(self, path: Path) -> None:
        if arrow_zone(self._session_zone) != "UTC" and has_zones(self._frame.limit(0).toArrow().schema):
            what = f"Parquet of Spark does not retain the time zone {self._session_zone} of the time stamps"
            hint = f"cast them to timestamp_ntz, or set {SESSION_ZONE} to UTC"
            raise ScenarioError(what, hint=hint)
        self._frame.write.mode("overwrite").parquet(path.absolute().as_uri())


class ParquetFrame(Frame):
    """Rows in a Parquet file or folder.

    :param location: path, or a URI, whose rows are read as a large frame; only Spark reads other ones than
        files.
    :param file: the scenario file, for errors.
    :param line: line of the step.
    """

    def __init__(self, location: str, file: str, line: int) -> None:
        self.location, self.file, self.line = location, file, line

    def __getstate__(self) -> dict[str, object]:
        """Return where the rows are: tasks of the data source read them to simulate the scenario."""
        return {"location": self.location, "file": self.file, "line": self.line}

    @property
    def unnamed_location(self) -> str | None:
        if self.rows is not None:  # a scenario and the file that it writes have one digest
            named = Path(self.location).stem.endswith(f"-{_digest(with_empty_nulls(self.rows))}")
            return None if named else self.location
        return self.location

    def _few_rows(self) -> pa.Table | None:
        if "://" in self.location:
            return None
        rows = self._opened()
        with self._readable():
            return rows.to_table() if rows.count_rows() <= SMALL_EVENTS else None

    @property
    def is_local(self) -> bool:
        return "://" not in self.location or self.location.startswith("file:")

    def names(self) -> Sequence[str]:
        if self.is_local:
            return list(self._opened().schema.names)
        from ticdc_producer.spark.session import spark_session
        from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence

        try:
            return list(self.spark_frame(spark_session()).columns)
        except READ_ERRORS as error:
            raise self._unreadable(first_sentence(error)) from None

    def _types(self) -> pa.Schema | None:
        return self._opened().schema if self.is_local else None

    def _opened(self) -> Any:
        """Open the file or the folder on this machine."""
        from pyarrow import dataset

        url = urlsplit(self.location) if "://" in self.location else None
        with self._readable():
            return dataset.dataset(self.location if url is None else unquote(url.path), format="parquet")

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Locate the errors of a file that cannot be read."""
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable(str(error).splitlines()[0]) from None

    def _local_dataset(self, engine: Engine, names: Sequence[str]) -> Dataset:
        if not self.is_local:
            return super()._local_dataset(engine, names)
        rows, columns = self._opened(), [*names]
        with self._readable():
            groups = [group for file in rows.get_fragments() for group in file.split_by_row_group()]
        schema = pa.schema([rows.schema.field(name) for name in columns])

        def batches(part: int) -> Batches:
            scanned = groups[part].scanner(schema=rows.schema, columns=columns, use_threads=False)
            with self._readable():
                yield from scanned.to_batches()

        return engine.of_parts(len(groups), batches, schema)

    def _unreadable(self, reason: str) -> ScenarioError:
        what = f"cannot read the rows of the step: {reason}"
        return ScenarioError(what, file=self.file, line=self.line)

    def spark_frame(self, spark: SparkSession, /) -> DataFrame:
        return spark.read.parquet(self.location)


Frames: TypeAlias = Mapping[str, Frame]
"""The frames of a scenario in Python, by the paths that its text gives them."""


def frame_of(df: object) -> GivenFrame:
    """Return the frame of a user's DataFrame.

    :raises ScenarioError: for an object that is no DataFrame, and for values that Arrow cannot hold.
    """
    library = type(df).__module__.partition(".")[0]
    if library == "pyspark" and hasattr(df, "toArrow"):
        spark_frame: Any = df
        return SparkFrame(spark_frame)
    try:
        if library == "pandas":
            return ArrowFrame(pa.Table.from_pandas(df, preserve_index=False))
        if hasattr(df, "__arrow_c_stream__"):
            return ArrowFrame(pa.table(df))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        reason = " ".join(str(part) for part in error.args)
        what = f"Arrow cannot hold a column of the DataFrame: {reason}"
        raise ScenarioError(what, hint="give each column a name of its own, and values of one type") from None
    what = f"{type(df).__name__} is not a DataFrame"
    is_lazy = callable(getattr(df, "collect", None))
    hint = "call its `collect`" if is_lazy else "give one of Spark, pandas or Polars, or an Arrow table"
    raise ScenarioError(what, hint=hint)


def _cast(schema: pa.Schema, batches: Batches) -> Batches:
    for batch in batches:
        columns = [column.cast(field.type) for column, field in zip(batch.columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


class _Hashed(RawIOBase):
    """A file that has the digest of its content in place of the content."""

    def __init__(self) -> None:
        self.sha256 = sha256()

    def writable(self) -> bool:
        return True

    def write(self, content: Any, /) -> int:
        self.sha256.update(content)
        return len(memoryview(content))


def _digest(table: pa.Table) -> str:
    """Return a digest of rows; a copy exists of a part of them only."""
    sink = _Hashed()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        for start in range(0, table.num_rows, SMALL_EVENTS):
            stream.write_table(table.slice(start, SMALL_EVENTS).combine_chunks())
    return sink.sha256.hexdigest()[:_DIGEST_LENGTH]


def _write_table(table: pa.Table, path: Path) -> None:
    from pyarrow import parquet

    try:
        parquet.write_table(table, path)
    except pa.ArrowException as error:
        raise ScenarioError(f"Parquet cannot hold the DataFrame: {error}", file=str(path)) from None
