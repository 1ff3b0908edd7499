"""The reference consumer: computes the rows of a topic's tables at its end.

Per row key the event with the highest commit-ts decides; at one commit-ts a delete comes before an insert.
DROP and TRUNCATE remove the rows committed up to them. Tables whose rows other DDLs change or move follow
these DDLs (``replica``). The reference consumer shares no state, and no code that applies changes to it, with
the computation of the scenario's expected state, so that each checks the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ticdc_producer.model.column_functions import Flags, Numbers, sorted_groups
from ticdc_producer.model.event import Op
from ticdc_producer.model.event_line import DecodedRow, RowImage, StateRow
from ticdc_producer.model.shapes import StateBatch
from ticdc_producer.replica.rows import Replica
from ticdc_producer.verifier.event_layouts import Images
from ticdc_producer.verifier.events import (
    NOTHING,
    Effect,
    EventColumns,
    EventID,
    EventKind,
    Events,
    FlagColumn,
    Int32Column,
    Int64Column,
    offset_and_index,
)
from ticdc_producer.verifier.finding import image_of, readable_pairs
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.table_epochs import TableDDL

MAX_EXAMPLES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StateComparison:
    """Result of the comparison of expected rows with those of the reference consumer.

    :param tables: number of tables compared.
    :param not_compared: tables whose rows cannot be derived from the stream, with the reason.
    :param diff: examples: ``-`` missing rows, ``+`` unexpected rows.
    """

    tables: int
    rows: int
    missing: int
    unexpected: int
    not_compared: Mapping[str, str] = field(default_factory=dict)
    diff: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not (self.missing or self.unexpected)

    def to_json(self) -> dict[str, object]:
        """Return the fields as keys, and ``ok``."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        reasons = dict(sorted(self.not_compared.items()))
        listed = {"not_compared": list(reasons), "not_compared_because": reasons, "diff": list(self.diff)}
        return {"ok": self.ok, **fields, **listed}


def final_rows(
    events: Events, options: VerifyOptions, ddls: Iterable[TableDDL], until: int | None = None
) -> Events:
    """Return the events that decide the rows of tables with a handle key.

    :param events: delivered events in whole groups of equal ``key``; duplicates do not change the result.
    :param until: only events and DDLs up to this commit-ts count; None: all.
    """
    changes = events.keyed & ((events.kind == EventKind.ROW) | (events.kind == EventKind.OLD_KEY))
    rows = events.take(changes if until is None else changes & (events.commit_ts <= until))
    order, starts = sorted_groups((rows.key, rows.key_check), *_order(rows, options))
    final = rows.take(order[np.roll(starts, -1)])
    return final.take((final.content != 0) & ~_cleared(final, ddls, until))


def _order(rows: Events, options: VerifyOptions) -> tuple[Numbers, ...]:
    """Return the columns that order a row's events, the most important first.

    If transactions of one millisecond cannot be distinguished, the position in the partition decides; if rows
    have no commit-ts, only the position.
    """
    if not options.rows_have_commit_ts:
        return (rows.position,)
    if options.fidelity.commit_ts != "exact":
        return rows.commit_ts, rows.position
    return rows.commit_ts, (rows.op != Op.DELETE).astype(np.int64), rows.position


def _cleared(rows: Events, ddls: Iterable[TableDDL], until: int | None) -> Flags:
    """Return which rows a later DROP or TRUNCATE removed."""
    gone: dict[tuple[str, str], int] = {}
    for ddl in ddls:
        if until is not None and ddl.commit_ts > until:
            continue
        if ddl.effect != Effect.CLEARS:
            continue
        name = ddl.schema, ddl.table
        gone[name] = max(ddl.commit_ts, gone.get(name, NOTHING))
    codes, tables = rows.tables
    moments = [max(gone.get(table, NOTHING), gone.get((table[0], ""), NOTHING)) for table in tables]
    return rows.commit_ts <= np.array(moments, np.int64)[codes]


@dataclass(frozen=True, kw_only=True)
class StateRows(EventColumns):
    """Expected and delivered rows of several states, by 64 bits of their content.

    :param state: the number of the state.
    :param expected: the row is expected; not delivered.
    :param position: of the event that a delivered row is from; the number of an expected one.
    """

    state: Int32Column
    content: Int64Column
    expected: FlagColumn


Tables: TypeAlias = Collection[tuple[str, str]]


def expected_state(state: StateBatch, number: int) -> StateRows:
    """Return the rows of a state (shape ``shapes.STATE``).

    >>> images = pa.array([[("id", b"1")], None], pa.map_(pa.string(), pa.binary()))
    >>> rows = expected_state(pa.record_batch({"schema": ["s", "s"], "table": ["t", "u"], "row": images}), 7)
    >>> rows.table.to_pylist(), rows.state.tolist(), rows.expected.tolist()
    (['t'], [7], [True])
    """
    content = Images(state.column("row")).hashes
    rows = np.flatnonzero(content)
    schema, table = (state.column(name).take(pa.array(rows)) for name in ("schema", "table"))
    return StateRows(
        topic=pa.repeat("", len(rows)),
        schema=schema,
        table=table,
        partition=np.zeros(len(rows), np.int64),
        position=rows,
        commit_ts=np.zeros(len(rows), np.int64),
        state=np.full(len(rows), number),
        content=content[rows],
        expected=np.ones(len(rows), np.bool_),
    )


def delivered_state(final: Events, number: int, tables: Tables) -> StateRows:
    """Return the delivered rows of some tables.

    :param final: see :func:`final_rows`.
    """
    codes, names = final.tables
    rows = final.take(np.array([name in tables for name in names], bool)[codes])
    return StateRows.part_of(rows, state=np.full(len(rows), number), expected=np.zeros(len(rows), np.bool_))


