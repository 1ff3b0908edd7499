"""Stage: the rows of tables with soft deletes, as the dispatchers of TiCDC new architecture send them.

Deletes are dropped. An update that sets the time of the soft delete becomes a delete, unless the changefeed
has ``enable-active-active``. This comes after updates were split: of an update of the key, only the insert is
sent. Source: ticdc ``pkg/common/event/active_active.go`` (``EvaluateRowPolicy``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.event import Op
from ticdc_producer.model.shapes import MutationBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.row_images import column_values, numbers, without


def soft_delete_tables(tables: Iterable[TableInfo], changefeed: Changefeed) -> Iterator[TableInfo]:
    """Yield the tables whose deletes are dropped; classic TiCDC does not know soft deletes."""
    if changefeed.profile == "new":
        yield from (table for table in tables if table.soft_delete)


def soft_deletes(
    mutations: MutationBatch, tables: Iterable[TableInfo], changefeed: Changefeed
) -> MutationBatch:
    """Drop deletes of tables with soft deletes, and turn soft deletes into deletes.

    >>> from types import SimpleNamespace
    >>> table = SimpleNamespace(version=0, soft_delete="RETENTION 7 DAY", soft_delete_offset=0)
    >>> table.image_index = lambda offset: offset
    >>> changefeed = SimpleNamespace(profile="new", enable_active_active=False)
    >>> columns = {"table_version": [0, 0], "op": pa.array([Op.UPDATE, Op.DELETE], pa.int8())}
    >>> images = {"before": [[None], [b"2026-01-01"]], "after": [[b"2026-01-01"], None]}
    >>> rows = soft_deletes(pa.record_batch(columns | images), [table], changefeed)
    >>> [Op(code).name for code in rows["op"].to_pylist()], rows["before"].to_pylist()
    (['DELETE'], [[None]])

    :param mutations: results of ``mutations.split``, with all columns.
    :param tables: the versions that are replicated.
    :return: the same columns, in the same order.
    """
    marked = [*soft_delete_tables(tables, changefeed)]
    if not marked:
        return mutations
    versions, ops = numbers(mutations.column("table_version")), numbers(mutations.column("op"))
    of_tables = np.isin(versions, [table.version for table in marked])
    becomes_delete = np.zeros(len(ops), bool)
    for table in marked if not changefeed.enable_active_active else ():
        rows = np.flatnonzero((versions == table.version) & (ops == int(Op.UPDATE)))
        index = None if table.soft_delete_offset is None else table.image_index(table.soft_delete_offset)
        if index is not None and len(rows):
            before, after = (
                column_values(mutations.column(image), rows, index) for image in ("before", "after")
            )
            set_now = before.is_null().to_numpy(zero_copy_only=False) & after.is_valid().to_numpy(
                zero_copy_only=False
            )
            becomes_delete[rows[set_now]] = True
    if becomes_delete.any():
        new_ops = pa.array(np.where(becomes_delete, int(Op.DELETE), ops).astype(np.int8))
        for name, column in (("op", new_ops), ("after", without(mutations.column("after"), becomes_delete))):
            position = mutations.schema.get_field_index(name)
            mutations = mutations.set_column(position, mutations.schema.field(position), column)
    dropped = of_tables & (ops == int(Op.DELETE))
    return mutations.filter(pa.array(~dropped)) if dropped.any() else mutations


def check_active_active_tables(tables: Iterable[TableInfo], changefeed: Changefeed) -> None:
    """Check that a changefeed with ``enable-active-active`` replicates active-active tables only.

    Source: ticdc ``downstreamadapter/dispatcher/basic_dispatcher.go`` (``ensureActiveActiveTableInfo``).

    :raises ChangefeedError: for another table: TiCDC stops at its first row.
    """
    if not changefeed.enable_active_active:
        return
    for table in tables:
        if not table.active_active:
            raise ChangefeedError(
                f"CDC:ErrInvalidReplicaConfig: table {table.qualified_name} is not active-active but "
                "enable-active-active is true",
                parameter="enable-active-active",
                hint="TiCDC stops at its first row; create it with ACTIVE_ACTIVE='ON', or leave it out by "
                "filter.rules",
            )
