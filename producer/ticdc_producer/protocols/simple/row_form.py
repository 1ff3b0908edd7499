"""Encodes row messages as JSON, with one compiled form per operation and set of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import Fragment, concat, integers
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.simple.options import SimpleOptions
from ticdc_producer.protocols.simple.values import ColumnPlan, column_plans


@dataclass(frozen=True, slots=True)
class RowForm:
    """Encodes rows of one operation.

    :param head: the text of the message before the table id.
    :param version: the schema version of the table.
    :param columns: the columns in the message, sorted by name.
    :param large: whether the rows exceeded the size limit and are sent with only their handle key.
    """

    head: bytes
    version: int
    op: Op
    columns: tuple[ColumnPlan, ...]
    options: SimpleOptions
    large: bool

    def texts(self, batch: RowBatch, locations: pa.Array | None = None) -> pa.Array:
        """One message per row.

        :param batch: rows with the operation of this form.
        :param locations: locations of their claim-check objects as JSON, if they have one.
        """
        built = self.options.build_ts_ms
        fragments = [
            self.head, integers(batch.table_id), b',"type":"%b","commitTs":' % self.op.name.encode(),
            integers(batch.commit_ts), b',"buildTs":',
            integers(pc.shift_right(batch.commit_ts, LOGICAL_BITS)) if built is None else b"%d" % built,
            b',"schemaVersion":%d' % self.version,
            *self._large_members(locations), *self._images(batch), b"}",
        ]  # fmt: skip
        return concat(fragments, len(batch))

    def _large_members(self, locations: pa.Array | None) -> Iterator[Fragment]:
        if locations is not None:
            yield from (b',"claimCheckLocation":', locations)
        if self.large:
            yield b',"handleKeyOnly":true'

    def _images(self, batch: RowBatch) -> Iterator[Fragment]:
        if batch.after:
            yield from (b',"data":{', *self._members(batch.after), b"}")
        if batch.before:
            yield from (b',"old":{', *self._members(batch.before), b"}")

    def _members(self, image: Sequence[pa.Array]) -> Iterator[Fragment]:
        for position, column in enumerate(self.columns):
            yield b"," * bool(position) + column.name + b":"
            yield from column.render(image[column.index])


Forms: TypeAlias = Mapping[tuple[Op, bool], RowForm]
"""Forms by operation, and by whether the row exceeded the size limit and is sent with only its handle key."""


def table_forms(table: TableInfo, options: SimpleOptions) -> Forms:
    """Compile all forms of one table version."""
    columns = column_plans(table, options.time_zone)
    key = tuple(column for column in columns if column.handle_key)
    names = (STRINGS.literal(table.schema), STRINGS.literal(table.name))
    head = b'{"version":1,"database":%b,"table":%b,"tableID":' % names
    return {
        (op, large): RowForm(head, table.update_ts, op, key if large else columns, options, large)
        for op in Op
        for large in (False, True)
    }
