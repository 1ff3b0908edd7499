"""What a scenario gives the stream: the history that was committed upstream.

What SQL did is held here row by row, generated changes as a plan; the Spark stages take it from there
(DESIGN "Change log").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.event import Op, Value
from ticdc_producer.scenario.data_step import DataPlan
from ticdc_producer.scenario.generate.plan import GeneratePlan

RowImage: TypeAlias = tuple[Value, ...]
"""Canonical values of the columns that reach the sink, in table order (``TableInfo.sent``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row change as a statement made it; transactions are not collapsed yet.

    :param commit_seq: number of its transaction among transactions and DDL jobs, from 0.
    :param row_seq: place inside the transaction, as executed, from 0.
    :param table_version: entry of the catalog.
    :param table_id: physical table id: the table, or the partition the row lives in.
    :param row_key: order-preserving encoding of the key that the row is stored under (clustered
        primary key under its collation, else the hidden row id); of the new image, or of the old one
        for a delete.
    :param row_id: integer handle (clustered integer primary key or ``_tidb_rowid``), else 0; a BIGINT
        UNSIGNED key above the signed range is negative, as TiCDC sends it.
    :param old_table_id: with ``old_row_key`` and ``old_row_id``: where an UPDATE took the row from, when
        it moved to another key or partition; None otherwise.
    :param line: line of the statement in the scenario file.
    """

    commit_seq: int
    row_seq: int
    table_version: int
    table_id: int
    row_key: bytes
    row_id: int
    op: Op
    before: RowImage | None
    after: RowImage | None
    old_table_id: int | None = None
    old_row_key: bytes | None = None
    old_row_id: int | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """The rows of one table at one moment, sorted by physical table id and row key.

    :param version: entry of the catalog that describes the columns.
    """

    version: int
    rows: tuple[RowImage, ...]


State: TypeAlias = Mapping[tuple[str, str], TableState]
"""The rows of every table, by schema and name."""


@dataclass(slots=True, kw_only=True)
class History:
    """A scenario after its SQL was run.

    :param commits: how many transactions and DDL jobs took a time stamp.
    :param pinned: explicit ``commit-ts`` of single commits, by ``commit_seq``.
    :param resolved: explicit resolved steps: ``(after how many commits, ts)``.
    :param generated: what ``generate`` steps add to ``changes`` and ``state``, as plans.
    :param data: what ``data`` steps add.
    :param state: rows at the end by ``(schema, table)``, eligible or not.
    :param state_at: the same after so many commits, where it was asked for.
    """

    catalog: Catalog
    changes: list[Change]
    commits: int
    pinned: Mapping[int, int] = field(default_factory=dict)
    resolved: tuple[tuple[int, int], ...] = ()
    generated: tuple[GeneratePlan, ...] = ()
    data: tuple[DataPlan, ...] = ()
    state: State = field(default_factory=dict)
    state_at: Mapping[int, State] = field(default_factory=dict)

    @property
    def row_changes(self) -> int:
        """How many row changes there are, generated ones included; of ``data`` steps nobody knows."""
        return len(self.changes) + sum(plan.events for plan in self.generated)

    def crowded(self, most: int) -> set[tuple[int, int]]:
        """Commit number and physical table id where an update is one of more than ``most`` changes.

        Generated changes are not looked at: their rows keep the stable order.
        """
        counts: Counter[tuple[int, int]] = Counter()
        updated: set[tuple[int, int]] = set()
        for change in self.changes:
            place = change.commit_seq, change.table_id
            counts[place] += 1
            if change.op == Op.UPDATE:
                updated.add(place)
        return {place for place in updated if counts[place] > most}
