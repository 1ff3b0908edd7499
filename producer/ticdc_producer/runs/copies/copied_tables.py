"""The tables and the row histories of a stream whose events are in memory, and its tables for a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Part
from ticdc_producer.engine.local import LocalEngine, local
from ticdc_producer.errors import ProducerError
from ticdc_producer.model.catalog import CLEARS_TABLES
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event_line import DecodedRow
from ticdc_producer.model.shapes import DECODED, MESSAGES
from ticdc_producer.rows.changes import ChangeReader, sends_base64
from ticdc_producer.rows.origin import Origin
from ticdc_producer.rows.state import DDLWithoutRowEventsError, StateReader
from ticdc_producer.runs.verification import VerifiedStream


@dataclass(frozen=True, kw_only=True)
class CopiedTable:
    """The rows of a table as of a time.

    :param rows: the first ones, by handle key: columns with their values.
    :param total: number of all rows.
    :param error: why the rows are not known, or not exactly; empty: they are.
    """

    rows: Sequence[Sequence[tuple[str, bytes | None]]] = ()
    total: int = 0
    error: str = ""


def table_names(events: pa.Table) -> list[tuple[str, str]]:
    """Return schema and table of all tables with row events, in order.

    :param events: shape ``DECODED``.
    """
    rows = events.select(["kind", "schema", "table"]).filter(pc.field("kind") == "row")
    distinct = rows.group_by(["schema", "table"]).aggregate([])
    return sorted((row["schema"], row["table"]) for row in distinct.to_pylist())


def times_of(events: pa.Table, most: int) -> tuple[list[int], bool]:
    """Return the times at which tables can be compared, and whether they are resolved-ts.

    They are the resolved-ts, else the commit-ts of the rows; if there are more, an even selection that ends
    with the last.

    :param events: shape ``DECODED``.
    """
    for kind in ("resolved", "row"):
        ts = events.select(["kind", "commit_ts"]).filter(pc.field("kind") == kind).column("commit_ts")
        times = np.unique(pc.drop_null(ts).to_numpy())
        times = times[times > 0]
        if len(times):
            return times[::-1][:: -(-len(times) // most)][::-1].tolist(), kind == "resolved"
    return [], False


def tables_at(
    events: pa.Table,
    names: Sequence[tuple[str, str]],
    origin: Origin,
    times: Sequence[int | None],
    most: int,
) -> dict[str, list[CopiedTable]]:
    """Return the rows that a consumer of the stream has at some times, by ``SCHEMA.TABLE``.

    :param events: shape ``DECODED``.
    :param names: schema and table of each table.
    :param origin: of the events; its messages are not read.
    :param times: TSOs; None: the end.
    :param most: number of rows that are returned of a table.
    """
    return {
        f"{schema}.{table}": [*_at_times(events, origin, (schema, table), times, most)]
        for schema, table in names
    }


def _at_times(
    events: pa.Table, origin: Origin, name: tuple[str, str], times: Sequence[int | None], most: int
) -> Iterator[CopiedTable]:
    """Yield the rows of one table at each time."""
    columns, key = _columns(events, *name)
    if not key:
        yield from [CopiedTable(error="no handle key is known, which pairs the changes")] * len(times)
        return
    kind = pa.string() if sends_base64(origin.fidelity) else pa.binary()
    fields = pa.schema([pa.field(column, kind) for column in columns])
    own = _of_table(events, *name)

    def state_at(ts: int | None, events: pa.Table) -> CopiedTable:
        state = StateReader(
            changes=ChangeReader.of(origin, name, fields, "fail", ""),
            key=[fields.field(column) for column in key],
            commit_ts=origin.fidelity.commit_ts,
            expected=origin.expected,
            at=ts,
        )
        return _first_rows(pa.Table.from_batches(state(iter(events.to_batches())), fields), key, most)

    def first_rows(ts: int | None) -> CopiedTable:
        try:
            return state_at(ts, own)
        except DDLWithoutRowEventsError as error:
            what = f"{error.what}: rows without a later event are as before it"
            return replace(state_at(ts, _without_other_ddls(own)), error=what)

    def rows_or_error(ts: int | None) -> CopiedTable:
        try:
            return first_rows(ts)
        except ProducerError as error:
            return CopiedTable(error=error.what)

    # Between two of its events a table stays as it is.
    event_counts = _event_counts(own, times)
    states = {count: rows_or_error(ts) for count, ts in dict(zip(event_counts, times, strict=True)).items()}
    yield from (states[count] for count in event_counts)


def _event_counts(events: pa.Table, times: Sequence[int | None]) -> list[int]:
    """Return how many of the events are not after each time."""
    commit_ts = np.sort(events.column("commit_ts").drop_null().to_numpy())
    return [
        events.num_rows if ts is None else int(np.searchsorted(commit_ts, ts, side="right")) for ts in times
    ]


def _without_other_ddls(events: pa.Table) -> pa.Table:
    """Return events without the DDLs whose rows only a database knows, such as those that add columns."""
    clears = pc.is_in(
        pc.field("ddl_type"), pa.array(sorted(CLEARS_TABLES), events.schema.field("ddl_type").type)
    )
    return events.filter((pc.field("kind") == "row") | clears)


def _rows(events: pa.Table, schema: str, table: str) -> pa.Table:
    """Return the row events of a table."""
    is_row, in_schema = pc.field("kind") == "row", pc.field("schema") == schema
    return events.filter(is_row & in_schema & (pc.field("table") == table))


def _columns(events: pa.Table, schema: str, table: str) -> tuple[list[str], list[str]]:
    """Return the names of a table's columns in all its events, and those of its handle key."""
    described = _rows(events, schema, table).column("columns").combine_chunks().flatten()
    names, flags = (described.field(name) for name in ("name", "flag"))
    is_key = np.bitwise_and(flags.to_numpy(zero_copy_only=False), int(ColumnFlag.HANDLE_KEY)) != 0
    return names.unique().to_pylist(), names.filter(pa.array(is_key)).unique().to_pylist()


