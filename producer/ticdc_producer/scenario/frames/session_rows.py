"""The rows that a large frame leaves in a table, for statements of the session that use the table later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine import SMALL_BYTES, SMALL_EVENTS
from ticdc_producer.engine.dataset import Batches, Engine, Part, RowLimit
from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.columns.row_images import columns_of
from ticdc_producer.scenario.frames.frame_histories import partial_changes, stored_rows
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.sql.definition.generated import fill_generated
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.store.storage import Table

StoredRow: TypeAlias = tuple[Sequence[Value], bytes]
"""The sent columns of a row, and the ids of the columns that it was stored with."""


@dataclass(frozen=True)
class LoadedRows:
    """The rows of a table after a large frame.

    :param used: the highest id that the changes gave an AUTO_INCREMENT or AUTO_RANDOM column; 0: none.
    """

    rows: Sequence[StoredRow]
    used: int


def loaded_rows(engine: Engine, plan: FramePlan, table: TableInfo) -> LoadedRows:
    """Read the rows that a frame leaves in a table.

    :param plan: with the DDL that ran since.
    :param table: as it is now.
    :raises UnsupportedSQL: for more rows than the session holds, and for a table with hidden row ids.
    """
    what = f"the rows of {table.qualified_name} come from a large DataFrame"
    if table.clustered_key is None:
        hint = "give the table a clustered primary key, or put this before the step"
        raise UnsupportedSQL(f"{what}, and have hidden row ids", hint=hint)
    changes = partial_changes(engine, plan)
    try:
        rows = stored_rows(changes, plan, table, None).small(SMALL_EVENTS)
    except RowLimit:
        rows = None
    if rows is None or rows.nbytes > SMALL_BYTES:
        hint = "put this before the step, or use another table"
        raise UnsupportedSQL(f"{what}, and are too many for a statement", hint=hint)
    versions = {version: plan.versions.table[version].stored_ids for version in plan.versions.table}
    stored = (versions[version] for version in rows.column("table_version").to_pylist())
    used = max(changes.results(partial(_most_used, plan)), default=0) if _with_ids(table) else 0
    return LoadedRows([*zip(rows.column("row").to_pylist(), stored, strict=True)], used)


def store_rows(table: Table, loaded: LoadedRows, mode: SQLMode) -> None:
    """Store rows in a table of the session, and account for their ids."""
    info, lenient = table.info, replace(mode, strict=False)
    for image, stored in loaded.rows:
        values: list[Value] = [None] * len(info.columns)
        for offset, value in zip(info.sent, image, strict=True):
            values[offset] = value
        fill_generated(Scope(lenient, info, values))
        table.put(table.make_row(values, stored=stored))
    if loaded.used:
        table.ids.advance(loaded.used)


def _with_ids(table: TableInfo) -> list[ColumnInfo]:
    return [column for column in table.columns if column.auto_increment or column.auto_random]


def _most_used(plan: FramePlan, _part: Part, batches: Batches) -> int:
    """Return the highest id in a column that TiDB counts; of AUTO_RANDOM without the shard."""
    most = 0
    for batch in batches:
        versions = batch.column("table_version").to_numpy()
        for version in np.unique(versions).tolist():
            table = plan.versions.table[version]
            for column in _with_ids(table):
                images = batch.column("after").filter(pa.array(versions == version))
                index = table.sent.index(table.columns.index(column))
                ids = columns_of(images, len(table.sent))[index].drop_null().cast(pa.string())
                kind = pa.uint64() if column.unsigned else pa.int64()
                numbers = ids.cast(kind)
                if column.auto_random:
                    shard_bits, width = column.auto_random
                    mask = (1 << width - (not column.unsigned) - shard_bits) - 1
                    # As RowIds.advance_sharded: one with the sign bit is not accounted for.
                    least, largest = pa.scalar(0, kind), pa.scalar((1 << 63) - 1, kind)
                    counted = pc.and_(pc.greater_equal(numbers, least), pc.less_equal(numbers, largest))
                    numbers = pc.bit_wise_and(numbers.filter(counted), pa.scalar(mask, kind))
                most = max(most, pc.max(numbers).as_py() or 0)
    return most
