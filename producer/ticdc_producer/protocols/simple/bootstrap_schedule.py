"""Decides where BOOTSTRAP messages are sent: before the first row of a table, then per row count and
interval.

Source: tiflow ``pkg/sink/codec/bootstraper.go``. TiCDC sends each BOOTSTRAP message to all partitions; here
each partition gets its own before its first row of the table. The clock is the commit-ts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import Numbers
from ticdc_producer.protocols.simple.options import SimpleOptions


@dataclass(slots=True)
class _LastBootstrap:
    """The last BOOTSTRAP message of a table.

    :param ms: commit time of the row it was sent for, in Unix milliseconds.
    :param rows: number of rows of the table since.
    """

    ms: int
    rows: int = 0


class BootstrapSchedule:
    """Finds the rows of one partition before which a BOOTSTRAP message is sent."""

    def __init__(self, options: SimpleOptions) -> None:
        self._interval = options.send_bootstrap_interval_in_sec * 1000
        self._count = options.send_bootstrap_in_msg_count
        self._last: dict[int, _LastBootstrap] = {}

    def due(self, tables: Sequence[TableInfo], numbers: Numbers, commit_ts: Numbers) -> dict[int, TableInfo]:
        """Row index to the table whose BOOTSTRAP message precedes the row, in row order.

        :param tables: the tables by number.
        :param numbers: table number of each row.
        :param commit_ts: TSO of each row.
        """
        ids = np.array([table.table_id for table in tables])[numbers]
        found: list[int] = []
        for table_id in np.unique(ids).tolist():
            positions = np.flatnonzero(ids == table_id)
            found += positions[list(self._of_table(table_id, commit_ts[positions] >> LOGICAL_BITS))].tolist()
        return {position: tables[numbers[position]] for position in sorted(found)}

    def _of_table(self, table_id: int, ms: Numbers) -> Iterator[int]:
        """Indexes of the rows of one table before which a BOOTSTRAP message is sent.

        :param ms: commit time of each row of the table, in Unix milliseconds.
        """
        position = 0
        if table_id not in self._last:
            yield position
            self._last[table_id] = _LastBootstrap(int(ms[position]))
        last = self._last[table_id]
        while (next_position := self._next(last, position, ms)) < len(ms):
            yield next_position
            position, last = next_position, _LastBootstrap(int(ms[next_position]))
        self._last[table_id] = _LastBootstrap(last.ms, last.rows + len(ms) - position)

    def _next(self, last: _LastBootstrap, position: int, ms: Numbers) -> int:
        """Index of the next due row from ``position`` on; the number of rows or more if none is due."""
        by_count = position + self._count - last.rows
        late = np.flatnonzero(ms[position:by_count] >= last.ms + self._interval)
        return position + int(late[0]) if len(late) else by_count
