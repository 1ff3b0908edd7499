"""Groups the row events of a batch by layout: table, column descriptions and the names in both images.

Column descriptions are evaluated once per layout, values column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.column_functions import (
    Flags,
    Numbers,
    coded,
    first_of_codes,
    flat_positions,
    ranks,
    row_codes,
)
from ticdc_producer.model.event import Op
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.fingerprint import (
    Hashes,
    Lists,
    combined,
    mixed,
    not_zero,
    null_pair,
    pair_hashes,
    text_hashes,
    value_hashes,
)
from ticdc_producer.verifier.events import EventKind, positions

_Shared = TypeVar("_Shared", bound=npt.NDArray[Any])

_KINDS = {kind.name.lower(): int(kind) for kind in EventKind}
_OPS = {op.label: int(op) for op in Op}


@dataclass(frozen=True)
class DescribedColumn:
    """A column as the event describes it."""

    name: str
    type: str
    flag: int


class Images:
    """The old or new images of a batch.

    :param like: other images, and for each image the position among them of one with the same names in the
        same order; None: none is known.
    """

    def __init__(self, images: pa.MapArray, like: tuple[Images, Numbers] | None = None) -> None:
        self.lists, self._like = Lists(images), like
        self.names: pa.Array = images.keys
        self.values: pa.Array = images.items

    @cached_property
    def null(self) -> Flags:
        """Whether each value is NULL."""
        null: Flags = self.values.is_null().to_numpy(zero_copy_only=False)
        return null

    @cached_property
    def name_hashes(self) -> Hashes:
        if self._like is None:
            return text_hashes(self.names)
        images, positions = self._like
        lengths, hashes = self.lists.ends - self.lists.starts, np.zeros(len(self.names), np.uint64)
        own, others = self.lists.starts, images.lists.starts[positions]
        hashes[flat_positions(own, lengths)] = images.name_hashes[flat_positions(others, lengths)]
        return hashes

    @cached_property
    def value_hashes(self) -> Hashes:
        return value_hashes(self.values)

    @cached_property
    def pairs(self) -> Hashes:
        """A hash of each name with its value."""
        return pair_hashes(self.name_hashes, self.value_hashes)

    @cached_property
    def sums(self) -> Hashes:
        """The sum of the pairs of each image."""
        return self.lists.sums(self.pairs)

    @cached_property
    def hashes(self) -> Numbers:
        """A hash of each image, whatever the order of its columns; 0 without an image."""
        hashes = not_zero(combined(self.sums, self.lists.ends - self.lists.starts))
        return np.where(self.lists.present, hashes, 0)

    @property
    def sequence(self) -> tuple[pa.Array, ...]:
        """Columns that are equal for images with the same names in the same order."""
        return *self.lists.texts(self.names), pa.array(self.lists.present)

    def names_of(self, row: int) -> list[str]:
        """Return the names in the image of one row."""
        start, end = int(self.lists.starts[row]), int(self.lists.ends[row])
        names: list[str] = self.names[start:end].to_pylist()
        return names


class Descriptions:
    """The column descriptions of a batch."""

    def __init__(self, columns: pa.ListArray) -> None:
        self.lists = Lists(columns)
        described = columns.values
        self.names, self.types, self.flags = (described.field(name) for name in ("name", "type", "flag"))

    @cached_property
    def _flags(self) -> Numbers:
        flags: Numbers = self.flags.to_numpy(zero_copy_only=False).astype(np.int64)
        return flags

    @cached_property
    def hashes(self) -> Numbers:
        """A hash of the columns of each row, whatever their order; 0 without columns."""
        entries = combined(text_hashes(self.names), text_hashes(self.types), self._flags)
        return np.where(self.lists.present, not_zero(mixed(self.lists.sums(entries))), 0)

    @property
    def sequence(self) -> tuple[pa.Array, ...]:
        """Columns that are equal for rows with the same columns in the same order."""
        texts = chain.from_iterable(map(self.lists.texts, (self.names, self.types)))
        return *texts, self.lists.numbers(self._flags), pa.array(self.lists.present)

    def of(self, row: int) -> tuple[DescribedColumn, ...]:
        """Return the columns of one row."""
        start, end = int(self.lists.starts[row]), int(self.lists.ends[row])
        parts = (part[start:end].to_pylist() for part in (self.names, self.types, self.flags))
        return tuple(DescribedColumn(*column) for column in zip(*parts, strict=True))


@dataclass(frozen=True)
class EventLayout:
    """Row events of one table with the same columns, of which images have the same names.

    :param rows: numbers of the events in the batch.
    :param before, after: position of each name in the images.
    """

    rows: Numbers
    schema: str
    table: str
    deletes: bool
    columns: tuple[DescribedColumn, ...]
    before: dict[str, int]
    after: dict[str, int]
    old_images: Images
    new_images: Images

    @cached_property
    def handle_names(self) -> list[str]:
        """Names of the columns that are marked as those of the handle key."""
        return [column.name for column in self.columns if column.flag & ColumnFlag.HANDLE_KEY]

    @property
    def key_image(self) -> dict[str, int]:
        """Names of the image with the row's key: the old image of a delete, otherwise the new image."""
        return self.before if self.deletes else self.after

    def key_values(self, name: str) -> pa.Array:
        """Return a column's values in the image with the row's key."""
        images = self.old_images if self.deletes else self.new_images
        return images.values.take(pa.array(images.lists.starts[self.rows] + self.key_image[name]))

    def has_null(self, name: str) -> Flags:
        """Return whether a column is NULL in one of the images of each row."""
        null = np.zeros(len(self.rows), bool)
        for images, names in ((self.old_images, self.before), (self.new_images, self.after)):
            if name in names and images.null.any():
                null |= images.null[images.lists.starts[self.rows] + names[name]]
        return null

    def old_pair(self, name: str) -> Hashes:
        """Return the hashes of a name with its old value."""
        return self.old_images.pairs[self.old_images.lists.starts[self.rows] + self.before[name]]

    def new_pair(self, name: str) -> Hashes:
        """Return the hashes of a name with its new value."""
        return self.new_images.pairs[self.new_images.lists.starts[self.rows] + self.after[name]]

    def key_pair(self, name: str) -> Hashes:
        """Return the hashes of a name with its value in the image with the row's key; NULL if absent."""
        return self.pair(name, old=self.deletes)

    def pair(self, name: str, *, old: bool) -> Hashes:
        """Return the hashes of a name with its old or new value; NULL if the image lacks it."""
        if name not in (self.before if old else self.after):
            return np.broadcast_to(null_pair(name), len(self.rows))
        return self.old_pair(name) if old else self.new_pair(name)

    def completed_old_images(self, fidelity: Fidelity) -> Numbers:
        """Return the fingerprints of old images, with the unchanged columns if only updated ones are sent."""
        others = [name for name in self.after if name not in self.before]
        if fidelity.old_values != "updated" or self.deletes or not others or not self.before:
            return self.old_images.hashes[self.rows]
        with np.errstate(over="ignore"):
            total = self.old_images.sums[self.rows]
            for name in others:
                total = total + self.new_pair(name)
        return not_zero(combined(total, np.full(len(total), len(self.before) + len(others))))


