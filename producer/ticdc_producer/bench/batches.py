"""The rows of a benchmark as a Spark worker receives them: Arrow batches of the event stream."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from ticdc_producer.bench.recorded import RecordedRow, recorded_rows
from ticdc_producer.errors import FolderError
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import Kind
from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.targets.encoding.row_batches import EVENTS_ARROW

MIN_ROWS = 20_000
ARROW_ROWS = 10_000
"""Rows in an Arrow batch: Spark's default."""

LINES = {
    "-".join(filter(None, (spec.name, line.suffix))): (spec.name, line)
    for spec in BUILT_IN.values()
    for line in spec.benchmark
}
"""Name in the report → protocol, and its options and minimal decoder."""


def event_batches(path: Path, min_rows: int) -> tuple[Catalog, list[pa.RecordBatch]]:
    """A catalog, and the event stream of a file's rows as a worker receives it.

    The file's rows are repeated up to ``min_rows``; a longer file is used completely.

    :raises FolderError: if the file has no row events.
    """
    recorded = list(recorded_rows(path))
    if not recorded:
        raise FolderError("has no row events", path=str(path))
    count = max(min_rows, len(recorded))
    tables = list(dict.fromkeys(map(_table, recorded)))
    catalog = Catalog(tuple(replace(table, version=version) for version, table in enumerate(tables)))
    rows = [_event_row(row, tables.index(_table(row))) for row in recorded]
    table = pa.Table.from_pylist(list(islice(cycle(rows), count)), schema=EVENTS_ARROW)
    return catalog, table.combine_chunks().to_batches(max_chunksize=ARROW_ROWS)


def _table(row: RecordedRow) -> TableInfo:
    partitions = (PartitionInfo(id=row.table_id, name=""),) if row.is_partitioned else ()
    return replace(row.table, partitions=partitions)


def _event_row(row: RecordedRow, version: int) -> dict[str, Any]:
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
