"""The rows that existed before a recording begins: those whose first change is an update or a delete.

    changes ──▶ each row that a change needs or makes ──by table and key──▶ first of each key ──▶ old images

Their values are those of the old image, in the columns that the table has when the recording begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Order
from ticdc_producer.model.column_functions import Flags, Numbers, first_of_groups, row_codes, whole_groups
from ticdc_producer.model.event import Op
from ticdc_producer.model.shapes import EVENT_IMAGE
from ticdc_producer.recording.defined_changes import families_of, table_history
from ticdc_producer.recording.history import origins, recorded_rows
from ticdc_producer.replica.rows import image_array, positions_of
from ticdc_producer.replica.versions import RowMigration, Version

_POSITION = ("topic", "partition", "offset", "index")
_IN_ORDER = ("commit_ts", "rank", *_POSITION)
NEEDS = pa.schema([
    ("family", pa.int64()), ("key", pa.int64()), ("commit_ts", pa.int64()), ("rank", pa.int8()),
    ("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64()), ("index", pa.int32()),
    ("exists", pa.bool_()), ("version", pa.int32()), ("schema", pa.string()), ("table", pa.string()),
    ("before", EVENT_IMAGE), ("after", EVENT_IMAGE), ("row_id", pa.int64()),
])  # fmt: skip
"""Rows by their handle keys. ``exists``: the change needs the row; otherwise it makes it. ``family`` is equal
for a table under all its names."""


@dataclass(frozen=True)
class EarlierRows:
    """The rows that existed at a start-ts.

    :param versions: of all tables, by the DDLs of the messages and the definitions of earlier tables.
    :param start: TSO after which changes are recorded.
    :param exact: whether time stamps are exact.
    :param computes_generated: whether the rows lack generated columns, which their tables compute.
    """

    versions: tuple[Version, ...]
    start: int
    exact: bool
    computes_generated: bool = False

    def batches(self, changes: Dataset, commit_ts: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows as inserts of one transaction (shape ``RECORDED``).

        :param changes: shape ``events.CHANGES``.
        :param commit_ts: of the transaction.
        """
        by = ("family", "key")
        ordered = changes.map(self._needs, NEEDS).shuffle(by, Order((*by, *_IN_ORDER)))
        number = 0
        for batch in whole_groups(ordered.batches(), by):
            first = batch.filter(pc.and_(pa.array(first_of_groups(batch, by)), batch.column("exists")))
            for rows in self._of_tables(first):
                numbers = number + np.arange(rows.num_rows)
                number += rows.num_rows
                yield _inserts(rows, numbers, commit_ts)

    def _needs(self, batches: Batches) -> Batches:
        history = table_history(self.versions, exact=self.exact)
        for batch in batches:
            rows = batch.filter(
                pc.and_(batch.column("op").is_valid(), pc.greater(batch.column("commit_ts"), self.start))
            )
            families, versions = families_of(history, rows)
            old, new = (rows.column(name).to_numpy() for name in ("old_key", "new_key"))
            inserts = pc.equal(rows.column("op"), Op.INSERT.label).to_numpy(zero_copy_only=False)
            old = np.where(old == 0, new, old)  # an update may have the changed columns alone
            yield _needed(rows, families, versions, old, ~inserts & (old != 0), exists=True)
            yield _needed(rows, families, versions, new, (inserts | (old != new)) & (new != 0), exists=False)

    def _of_tables(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the rows by table, under the names of their tables and columns at the start."""
        codes = row_codes([rows.column(name) for name in ("schema", "table", "version")])
        for code in np.unique(codes).tolist():
            own = rows.take(pa.array(np.flatnonzero(codes == code)))
            version = int(own.column("version")[0].as_py())
            origin = self._origins.get(version)
            images = own.column("before")
            if origin is not None:
                first, names = origin
                images = _images(own, names)
                for name, text in (("schema", first.schema), ("table", first.table)):
                    own = own.set_column(own.schema.get_field_index(name), name, pa.repeat(text, len(images)))
            yield own.set_column(own.schema.get_field_index("after"), "after", images)

    @cached_property
    def _origins(self) -> dict[int, tuple[Version, Mapping[str, str]]]:
        """The version at the start from which a version follows, by its number; the first of several.

        Also has, per column, its name in the later version; empty if the column does not exist there.
        """
        origins: dict[int, tuple[Version, Mapping[str, str]]] = {}
        for version in self.versions:  # a migration leads to a higher number
            if version.since <= self.start and (version.until is None or version.until > self.start):
                own = {
                    column.name: column.name
                    for column in version.definition.info.sent_columns
                    if not (self.computes_generated and column.generated)
                }
                origins[version.number] = version, own
            if version.number not in origins:
                continue
            first, names = origins[version.number]
            for migration in version.migrations:
                known = origins.get(migration.target)
                if known is None or first.number < known[0].number:
                    origins[migration.target] = first, _renamed(names, migration)
        return origins


def _renamed(names: Mapping[str, str], migration: RowMigration) -> Mapping[str, str]:
    if migration.columns is None:
        return names
    renamed = {mapping.source: mapping.name for mapping in migration.columns if mapping.source}
    return {name: renamed.get(current, "") for name, current in names.items()}


def _needed(
    rows: pa.RecordBatch,
    families: Numbers,
    versions: Numbers,
    keys: Numbers,
    needed: Flags,
    *,
    exists: bool,
) -> pa.RecordBatch:
    given = {
        "family": pa.array(families),
        "key": pa.array(keys),
        "exists": pa.array(np.full(len(keys), exists)),
        "version": pa.array(versions.astype(np.int32)),
    }
    images = {} if exists else {name: pa.nulls(len(keys), EVENT_IMAGE) for name in ("before", "after")}
    columns = {name: rows.column(name) for name in rows.schema.names} | given | images
    batch = pa.RecordBatch.from_arrays([columns[name] for name in NEEDS.names], schema=NEEDS)
    return batch.filter(pa.array(needed))


def _images(rows: pa.RecordBatch, names: Mapping[str, str]) -> pa.MapArray:
    """Return images with some columns: their old values, else the new ones, else NULL.

    :param names: the columns, each with its name in the images.
    """
    old, new = (_named(rows.column(side), [*names.values()]) for side in ("before", "after"))
    cells = [
        pc.if_else(pa.array(present), before, after)
        for (present, before), (_, after) in zip(old, new, strict=True)
    ]
    return image_array([*names], cells)


def _named(images: pa.MapArray, names: Sequence[str]) -> list[tuple[Flags, pa.Array]]:
    """Return for each name which images have the column, and its values."""
    return [(at >= 0, images.items.take(pa.array(at, mask=at < 0))) for at in positions_of(images, names)]


def _inserts(rows: pa.RecordBatch, numbers: Numbers, commit_ts: int) -> pa.RecordBatch:
    given = {
        "commit_ts": pa.array(np.full(len(numbers), commit_ts)),
        "seq": pa.array(numbers),
        "op": pa.repeat(Op.INSERT.label, len(numbers)),
        "before": pa.nulls(len(numbers), EVENT_IMAGE),
        "origin": origins(rows),
    }
    return recorded_rows(rows, given)
