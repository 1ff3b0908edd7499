"""The errors of rows with one key in a unique index."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.shapes import IMAGE
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.columns.key_columns import StoredKey, row_keys
from ticdc_producer.scenario.frames.frame_changes import FRAME_CHANGES, image_text
from ticdc_producer.scenario.frames.frame_plan import FramePlan
from ticdc_producer.scenario.frames.index_keys import (
    KEYS,
    added_indexes,
    index_number,
    keys_of,
    unique_indexes,
)

OF_DDL = -1 << 63
MOST_COMPARED = 16
_MOST_PARTS = 100_000
"""Changes of a conflict: a few in each part that has any."""


class Conflict(NamedTuple):
    """Two rows with one key.

    :param at: commit and position of the change that takes the key; of a DDL, ``OF_DDL`` is the position.
    :param holder: those of the change whose row holds it.
    :param number: of the index.
    :param key: digest of the key.
    """

    at: tuple[int, int]
    holder: tuple[int, int]
    number: int
    key: int


def duplicate_error(changes: Dataset, plan: FramePlan, conflict: Conflict) -> ScenarioError | None:
    """Return the error of a duplicate, with both rows; None if only the digests of their keys are equal."""
    rows = changes.map(partial(_at, plan, conflict), FRAME_CHANGES).small(_MOST_PARTS).to_pylist()
    if conflict.at[1] == OF_DDL:
        return _duplicate_at_ddl(plan, conflict, rows)
    by_position = {(row["commit_seq"], row["row_seq"]): row for row in rows}
    if conflict.at == conflict.holder:  # two rows without a position, in one transaction
        taker, holder = rows[-1], rows[0]
    else:
        taker, holder = by_position[conflict.at], by_position[conflict.holder]
    index, key, entry = _held(plan, taker, conflict.number)
    if key != _held(plan, holder, conflict.number)[1]:
        return None
    texts = []
    for row in (taker, holder):
        commit, version = row["commit_seq"], plan.versions.table[row["table_version"]]
        origin = "of an earlier step" if commit < 0 else f"of {plan.numbering.text(commit)}"
        texts.append(f"{image_text(version, row['after'])} {origin}")
    table = plan.versions.table[taker["table_version"]]
    what = f"Duplicate entry {entry!r} for key '{table.name}.{index.name}'"
    column = table.columns[index.offsets[0]].name
    return ScenarioError(f"{what}: it is the key of {texts[1]}, in {texts[0]}", value=entry, column=column)


def _duplicate_at_ddl(
    plan: FramePlan, conflict: Conflict, rows: list[dict[str, Any]]
) -> ScenarioError | None:
    """Return the error of a DDL that adds an index in which rows have one key; None if their keys differ.

    :param rows: changes that took keys with the digest, before the DDL.
    """
    held = [_held(plan, row, conflict.number) for row in rows]
    if len({key for _, key, _ in held}) > 1:
        return None
    index, _, entry = held[0]
    new = next(i for added in added_indexes(plan).values() for i in added if i.number == conflict.number)
    commit = conflict.at[0] - 1
    origin = "a later step" if commit >= plan.stop else plan.numbering.text(commit)
    what = f"Duplicate entry {entry!r} for key '{new.table.name}.{index.name}'"
    what = f"{what}: several rows have it when the DDL of {origin} adds the key"
    return ScenarioError(what, value=entry, column=new.table.columns[index.offsets[0]].name)


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


def _at(plan: FramePlan, conflict: Conflict, batches: Batches) -> Batches:
    """Yield the first changes of a conflict; without positions in a transaction there may be many."""
    most = MOST_COMPARED if conflict.at[1] == OF_DDL else 2
    yielded = 0
    for batch in batches:
        commits, numbers = batch.column("commit_seq"), batch.column("row_seq")
        if conflict.at[1] == OF_DDL:
            wanted = pc.less(commits, conflict.at[0])
        else:
            wanted = pc.or_(*(
                pc.and_(pc.equal(commits, commit), pc.equal(numbers, number))
                for commit, number in (conflict.at, conflict.holder)
            ))  # fmt: skip
        for row in _rows(batch.filter(pc.and_(batch.column("after").is_valid(), wanted))):
            keys = pa.Table.from_batches(list(keys_of(plan, iter([row]))), KEYS)
            held = pc.and_(
                pc.equal(keys.column("index"), conflict.number), pc.equal(keys.column("key"), conflict.key)
            )
            if pc.any(held).as_py():
                yield row
                yielded += 1
                if yielded == most:
                    return


def _rows(batch: pa.RecordBatch) -> Batches:
    return (batch.slice(row, 1) for row in range(batch.num_rows))
