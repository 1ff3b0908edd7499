"""Views of rows and keys: rows that move to another key, swap keys, or lacked a column before.

Rows are brought together by hashes of what they share; the images themselves do not move.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ticdc_producer.engine.dataset import Sides, Tagged
from ticdc_producer.model.column_functions import Flags, Numbers, sorted_groups, starts_of
from ticdc_producer.model.event import Op
from ticdc_producer.model.fingerprint import Hashes, combined, text_hashes
from ticdc_producer.verifier.coverage.occurrences import FeatureCounts, ViewEvents
from ticdc_producer.verifier.event_layouts import EventLayout, Images
from ticdc_producer.verifier.events import (
    EventColumns,
    Events,
    FlagColumn,
    Int8Column,
    Int64Column,
    KeyedEvents,
    TextColumn,
    numbered_pairs,
)
from ticdc_producer.verifier.row_digests import row_key

OPS = ["", *(op.label for op in Op)]
_NONE = np.iinfo(np.int64).max


@dataclass(frozen=True, kw_only=True)
class RowImages(KeyedEvents):
    """Images of rows; ``key`` is that of the transaction and the columns outside of the handle key.

    :param row: hash of table and handle key in this image.
    :param before: it is the old image.
    :param moved_away: the row left its old handle key.
    """

    row: Int64Column
    before: FlagColumn
    moved_away: FlagColumn


@dataclass(frozen=True, kw_only=True)
class RowCommits(KeyedEvents):
    """Row events; ``key`` is that of transaction and handle key."""

    op: Int8Column


@dataclass(frozen=True, kw_only=True)
class RowKeys(KeyedEvents):
    """Row events; ``key`` is that of table and handle key."""


@dataclass(frozen=True, kw_only=True)
class KnownRows(RowCommits):
    """Row events; ``key`` is that of partition, table and handle key.

    :param names: the names of all columns, as a JSON array.
    :param old_names: the names of the columns with a value in the old image; empty without an old image.
    """

    names: TextColumn
    old_names: TextColumn


@dataclass(frozen=True, kw_only=True)
class MovedRows(KeyedEvents):
    """Rows that a transaction moved to another handle key; ``key`` is that of the transaction and both keys.

    :param hash_grows: the new handle key has the larger hash.
    """

    hash_grows: FlagColumn


IMAGE, ROW_COMMIT, ROW_KEY, KNOWN_ROW = "image", "row-commit", "row-key", "known-row"
MOVED_ROW = "moved-row"
KEY_ROWS: Mapping[str, type[KeyedEvents]] = {
    IMAGE: RowImages,
    ROW_COMMIT: RowCommits,
    ROW_KEY: RowKeys,
    KNOWN_ROW: KnownRows,
}


class KeyRows:
    """The rows with handle key of a batch, with the keys of the groups that the views need.

    :param events: the events of the batch.
    :param old: their old images.
    """

    def __init__(self, events: Events, old: Images, counts: FeatureCounts) -> None:
        self._events, self._op, self._counts = EventColumns.part_of(events), events.op, counts
        self._tables = combined(text_hashes(events.schema), text_hashes(events.table))
        self._topics_and_tables = combined(text_hashes(events.topic), self._tables)
        self._transactions = combined(self._topics_and_tables, events.commit_ts)
        self._partitions = combined(self._topics_and_tables, events.partition)
        self._has_value: Flags = old.values.is_valid().to_numpy(zero_copy_only=False)
        self._rows: defaultdict[str, list[KeyedEvents]] = defaultdict(list)

    def add(self, layout: EventLayout) -> None:
        """Add the rows of a layout."""
        handle, events = layout.handle_names, self._events.take(layout.rows)
        if not handle:
            return
        key, op = [layout.key_pair(name) for name in handle], self._op[layout.rows]
        if self._counts.needs("row-commit"):
            group = _group(key, self._transactions[layout.rows])
            self._rows[ROW_COMMIT].append(RowCommits.part_of(events, **group, op=op))
        if self._counts.needs("row-key"):
            group = _group(key, self._topics_and_tables[layout.rows])
            self._rows[ROW_KEY].append(RowKeys.part_of(events, **group))
        if self._counts.needs("known-row"):
            names = pa.repeat(json.dumps([column.name for column in layout.columns]), len(op))
            group = _group(key, self._partitions[layout.rows])
            known = KnownRows.part_of(events, **group, op=op, names=names, old_names=self._old_names(layout))
            self._rows[KNOWN_ROW].append(known)
        if self._counts.needs("moved-row", "swapped-keys"):
            self._rows[IMAGE] += self._images(layout, handle, events)

    def batches(self) -> Iterator[Tagged]:
        """Yield the rows of all layouts."""
        for kind, rows in self._rows.items():
            if rows:
                yield kind, KEY_ROWS[kind].joined(rows).to_batch()

    def _images(self, layout: EventLayout, handle: list[str], events: EventColumns) -> Iterator[RowImages]:
        images = {True: layout.old_images, False: layout.new_images}
        present = [before for before, of in images.items() if of.lists.present[layout.rows[0]]]
        tables, transactions = self._tables[layout.rows], self._transactions[layout.rows]
        row = {
            before: row_key([layout.pair(name, old=before) for name in handle], tables)[0]
            for before in present
        }
        moved_away = np.full(len(events), layout.deletes) | (len(row) == 2 and row[True] != row[False])
        for before in present:
            names = layout.before if before else layout.after
            others = [layout.pair(name, old=before) for name in names if name not in handle]
            if others:  # without other columns a row cannot be recognised
                group = _group(others, transactions)
                of_image = np.full(len(events), before)
                yield RowImages.part_of(
                    events, **group, row=row[before], before=of_image, moved_away=moved_away
                )

    def _old_names(self, layout: EventLayout) -> pa.Array:
        """Return for each row the names of the columns with a value in the old image, as a JSON array."""
        starts, names = layout.old_images.lists.starts[layout.rows], [*layout.before]
        if not names:
            return pa.repeat("[]" if layout.old_images.lists.present[layout.rows[0]] else "", len(starts))
        has_value = self._has_value[starts[:, np.newaxis] + np.array([*layout.before.values()], np.int64)]
        different, codes = np.unique(has_value, axis=0, return_inverse=True)
        texts = [json.dumps([name for name, has in zip(names, row, strict=True) if has]) for row in different]
        return pa.array(texts, pa.string()).take(pa.array(codes.reshape(-1)))


def _transactions(events: EventColumns) -> Hashes:
    return combined(
        text_hashes(events.topic), text_hashes(events.schema), text_hashes(events.table), events.commit_ts
    )


def _group(pairs: list[Hashes], of: Hashes) -> dict[str, Numbers]:
    return dict(zip(("key", "key_check"), row_key(pairs, of), strict=True))


def _grouped(rows: KeyedEvents, *order_by: Numbers) -> tuple[Numbers, Numbers]:
    """Return the order that brings rows of equal key together, and where each group starts in it.

    The keys ``[7, 5, 7]`` give ``[1, 0, 2]`` and ``[0, 1]``.

    :param order_by: the order within a group.
    """
    order, starts = sorted_groups((rows.key, rows.key_check), *order_by)
    return order, np.flatnonzero(starts)


def add_groups(counts: FeatureCounts, groups: Sides) -> Iterator[Tagged]:
    """Count the features of whole groups of the rows of ``KEY_ROWS``, and yield the rows that moved."""
    if groups[ROW_COMMIT].num_rows:
        _add_row_commits(counts, RowCommits.of(groups[ROW_COMMIT]))
    if groups[ROW_KEY].num_rows:
        _add_row_keys(counts, RowKeys.of(groups[ROW_KEY]))
    if groups[KNOWN_ROW].num_rows:
        _add_known_rows(counts, KnownRows.of(groups[KNOWN_ROW]))
    if groups[IMAGE].num_rows:
        yield MOVED_ROW, _moved_rows(counts, RowImages.of(groups[IMAGE])).to_batch()


def _add_row_commits(counts: FeatureCounts, rows: RowCommits) -> None:
    """Count rows that were deleted and inserted at one commit-ts, which a net change never does."""
    order, starts = _grouped(rows, rows.partition, rows.position)
    op = rows.op[order]
    flags = {"deleted": op == Op.DELETE, "inserted": op == Op.INSERT}
    columns = {name: pa.array(np.logical_or.reduceat(flag, starts)) for name, flag in flags.items()}
    counts.add("row-commit", ViewEvents.of_events(rows).take(order[starts]), columns)


def _add_row_keys(counts: FeatureCounts, rows: RowKeys) -> None:
    """Count in how many partitions the events of a handle key are."""
    order, starts = _grouped(rows, rows.partition, rows.position)
    partition = rows.partition[order]
    begins = np.ones(len(order), bool)
    begins[1:] = partition[1:] != partition[:-1]
    begins[starts] = True
    columns = {"partitions": pa.array(np.add.reduceat(begins.astype(np.int64), starts))}
    counts.add("row-key", ViewEvents.of_events(rows).take(order[starts]), columns)


def _add_known_rows(counts: FeatureCounts, rows: KnownRows) -> None:
    """Count old images with a value that the row's previous event lacked, and rows that a delete preceded.

    >>> from ticdc_producer.model.trap_coverage import Feature
    >>> counts = FeatureCounts((Feature("known-row", "filled"), Feature("known-row", "deleted")))
    >>> columns = {"op": [Op.INSERT, Op.DELETE, Op.INSERT], "names": ['["a"]', '["a", "b"]', '["a", "b"]']}
    >>> old_names = ["", '["a", "b"]', ""]
    >>> rows = {"topic": "t", "position": [0, 1, 2], "commit_ts": [5, 6, 7], "old_names": old_names}
    >>> _add_known_rows(counts, KnownRows.with_columns(3, **columns, **rows))
    >>> [(feature.condition, of_feature.first) for (feature, _), of_feature in counts.counts.items()]
    [('filled', ('t', 0, 0, 1)), ('deleted', ('t', 0, 0, 2))]
    """
    order, starts = _grouped(rows, rows.position)
    before, own = pa.array(np.roll(order, 1)), pa.array(order)
    codes, pairs = numbered_pairs(rows.names.take(before), rows.old_names.take(own))
    filled = [bool(old) and not set(json.loads(old)) <= set(json.loads(names)) for names, old in pairs]
    first = np.zeros(len(order), bool)
    first[starts] = True
    deleted = np.roll(rows.op[order], 1) == Op.DELETE
    later = rows.commit_ts[order] > np.roll(rows.commit_ts[order], 1)
    columns = {
        "op": pa.array(OPS).take(pa.array(rows.op[order])),
        "filled": pa.array(np.array(filled, bool)[codes], mask=first),
        "deleted": pa.array(deleted & later, mask=first),
    }
    counts.add("known-row", ViewEvents.of_events(rows).take(order), columns)


def _moved_rows(counts: FeatureCounts, images: RowImages) -> MovedRows:
    """Count rows that a transaction moved to another handle key, and return them.

    Such a row has an old and a new image with different keys and equal other columns, split or not. Of
    several rows with equal other columns, the one with the lowest hash counts.

    >>> rows = {"key": [7, 7, 8, 8], "row": [2, 1, 3, 3], "before": [True, False, True, False]}
    >>> moved = _moved_rows(FeatureCounts(()), RowImages.with_columns(4, **rows, position=[4, 4, 5, 5]))
    >>> moved.position.tolist(), moved.hash_grows.tolist()
    ([4], [False])
    """
    order, starts = _grouped(images, images.partition, images.position)
    moved_away = np.logical_or.reduceat(images.moved_away[order], starts)
    row_order, row_starts = sorted_groups((images.key, images.key_check, images.row))
    by_row, of_row = images.take(row_order), np.flatnonzero(row_starts)
    rows = by_row.take(of_row)
    groups = np.flatnonzero(starts_of(rows.key, rows.key_check))
    only_old = np.logical_and.reduceat(by_row.before, of_row)
    only_new = ~np.logical_or.reduceat(by_row.before, of_row)
    old, new = (
        np.minimum.reduceat(np.where(flags, rows.row, _NONE), groups) for flags in (only_old, only_new)
    )
    moved = np.flatnonzero((old != _NONE) & (new != _NONE))
    old, new, first = old[moved], new[moved], images.take(order[starts][moved])
    counts.add("moved-row", ViewEvents.of_events(first), {"left": pa.array(moved_away[moved])})
    lower, upper, transactions = np.minimum(old, new), np.maximum(old, new), _transactions(first)
    return MovedRows.part_of(
        first,
        key=combined(transactions, lower, upper).view(np.int64),
        key_check=combined(upper, lower, transactions).view(np.int64),
        hash_grows=old < new,
    )


def add_swapped_keys(counts: FeatureCounts, moved: MovedRows) -> None:
    """Count pairs of handle keys between which a transaction moved rows.

    >>> from ticdc_producer.model.trap_coverage import Feature
    >>> counts = FeatureCounts((Feature("swapped-keys", "ways = 2"),))
    >>> columns = {"key": [7, 7, 8], "hash_grows": [True, False, True], "position": [4, 5, 6]}
    >>> add_swapped_keys(counts, MovedRows.with_columns(3, topic="t", **columns))
    >>> [(of_feature.count, of_feature.first) for of_feature in counts.counts.values()]
    [(1, ('t', 0, 0, 4))]
    """
    if not len(moved):
        return
    order, starts = _grouped(moved, moved.partition, moved.position)
    hash_grows = moved.hash_grows[order]
    both = np.logical_or.reduceat(hash_grows, starts) & ~np.logical_and.reduceat(hash_grows, starts)
    columns = {"ways": pa.array(np.where(both, 2, 1))}
    counts.add("swapped-keys", ViewEvents.of_events(moved).take(order[starts]), columns)
