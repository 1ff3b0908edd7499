"""The versions of rows that changes make."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tests.peers.row_versions import row_versions, rows_at

CHANGES = [
    (1, "a", "insert", 10), (2, "b", "insert", 10),
    (1, "a", "update_preimage", 15), (1, "A", "update_postimage", 15),
    # two rows exchange their keys
    (1, "A", "delete", 20), (2, "b", "delete", 20), (1, "b", "insert", 20), (2, "A", "insert", 20),
    (1, "b", "delete", 30), (1, "c", "insert", 40),
]  # fmt: skip
VERSIONS = [
    (1, "a", (10, True), (15, False)), (1, "A", (15, True), (20, False)), (1, "b", (20, True), (30, False)),
    (1, "c", (40, True), None), (2, "b", (10, True), (20, False)), (2, "A", (20, True), None),
]  # fmt: skip


def changes(rows: list[tuple[Any, ...]]) -> pa.Table:
    names = ["id", "v", "_change_type", "_commit_version"]
    return pa.Table.from_pylist(
        [dict(zip(names, row, strict=True)) for row in rows],
        pa.schema([("id", pa.int32()), ("v", pa.string()), (names[2], pa.string()), (names[3], pa.int64())]),
    )


def of(versions: pa.Table) -> list[tuple[Any, ...]]:
    return [
        tuple(tuple(value.values()) if isinstance(value, dict) else value for value in row.values())
        for row in versions.to_pylist()
    ]


def test_a_version_ends_at_the_next_change_of_its_key() -> None:
    assert of(row_versions(changes(CHANGES), ["id"])) == VERSIONS


def test_changes_come_in_any_order_and_again() -> None:
    assert of(row_versions(changes([*CHANGES[::-1], *CHANGES]), ["id"])) == VERSIONS


def test_the_rows_at_a_time() -> None:
    versions = row_versions(changes(CHANGES), ["id"])
    at = {ts: of(rows_at(versions, ts)) for ts in (9, 10, 19, 20, 30, 40)}
    assert at == {
        9: [], 10: [(1, "a"), (2, "b")], 19: [(1, "A"), (2, "b")], 20: [(1, "b"), (2, "A")], 30: [(2, "A")],
        40: [(1, "c"), (2, "A")],
    }  # fmt: skip


def test_a_table_without_changes_has_none() -> None:
    assert of(row_versions(changes([]), ["id"])) == []
