"""How the rows of one table version are written, worked out once.

A plan holds the texts that all rows share; what is left per row is to put values between them. Values
are rendered column by column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, NUMBERED, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols import go_quote
from ticdc_producer.protocols.arrow_text import (
    Piece,
    Pieces,
    Renderer,
    differ,
    joined,
    mapped,
    plain,
    quoted,
    without_first,
)
from ticdc_producer.protocols.base64_texts import base64_texts
from ticdc_producer.protocols.open_protocol.options import OpenOptions
from ticdc_producer.protocols.open_protocol.profile_rules import DIALECTS, Dialect

Image: TypeAlias = Sequence[pa.Array]
"""The images of many rows: an array of canonical texts per sent column."""
_NONE = pa.scalar(b"", pa.binary())


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """One column: where it stands in the image, what precedes its value, how the value is written.

    :param place: index into the row image.
    :param prefix: ``"name":{"t":3,"h":true,"f":11,"v":``.
    """

    place: int
    prefix: bytes
    handle_key: bool
    render: Renderer

    def member(self, image: Image) -> Pieces:
        """The column's object member."""
        return self.prefix, *self.render(image[self.place]), b"}"


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table version: its columns in message order, and the text around them."""

    columns: tuple[ColumnPlan, ...]
    key_head: bytes
    partitioned: bool
    dialect: Dialect

    def members(self, image: Image, *, handle_key_only: bool = False) -> Iterator[Piece]:
        """The members of an image."""
        columns = [column for column in self.columns if column.handle_key or not handle_key_only]
        for place, column in enumerate(columns):
            if place:
                yield b","
            yield from column.member(image)

    def changed_members(self, before: Image, after: Image) -> pa.Array:
        """The members of the old images that an update changed."""
        rows = len(before[0])
        shown = [
            pc.if_else(
                differ(before[column.place], after[column.place]),
                joined((b",", *column.member(before)), rows),
                _NONE,
            )
            for column in self.columns
        ]
        return without_first(joined(shown, rows))


def table_plan(table: TableInfo, options: OpenOptions) -> TablePlan:
    """Compile the plan of one table version."""
    dialect = DIALECTS[options.profile]
    described = zip(table.sent_columns, table.sent_flags, strict=True)
    plans = [
        (column.name.encode(), _column_plan(place, column, flag, options))
        for place, (column, flag) in enumerate(described)
    ]
    if dialect.sorted_columns:
        plans.sort(key=lambda named: named[0])
    return TablePlan(
        columns=tuple(plan for _, plan in plans),
        key_head=dialect.names(table.schema, table.name),
        partitioned=bool(table.partitions),
        dialect=dialect,
    )


def _column_plan(place: int, column: ColumnInfo, flag: int, options: OpenOptions) -> ColumnPlan:
    handle = bool(flag & ColumnFlag.HANDLE_KEY)
    h = b',"h":true' if handle else b""
    f = b"" if options.legacy_no_flag else b',"f":%d' % _told_flag(column, flag, options)
    name = DIALECTS[options.profile].strings.literal(column.name)
    prefix = b'%b:{"t":%d%b%b,"v":' % (name, column.type, h, f)
    return ColumnPlan(place, prefix, handle, _renderer(column.type, column.binary, options))


def _told_flag(column: ColumnInfo, flag: int, options: OpenOptions) -> int:
    """The flag as sent: the new program leaves the handle key of a stored generated column to ``h``, but for
    one in the primary key. Source: ticdc ``initColumnFlags``."""
    if options.profile == "classic" or column.generated != "stored" or flag & ColumnFlag.PRIMARY_KEY:
        return flag
    return flag & ~ColumnFlag.HANDLE_KEY


def _renderer(code: MySQLType, binary: bool, options: OpenOptions) -> Renderer:
    dialect = DIALECTS[options.profile]
    if code in INTEGERS or code in NUMBERED:
        return plain
    if code in FLOATS:
        return dialect.floats
    if code in LOBS:
        return _base64_strings
    if code in STRINGS and binary:
        return partial(_go_quoted_strings, dialect)
    if code in STRINGS and options.legacy_varchar_base64:
        return _base64_strings
    return dialect.strings.literals


def _base64_strings(values: pa.Array) -> Pieces:
    return quoted(base64_texts(values))


def _go_quoted_strings(dialect: Dialect, values: pa.Array) -> Pieces:
    return dialect.strings.literals(mapped(values, go_quote.quote))
