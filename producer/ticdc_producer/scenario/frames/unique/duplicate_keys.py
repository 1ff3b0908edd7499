"""The errors of rows with one key in a unique index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Order, Part
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.column_functions import first_of_groups, whole_groups
from ticdc_producer.model.shapes import IMAGE
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.columns.key_columns import StoredKey, row_keys
from ticdc_producer.scenario.frames.frame_changes import FRAME_CHANGES, image_text
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.unique.index_keys import (
    KEYS,
    added_indexes,
    index_number,
    keys_of,
    unique_indexes,
)

_ROW = ("table_id", "row_key")
_POSITION = ("commit_seq", "row_seq")
OF_DDL = -1 << 63
MOST_COMPARED = 16
_MOST_PARTS = 100_000
"""Rows of a conflict: a few in each part that has any."""


class Conflict(NamedTuple):
    """A key that several rows have at a time.

    :param at: commit and position of the change that takes the key; of a DDL, ``OF_DDL`` is the position.
    :param table_id: of the rows.
    :param number: of the index.
    :param key: digest of the key.
    """

    at: tuple[int, int]
    table_id: int
    number: int
    key: int


def duplicate_error(changes: Dataset, plan: FramePlan, conflict: Conflict) -> ScenarioError | None:
    """Return the error of a duplicate, with both rows; None if only the digests of their keys are equal."""
    first_with: dict[bytes | None, Mapping[str, Any]] = {}
    for row in _rows_with_key(changes, plan, conflict):
        index, key, entry = _held(plan, row, conflict.number)
        holder = first_with.setdefault(key, row)
        if holder is not row:
            table = _table_at(plan, conflict, row)
            what = f"Duplicate entry {entry!r} for key '{table.name}.{index.name}'"
            column = table.columns[index.offsets[0]].name
            rows = _text(plan, holder), _text(plan, row)
            return ScenarioError(f"{what}: {_shared(plan, conflict, *rows)}", value=entry, column=column)
    return None


def _shared(plan: FramePlan, conflict: Conflict, holder: str, taker: str) -> str:
    """Return which rows share a key, as text."""
    if conflict.at[1] != OF_DDL:
        return f"it is the key of {holder}, in {taker}"
    commit = conflict.at[0] - 1
    origin = "a later step" if commit >= plan.stop else plan.numbering.text(commit)
    return f"it is the key of {holder} and of {taker} when the DDL of {origin} adds the key"


def _text(plan: FramePlan, row: Mapping[str, Any]) -> str:
    """Return the row that a change left as text with its origin."""
    table = plan.versions.table[row["table_version"]]
    return f"{image_text(table, row['after'])} {plan.origin(row['commit_seq'])}"


def _table_at(plan: FramePlan, conflict: Conflict, row: Mapping[str, Any]) -> TableInfo:
    """Return the version of the table in which its rows conflict."""
    if conflict.at[1] == OF_DDL:
        return next(i.table for i in added_indexes(plan)[row["table_version"]] if i.number == conflict.number)
    return plan.versions.table[row["table_version"]]


def _rows_with_key(changes: Dataset, plan: FramePlan, conflict: Conflict) -> list[dict[str, Any]]:
    """Return the changes that left the first rows with the key of a conflict, in their order.

    :param changes: shape ``FRAME_CHANGES``, in any order.
    """
    keys = changes.map(partial(_keys_until, plan, conflict), KEYS)
    by_row = keys.shuffle(_ROW, Order((*_ROW, *_POSITION)))
    parts = by_row.results(partial(_last_with_key, conflict.key))
    positions = sorted(position for part in parts for position in part)[:MOST_COMPARED]
    rows = changes.map(partial(_at, positions), FRAME_CHANGES).small(_MOST_PARTS).to_pylist()
    by_position = {_Position(*(row[name] for name in _Position._fields)): row for row in rows}
    return [by_position[position] for position in positions]


class _Position(NamedTuple):
    """The position of a change, and its row."""

    commit_seq: int
    row_seq: int
    row_key: bytes
    table_id: int


def _keys_until(plan: FramePlan, conflict: Conflict, batches: Batches) -> Batches:
    """Yield the keys of rows in the index of a conflict, up to its time."""
    commit, position = conflict.at
    for keys in keys_of(plan, batches):
        commits = keys.column("commit_seq")
        within = pc.and_(pc.equal(commits, commit), pc.less_equal(keys.column("row_seq"), position))
        own = pc.and_(
            pc.equal(keys.column("index"), conflict.number),
            pc.equal(keys.column("table_id"), conflict.table_id),
        )
        yield keys.filter(pc.and_(own, pc.or_(pc.less(commits, commit), within)))


def _last_with_key(key: int, _part: Part, batches: Batches) -> list[_Position]:
    """Return the positions of the last changes of rows that left them with a key.

    :param batches: shape ``KEYS``, in the order of the changes of each row.
    """
    positions: list[_Position] = []
    for rows in whole_groups(batches, _ROW):
        lasts = np.roll(first_of_groups(rows, _ROW), -1)
        held = pc.fill_null(pc.equal(rows.column("key"), key), False)
        chosen = rows.filter(pc.and_(pa.array(lasts), held)).select(_Position._fields)
        positions = sorted([*positions, *(_Position(**row) for row in chosen.to_pylist())])[:MOST_COMPARED]
    return positions


def _at(positions: Sequence[_Position], batches: Batches) -> Batches:
    """Yield the changes at some positions."""
    wanted = pa.array([position.row_key for position in positions], pa.binary())
    for batch in batches:
        rows = batch.filter(pc.is_in(batch.column("row_key"), wanted))
        own = zip(*(rows.column(name).to_pylist() for name in _Position._fields), strict=True)
        yield rows.filter(pa.array([position in positions for position in own], pa.bool_()))


def _held(plan: FramePlan, change: Mapping[str, Any], number: int) -> tuple[IndexInfo, bytes | None, str]:
    """Return an index, the key of the row after a change in it, and the key as text."""
    version = change["table_version"]
    table, image = plan.versions.table[version], change["after"]
    index = next((i for i in unique_indexes(table) if index_number(table, i) == number), None)
    if index is None:
        new = next(each for each in added_indexes(plan)[version] if each.number == number)
        targets = np.full(1, new.table.version)
        images = plan.versions.converted(pa.array([image], IMAGE), np.full(1, version), targets)
        table, index, image = new.table, new.index, images[0].as_py()
    values = dict(zip(table.sent, image, strict=True))
    entry = "-".join((values[offset] or b"").decode("utf-8", "backslashreplace") for offset in index.offsets)
    return index, index_key(table, index, values), entry


def index_key(table: TableInfo, index: IndexInfo, image: Mapping[int, bytes | None]) -> bytes | None:
    """Return the key of a row in an index."""
    values = {offset: pa.array([value], pa.binary()) for offset, value in image.items()}
    key: bytes | None = row_keys(StoredKey(table, index, integer=False), values)[0][0].as_py()
    return key
