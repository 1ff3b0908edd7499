"""The reference consumer: computes the rows of a topic's tables at its end.

Per row key the event with the highest commit-ts decides; at one commit-ts a delete comes before an insert.
DROP and TRUNCATE remove the rows committed up to them. It shares no code with the computation of the
scenario's expected state, so that each checks the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ticdc_producer.model.ddl_action import Action
from ticdc_producer.model.event import Op
from ticdc_producer.verifier.events import NOTHING, Events, EventKind
from ticdc_producer.verifier.fingerprint import Flags, Numbers
from ticdc_producer.verifier.forms import Images
from ticdc_producer.verifier.key_groups import starts_of
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.table_epochs import TableDDL

MAX_EXAMPLES = 5
STATE = pa.schema(
    [("schema", pa.string()), ("table", pa.string()), ("row", pa.map_(pa.string(), pa.binary()))]
)
"""Rows of tables; a NULL row says that there is a table, which may be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateComparison:
    """Result of the comparison of expected rows with those of the reference consumer.

    :param tables: number of tables compared.
    :param not_compared: tables whose final rows cannot be derived from the stream: a DDL changed them, or
        the protocol does not mark their key.
    :param diff: examples: ``-`` missing rows, ``+`` unexpected rows.
    """

    tables: int
    rows: int
    missing: int
    unexpected: int
    not_compared: tuple[str, ...] = ()
    diff: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not (self.missing or self.unexpected)

    def to_json(self) -> dict[str, Any]:
        """The fields as keys, and ``ok``."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {"ok": self.ok, **fields, "not_compared": list(self.not_compared), "diff": list(self.diff)}


def final_rows(
    events: Events, options: VerifyOptions, ddls: Iterable[TableDDL], until: int | None = None
) -> Events:
    """The events that decide the rows of tables with a handle key.

    :param events: delivered events in whole groups of equal ``key``; duplicates do not change the result.
    :param until: only events and DDLs up to this commit-ts count; None: all.
    """
    changes = events.keyed & ((events.kind == EventKind.ROW) | (events.kind == EventKind.LEFT_KEY))
    rows = events.take(changes if until is None else changes & (events.commit_ts <= until))
    order = np.lexsort((*_order(rows, options), rows.key_check, rows.key))
    last = np.roll(starts_of(rows.key[order], rows.key_check[order]), -1)
    final = rows.take(order[last])
    return final.take((final.content != 0) & ~_cleared(final, ddls, until))


def _order(rows: Events, options: VerifyOptions) -> tuple[Numbers, ...]:
    """The order of a row's events, the least important first.

    If transactions of one millisecond cannot be distinguished, the position in the partition decides; if rows
    have no commit-ts, only the position.
    """
    if not options.rows_have_commit_ts:
        return (rows.position,)
    if options.commit_ts != "exact":
        return rows.position, rows.commit_ts
    return rows.position, (rows.op != Op.DELETE).astype(np.int64), rows.commit_ts


def _cleared(rows: Events, ddls: Iterable[TableDDL], until: int | None) -> Flags:
    """Rows that a later DROP or TRUNCATE removed."""
    gone: dict[tuple[str, str], int] = {}
    for ddl in ddls:
        if until is not None and ddl.commit_ts > until:
            continue
        if ddl.action == Action.DROP_SCHEMA:
            name = ddl.schema, ""
        elif ddl.action in (Action.DROP_TABLE, Action.TRUNCATE_TABLE):
            name = ddl.schema, ddl.table
        else:
            continue
        gone[name] = max(ddl.commit_ts, gone.get(name, NOTHING))
    codes, tables = rows.tables
    moments = [max(gone.get(table, NOTHING), gone.get((table[0], ""), NOTHING)) for table in tables]
    return rows.commit_ts <= np.array(moments, np.int64)[codes]


def state_difference(
    expected: pa.Table, delivered: Events
) -> tuple[dict[str, int], Numbers, Numbers]:
    """Compare the rows of the tables in ``expected``.

    :param expected: :data:`STATE`.
    :param delivered: see :func:`final_rows`.
    :return: the counts of a ``StateComparison``; then the numbers of the expected rows that are missing, and
        of the delivered rows that are not expected.
    """
    batch = expected.combine_chunks().to_batches()[0] if expected.num_rows else None
    if batch is None:
        none = np.zeros(0, np.int64)
        return {"tables": 0, "rows": 0, "missing": 0, "unexpected": 0}, none, none
    content = Images(batch.column("row")).hashes
    names = list(zip(batch.column("schema").to_pylist(), batch.column("table").to_pylist(), strict=True))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    wanted = np.array([numbers[name] for name in names], np.int64)
    codes, tables = delivered.tables
    found = np.array([numbers.get(table, NOTHING) for table in tables], np.int64)[codes]
    rows, compared = np.flatnonzero(content != 0), np.flatnonzero(found != NOTHING)
    missing, unexpected = _surplus(
        (wanted[rows], content[rows]), (found[compared], delivered.content[compared])
    )
    counts = {
        "tables": len(numbers),
        "rows": len(rows),
        "missing": len(missing),
        "unexpected": len(unexpected),
    }
    return counts, rows[missing], compared[unexpected]


def _surplus(
    left: tuple[Numbers, Numbers], right: tuple[Numbers, Numbers]
) -> tuple[Numbers, Numbers]:
    """The elements of each side beyond those that the other side has as often."""
    table, content = (np.concatenate(pair) for pair in zip(left, right, strict=True))
    side = np.repeat([0, 1], [len(left[0]), len(right[0])])
    order = np.lexsort((side, content, table))
    starts = starts_of(table[order], content[order])
    at, sizes = np.flatnonzero(starts), np.diff(np.flatnonzero(starts), append=len(order))
    if not len(at):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    on_right = np.add.reduceat(side[order], at)
    common = np.repeat(np.minimum(sizes - on_right, on_right), sizes)
    rank = np.arange(len(order)) - np.repeat(at, sizes)
    rank_on_side = np.where(side[order] == 0, rank, rank - np.repeat(sizes - on_right, sizes))
    beyond = order[rank_on_side >= common]
    return np.sort(beyond[beyond < len(left[0])]), np.sort(beyond[beyond >= len(left[0])]) - len(left[0])
