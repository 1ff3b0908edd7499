"""One form of row message: an operation, the columns it shows, and what of its text all rows share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import Piece, integers, joined
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.simple.options import SimpleOptions
from ticdc_producer.protocols.simple.values import ColumnPlan, column_plans


@dataclass(frozen=True, slots=True)
class RowForm:
    """Writes rows of one operation.

    :param head: the message up to the table id.
    :param version: of the table, as rows name it.
    :param columns: those that are shown, in the order of their names.
    :param large: whether the rows were too large and show their handle key alone.
    """

    head: bytes
    version: int
    op: Op
    columns: tuple[ColumnPlan, ...]
    options: SimpleOptions
    large: bool

    def texts(self, batch: RowBatch, locations: pa.Array | None = None) -> pa.Array:
        """One message per row.

        :param batch: rows of this form's operation.
        :param locations: of their claim-check objects as JSON, where this form tells one.
        """
        built = self.options.build_ts_ms
        pieces = [
            self.head, integers(batch.table_id), b',"type":"%b","commitTs":' % self.op.name.encode(),
            integers(batch.commit_ts), b',"buildTs":',
            integers(pc.shift_right(batch.commit_ts, LOGICAL_BITS)) if built is None else b"%d" % built,
            b',"schemaVersion":%d' % self.version,
            *self._large_members(locations), *self._images(batch), b"}",
        ]  # fmt: skip
        return joined(pieces, len(batch))

    def _large_members(self, locations: pa.Array | None) -> Iterator[Piece]:
        if locations is not None:
            yield from (b',"claimCheckLocation":', locations)
        if self.large:
            yield b',"handleKeyOnly":true'

    def _images(self, batch: RowBatch) -> Iterator[Piece]:
        if batch.after:
            yield from (b',"data":{', *self._members(batch.after), b"}")
        if batch.before:
            yield from (b',"old":{', *self._members(batch.before), b"}")

    def _members(self, image: Sequence[pa.Array]) -> Iterator[Piece]:
        for place, column in enumerate(self.columns):
            yield b"," * bool(place) + column.name + b":"
            yield from column.render(image[column.place])


Forms: TypeAlias = Mapping[tuple[Op, bool], RowForm]
"""By operation, and whether the row was too large and shows its handle key alone."""


def table_forms(table: TableInfo, options: SimpleOptions) -> Forms:
    """Compile every form of one table version."""
    columns = column_plans(table, options.time_zone)
    key = tuple(column for column in columns if column.handle_key)
    names = (STRINGS.literal(table.schema), STRINGS.literal(table.name))
    head = b'{"version":1,"database":%b,"table":%b,"tableID":' % names
    return {
        (op, large): RowForm(head, table.update_ts, op, key if large else columns, options, large)
        for op in Op
        for large in (False, True)
    }
