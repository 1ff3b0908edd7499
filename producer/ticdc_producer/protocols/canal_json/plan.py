"""The compiled text layout of one table version's rows.

A plan contains the texts that all rows share. Times, type codes that depend on values, and the values are
inserted per row; values are rendered column by column.
"""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Renderer, quoted
from ticdc_producer.protocols.canal_json import json_text
from ticdc_producer.protocols.canal_json.mysql_type import bare_type, full_type
from ticdc_producer.protocols.canal_json.options import CanalJSONOptions
from ticdc_producer.protocols.canal_json.sql_type import SQLType, sql_type


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """One column: its index in the image, and its texts in a message.

    :param image_index: index into the row image.
    :param name: the column's name as JSON.
    :param mysql_type: its type text as JSON.
    :param render: formats values as JSON.
    """

    image_index: int
    name: bytes
    sql_type: SQLType
    mysql_type: bytes
    render: Renderer
    handle_key: bool
    primary_key: bool


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table version.

    :param head: the message up to its operation.
    :param columns: in table order.
    """

    head: bytes
    columns: tuple[ColumnPlan, ...]

    @property
    def handle_key(self) -> tuple[ColumnPlan, ...]:
        return tuple(column for column in self.columns if column.handle_key)


def table_plan(table: TableInfo, options: CanalJSONOptions) -> TablePlan:
    """Compile the plan of one table version."""
    described = zip(table.sent_columns, table.sent_flags, strict=True)
    columns = tuple(
        _column_plan(index, column, flag, options) for index, (column, flag) in enumerate(described)
    )
    keys = b",".join(column.name for column in columns if column.primary_key)
    head = b'{"id":0,"database":%b,"table":%b,"pkNames":[%b],"isDdl":false,"type":' % (
        json_text.string(table.schema),
        json_text.string(table.name),
        keys,
    )
    return TablePlan(head, columns)


def _column_plan(index: int, column: ColumnInfo, flag: int, options: CanalJSONOptions) -> ColumnPlan:
    text = full_type(column) if options.content_compatible else bare_type(column)
    return ColumnPlan(
        image_index=index,
        name=json_text.string(column.name),
        sql_type=sql_type(column),
        mysql_type=json_text.string(text),
        render=_renderer(column),
        handle_key=bool(flag & ColumnFlag.HANDLE_KEY),
        primary_key=bool(flag & ColumnFlag.PRIMARY_KEY),
    )


def _renderer(column: ColumnInfo) -> Renderer:
    if column.type in STRINGS | LOBS:
        return json_text.latin1_strings if column.binary else json_text.STRINGS.literals
    return json_text.STRINGS.literals if column.type == MySQLType.JSON else quoted
