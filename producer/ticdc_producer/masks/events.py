"""Masks decoded events: images column by column, and the texts of DDLs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import pyarrow as pa

from ticdc_producer.errors import RecordingError
from ticdc_producer.masks.methods import masked_values
from ticdc_producer.masks.report import mask_notes
from ticdc_producer.masks.rules import ColumnMask, MaskRules
from ticdc_producer.masks.statements import StatementMasks
from ticdc_producer.masks.tables import AMBIGUOUS_HINT, MaskedTables
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.column_functions import Flags, Numbers, flat_positions
from ticdc_producer.model.shapes import EVENT_IMAGE, DecodedBatch
from ticdc_producer.verifier.event_layouts import DescribedColumn, EventLayout, Images, LayoutBatch
from ticdc_producer.verifier.history.sides import described_column

_KEYS = ColumnFlag.HANDLE_KEY | ColumnFlag.PRIMARY_KEY | ColumnFlag.UNIQUE_KEY
SCHEMA_HINT = "give the CREATE TABLE statements of tables that existed before with `schema`"


class ColumnsOfRow(Protocol):
    """A row event with the columns of its table."""

    @property
    def columns(self) -> Sequence[DescribedColumn]: ...


@dataclass(frozen=True)
class EventMasks:
    """The function from decoded events to masked ones.

    Values of generated columns of a table with masked columns are left out; the table computes them again.
    """

    tables: MaskedTables

    @property
    def rules(self) -> MaskRules:
        """The rules of the columns."""
        return self.tables.rules

    @cached_property
    def statements(self) -> StatementMasks:
        """The masks of literals in DDLs."""
        return StatementMasks(self.tables)

    def __call__(self, batch: DecodedBatch) -> DecodedBatch:
        """Return events without an unmasked value.

        :raises RecordingError: for an event that cannot be masked, with the place of its message.
        """
        events = LayoutBatch(batch)
        old, new = _Image(events.old), _Image(events.new)
        for layout in events.layouts():
            self._mask_layout(batch, layout, old, new)
        for name, column in (
            ("before", old.array()),
            ("after", new.array()),
            ("query", self._queries(batch)),
        ):
            batch = batch.set_column(batch.schema.get_field_index(name), batch.schema.field(name), column)
        return batch

    def notes(self, rows: Mapping[tuple[str, str], ColumnsOfRow]) -> Iterator[str]:
        """Yield what is masked, and what stays in clear.

        :param rows: of tables a row, whose columns count where the definition is not known.
        """
        known = {*self.tables.names.values()}
        described = (
            (*name, column)
            for name, row in rows.items()
            if name not in known
            for column in map(described_column, row.columns)
            if column is not None
        )
        return mask_notes(self.rules, [*self.tables.all_columns(), *described])

    def hides_row_id(self, batch: DecodedBatch) -> Flags:
        """Return for which rows the row id may be a masked value: their handle key is masked."""
        hidden = np.zeros(batch.num_rows, np.bool_)
        for layout in LayoutBatch(batch).layouts():
            keys, columns = layout.handle_names, self._columns(batch, layout)
            hidden[layout.rows] = any(mask for name, _, mask in columns if name in keys or not keys)
        return hidden

    def _queries(self, batch: DecodedBatch) -> pa.Array:
        queries: list[str | None] = []
        for row, query in enumerate(batch.column("query").to_pylist()):
            if query is None:
                queries.append(None)
                continue
            schema = batch.column("schema")[row].as_py() or ""
            queries.append(self.statements.masked(query, schema, _location(batch, row)))
        return pa.array(queries, batch.schema.field("query").type)

    def _mask_layout(self, batch: DecodedBatch, layout: EventLayout, old: _Image, new: _Image) -> None:
        columns = self._columns(batch, layout)
        if not any(mask for _, _, mask in columns):
            return
        self._check_generated(batch, layout)
        for name, column, mask in columns:
            sides = [
                (image, image.images.lists.starts[layout.rows] + names[name])
                for image, names in ((old, layout.before), (new, layout.after))
                if name in names
            ]
            if mask is not None and sides:
                masked = self._masked(batch, layout, (name, column, mask), sides)
                for number, (image, at) in enumerate(sides):
                    image.replace(at, masked.slice(number * len(at), len(at)))
            elif column.generated:
                for image, at in sides:
                    image.stays[at] = False

    def _masked(
        self,
        batch: DecodedBatch,
        layout: EventLayout,
        masked_column: tuple[str, ColumnInfo, ColumnMask],
        sides: Sequence[tuple[_Image, Numbers]],
    ) -> pa.Array:
        """Return the masked values of a column, of one image after the other.

        :param masked_column: its name in the messages, its definition and its mask.
        """
        name, column, mask = masked_column
        label = _label(layout, name)
        values = pa.concat_arrays([image.images.values.take(pa.array(at)) for image, at in sides])
        try:
            masked = masked_values(mask, column, values)
        except RecordingError as error:
            where = f"at or after {_location(batch, int(layout.rows[0]))}"
            raise RecordingError(f"{label}: {error.what}", where=where, hint=error.hint) from None
        if masked.ambiguous.any() and self._is_key(layout, name):
            row = int(layout.rows[int(np.argmax(masked.ambiguous)) % len(layout.rows)])
            what = f"{mask.method} does not keep a value of {label} unique"
            raise RecordingError(what, where=_location(batch, row), hint=AMBIGUOUS_HINT)
        return masked.values

    def _columns(
        self, batch: DecodedBatch, layout: EventLayout
    ) -> list[tuple[str, ColumnInfo, ColumnMask | None]]:
        """Return the columns of a layout with their definitions and masks.

        :raises RecordingError: for a column whose type is not known.
        """
        columns = []
        for described in layout.columns:
            known = self.tables.column(layout.schema, layout.table, described.name)
            column = known or described_column(described)
            if column is None:
                what = f"the type of {_label(layout, described.name)} is not known, so no rule can mask it"
                raise _unknown(what, batch, layout)
            mask = self.tables.mask_of(layout.schema, layout.table, column)
            columns.append((described.name, column, mask))
        return columns

    def _check_generated(self, batch: DecodedBatch, layout: EventLayout) -> None:
        for described in layout.columns:
            known = self.tables.column(layout.schema, layout.table, described.name)
            if known is None and described.flag & ColumnFlag.GENERATED:
                what = f"{_label(layout, described.name)} is generated, and its definition is not known"
                raise _unknown(what, batch, layout)

    def _is_key(self, layout: EventLayout, name: str) -> bool:
        flagged = any(column.name == name and column.flag & _KEYS for column in layout.columns)
        return flagged or self.tables.is_unique(layout.schema, layout.table, name)


class _Image:
    """Old or new images whose values are replaced.

    :ivar stays: by value whether it stays in its image.
    """

    def __init__(self, images: Images) -> None:
        self.images = images
        self.stays: Flags = np.ones(len(images.values), np.bool_)
        self._sources: Numbers = np.arange(len(images.values))
        self._parts: list[pa.Array] = [images.values]
        self._length = len(images.values)

    def replace(self, at: Numbers, values: pa.Array) -> None:
        """Replace the values at some positions."""
        self._sources[at] = self._length + np.arange(len(values))
        self._parts.append(values)
        self._length += len(values)

    def array(self) -> pa.MapArray:
        """Return the images.

        >>> images = pa.array([[("a", b"1"), ("b", b"2")], None, [("a", b"3")]], EVENT_IMAGE)
        >>> image = _Image(Images(images))
        >>> image.replace(np.array([2]), pa.array([b"x"]))
        >>> image.stays[0] = False
        >>> image.array().to_pylist()
        [[('b', b'2')], None, [('a', b'x')]]
        """
        lists = self.images.lists
        lengths = lists.ends - lists.starts
        rows = np.repeat(np.arange(len(lengths)), lengths)
        items = flat_positions(lists.starts, lengths)
        staying = self.stays[items]
        items, counts = items[staying], np.bincount(rows[staying], minlength=len(lengths))
        offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
        values = pa.concat_arrays([part.cast(pa.binary()) for part in self._parts])
        keys = self.images.names.take(pa.array(items))
        return pa.MapArray.from_arrays(
            offsets, keys, values.take(pa.array(self._sources[items])), mask=pa.array(~lists.present)
        ).cast(EVENT_IMAGE)


def _unknown(what: str, batch: DecodedBatch, layout: EventLayout) -> RecordingError:
    return RecordingError(what, where=_location(batch, int(layout.rows[0])), hint=SCHEMA_HINT).about("schema")


def _label(layout: EventLayout, name: str) -> str:
    return f"{layout.schema}.{layout.table}.{name}"


def _location(batch: DecodedBatch, row: int) -> str:
    topic, partition, offset = (batch.column(name)[row].as_py() for name in ("topic", "partition", "offset"))
    return f"{topic}/{partition}@{offset}"
