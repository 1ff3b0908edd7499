"""Encodes row messages as JSON, with one compiled form per operation and set of columns.

Source: tiflow ``pkg/sink/codec/simple/message.go`` (``encodeValue``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import LOBS, MySQLType
from ticdc_producer.model.mysql_type import STRINGS as STRING_TYPES
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Fragments,
    Renderer,
    base64_texts,
    concat,
    integers,
    quoted,
    surrounded,
)
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.simple.options import SimpleOptions


@dataclass(frozen=True, slots=True)
class SimpleColumnPlan:
    """One column of a table version.

    :param index: index into the row image.
    :param name: the column's name as JSON.
    :param render: renders values to JSON.
    """

    index: int
    name: bytes
    render: Renderer
    handle_key: bool


def column_plans(table: TableInfo, time_zone: str) -> tuple[SimpleColumnPlan, ...]:
    """The columns in the order in which Go prints a map: by the bytes of their names."""
    columns = enumerate(zip(table.sent_columns, table.sent_flags, strict=True))
    ordered = sorted(columns, key=lambda each: each[1][0].name.encode())
    return tuple(
        SimpleColumnPlan(
            index=index,
            name=STRINGS.literal(column.name),
            render=_renderer(column, time_zone),
            handle_key=bool(flag & ColumnFlag.HANDLE_KEY),
        )
        for index, (column, flag) in ordered
    )


def _renderer(column: ColumnInfo, time_zone: str) -> Renderer:
    if column.type in STRING_TYPES | LOBS:
        return _base64 if column.binary else STRINGS.literals
    if column.type == MySQLType.TIMESTAMP:
        return partial(_timestamps, b'{"location":%b,"value":"' % STRINGS.literal(time_zone))
    return STRINGS.literals if column.type == MySQLType.JSON else quoted


def _base64(values: pa.Array) -> Fragments:
    return quoted(base64_texts(values))


def _timestamps(start: bytes, values: pa.Array) -> Fragments:
    return surrounded(start, values, b'"}')


@dataclass(frozen=True, slots=True)
class SimpleRowForm:
    """Encodes rows of one operation.

    :param head: the text of the message before the table id.
    :param version: the schema version of the table.
    :param columns: the columns in the message, sorted by name.
    :param large: whether the rows exceeded the size limit and are sent with only their handle key.
    """

    head: bytes
    version: int
    op: Op
    columns: tuple[SimpleColumnPlan, ...]
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


Forms: TypeAlias = Mapping[tuple[Op, bool], SimpleRowForm]
"""Forms by operation, and by whether the row exceeded the size limit and is sent with only its handle key."""


def table_forms(table: TableInfo, options: SimpleOptions) -> Forms:
    """Compile all forms of one table version."""
    columns = column_plans(table, options.time_zone)
    key = tuple(column for column in columns if column.handle_key)
    names = (STRINGS.literal(table.schema), STRINGS.literal(table.name))
    head = b'{"version":1,"database":%b,"table":%b,"tableID":' % names
    return {
        (op, large): SimpleRowForm(head, table.update_ts, op, key if large else columns, options, large)
        for op in Op
        for large in (False, True)
    }
