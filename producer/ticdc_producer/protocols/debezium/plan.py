"""The compiled plan for encoding the rows of one table version.

A plan holds the constant texts of the messages; only the values between them differ per row. Values are
rendered column by column.
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
from ticdc_producer.protocols.arrow_text import NULL, Fragment, Fragments, Renderer, concat
from ticdc_producer.protocols.debezium import envelope, text
from ticdc_producer.protocols.debezium.column_schema import column_schema
from ticdc_producer.protocols.debezium.envelope import Source
from ticdc_producer.protocols.debezium.names import schema_prefix
from ticdc_producer.protocols.debezium.options import DebeziumOptions
from ticdc_producer.protocols.debezium.values import null_text, renderer

Image: TypeAlias = Sequence[pa.Array]
"""The images of many rows: one array of canonical texts per sent column."""
Rendered: TypeAlias = Sequence[Fragments]
"""An ``Image`` rendered to JSON, one entry per sent column."""

_MAY_BE_REFUSED = (MySQLType.DATETIME, MySQLType.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """One column of the images.

    :param prefix: ``"name":``.
    :param null: the JSON that replaces NULL.
    :param may_be_refused: whether TiCDC refuses some values of the column.
    :param default: canonical text of the DEFAULT, for the errors of refused values.
    """

    prefix: bytes
    render: Renderer
    null: bytes
    in_key: bool
    may_be_refused: bool
    default: bytes

    def values(self, column: pa.Array) -> Fragments:
        """The values of the column as JSON."""
        rendered = self.render(column)
        if self.null == NULL or not column.null_count:
            return rendered
        return (pc.fill_null(concat(rendered, len(column), null=None), self.null),)


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The plan of one table version.

    :param key_tail: the text after the members of a key, including the schema.
    :param value_tail: the text after the members of the payload, including the schema.
    """

    columns: tuple[ColumnPlan, ...]
    source: Source
    key_tail: bytes
    value_tail: bytes

    def rendered(self, image: Image) -> Rendered:
        """Render all values of an image; empty if there is no image."""
        return [plan.values(column) for plan, column in zip(self.columns, image, strict=bool(image))]

    def members(self, rendered: Rendered, *, key_only: bool = False) -> Iterator[Fragment]:
        """The JSON members of an image."""
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
    """The schemas of all columns: those of the images, then the virtual columns, which images lack.

    TiCDC new architecture also lists the virtual columns at their position in the table.
    """
    virtual = tuple(column for column in table.columns if column.is_virtual)
    first = table.sent_columns
    if options.profile == "new":
        first = tuple(one for i, one in enumerate(table.columns) if i not in table.unselected)
    return b",".join(column_schema(column, options) for column in first + virtual)
