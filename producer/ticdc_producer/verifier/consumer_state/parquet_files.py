"""Parquet files that Arrow reads without Spark, to the same values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_LEGACY = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")
"""Keys of files whose old times Spark converts from the Julian calendar."""
_INT96 = "INT96"
_UTC_TIMES = pa.timestamp("us", "UTC")
_BATCH_ROWS = 1 << 16
_ALIKE = {
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.bool_(), pa.float32(), pa.float64(), pa.date32(), pa.timestamp("us"), pa.timestamp("ms")),
    *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary()),
}


@dataclass(frozen=True)
class TableFiles:
    """The files of one table.

    :param columns: names of the columns.
    :param times: the columns of Spark's INT96 times, which are times.
    :param groups: each row group: its file, and its number in the file.
    """

    columns: tuple[str, ...]
    times: frozenset[str]
    groups: tuple[tuple[Path, int], ...]

    def dataset(self, engine: Engine, columns: Sequence[str]) -> Dataset:
        """Return some columns; each row group is a part."""

        def read(part: int) -> Batches:
            file, group = self.groups[part]
            with _open(file) as content:
                for batch in content.iter_batches(_BATCH_ROWS, row_groups=[group], columns=[*columns]):
                    arrays = [
                        array.cast(_UTC_TIMES) if name in self.times else array
                        for name, array in zip(batch.schema.names, batch.columns, strict=True)
                    ]
                    yield pa.record_batch(arrays, batch.schema.names)

        return engine.of_parts(len(self.groups), read, pa.schema([(name, pa.null()) for name in columns]))


def parquet_files(path: Path) -> TableFiles | None:
    """Return the files of a table; None if Spark may read other values or columns than Arrow.

    :param path: a file or folder.
    """
    files = [path] if path.is_file() else visible_files(path)
    if not files or any(not file.is_file() or file.suffix != ".parquet" for file in files):
        return None
    try:
        return _of_files(files)
    except (pa.ArrowException, OSError):
        return None


def visible_files(folder: Path) -> list[Path]:
    """Return what Spark reads of a folder, in the order of the names."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith(("_", ".")))


def _of_files(files: Sequence[Path]) -> TableFiles | None:
    groups: list[tuple[Path, int]] = []
    forms: set[tuple[tuple[str, pa.DataType, bool], ...]] = set()
    for file in files:
        with _open(file) as content:
            metadata = content.metadata.metadata or {}
            fields = [*content.schema_arrow]
            if any(key in metadata for key in _LEGACY) or not all(_is_alike(field.type) for field in fields):
                return None
            times = (content.schema.column(at).physical_type == _INT96 for at in range(len(fields)))
            names, types = [field.name for field in fields], [field.type for field in fields]
            forms.add(tuple(zip(names, types, times, strict=True)))
            groups += [(file, group) for group in range(content.num_row_groups)]
    (form, *others) = forms
    names = [name for name, _, _ in form]
    if others or len({name.lower() for name in names}) < len(names):
        return None
    return TableFiles(
        tuple(names), frozenset(name for name, _, is_instant in form if is_instant), tuple(groups)
    )


def _open(file: Path) -> pq.ParquetFile:
    import pyarrow.parquet as pq

    return pq.ParquetFile(file, coerce_int96_timestamp_unit="us")


def _is_alike(kind: pa.DataType) -> bool:
    """Return whether Spark and Arrow read the same values of a type."""
    if pa.types.is_dictionary(kind):
        return kind.value_type in _ALIKE
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return kind.unit in ("us", "ms")
    return kind in _ALIKE or (pa.types.is_decimal128(kind) and kind.scale >= 0)
