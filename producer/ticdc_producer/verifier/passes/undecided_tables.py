"""Finds tables whose final rows are undecided.

With rounded time stamps, rows and a DDL can share a unit of time, and the stream does not show their order.

In the partitions that have a DDL, the position of a row shows it, unless the row is repeated on the other
side of the DDL. The rows of all other partitions within the DDL's unit of time may be on either side.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Order, Part
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.xx_hash import xx_hash
from ticdc_producer.replica.rows import row_versions
from ticdc_producer.replica.versions import UNDECIDED, Positions, TableName
from ticdc_producer.verifier.events import Effect, EventKind, Events
from ticdc_producer.verifier.stream_stats import StreamStats

_OPEN = pa.schema(
    [("row", pa.int64()), ("version", pa.int64()), ("schema", pa.string()), ("table", pa.string())]
)
"""Rows within the unit of time of a DDL of their table. ``row`` is equal for copies of a row in one
partition."""
_ROW = ("row",)


def undecided_tables(observed: Dataset, stats: StreamStats) -> set[TableName]:
    """Return the tables with rows of which the stream does not show whether a DDL precedes them.

    A table that no DDL changes is one of them if a DDL removes its rows.

    :param observed: the events of the whole stream (``Events``).
    """
    replica = stats.replica()
    clears = {(ddl.schema, ddl.table, ddl.commit_ts) for ddl in stats.ddls if ddl.effect == Effect.CLEARS}

    def open_rows(batches: Batches) -> Batches:
        for batch in batches:
            events = Events.of(batch)
            rows = events.take(events.kind == EventKind.ROW)
            version, several = row_versions(
                replica, rows.schema, rows.table, rows.commit_ts, _positions(rows)
            )
            cleared = _cleared(rows, clears) & (version < 0)
            version[cleared] = UNDECIDED
            yield _as_batch(rows, version).filter(pa.array(several | cleared))

    rows = observed.map(open_rows, _OPEN).shuffle(_ROW, Order(_ROW))
    return set().union(*rows.results(_ambiguous))


def _positions(rows: Events) -> Positions:
    topics, names = rows.topics
    pairs, codes = np.unique(np.stack([topics, rows.partition]), axis=1, return_inverse=True)
    partitions = [(names[topic], partition) for topic, partition in pairs.T.tolist()]
    return Positions(partitions, codes.reshape(-1), rows.position)


def _cleared(rows: Events, clears: Iterable[tuple[str, str, int]]) -> Flags:
    """Return which rows are within the unit of time of a DDL that removes the rows of their table.

    >>> rows = Events.with_columns(3, schema="s", table=["a", "b", "b"], commit_ts=[7, 7, 8])
    >>> _cleared(rows, [("s", "a", 7)]).tolist()
    [True, False, False]
    >>> _cleared(rows, [("s", "", 7)]).tolist()
    [True, True, False]

    :param clears: schema, table and commit-ts of the DDLs; without a table, all tables of the schema.
    """
    names_at: dict[int, set[tuple[str, str]]] = {}
    for schema, table, ts in clears:
        names_at.setdefault(ts, set()).add((schema, table))
    cleared = np.zeros(len(rows), bool)
    codes, tables = rows.tables
    at_ddl = np.flatnonzero(np.isin(rows.commit_ts, np.fromiter(names_at, np.int64)))
    if not len(at_ddl):
        return cleared
    pairs, groups = np.unique(np.stack([codes[at_ddl], rows.commit_ts[at_ddl]]), axis=1, return_inverse=True)
    are_cleared = [
        not names_at[ts].isdisjoint({tables[code], (tables[code][0], "")}) for code, ts in pairs.T.tolist()
    ]
    cleared[at_ddl] = np.array(are_cleared, bool)[groups.reshape(-1)]
    return cleared


def _as_batch(rows: Events, version: Numbers) -> pa.RecordBatch:
    partition = pa.array(rows.partition)
    copies = xx_hash(len(rows), rows.topic, partition, pa.array(rows.commit_ts), pa.array(rows.identity))
    columns = {
        "row": copies.view(np.int64),
        "version": version,
        "schema": rows.schema,
        "table": rows.table,
    }
    return pa.record_batch([pa.array(columns[field.name]) for field in _OPEN], schema=_OPEN)


def _ambiguous(_: Part, batches: Batches) -> set[TableName]:
    rows = pa.Table.from_batches(batches, _OPEN).group_by(["row", "schema", "table"])
    versions = rows.aggregate([("version", "min"), ("version", "max")])
    least, most = versions.column("version_min"), versions.column("version_max")
    names = versions.filter(pc.or_(pc.not_equal(least, most), pc.equal(least, UNDECIDED))).to_pydict()
    return set(zip(names["schema"], names["table"], strict=True))
