"""Data files of one directory: where one ends, what they are called, what the index says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import uuid4

import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from ticdc_producer.model import tso
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.targets.storage.write import DataFiles, FileRules

MEMORY = MemoryFileSystem()


def _batches(rows: Sequence[tuple[int, bytes]], step: int) -> Iterator[MessageBatch]:
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        yield MessageBatch(
            key=pa.nulls(len(part), pa.binary()),
            value=pa.array([value for _, value in part], pa.binary()),
            commit_ts=pa.array([ts for ts, _ in part], pa.int64()),
            events=pa.repeat(1, len(part)),
        )


def _written(
    rows: Sequence[tuple[int, bytes]], step: int, header: bytes = b"", **rules: int
) -> dict[str, bytes]:
    folder = f"/{uuid4()}"
    known = {"width": 6, "size": 1 << 20, **rules}
    files = DataFiles(MEMORY, folder, FileRules(extension=".csv", **known), header)  # type: ignore[arg-type]
    tally = files.write(_batches(rows, step))
    contents = {path.removeprefix(f"{folder}/"): MEMORY.cat_file(path) for path in MEMORY.find(folder)}
    index = contents.pop("meta/CDC.index", b"")
    assert index == (max(contents) + "\n").encode()
    assert (tally.files, tally.rows) == (len(contents), len(rows))
    return contents


@pytest.mark.parametrize("step", [1, 2, 3, 100])
def test_a_file_ends_with_the_transaction_that_fills_it(step: int) -> None:
    rows = [(1, b"aaaa"), (1, b"bbbb"), (1, b"cccc"), (2, b"d"), (3, b"eeee"), (4, b"f"), (4, b"gggg")]
    assert _written(rows, step, size=5) == {
        "CDC000001.csv": b"aaaabbbbcccc",
        "CDC000002.csv": b"deeee",
        "CDC000003.csv": b"fgggg",
    }


@pytest.mark.parametrize("step", [1, 2, 100])
def test_a_file_ends_at_multiples_of_the_flush_interval(step: int) -> None:
    rows = [(tso.compose(ms), b"%d." % ms) for ms in (1000, 1999, 2000, 2001, 9000)]
    assert _written(rows, step, flush_ms=2000) == {
        "CDC000001.csv": b"1000.1999.",
        "CDC000002.csv": b"2000.2001.",
        "CDC000003.csv": b"9000.",
    }


def test_every_file_begins_with_the_header() -> None:
    assert _written([(1, b"a"), (2, b"b")], 2, b"head\n", size=1) == {
        "CDC000001.csv": b"head\na",
        "CDC000002.csv": b"head\nb",
    }
