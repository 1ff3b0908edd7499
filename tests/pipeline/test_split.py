"""Split updates and the order of the rows in a transaction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.pipeline.small_changes import Image, change, in_key_order
from tests.streams import in_go_sort_order
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.pipeline.delivery import commit
from ticdc_producer.pipeline.mutations import (
    collapse,
    eight_bytes,
    split,
    split_columns,
    split_moved,
)
from ticdc_producer.scenario.history import Change
from ticdc_producer.simulate.change_log import change_batch

TABLE_ID = (100).to_bytes(8, "big")


def table(*, clustered: bool = False, key_type: MySQLType = MySQLType.LONG, version: int = 0) -> TableInfo:
    """A table with columns ``id`` (primary key), ``u`` (nullable unique) and ``v``; images have all three."""
    names = {"id": key_type, "u": MySQLType.LONG, "v": MySQLType.LONG}
    return TableInfo(
        schema="test",
        name="t",
        table_id=100,
        version=version,
        columns=tuple(
            ColumnInfo(name=name, type=kind, nullable=name != "id") for name, kind in names.items()
        ),
        indexes=(
            IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=clustered),
            IndexInfo(id=2, name="u", offsets=(1,), unique=True),
        ),
    )


def mutations(*changes: Change) -> pa.RecordBatch:
    return collapse(in_key_order(split_moved(commit(change_batch(changes), CommitClock()))))


def in_order(rows: pa.RecordBatch) -> list[tuple[bytes, Op, Image, Image]]:
    ordered: list[dict[str, Any]] = rows.sort_by("txn_order_key").to_pylist()
    return [(row["txn_order_key"], Op(row["op"]), row["before"], row["after"]) for row in ordered]


OLD, NEW, V_CHANGED = [b"1", b"10", b"x"], [b"1", b"11", b"x"], [b"1", b"10", b"y"]
ROWS = (
    change(b"a", None, OLD),
    change(b"b", OLD, NEW),
    change(b"c", OLD, V_CHANGED),
    change(b"d", OLD, None),
)


def test_the_halves_of_a_split_update_are_after_other_deletes_and_before_other_inserts() -> None:
    assert in_order(split(mutations(*ROWS), [table()])) == [
        (TABLE_ID + b"\0\0d", Op.DELETE, OLD, None),
        (TABLE_ID + b"\0\1b", Op.DELETE, OLD, None),
        (TABLE_ID + b"\1\1c", Op.UPDATE, OLD, V_CHANGED),
        (TABLE_ID + b"\2\1b", Op.INSERT, None, NEW),
        (TABLE_ID + b"\2\2a", Op.INSERT, None, OLD),
    ]


@pytest.mark.parametrize("profile", ["classic", "new"])
def test_the_halves_of_a_split_update_are_marked(profile: Any) -> None:
    rows = split(mutations(*ROWS), [table()], profile=profile).to_pylist()
    assert [(row["split"], row["after"]) for row in rows if row["split"]] == [(True, None), (True, NEW)]
    assert [row["split"] for row in rows if not row["split"]] == [False] * 3


def test_in_the_new_architecture_only_the_insert_moves_to_the_end() -> None:
    assert in_order(split(mutations(*ROWS), [table()], profile="new")) == [
        (TABLE_ID + b"\0d", Op.DELETE, OLD, None),
        (TABLE_ID + b"\1b", Op.DELETE, OLD, None),
        (TABLE_ID + b"\1c", Op.UPDATE, OLD, V_CHANGED),
        (TABLE_ID + b"\2a", Op.INSERT, None, OLD),
        (TABLE_ID + b"\3b", Op.INSERT, None, NEW),
    ]


@pytest.mark.parametrize("profile", ["classic", "new"])
def test_raw_change_events_are_not_split(profile: Any) -> None:
    rows = split(mutations(*ROWS), [table()], raw_change_event=True, profile=profile)
    assert [op for _, op, _, _ in in_order(rows)] == [Op.DELETE, Op.UPDATE, Op.UPDATE, Op.INSERT]


@pytest.mark.parametrize(
    ("before", "after", "halves"),
    [
        ([b"1", b"10", b"x"], [b"2", b"10", b"x"], 2),
        ([b"1", None, b"x"], [b"1", b"10", b"x"], 2),
        ([b"1", b"10", b"x"], [b"1", None, b"x"], 2),
        ([b"1", None, b"x"], [b"1", None, b"y"], 1),
        ([b"1", b"10", None], [b"1", b"10", b"x"], 1),
    ],
)
def test_an_update_is_split_if_a_key_column_changes(before: Image, after: Image, halves: int) -> None:
    assert split(mutations(change(b"k", before, after)), [table()]).num_rows == halves


def test_only_a_clustered_integer_key_cannot_change() -> None:
    assert split_columns(table()) == [0, 1]
    assert split_columns(table(clustered=True)) == [1]
    assert split_columns(table(clustered=True, key_type=MySQLType.VARCHAR)) == [0, 1]


def test_an_update_is_split_by_the_keys_of_its_table_version() -> None:
    without_keys = TableInfo(schema="test", name="t", table_id=100, version=1, columns=table().columns)
    rows = mutations(change(b"a", OLD, NEW), change(b"b", OLD, NEW, table_version=1))
    assert split(rows, [table(), without_keys])["table_version"].to_pylist() == [0, 0, 1]


def test_tables_come_in_the_order_of_their_ids() -> None:
    ids = [0, 1, 255, 256, 1 << 40, (1 << 63) - 1]
    assert eight_bytes(np.array(ids)).to_pylist() == [number.to_bytes(8, "big") for number in ids]


def test_only_the_given_transactions_are_renumbered() -> None:
    rows = split(
        mutations(*ROWS, *(change(b"z", None, OLD, table_id=other) for other in (99, 101))), [table()]
    )
    renumbered = in_go_sort_order(rows, {(CommitClock().ts(0), 100), (CommitClock().ts(7), 101)})
    keys = dict(zip(rows["txn_order_key"].to_pylist(), renumbered["txn_order_key"].to_pylist(), strict=True))
    stable = sorted(key for key in keys if key.startswith(TABLE_ID))
    assert [keys.pop(key) for key in stable] == [TABLE_ID + number.to_bytes(8, "big") for number in range(5)]
    assert all(key == other for key, other in keys.items())
    assert len(keys) == 2
