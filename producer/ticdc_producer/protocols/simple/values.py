"""Encodes column values as JSON: TIMESTAMP as an object with its time zone, all others as strings.

Source: tiflow ``pkg/sink/codec/simple/message.go`` (``encodeValue``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import LOBS, MySQLType
from ticdc_producer.model.mysql_type import STRINGS as STRING_TYPES
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Fragments, Renderer, quoted, surrounded
from ticdc_producer.protocols.base64_texts import base64_texts
from ticdc_producer.protocols.go_json import STRINGS


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """One column of a table version.

    :param index: index into the row image.
    :param name: the column's name as JSON.
    :param render: renders values to JSON.
    """

    index: int
    name: bytes
    render: Renderer
    handle_key: bool


def column_plans(table: TableInfo, time_zone: str) -> tuple[ColumnPlan, ...]:
    """The columns in the order in which Go prints a map: by the bytes of their names."""
    columns = enumerate(zip(table.sent_columns, table.sent_flags, strict=True))
    ordered = sorted(columns, key=lambda each: each[1][0].name.encode())
    return tuple(
        ColumnPlan(
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
