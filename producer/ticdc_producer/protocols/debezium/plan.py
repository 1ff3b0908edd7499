"""How the rows of one table version are written, worked out once.

A plan holds the texts that all rows share; what is left per row is to put values between them. Values
are rendered column by column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import NULL, Piece, Pieces, Renderer, joined
from ticdc_producer.protocols.debezium import envelope, text
from ticdc_producer.protocols.debezium.column_schema import column_schema
from ticdc_producer.protocols.debezium.envelope import Source
from ticdc_producer.protocols.debezium.names import schema_prefix
from ticdc_producer.protocols.debezium.options import DebeziumOptions
from ticdc_producer.protocols.debezium.values import null_text, renderer

Image: TypeAlias = Sequence[pa.Array]
"""The images of many rows: an array of canonical texts per sent column."""
Rendered: TypeAlias = Sequence[Pieces]
"""The same as JSON values."""

_MAY_BE_REFUSED = (MySQLType.DATETIME, MySQLType.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """One column of the images.

    :param prefix: ``"name":``.
    :param null: what is written for NULL.
    :param default: canonical text of the DEFAULT, of a column whose values TiCDC may refuse.
    """

    prefix: bytes
    render: Renderer
    null: bytes
    in_key: bool
    may_be_refused: bool
    default: bytes

    def values(self, column: pa.Array) -> Pieces:
        """The column's JSON values."""
        shown = self.render(column)
        if self.null == NULL or not column.null_count:
            return shown
        return (pc.fill_null(joined(shown, len(column), null=None), self.null),)


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table version.

    :param key_tail: what follows the members of a key, the schema above all.
    :param value_tail: what follows the payload's members.
    """

    columns: tuple[ColumnPlan, ...]
    source: Source
    key_tail: bytes
    value_tail: bytes

    def rendered(self, image: Image) -> Rendered:
        """All values of an image; none where there is no image."""
        return [plan.values(column) for plan, column in zip(self.columns, image, strict=bool(image))]

    def members(self, rendered: Rendered, *, key_only: bool = False) -> Iterator[Piece]:
        """The members of an image."""
        between = b""
        for plan, values in zip(self.columns, rendered, strict=True):
            if plan.in_key or not key_only:
                yield between + plan.prefix
                yield from values
                between = b","


def table_plan(table: TableInfo, options: DebeziumOptions) -> TablePlan:
    """Compile the plan of one table version."""
    described = zip(table.sent_columns, table.sent_flags, strict=True)
    key_tail, value_tail = b"}}", b"}}"
    if not options.disable_schema:
        prefix = schema_prefix(options.cluster_id, table.schema, table.name)
        key_tail = b'},"schema":%b}' % envelope.key_schema(prefix, _key_columns(table, options))
        value_tail = b'},"schema":%b}' % envelope.row_schema(prefix, _columns(table, options), options)
    return TablePlan(
        columns=tuple(_column_plan(column, flag, options) for column, flag in described),
        source=envelope.source(options.cluster_id, table.schema, table.name),
        key_tail=key_tail,
        value_tail=value_tail,
    )


def _column_plan(column: ColumnInfo, flag: int, options: DebeziumOptions) -> ColumnPlan:
    return ColumnPlan(
        prefix=text.string(column.name) + b":",
        render=renderer(column, options),
        null=null_text(column, options),
        in_key=bool(flag & ColumnFlag.HANDLE_KEY),
        may_be_refused=column.type in _MAY_BE_REFUSED,
        default=column.default or b"",
    )


def _key_columns(table: TableInfo, options: DebeziumOptions) -> bytes:
    described = zip(table.sent_columns, table.sent_flags, strict=True)
    key = (column for column, flag in described if flag & ColumnFlag.HANDLE_KEY)
    return b",".join(column_schema(column, options) for column in key)


def _columns(table: TableInfo, options: DebeziumOptions) -> bytes:
    """Schemas of all columns: those of the images, then the virtual ones, which no image holds.

    The new program lists the virtual ones a second time, in their places.
    """
    virtual = tuple(column for column in table.columns if column.is_virtual)
    first = table.sent_columns
    if options.profile == "new":
        first = tuple(one for i, one in enumerate(table.columns) if i not in table.left_out)
    return b",".join(column_schema(column, options) for column in first + virtual)
