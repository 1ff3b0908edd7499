"""The versions of rows that changes make, as a table with history (AUTO CDC of type 2) must have them.

A sequence is a commit-ts, and whether the row exists after the change. It orders the changes of a key: a
transaction that exchanges the keys of rows has a delete and an insert of one key.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

SEQUENCE = ("_commit_version", "exists")
BOUNDS = ("__START_AT", "__END_AT")
_EXISTS = pa.array(["insert", "update_postimage"])


def row_versions(changes: pa.Table, key: Sequence[str]) -> pa.Table:
    """Return the versions of each row in their order, with the sequences at which they start and end.

    :param changes: of one table, in any order, also several times; with the columns of Spark's change data.
    :param key: columns without NULL.
    """
    exists = pc.is_in(changes["_change_type"], _EXISTS)
    ordered = in_order(changes.append_column("exists", exists), (*key, *SEQUENCE))
    repeated = _equals_previous(ordered, (*key, *SEQUENCE))
    ordered = ordered.filter(pa.array(~repeated))
    ends = _next_of_key(ordered, key)
    names = [name for name in changes.column_names if name[0] != "_"]
    columns = {name: ordered[name] for name in names}
    start = pa.StructArray.from_arrays(
        [ordered[name].combine_chunks() for name in SEQUENCE], names=[*SEQUENCE]
    )
    return pa.table({**columns, BOUNDS[0]: start, BOUNDS[1]: ends}).filter(ordered["exists"])


def rows_at(versions: pa.Table, ts: int) -> pa.Table:
    """Return the rows after the commit of a TSO."""
    start, end = (pc.struct_field(versions[name], SEQUENCE[0]) for name in BOUNDS)
    valid = pc.and_(pc.less_equal(start, ts), pc.fill_null(pc.greater(end, ts), fill_value=True))
    return versions.filter(valid).drop_columns([*BOUNDS])


def in_order(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return rows sorted by columns."""
    return rows.sort_by([(name, "ascending") for name in names]).combine_chunks()


def _equals_previous(rows: pa.Table, names: Sequence[str]) -> np.ndarray:
    equal = np.ones(max(rows.num_rows - 1, 0), bool)
    for name in names:
        column = rows[name]
        equal &= pc.equal(column.slice(1), column.slice(0, len(equal))).to_numpy()
    return np.concatenate([np.zeros(min(rows.num_rows, 1), bool), equal])


def _next_of_key(ordered: pa.Table, key: Sequence[str]) -> pa.Array:
    """Return the sequence of the next change of the same key; NULL for the last one."""
    last = np.append(~_equals_previous(ordered, key)[1:], np.ones(min(ordered.num_rows, 1), bool))
    following = pa.array(np.arange(ordered.num_rows) + 1, mask=last)
    fields = [ordered[name].take(following).combine_chunks() for name in SEQUENCE]
    return pa.StructArray.from_arrays(fields, names=[*SEQUENCE], mask=pa.array(last))
