"""The keys of rows in the unique indexes of their tables, as digests of 64 bits.

A DDL may add an index, or rewrite a column of one. Earlier rows then have the key that the DDL gives them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Batches
from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.xx_hash import xx_hash
from ticdc_producer.scenario.columns.key_columns import StoredKey, row_keys, stored_key
from ticdc_producer.scenario.columns.row_images import columns_of
from ticdc_producer.scenario.frames.frame_plan import FramePlan

KEYS = pa.schema([
    ("table_id", pa.int64()), ("row_key", pa.binary()), ("index", pa.int64()), ("key", pa.int64()),
    ("commit_seq", pa.int64()), ("row_seq", pa.int64()),
])  # fmt: skip
"""The key that a row has in an index after a change; NULL: it has none."""


def unique_indexes(table: TableInfo) -> list[IndexInfo]:
    """Return the unique indexes of a table besides the key of its rows, without those of virtual columns."""
    own = stored_key(table).index
    indexes = (index for index in table.unique_indexes if index is not own)
    return [index for index in indexes if all(offset in table.sent for offset in index.offsets)]


def refuse_unchecked_keys(table: TableInfo) -> None:
    """Refuse a table with a unique index that is not checked.

    Images lack virtual columns and expressions. Keys are checked by partition; a GLOBAL index has them all.

    :raises UnsupportedSQL: for the first one.
    """
    for index in table.unique_indexes:
        if index.is_global and len(table.partitions) > 1:
            what = f"the global unique key '{table.name}.{index.name}': not supported in a large DataFrame"
            raise UnsupportedSQL(what, hint="leave out the key")
        virtual = next((table.columns[i] for i in index.offsets if table.columns[i].is_virtual), None)
        if virtual is not None:
            kind = "an expression" if virtual.hidden else f"the virtual column {virtual.name!r}"
            what = f"the unique key '{table.name}.{index.name}' of {kind}: not supported in a large DataFrame"
            hint = "leave out the key, or make the column STORED"
            raise UnsupportedSQL(what, column=virtual.name, hint=hint)


@dataclass(frozen=True)
class AddedIndex:
    """A unique index that a DDL adds.

    :param table: the first version with it.
    :param since: number of the DDL's commit.
    """

    number: int
    index: IndexInfo
    table: TableInfo
    since: int


def added_indexes(plan: FramePlan) -> dict[int, list[AddedIndex]]:
    """Return the unique indexes that each version of a table gets from a later one."""
    added: dict[int, list[AddedIndex]] = {}
    since = {entry.table.version: entry.since for entry in plan.entries if entry.table is not None}
    for versions in plan.versions.chains.values():
        known = {index_number(plan.versions.table[v], i) for v in versions[:1] for i in indexes_of(plan, v)}
        for number, version in enumerate(versions):
            table = plan.versions.table[version]
            for index in indexes_of(plan, version):
                new = AddedIndex(index_number(table, index), index, table, since[version])
                if new.number not in known:
                    known.add(new.number)
                    for earlier in versions[:number]:
                        added.setdefault(earlier, []).append(new)
    return added


def indexes_of(plan: FramePlan, version: int) -> list[IndexInfo]:
    table = plan.versions.table[version]
    return unique_indexes(table) if table.table_id in plan.table_ids else []


def index_number(table: TableInfo, index: IndexInfo) -> int:
    """Return a number of an index. A column that a DDL rewrites has another id, and so has its index then."""
    name = "/".join([str(index.id), *(str(table.columns[offset].id) for offset in index.offsets)])
    return int(xx_hash(1, name).view(np.int64)[0])


def digests(table: TableInfo, index: IndexInfo, values: Mapping[int, pa.Array]) -> pa.Array:
    """Return the keys of rows in an index as numbers, NULL if a column is."""
    keys, _ = row_keys(StoredKey(table, index, integer=False), values)
    return pa.array(
        xx_hash(len(keys), keys).view(np.int64), mask=keys.is_null().to_numpy(zero_copy_only=False)
    )


def keys_of(plan: FramePlan, batches: Batches) -> Batches:
    """Yield the keys that rows have after changes (shape ``FRAME_CHANGES``)."""
    added = added_indexes(plan)
    for batch in batches:
        versions = batch.column("table_version").to_numpy()
        for version in np.unique(versions).tolist():
            table, indexes = plan.versions.table[version], indexes_of(plan, version)
            if not indexes and version not in added:
                continue
            rows = batch.filter(pa.array(versions == version))
            for index in indexes:
                yield _keys_in(table, index, rows, rows.column("after"))
            for new in added.get(version, ()):
                targets = np.full(rows.num_rows, new.table.version)
                own = np.full(rows.num_rows, version)
                images = plan.versions.converted(rows.column("after"), own, targets)
                yield _keys_in(new.table, new.index, rows, images)


def _keys_in(
    table: TableInfo, index: IndexInfo, rows: pa.RecordBatch, images: pa.ListArray
) -> pa.RecordBatch:
    """Return the keys of rows in an index.

    :param images: the rows after the changes, in the columns of ``table``.
    """
    columns = dict(zip(table.sent, columns_of(images, len(table.sent)), strict=True))
    given = {
        "index": pa.repeat(pa.scalar(index_number(table, index), pa.int64()), rows.num_rows),
        "key": digests(table, index, columns),
    }
    arrays = [given[name] if name in given else rows.column(name) for name in KEYS.names]
    return pa.record_batch(arrays, schema=KEYS)
