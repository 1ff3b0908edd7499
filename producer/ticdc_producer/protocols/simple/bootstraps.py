"""When a table is described: before its first row, and again after so many rows or so much time.

Source: tiflow ``pkg/sink/codec/bootstraper.go``. TiCDC sends each description to all partitions; here
each partition gets its own before the first row that it holds. Its clock is the commit-ts.
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
class _Told:
    """The last description of a table.

    :param ms: when it was sent.
    :param rows: how many rows of the table came since.
    """

    ms: int
    rows: int = 0


class Bootstraps:
    """Which rows of one partition have a description before them."""

    def __init__(self, options: SimpleOptions) -> None:
        self._interval = options.send_bootstrap_interval_in_sec * 1000
        self._count = options.send_bootstrap_in_msg_count
        self._told: dict[int, _Told] = {}

    def due(self, tables: Sequence[TableInfo], numbers: Numbers, commit_ts: Numbers) -> dict[int, TableInfo]:
        """Row places to the table that is described before them, in order.

        :param tables: by number.
        :param numbers: of the table of each row.
        """
        ids = np.array([table.table_id for table in tables])[numbers]
        found: list[int] = []
        for table_id in np.unique(ids).tolist():
            places = np.flatnonzero(ids == table_id)
            found += places[list(self._of_table(table_id, commit_ts[places] >> LOGICAL_BITS))].tolist()
        return {place: tables[numbers[place]] for place in sorted(found)}

    def _of_table(self, table_id: int, ms: Numbers) -> Iterator[int]:
        """Places among the rows of one table.

        :param ms: physical commit time of each row.
        """
        place = 0
        if table_id not in self._told:
            yield place
            self._told[table_id] = _Told(int(ms[place]))
        told = self._told[table_id]
        while (next_place := self._next(told, place, ms)) < len(ms):
            yield next_place
            place, told = next_place, _Told(int(ms[next_place]))
        self._told[table_id] = _Told(told.ms, told.rows + len(ms) - place)

    def _next(self, told: _Told, place: int, ms: Numbers) -> int:
        """The first row from a place on that is due; the number of rows if none is."""
        by_count = place + self._count - told.rows
        late = np.flatnonzero(ms[place:by_count] >= told.ms + self._interval)
        return place + int(late[0]) if len(late) else by_count
