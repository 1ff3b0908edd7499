"""Tables in files that a consumer wrote: Parquet, CSV or JSON lines, one file or folder per table.

Arrow reads them, because Spark's reader reads both as NULL. The MySQL type decides how a value is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
from pyarrow import csv
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.engine.dataset import Dataset, Engine
from ticdc_producer.errors import StateError
from ticdc_producer.model.event_line import from_json
from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence
from ticdc_producer.verifier.consumer_state.canonical_value import UNREADABLE
from ticdc_producer.verifier.consumer_state.comparable_columns import json_lines
from ticdc_producer.verifier.consumer_state.compare import COMPARABLE_ROWS, row_batches
from ticdc_producer.verifier.consumer_state.dataframes import dataframe_dataset, dataframe_rows
from ticdc_producer.verifier.consumer_state.parquet_files import TableFiles, parquet_files, visible_files
from ticdc_producer.verifier.consumer_state.plan import (
    ActualTable,
    BatchReader,
    Comparable,
    ExpectedTable,
    TablePlan,
    default_names,
)

_FORMAT = csv.ParseOptions(newlines_in_values=True)


def csv_columns(files: Sequence[Path]) -> tuple[str, ...]:
    """Return the column names in the first line.

    :raises StateError: if it cannot be read.
    """
    return tuple(_names(files[0]))


def _names(file: Path) -> list[str]:
    try:
        with csv.open_csv(file, parse_options=_FORMAT) as reader:
            names: list[str] = reader.schema.names
            return names
    except UnicodeDecodeError:
        raise StateError("not a CSV file with a header (it is not UTF-8)", source=str(file)) from None
    except (pa.ArrowInvalid, OSError) as error:
        raise StateError(f"not a CSV file with a header ({error})", source=str(file)) from None


def csv_reader(files: Sequence[Path], plan: TablePlan) -> BatchReader:
    """Return the function with which one Spark task reads the files."""

    def read(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        row = plan.actual_row()
        for file in files:
            for batch in _open(file):
                columns = [batch.column(name).to_pylist() for name in plan.actual_columns]
                values = (list(map(_text, fields)) for fields in zip(*columns, strict=True))
                yield from row_batches(plan.number, map(row, values))

    return read


def _open(file: Path) -> csv.CSVStreamingReader:
    options = csv.ConvertOptions(
        column_types=dict.fromkeys(_names(file), pa.binary()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return csv.open_csv(file, parse_options=_FORMAT, convert_options=options)


def _text(value: bytes | None) -> str | bytes | None:
    """Return a value as text if possible, so that digits are not read as the bytes of a BIT."""
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value


FORMATS = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
_HEADER_LINES = 1_000


class Files:
    """A folder of tables, or the file or folder of a single table.

    :param start: starts the Spark session.
    :param tables: number of tables to compare.
    :ivar label: the path.
    :raises StateError: if the path does not exist, or holds one table although several are expected.
    """

    def __init__(self, path: Path, start: Callable[[], SparkSession], *, tables: int) -> None:
        if not (path.is_file() or path.is_dir()):
            hint = "a folder of SCHEMA.TABLE.jsonl, .csv or .parquet, one of these files, or a database URL"
            raise StateError("no such file or folder", source=str(path), hint=hint)
        self._root, self._start = path.absolute(), start
        self.label = str(self._root)
        self._without_spark: dict[Path, TableFiles] = {}
        self._single_table = path.is_file() or bool(_parts(path))
        if self._single_table and tables != 1:
            what = f"this holds one table, but {tables} tables are to be compared"
            hint = "select one with `tables`"
            raise StateError(what, source=str(path), hint=hint).about("tables")

    def find(self, table: ExpectedTable, name: str | None, unique_name: bool, /) -> ActualTable | None:
        path = self._path(table, name, unique_name=unique_name)
        if path is None:
            return None
        columns = self._columns(path)
        return ActualTable(name=str(path), columns=columns)

    def _path(self, table: ExpectedTable, name: str | None, *, unique_name: bool) -> Path | None:
        if self._single_table:
            return self._root
        names = (
            [name] if name is not None else [table.file.stem, *default_names(table, unique_name=unique_name)]
        )
        paths = (self._root / f"{stem}{suffix}" for stem in names for suffix in ("", *FORMATS))
        return next((path for path in paths if path.exists() and path != self._root), None)

    def _columns(self, path: Path) -> tuple[str, ...] | None:
        match _format(path):
            case "jsonl":
                return _line_columns(path)
            case "csv":
                return csv_columns(_files(path))
        files = parquet_files(path)
        if files is not None:
            self._without_spark[path] = files
            return files.columns
        try:
            return tuple(self._start().read.parquet(str(path)).columns)
        except READ_ERRORS as error:
            raise StateError(f"Spark cannot read it: {first_sentence(error)}", source=str(path)) from None

    def rows(self, spark: SparkSession, plan: TablePlan) -> DataFrame:
        path = Path(plan.actual)
        match _format(path):
            case "jsonl":
                return json_lines(spark, str(path)).mapInArrow(_read_lines(plan), COMPARABLE_ROWS)
            case "csv":
                return spark.range(1, numPartitions=1).mapInArrow(
                    csv_reader(_files(path), plan), COMPARABLE_ROWS
                )
        return dataframe_rows(spark.read.parquet(str(path)), plan)

    def dataset(self, engine: Engine, plan: TablePlan) -> Dataset | None:
        path = Path(plan.actual)
        if path in self._without_spark:
            return self._without_spark[path].dataset(engine, plan.actual_columns)
        if _format(path) == "parquet":
            return dataframe_dataset(self._start().read.parquet(str(path)), plan)
        return None


def _format(path: Path) -> str:
    """Return the format of a file, or of the files in a folder."""
    first = path if path.is_file() else next(iter(_parts(path)), path)
    if first.suffix not in FORMATS:
        hint = f"supported: {', '.join(FORMATS)}; others with spark:FORMAT:PATH"
        raise StateError("unknown file format", source=str(first), hint=hint)
    return FORMATS[first.suffix]


def _parts(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    return [part for part in visible_files(path) if part.name.startswith("part-") and part.suffix in FORMATS]


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else _parts(path)


def _line_columns(path: Path) -> tuple[str, ...] | None:
    """Return the columns in the first lines; None for empty files."""
    names: dict[str, None] = {}
    for file in _files(path):
        with file.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            for number, line in enumerate(islice(lines, _HEADER_LINES), start=1):
                names |= dict.fromkeys(_object(line, f"{file}:{number}"))
    return tuple(names) or None


def _read_lines(plan: TablePlan) -> BatchReader:
    def read(read_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        row, names = plan.actual_row(), plan.actual_columns
        lines = (line for batch in read_batches for line in batch.column(0).to_pylist() if line.strip())
        yield from row_batches(plan.number, (_row(row, names, _object(line, plan.actual)) for line in lines))

    return read


def _row(
    row: Callable[[Sequence[object]], Comparable], names: list[str], line: Mapping[str, object]
) -> Comparable:
    key, rest = row([_value(line.get(name)) for name in names])
    width = len(key)
    for index, name in enumerate(names):
        if name not in line:
            (key if index < width else rest)[index if index < width else index - width] = (
                UNREADABLE + b"absent"
            )
    return key, rest


def _value(value: object) -> object:
    """Return a JSON value; ``{"b64": …}`` is read as bytes, as in a golden folder."""
    if isinstance(value, dict) and value.keys() == {"b64"}:
        try:
            return from_json(value)
        except ValueError:
            return value
    return value


def _object(line: str, source: str) -> dict[str, object]:
    try:
        content = json.loads(line, parse_float=str)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        what = f"the line is not a JSON object: {line[:60].strip()!r}"
        raise StateError(what, source=source, hint='{"id": 1, …} per line')
    return content