def _of_table(events: pa.Table, schema: str, table: str) -> pa.Table:
    """Return the row events of a table, and the DDLs of it or of its whole schema."""
    of_rows = (pc.field("kind") == "row") & (pc.field("table") == table)
    ddls = (pc.field("kind") == "ddl") & pc.field("table").isin(["", None, table])
    return events.filter((pc.field("schema") == schema) & (of_rows | ddls))


def _first_rows(rows: pa.Table, key: Sequence[str], most: int) -> CopiedTable:
    """Return the first rows: numbers come in the order of their digits."""
    columns = {name: rows.column(name) for name in key}
    lengths = {f"length of {name}": pc.binary_length(column) for name, column in columns.items()}
    order = [(name, "ascending") for pair in zip(lengths, columns, strict=True) for name in pair]
    first = pc.sort_indices(pa.table({**lengths, **columns}), order).slice(0, most)
    table = rows.take(first)
    return CopiedTable(
        rows=[
            [(name, value.encode() if isinstance(value, str) else value) for name, value in row.items()]
            for row in table.to_pylist()
        ],
        total=rows.num_rows,
    )


def row_changes(
    events: pa.Table, schema: str, table: str, key: Sequence[bytes | None], most: int
) -> list[DecodedRow]:
    """Return the first events of one row, by commit-ts.

    :param events: shape ``DECODED``.
    :param key: the values of the handle key, in the order of its columns.
    """
    _, names = _columns(events, schema, table)
    if len(names) != len(key):
        return []
    events = _rows(events, schema, table)
    matches = np.zeros(events.num_rows, bool)
    for image in ("before", "after"):
        same = np.ones(events.num_rows, bool)
        values = events.column(image).combine_chunks()
        for name, value in zip(names, key, strict=True):
            own = pc.map_lookup(values, name, "first")
            equal = pc.is_null(own) if value is None else pc.fill_null(pc.equal(own, value), False)
            same &= equal.to_numpy(zero_copy_only=False)
        matches |= same & pc.is_valid(values).to_numpy(zero_copy_only=False)
    changes: list[DecodedRow] = events.filter(pa.array(matches)).sort_by("commit_ts")[:most].to_pylist()
    return changes


MOST_EVENTS = 20_000
"""Events of a stream whose tables are computed for a report, which holds them in memory."""
MOST_BYTES = 64 << 20
"""Bytes of its messages."""
_MOST_TIMES, _MOST_TABLES, _MOST_ROWS = 50, 50, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedTables:
    """The tables of a stream at some of its times.

    :param times: TSOs: the resolved-ts, without any the commit-ts of the rows; an even selection of many.
    :param resolved: whether they are resolved-ts.
    :param all_times: how many the stream has.
    :param tables: by ``SCHEMA.TABLE``, the first rows at each of the times; the first tables of many.
    :param all_tables: how many the stream has.
    """

    times: Sequence[int] = ()
    resolved: bool = False
    all_times: int = 0
    tables: Mapping[str, Sequence[CopiedTable]] = field(default_factory=dict)
    all_tables: int = 0


def verified_tables(verified: VerifiedStream) -> VerifiedTables:
    """Return the tables of a stream of at most ``MOST_EVENTS`` events; they are in memory meanwhile."""
    events = pa.concat_tables([DECODED.empty_table(), *verified.events.results(_whole)])
    times, resolved = times_of(events, _MOST_TIMES)
    kind = "resolved" if resolved else "row"
    of_kind = events.filter((pc.field("kind") == kind) & (pc.field("commit_ts") > 0))
    names = table_names(events)
    origin = Origin(
        changefeed=verified.changefeed,
        messages=local(LocalEngine().of_batches([], MESSAGES)),
        options=verified.options,
    )
    return VerifiedTables(
        times=times,
        resolved=resolved,
        all_times=len(of_kind.column("commit_ts").unique()),
        tables=tables_at(events, names[:_MOST_TABLES], origin, times, _MOST_ROWS),
        all_tables=len(names),
    )


def _whole(_part: Part, batches: Batches) -> pa.Table:
    return pa.Table.from_batches(batches, DECODED)