def followed_state(
    rows: pa.RecordBatch, replica: Replica, number: int, tables: Tables
) -> Iterator[StateRows]:
    """Yield the rows of the followed tables.

    :param rows: changes of rows (``replica.rows.ROWS``), in whole groups.
    """
    for (schema, table), remaining in replica.final_rows(rows):
        if (schema, table) in tables and remaining.num_rows:
            yield StateRows(
                topic=remaining.column("topic"),
                schema=pa.repeat(schema, remaining.num_rows),
                table=pa.repeat(table, remaining.num_rows),
                partition=remaining.column("partition").to_numpy(),
                position=remaining.column("position").to_numpy(),
                commit_ts=np.zeros(remaining.num_rows, np.int64),
                state=np.full(remaining.num_rows, number),
                content=Images(remaining.column("image")).hashes,
                expected=np.zeros(remaining.num_rows, np.bool_),
            )


@dataclass
class RowDifferences:
    """Rows that are missing or unexpected in one state.

    :param first_missing: the first missing rows: schema, table, number, content.
    :param first_unexpected: the first unexpected rows: schema, table, topic, partition, position.
    """

    rows: int = 0
    missing: int = 0
    unexpected: int = 0
    first_missing: list[tuple[str, str, int, int]] = field(default_factory=list)
    first_unexpected: list[tuple[str, str, str, int, int]] = field(default_factory=list)

    @property
    def unexpected_events(self) -> list[EventID]:
        """The events of the unexpected rows that are examples."""
        return [
            (topic, partition, *offset_and_index(position))
            for _, _, topic, partition, position in self.first_unexpected
        ]

    def merge(self, other: RowDifferences) -> None:
        """Add the differences of other contents."""
        self.rows += other.rows
        self.missing += other.missing
        self.unexpected += other.unexpected
        self.first_missing = sorted([*self.first_missing, *other.first_missing])[:MAX_EXAMPLES]
        self.first_unexpected = sorted([*self.first_unexpected, *other.first_unexpected])[:MAX_EXAMPLES]


def _differing(keys: tuple[Numbers, ...], position: Numbers, expected: Flags) -> Numbers:
    """Return the rows of one side that have no equal row on the other side; the last ones of equal rows.

    >>> content, expected = np.array([7, 7, 7, 7, 7, 8]), np.array([True, True, False, False, False, True])
    >>> _differing((content,), np.arange(6), expected).tolist()
    [4, 5]

    :param keys: equal rows have equal keys.
    """
    order, starts = sorted_groups(keys, expected, position)
    at = np.flatnonzero(starts)
    if not len(at):
        return order
    sizes = np.diff(at, append=len(order))
    expected_count = np.add.reduceat(expected[order].astype(np.int64), at)
    common = np.repeat(np.minimum(expected_count, sizes - expected_count), sizes)
    # Delivered ones come first among equal rows; those beyond the common number differ.
    rank = np.arange(len(order)) - np.repeat(at, sizes)
    rank -= np.where(expected[order], np.repeat(sizes - expected_count, sizes), 0)
    return np.sort(order[rank >= common])


def compare_rows(rows: StateRows) -> dict[int, RowDifferences]:
    """Compare expected and delivered rows, by state.

    :param rows: those of a content are complete, in any order.
    """
    state, expected, differences = rows.state, rows.expected, {}
    differing = _differing((state, rows.tables[0], rows.content), rows.position, expected)
    for number in np.unique(state).tolist():
        of_state = differing[state[differing] == number]
        missing, unexpected = of_state[expected[of_state]], of_state[~expected[of_state]]
        differences[number] = RowDifferences(
            rows=int((expected & (state == number)).sum()),
            missing=len(missing),
            unexpected=len(unexpected),
            first_missing=_first(rows, missing, ("schema", "table", "position", "content")),
            first_unexpected=_first(rows, unexpected, ("schema", "table", "topic", "partition", "position")),
        )
    return differences


def _first(rows: StateRows, numbers: Numbers, names: tuple[str, ...]) -> list[Any]:
    own = rows.take(numbers)
    table = pa.table({name: pa.array(getattr(own, name)) for name in names})
    first = table.sort_by([(name, "ascending") for name in names]).slice(0, MAX_EXAMPLES)
    return [tuple(row.values()) for row in first.to_pylist()]


def state_comparison(
    differences: RowDifferences,
    tables: int,
    not_compared: Mapping[str, str],
    missing: Iterable[StateRow],
    unexpected: Iterable[DecodedRow],
) -> StateComparison:
    """Return the result of a comparison of states.

    :param missing: the missing rows that are examples (``table_state.STATE``).
    :param unexpected: the decoded events of the unexpected ones.
    """
    return StateComparison(
        tables=tables,
        rows=differences.rows,
        missing=differences.missing,
        unexpected=differences.unexpected,
        not_compared=dict(sorted(not_compared.items())),
        diff=(
            *_state_lines("-", ((row["schema"], row["table"], row["row"]) for row in missing)),
            *_state_lines("+", ((row["schema"], row["table"], row["after"]) for row in unexpected)),
        ),
    )


def _state_lines(sign: str, rows: Iterable[tuple[str | None, str | None, RowImage | None]]) -> list[str]:
    texts = sorted((schema or "", table or "", readable_pairs(image_of(row))) for schema, table, row in rows)
    return [f"{sign} {schema}.{table} {text}" for schema, table, text in texts]
