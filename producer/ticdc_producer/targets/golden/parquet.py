"""Rows in Parquet files: each part of a dataset writes one file, and each row group is read by a part.

Writers of a golden folder share the translation of a disk's errors.

``pyarrow.parquet`` is imported where it is used: a small folder has none of these files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from operator import itemgetter
from pathlib import Path

import pyarrow as pa

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Part
from ticdc_producer.errors import FolderError, StorageError
from ticdc_producer.model.shapes import MESSAGES

_HINT = "no incomplete folder is left; free space there, or name another folder"


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Translate the errors of the block, which writes files.

    :param path: the folder of the files.
    :raises StorageError: if a file cannot be written.
    """
    try:
        yield
    except (ConnectionError, FileExistsError, NotADirectoryError):  # of Spark; of the path that a user names
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        what = f"{path}: files cannot be written: {reason}"
        raise StorageError(what, location=str(path), hint=_HINT) from None


_IN_ORDER = b"ticdc-producer.in-order"
"""Key of the metadata of files whose rows are in the order in which they were sent."""
_BATCH_ROWS = 1 << 14
_GROUP_BYTES = 32 << 20
"""Bytes of a row group, the smallest piece that a part reads."""


def write_parquet(dataset: Dataset, folder: Path) -> None:
    """Write a dataset; each part writes one file.

    :param folder: created by this function.
    """
    folder.mkdir()
    schema = dataset.schema

    def write(part: Part, batches: Batches) -> None:
        write_part(part, batches, folder, schema)

    dataset.execute(write)


def write_part(part: Part, batches: Iterable[pa.RecordBatch], folder: Path, schema: pa.Schema) -> None:
    """Write the file of a part; an incomplete file of an earlier attempt is replaced.

    The name of an incomplete file begins with a dot.

    :raises StorageError: if the disk is full or read-only.
    """
    import pyarrow.parquet as pq

    partial = folder / f".part-{part.index:05}.{part.attempt}"
    in_order = schema.with_metadata({_IN_ORDER: b"topic, partition, offset"})
    with disk_errors(folder):
        with pq.ParquetWriter(partial, in_order, compression="zstd") as writer:
            for table in _groups(batches, schema):
                writer.write_table(table)
                del table  # else it is in memory together with the next one
        partial.replace(folder / f"part-{part.index:05}.parquet")


def _groups(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield the rows of each row group."""
    held: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        held.append(batch)
        size += batch.nbytes
        if size >= _GROUP_BYTES:
            yield pa.Table.from_batches(held, schema)
            held, size = [], 0
    if held:
        yield pa.Table.from_batches(held, schema)


def parquet_files(path: Path) -> list[Path]:
    """Return the files of a folder in the order of their names."""
    return sorted(path.glob("*.parquet"))


def parquet_parts(engine: Engine, path: Path, schema: pa.Schema) -> Dataset:
    """Return the rows of all files; each row group is a part.

    :param schema: the columns that are read, by name.
    :raises FolderError: for files that lack them.
    """
    groups = row_groups(path, schema)

    def read(part: int) -> Batches:
        return read_group(*groups[part], schema)

    return engine.of_parts(len(groups), read, schema)


def row_groups(path: Path, schema: pa.Schema) -> list[tuple[Path, int]]:
    """Return each row group: its file, and its number in the file.

    :raises FolderError: for files that are unreadable or lack columns.
    """
    import pyarrow.parquet as pq

    try:
        files = [(file, pq.ParquetFile(file)) for file in parquet_files(path.absolute())]
    except (pa.ArrowException, OSError):
        files = []
    names = set(schema.names)
    if not files or any(not names <= set(content.schema_arrow.names) for _, content in files):
        hint = "run the scenario again, and write a new folder"
        raise FolderError("these files lack columns of the folder's format", path=str(path), hint=hint)
    return [(file, number) for file, content in files for number in range(content.num_row_groups)]


def read_group(file: Path, number: int, schema: pa.Schema) -> Batches:
    """Yield the rows of a row group."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as content:
        for batch in content.iter_batches(_BATCH_ROWS, row_groups=[number], columns=schema.names):
            yield batch.select(schema.names).cast(schema)


def message_groups(path: Path) -> list[tuple[Path, int]] | None:
    """Return the row groups of messages in the order of their partitions and offsets.

    None: the statistics of the files do not prove that each row group holds a range of one partition.
    """
    pieces = []
    for file, number in row_groups(path, MESSAGES):
        span = _span(file, number)
        if span is None:
            return None
        if span:
            pieces.append((*span, file, number))
    pieces.sort(key=itemgetter(0, 1))
    for (partition, _, last, *_), (following, first, *_) in pairwise(pieces):
        if partition == following and last >= first:
            return None
    return [(file, number) for _, _, _, file, number in pieces]


def _span(file: Path, number: int) -> tuple[tuple[str, int], int, int] | tuple[()] | None:
    """Return partition, first and last offset of a row group; empty if it has no rows; None if unknown.

    Files of this tool say that their rows are in order.
    """
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as content:
        group = content.metadata.row_group(number)
        in_order = (content.metadata.metadata or {}).get(_IN_ORDER)
        if not group.num_rows:
            return ()
        columns = {
            group.column(index).path_in_schema: group.column(index) for index in range(group.num_columns)
        }
        bounds = [columns[name].statistics for name in ("topic", "partition", "offset")]
        if in_order is None or any(bound is None or not bound.has_min_max for bound in bounds):
            return None
        topic, partition, offset = bounds
        if topic.min != topic.max or partition.min != partition.max:
            return None
        return (topic.min, partition.min), offset.min, offset.max