@dataclass
class LayoutBatch:
    """The columns of a batch of decoded events from which layouts follow.

    :param decoded: shape ``DECODED`` or ``EXPECTED_EVENTS``, with or without ``WIRE``.
    :param layout_numbers: a number of each event, from 0 on, that only events of one kind and layout share;
        None: it is not known. What such events share is computed once.
    """

    decoded: pa.RecordBatch
    layout_numbers: Numbers | None = field(default=None, kw_only=True)

    @cached_property
    def old(self) -> Images:
        return Images(self.decoded.column("before"), self._like(lambda events: events.old))

    @cached_property
    def new(self) -> Images:
        return Images(self.decoded.column("after"), self._like(lambda events: events.new))

    def _like(self, images: Callable[[LayoutBatch], Images]) -> tuple[Images, Numbers] | None:
        if self._distinct is None:
            return None
        distinct, positions = self._distinct
        return images(distinct), positions

    @cached_property
    def described(self) -> Descriptions:
        return Descriptions(self.decoded.column("columns"))

    @cached_property
    def kind(self) -> Numbers:
        """The numbers of ``EventKind``."""
        return self.by_layout(lambda events: coded(events.decoded.column("kind"), _KINDS))

    @cached_property
    def op(self) -> Numbers:
        """The numbers of ``Op``; 0 without one."""
        return self.by_layout(lambda events: coded(events.decoded.column("op"), _OPS))

    @cached_property
    def tables(self) -> Hashes:
        """A hash of the names of each event's table."""
        return self.by_layout(lambda events: combined(*map(text_hashes, events._table_names)))

    @property
    def _table_names(self) -> tuple[pa.Array, pa.Array]:
        return self.decoded.column("schema"), self.decoded.column("table")

    @cached_property
    def _codes(self) -> Numbers:
        """A number for each event, from 0 on, that only events of one kind and layout share."""
        return self.by_layout(
            lambda events: row_codes(
                [
                    *events.described.sequence,
                    *events.old.sequence,
                    *events.new.sequence,
                    events.decoded.column("kind"),
                    pa.array(events.op == Op.DELETE),
                    *events._table_names,
                ]
            )
        )

    @cached_property
    def _distinct(self) -> tuple[LayoutBatch, Numbers] | None:
        """An event of each of these numbers, and the position of each event's own among them."""
        if self.layout_numbers is None:
            return None
        positions = ranks(self.layout_numbers)
        distinct = self.decoded.take(pa.array(first_of_codes(positions)))
        return LayoutBatch(distinct), positions

    def by_layout(self, shared: Callable[[LayoutBatch], _Shared]) -> _Shared:
        """Return for each event what all events of its kind and layout share.

        >>> events = pa.record_batch({"kind": ["row", "row", "ddl"]})
        >>> batch = LayoutBatch(events, layout_numbers=np.array([1, 1, 0]))
        >>> batch.by_layout(lambda events: np.array(events.decoded.column("kind"))).tolist()
        ['row', 'row', 'ddl']

        :param shared: is called with one event of each layout number, or with all events.
        """
        if self._distinct is None:
            return shared(self)
        distinct, positions = self._distinct
        return cast("_Shared", shared(distinct)[positions])

    @cached_property
    def commit_ts(self) -> Numbers:
        return self.integers("commit_ts")

    @cached_property
    def positions(self) -> Numbers:
        return positions(self.integers("offset"), self.integers("index"))

    @cached_property
    def reduced(self) -> Flags:
        """Whether a row has its handle key only."""
        flags: Flags = self.integers("handle_key_only") != 0
        return flags

    def layouts(self) -> Iterator[EventLayout]:
        """Yield the layouts of the rows.

        Inserts of one table with the columns ``(id, a)``, ``(id)``, ``(id, a)`` give two layouts, with the
        rows ``[0, 2]`` and ``[1]``.
        """
        batch, codes = self.decoded, self._codes
        for row in sorted(first_of_codes(codes).tolist()):
            if self.kind[row] != EventKind.ROW:
                continue
            yield EventLayout(
                rows=np.flatnonzero(codes == codes[row]),
                schema=batch.column("schema")[row].as_py() or "",
                table=batch.column("table")[row].as_py() or "",
                deletes=bool(self.op[row] == Op.DELETE),
                columns=self.described.of(row),
                before=_numbered(self.old.names_of(row)),
                after=_numbered(self.new.names_of(row)),
                old_images=self.old,
                new_images=self.new,
            )

    def integers(self, name: str) -> Numbers:
        """Return a column of integers, NULL as 0; zeros if the batch has no such column."""
        if name not in self.decoded.schema.names:
            return np.zeros(self.decoded.num_rows, np.int64)
        column = pc.fill_null(self.decoded.column(name), 0)
        numbers: Numbers = column.to_numpy(zero_copy_only=False).astype(np.int64)
        return numbers


def _numbered(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}
