"""The rows of a table from changes that come in many batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

import ticdc_producer
from ticdc_producer.rows.changes import ChangeReader
from ticdc_producer.rows.columns import table_schema
from ticdc_producer.rows.origin import Origin, golden_folder
from ticdc_producer.rows.state import StateReader

TABLE = ("bank", "accounts")


def small_batches(read: Origin) -> Iterator[pa.RecordBatch]:
    for batch in read.events.batches():
        yield from (batch.slice(row, 16) for row in range(0, batch.num_rows, 16))


def test_changes_that_are_not_the_newest_of_their_key_need_not_be_held(tmp_path: Path) -> None:
    ticdc_producer.run("bank", out=tmp_path / "golden")
    read = golden_folder(tmp_path / "golden")
    changes = ChangeReader.of(read, TABLE, table_schema(read, *TABLE).columns, "fail", "")
    reader = StateReader.of(read, changes, None, "at")
    whole, in_parts = (
        pa.Table.from_batches(rows).sort_by("id").to_pylist()
        for rows in (reader(read.events.batches()), replace(reader, held_rows=20)(small_batches(read)))
    )
    assert in_parts == whole
    assert len(whole) > 20
