"""Changes of a transaction and the mutations that are left of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pipeline.small_changes import Image, change, in_key_order, op_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.event import REWRITE, Op
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.pipeline.delivery import commit
from ticdc_producer.pipeline.mutations import collapse, split_moved
from ticdc_producer.scenario.history import Change
from ticdc_producer.simulate.change_log import change_batch

CLOCK = CommitClock()
A, B, C = [b"1", b"a"], [b"1", b"b"], [b"1", None]


def split_changes(*changes: Change) -> pa.RecordBatch:
    return split_moved(commit(change_batch(changes), CLOCK))


def net(*changes: Change) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = collapse(in_key_order(split_changes(*changes))).to_pylist()
    return rows


def of_one_row(*pairs: tuple[Image, Image]) -> list[tuple[Op, Image, Image]]:
    """The mutations of a transaction that changes one row again and again."""
    changes = [change(b"k", before, after, row_seq=number) for number, (before, after) in enumerate(pairs)]
    return [(Op(row["op"]), row["before"], row["after"]) for row in net(*changes)]


def test_an_insert_and_a_delete_are_nothing() -> None:
    assert of_one_row((None, A), (A, None)) == []
    assert of_one_row((None, A), (A, B), (B, None)) == []


def test_a_delete_and_an_insert_are_an_update() -> None:
    assert of_one_row((A, None), (None, B)) == [(Op.UPDATE, A, B)]
    assert of_one_row((A, None), (None, A)) == []


def test_further_updates_do_not_change_the_operation() -> None:
    assert of_one_row((None, A), (A, B)) == [(Op.INSERT, None, B)]
    assert of_one_row((A, B), (B, C)) == [(Op.UPDATE, A, C)]
    assert of_one_row((A, B), (B, None)) == [(Op.DELETE, A, None)]
    assert of_one_row((A, C), (C, A)) == []


def test_a_single_change_without_effect_is_removed() -> None:
    assert of_one_row((C, C)) == []


def test_an_update_that_stores_a_row_with_other_columns_is_sent() -> None:
    same = change(b"k", C, C)
    assert [Op(row["op"]) for row in net(msgspec.structs.replace(same, op=REWRITE))] == [Op.UPDATE]
    forth = msgspec.structs.replace(change(b"k", A, B), op=REWRITE)
    back = change(b"k", B, A, row_seq=1)
    assert [(row["before"], row["after"]) for row in net(forth, back)] == [(A, A)]


def test_a_row_that_replaces_one_with_other_columns_is_sent() -> None:
    """A DDL changed the columns after the replaced row was stored."""
    deleted = msgspec.structs.replace(change(b"k", A, None), op=REWRITE)
    (row,) = net(deleted, change(b"k", None, A, row_seq=1))
    assert (Op(row["op"]), row["before"], row["after"]) == (Op.UPDATE, A, A)
    moved = {"old_table_id": deleted.table_id, "old_row_key": b"j", "old_row_id": 0}
    arrives = msgspec.structs.replace(change(b"k", B, A, row_seq=1), op=REWRITE, **moved)
    rows = net(msgspec.structs.replace(deleted, op=Op.DELETE), arrives)
    assert [(row["row_key"], row["before"], row["after"]) for row in rows] == [(b"j", B, None)]


def test_two_changes_of_a_row_at_one_position_are_refused() -> None:
    """Their order is not known. Changes of different rows may have one position."""
    assert len(net(change(b"j", None, B), change(b"k", None, A))) == 2
    with pytest.raises(ScenarioError, match=r"two changes of the row \(1, a\) have the same position"):
        net(change(b"j", None, B), change(b"k", None, A), change(b"k", None, A))


def test_rows_are_collapsed_per_transaction_table_and_key() -> None:
    rows = net(
        change(b"k", A, B, commit_seq=1),
        change(b"k", None, A),
        change(b"k", None, A, table_id=101),
        change(b"kk", None, A),
    )
    assert [(row["commit_ts"], row["table_id"], row["row_key"], row["op"]) for row in rows] == [
        (CLOCK.ts(0), 100, b"k", Op.INSERT),
        (CLOCK.ts(0), 100, b"kk", Op.INSERT),
        (CLOCK.ts(0), 101, b"k", Op.INSERT),
        (CLOCK.ts(1), 100, b"k", Op.UPDATE),
    ]


def test_a_mutation_has_the_row_id_and_table_version_of_its_last_change() -> None:
    first = change(b"k", A, None, row_id=1, table_version=1)
    last = change(b"k", None, B, row_id=2, table_version=2, row_seq=1)
    assert [(row["row_id"], row["table_version"]) for row in net(last, first)] == [(2, 2)]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.sampled_from([b"", b"k", b"kk"]),
            st.sampled_from([None, A, B]),
            st.sampled_from([None, A, B]),
        )
    )
)
def test_a_mutation_has_the_first_old_image_and_the_last_new_one(
    drawn: list[tuple[int, bytes, Image, Image]],
) -> None:
    changes = [
        change(key, before, after, commit_seq=seq, row_seq=number)
        for number, (seq, key, before, after) in enumerate(drawn)
    ]
    images: dict[tuple[int, bytes], tuple[Image, Image]] = {}
    for seq, key, before, after in drawn:
        images[seq, key] = (images.get((seq, key), (before, after))[0], after)
    assert [
        (row["commit_seq"], row["row_key"], row["op"], row["before"], row["after"]) for row in net(*changes)
    ] == [
        (*row, op_of(before, after), before, after)
        for row, (before, after) in sorted(images.items())
        if before != after
    ]


MOVED = change(
    b"new", A, B, row_seq=1, row_id=2, table_id=101, old_table_id=100, old_row_key=b"old", old_row_id=1
)


def as_tuples(rows: pa.RecordBatch) -> list[Sequence[Any]]:
    names = ("row_seq", "table_id", "row_key", "row_id", "before", "after")
    return [tuple(row[name] for name in names) for row in rows.to_pylist()]


def test_a_moved_row_is_deleted_at_its_old_key_and_inserted_at_its_new_one() -> None:
    rows = split_changes(change(b"first", None, A), MOVED, change(b"last", A, None, row_seq=2))
    assert as_tuples(rows) == [
        (0, 100, b"first", 0, None, A),
        (1, 100, b"old", 1, A, None),
        (1, 101, b"new", 2, None, B),
        (2, 100, b"last", 0, A, None),
    ]
    assert rows.schema.names == split_changes(change(b"first", None, A)).schema.names


def test_a_row_that_moves_onto_a_deleted_one_updates_it() -> None:
    rows = net(change(b"new", C, None, table_id=101), MOVED)
    assert [(row["row_key"], row["op"], row["before"], row["after"]) for row in rows] == [
        (b"old", Op.DELETE, A, None),
        (b"new", Op.UPDATE, C, B),
    ]


def test_no_changes_have_no_mutations() -> None:
    assert net() == []
