"""How fast the encoders are, on the very path that a Spark worker takes: Arrow batches in, messages out.

Rows of one kind of benchmark go round until there are enough of them; what is timed is
``PartitionEncoder.messages``, after a first pass in which plans are compiled.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa

from producer.bench.recorded import RecordedRow, recorded_rows
from producer.codec import registry
from producer.errors import FolderError
from producer.model.catalog import Catalog
from producer.model.event import Kind
from producer.model.table import PartitionInfo, TableInfo
from producer.sink.encode import EncodePlan, PartitionEncoder

LEAST_ROWS = 20_000
PASSES = 5
BATCH = 16
"""Rows in a message of the batched protocols, as where TiCDC was measured."""
ARROW_ROWS = 10_000
"""Rows in an Arrow batch: Spark's default."""

ENCODERS: dict[str, tuple[str, dict[str, Any]]] = {
    "open-protocol": ("open-protocol", {"max_batch_size": BATCH}),
    "canal-json": ("canal-json", {}),
    "craft": ("craft", {"max_batch_size": BATCH}),
    "debezium": ("debezium", {}),
    "debezium-disable-schema": ("debezium", {"debezium_disable_schema": True}),
}
"""Name in the report to protocol and options."""

_IMAGE = pa.list_(pa.binary())
_STREAM = pa.schema(
    [
        ("kind", pa.int8()), ("commit_ts", pa.int64()), ("table_version", pa.int32()),
        ("table_id", pa.int64()), ("row_id", pa.int64()), ("op", pa.int8()), ("before", _IMAGE),
        ("after", _IMAGE), ("dispatch_key", pa.string()), ("ddl", pa.int32()),
    ]
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class EncoderSpeed:
    """:param us_per_row: microseconds on one core, of the best pass."""

    us_per_row: float
    bytes_per_row: float


@dataclass(frozen=True)
class EncodeReport:
    """Speed of every encoder on the same rows."""

    rows: int
    encoders: dict[str, EncoderSpeed] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """``{"rows": n, "encoders": {name: {"us_per_row": …, "bytes_per_row": …}}}``."""
        speeds = {
            name: {"us_per_row": round(one.us_per_row, 4), "bytes_per_row": round(one.bytes_per_row, 2)}
            for name, one in self.encoders.items()
        }
        return {"rows": self.rows, "encoders": speeds}


def measure_encoders(path: Path, *, passes: int = PASSES) -> EncodeReport:
    """Measure all encoders on the rows of a file.

    :param path: recorded events; its ``row`` lines are taken round and round.
    :raises FolderError: if there are none.
    """
    recorded = list(recorded_rows(path))
    if not recorded:
        raise FolderError("has no row events", path=str(path))
    catalog, batches = event_batches(recorded, max(LEAST_ROWS, len(recorded)))
    rows = sum(batch.num_rows for batch in batches)
    return EncodeReport(
        rows=rows,
        encoders={
            name: _best(EncodePlan(protocol=protocol, options=options, catalog=catalog), batches, passes)
            for name, (protocol, options) in ENCODERS.items()
        },
    )


def event_batches(recorded: Sequence[RecordedRow], count: int) -> tuple[Catalog, list[pa.RecordBatch]]:
    """A catalog and the event stream of ``count`` rows, as a worker gets them."""
    tables = list(dict.fromkeys(map(_table, recorded)))
    catalog = Catalog(tuple(replace(table, version=version) for version, table in enumerate(tables)))
    rows = [_line(row, tables.index(_table(row))) for row in recorded]
    table = pa.Table.from_pylist(list(islice(cycle(rows), count)), schema=_STREAM)
    return catalog, table.combine_chunks().to_batches(max_chunksize=ARROW_ROWS)


def _table(row: RecordedRow) -> TableInfo:
    partitions = (PartitionInfo(id=row.table_id, name=""),) if row.is_partitioned else ()
    return replace(row.table, partitions=partitions)


def _line(row: RecordedRow, version: int) -> dict[str, Any]:
    return {
        "kind": int(Kind.ROW),
        "commit_ts": row.commit_ts,
        "table_version": version,
        "table_id": row.table_id,
        "row_id": row.row_id,
        "op": int(row.op),
        "before": row.before,
        "after": row.after,
        "dispatch_key": "",
        "ddl": None,
    }


def _best(plan: EncodePlan, batches: Sequence[pa.RecordBatch], passes: int) -> EncoderSpeed:
    rows = sum(batch.num_rows for batch in batches)
    sizes = sum(message.size for message in PartitionEncoder(plan).messages(batches))
    registry.encoder(plan.protocol, plan.options)  # what is imported late is imported by now
    best = min(_seconds(plan, batches) for _ in range(passes))
    return EncoderSpeed(us_per_row=best / rows * 1e6, bytes_per_row=sizes / rows)


def _seconds(plan: EncodePlan, batches: Sequence[pa.RecordBatch]) -> float:
    gc.collect()
    start = perf_counter()
    for _ in PartitionEncoder(plan).messages(batches):
        pass
    return perf_counter() - start
