"""Tables in files that a consumer wrote: Parquet, CSV or JSON lines, one file or folder per table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.errors import StateError
from ticdc_producer.model.json_value import from_json
from ticdc_producer.spark.spark_errors import READ_ERRORS, first_sentence
from ticdc_producer.verifier.consumer_state.cell import UNREADABLE
from ticdc_producer.verifier.consumer_state.csv_rows import csv_columns, csv_reader
from ticdc_producer.verifier.consumer_state.dataframes import frame_rows
from ticdc_producer.verifier.consumer_state.expected import ExpectedTable
from ticdc_producer.verifier.consumer_state.plan import Comparable, TablePlan
from ticdc_producer.verifier.consumer_state.rows import ROWS, batches, line_frame
from ticdc_producer.verifier.consumer_state.source import BatchReader, Found, usual_names

FORMATS = {".parquet": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
_SEEN_LINES = 1_000


class Files:
    """A folder of tables, or the file of one.

    :param start: gives the Spark session.
    :param tables: how many are to be compared.
    :raises StateError: if there is nothing at that place, or one table where several are expected.
    """

    def __init__(self, place: Path, start: Callable[[], SparkSession], *, tables: int) -> None:
        if not place.exists():
            hint = "a folder of SCHEMA.TABLE.jsonl, .csv or .parquet, one of these files, or a database URL"
            raise StateError("there is no such file or folder", source=str(place), hint=hint)
        self._place, self._start = place.absolute(), start
        self._whole = place.is_file() or bool(_parts(place))
        if self._whole and tables != 1:
            what = f"this holds one table, and {tables} are to be compared"
            raise StateError(what, source=str(place), hint="--table SCHEMA.TABLE says which")

    @property
    def label(self) -> str:
        """The path."""
        return str(self._place)

    def find(self, table: ExpectedTable, name: str | None, *, alone: bool) -> Found | None:
        path = self._path(table, name, alone=alone)
        if path is None:
            return None
        columns = self._columns(path)
        return Found(name=str(path), columns=columns)

    def _path(self, table: ExpectedTable, name: str | None, *, alone: bool) -> Path | None:
        if self._whole:
            return self._place
        names = [name] if name is not None else [table.file.stem, *usual_names(table, alone=alone)]
        found = (self._place / f"{one}{suffix}" for one in names for suffix in ("", *FORMATS))
        return next((path for path in found if path.exists() and path != self._place), None)

    def _columns(self, path: Path) -> tuple[str, ...] | None:
        match _format(path):
            case "jsonl":
                return _line_columns(path)
            case "csv":
                return csv_columns(_files(path))
        try:
            return tuple(self._start().read.parquet(str(path)).columns)
        except READ_ERRORS as error:
            raise StateError(f"Spark cannot read it: {first_sentence(error)}", source=str(path)) from None

    def rows(self, spark: SparkSession, plan: TablePlan) -> DataFrame:
        path = Path(plan.actual)
        match _format(path):
            case "jsonl":
                return line_frame(spark, str(path)).mapInArrow(_read_lines(plan), ROWS)
            case "csv":
                return spark.range(1, numPartitions=1).mapInArrow(csv_reader(_files(path), plan), ROWS)
        return frame_rows(spark.read.parquet(str(path)), plan)


def _format(path: Path) -> str:
    """Of a folder that of the files in it."""
    first = path if path.is_file() else next(iter(_parts(path)), path)
    if first.suffix not in FORMATS:
        hint = f"known are {', '.join(FORMATS)}; others by spark:FORMAT:PATH"
        raise StateError("a file of unknown format", source=str(first), hint=hint)
    return FORMATS[first.suffix]


def _parts(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    shown = sorted(part for part in path.iterdir() if not part.name.startswith(("_", ".")))
    return [part for part in shown if part.name.startswith("part-") and part.suffix in FORMATS]


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else _parts(path)


def _line_columns(path: Path) -> tuple[str, ...] | None:
    """The columns that the first lines have; None where there are no lines."""
    names: dict[str, None] = {}
    for file in _files(path):
        with file.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
            for number, line in enumerate(islice(lines, _SEEN_LINES), start=1):
                names |= dict.fromkeys(_object(line, f"{file}:{number}"))
    return tuple(names) or None


def _read_lines(plan: TablePlan) -> BatchReader:
    def read(frames: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        row, names = plan.actual_row(), plan.actual_columns
        lines = (line for frame in frames for line in frame.column(0).to_pylist() if line.strip())
        yield from batches(plan.number, (_row(row, names, _object(line, plan.actual)) for line in lines))

    return read


def _row(row: Any, names: list[str], line: Mapping[str, Any]) -> Comparable:
    key, rest = row([_value(line.get(name)) for name in names])
    width = len(key)
    for place, name in enumerate(names):
        if name not in line:
            (key if place < width else rest)[place if place < width else place - width] = (
                UNREADABLE + b"absent"
            )
    return key, rest


def _value(value: Any) -> Any:
    """Bytes stand as ``{"b64": …}``, as in a golden folder."""
    if isinstance(value, dict) and value.keys() == {"b64"}:
        try:
            return from_json(value)
        except ValueError:
            return value
    return value


def _object(line: str, source: str) -> dict[str, Any]:
    try:
        content = json.loads(line, parse_float=str)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        what = f"a line of JSON is no object: {line[:60].strip()!r}"
        raise StateError(what, source=source, hint='{"id": 1, …} per line')
    return content
