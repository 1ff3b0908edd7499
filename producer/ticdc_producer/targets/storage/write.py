"""Row events to files, inside Spark workers, and what the driver writes beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

import pyarrow as pa
from pyspark.sql import DataFrame

from ticdc_producer.config.file_system import failures, file_system, make_folder, storage_error, there
from ticdc_producer.errors import FolderError, ProducerError, StorageError
from ticdc_producer.protocols.csv.encoder import CSVEncoder
from ticdc_producer.protocols.csv.options import CSVOptions
from ticdc_producer.protocols.registry import known
from ticdc_producer.protocols.storage.layout import METADATA, metadata
from ticdc_producer.protocols.storage.schema_file import SchemaFile
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder
from ticdc_producer.targets.encoding.row_batches import NEEDED
from ticdc_producer.targets.encoding.split_by_partition import by_place
from ticdc_producer.targets.storage.data_files import DataFiles, FileRules, Tally

_PARAMETER = "sink-uri"
WRITTEN = "directory string, files long, rows long, bytes long, failure string"
"""The account of a run: a line per directory, or what went wrong there."""
_ARROW = pa.schema(
    [
        ("directory", pa.string()),
        ("files", pa.int64()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
        ("failure", pa.string()),
    ]
)


def check_empty(place: str) -> None:
    """A run needs a folder for itself.

    :raises FolderError: if it holds anything.
    :raises ChangefeedError: if nothing is installed for its scheme.
    :raises StorageError: if it cannot be looked at, as for want of its bucket.
    """
    system, folder = file_system(place, _PARAMETER)
    try:
        filled = there(system, folder) and bool(system.ls(folder, detail=False))
    except failures() as error:
        raise _failure(place, error) from None
    if filled:
        raise FolderError("the folder of the sink URI is not empty", path=place, hint="name a new one")


def write_data(events: DataFrame, plan: EncodePlan, place: str, rules: FileRules) -> DataFrame:
    """Encode row events and write them (``WRITTEN``); evaluating it does the writing.

    A task that is run again writes the same files again.

    :param events: as ``in_directories`` gives them.
    :param place: URI of the folder, without parameters.
    """

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for (directory, _), rows in by_place(batches):
            try:
                tally, failure = write_directory(directory, rows, plan, place, rules), None
            except ProducerError as error:
                # As a line and not as an exception: the driver wants the sentence, not Spark's trace of it.
                tally, failure = Tally(), error.what
            line = {"directory": directory, "files": tally.files, "rows": tally.rows, "bytes": tally.size}
            yield pa.RecordBatch.from_pylist([{**line, "failure": failure}], schema=_ARROW)

    return events.select(*NEEDED).mapInArrow(write, WRITTEN)


def write_directory(
    directory: str, events: Iterator[pa.RecordBatch], plan: EncodePlan, place: str, rules: FileRules
) -> Tally:
    """The data files of one directory.

    :raises EncodeError: for a row that TiCDC refuses, unless such rows are left out.
    :raises StorageError: if the storage does not take a file.
    """
    first = next(events)
    system, folder = file_system(place, _PARAMETER)
    files = DataFiles(system, f"{folder}/{directory}", rules, _header(plan, first))
    encoder = PartitionEncoder(plan, directory)
    try:
        return files.write(encoder.batches(chain([first], events)))
    except failures() as error:
        raise _failure(place, error) from None


def _header(plan: EncodePlan, events: pa.RecordBatch) -> bytes:
    if plan.protocol != "csv" or not plan.options.get("output_field_header"):
        return b""
    table = plan.catalog.tables[events.column("table_version")[0].as_py()]
    return CSVEncoder(CSVOptions(**known(CSVOptions, plan.options))).header(table)


def write_schema_files(place: str, files: Mapping[str, SchemaFile]) -> None:
    """:raises StorageError: if the storage does not take one."""
    _write(place, {path: file.content for path, file in files.items()})


def write_metadata(place: str, checkpoint_ts: int) -> None:
    """The last file of a run: it says that everything up to a commit-ts is there.

    :raises StorageError: if the storage does not take it.
    """
    _write(place, {METADATA: metadata(checkpoint_ts)})


def _write(place: str, files: Mapping[str, bytes]) -> None:
    system, folder = file_system(place, _PARAMETER)
    try:
        for parent in sorted({path.rpartition("/")[0] for path in files}):
            make_folder(system, f"{folder}/{parent}".rstrip("/"))
        for path, content in files.items():
            system.pipe_file(f"{folder}/{path}", content)
    except failures() as error:
        raise _failure(place, error) from None


def _failure(place: str, error: Exception) -> StorageError:
    return storage_error(f"files cannot be written to {place}", place, error)
