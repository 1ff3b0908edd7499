"""Hypothesis strategies for tables and rows, the same for every protocol.

More general than the public ones: names that MySQL rejects, tables without a key, any rows in any order.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from tests.golden_events import GoldenRow
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.testing.change_log import Image
from ticdc_producer.testing.random_tables import PARTITION_ID, TABLE_ID
from ticdc_producer.testing.random_values import TEXTS
from ticdc_producer.testing.strategies import rows, tables

STAMPS = st.sampled_from([1, 1 << 18, 2**62, 2**63 - 1]) | st.integers(1, 2**63 - 1)
NAMES = TEXTS.filter(bool)
TABLES = tables(keys=("primary", "unique", "none"), names=NAMES)


@dataclass(frozen=True)
class History:
    """Rows of one table version, in order."""

    table: TableInfo
    rows: list[GoldenRow]


@st.composite
def histories(draw: st.DrawFn) -> History:
    """A table and some of its changes. An update does not change the handle key: it would have been split."""
    table = draw(TABLES)
    handle_key = [index for index, flag in enumerate(table.sent_flags) if flag & ColumnFlag.HANDLE_KEY]
    changes = []
    for op in draw(st.lists(st.sampled_from(Op), min_size=1, max_size=6)):
        before = draw(rows(table, invalid_utf8=True))
        after = list(before)
        for index, value in enumerate(draw(rows(table, invalid_utf8=True))):
            if op == Op.INSERT or (index not in handle_key and draw(st.booleans())):
                after[index] = value
        changes.append(_row(table, op, draw(STAMPS), before, tuple(after)))
    return History(table, changes)


def insert(table: TableInfo, ts: int, image: Image) -> GoldenRow:
    """The insert of a row."""
    return _row(table, Op.INSERT, ts, image, image)


def _row(table: TableInfo, op: Op, ts: int, before: Image, after: Image) -> GoldenRow:
    handle = table.handle_index
    return GoldenRow(
        seq=0,
        commit_ts=ts,
        table=table,
        table_id=PARTITION_ID if table.partitions else TABLE_ID,
        row_id=ts >> 1,
        op=op,
        before=None if op == Op.INSERT else before,
        after=None if op == Op.DELETE else after,
        is_partitioned=bool(table.partitions),
        flags=table.flags,
        handle_key_columns=tuple(table.columns[offset].name for offset in handle.offsets) if handle else (),
    )
