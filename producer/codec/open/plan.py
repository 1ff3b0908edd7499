"""How the rows of one table version are written, worked out once.

A plan holds a template for the row key and one for each image; what is left per row is to put values
into them. Values are rendered column by column.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from producer.codec import go_float, go_json, go_quote
from producer.codec.open.options import OpenOptions
from producer.model.event import Value
from producer.model.flags import ColumnFlag
from producer.model.mysql_type import FLOATS, INTEGERS, LOBS, NUMBERED, STRINGS, MySQLType
from producer.model.table import ColumnInfo, TableInfo

Column: TypeAlias = Sequence[Value]
Renderer: TypeAlias = Callable[[Column], list[bytes]]


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

    def members(self, image: Sequence[Column]) -> list[bytes]:
        """The column's object members, one per row."""
        return [self.prefix + value + b"}" for value in self.render(image[self.place])]


@dataclass(frozen=True, slots=True)
class TablePlan:
    """One table version: its columns in message order, and the text around them."""

    columns: tuple[ColumnPlan, ...]
    key_head: bytes
    partitioned: bool

    def image_texts(self, image: Sequence[Column], *, handle_key_only: bool = False) -> list[bytes]:
        """The members of an image, joined, one text per row."""
        columns = [column for column in self.columns if column.handle_key or not handle_key_only]
        template = b",".join(column.prefix.replace(b"%", b"%%") + b"%b}" for column in columns)
        values = [column.render(image[column.place]) for column in columns]
        return [template % row for row in zip(*values, strict=True)]

    def row_key(self, commit_ts: int, row_id: int, table_id: int) -> bytes:
        """The row's key JSON. Order of members: ts, scm, tbl, rid, ptn, t; zero values are left out."""
        rid = b',"rid":%d' % row_id if row_id else b""
        ptn = b',"ptn":%d' % table_id if self.partitioned else b""
        return b'{"ts":%d%b%b%b,"t":1}' % (commit_ts, self.key_head, rid, ptn)


def table_plan(table: TableInfo, options: OpenOptions) -> TablePlan:
    """Compile the plan of one table version."""
    described = zip(table.sent_columns, table.sent_flags, strict=True)
    plans = [
        (column.name.encode(), _column_plan(place, column, flag, options))
        for place, (column, flag) in enumerate(described)
    ]
    # The classic program marshals a Go map: members stand in the byte order of their names.
    plans.sort(key=lambda named: named[0])
    return TablePlan(
        columns=tuple(plan for _, plan in plans),
        key_head=name_members(table.schema, table.name),
        partitioned=bool(table.partitions),
    )


def name_members(schema: str, table: str) -> bytes:
    """``,"scm":…,"tbl":…`` of a key; an empty name is left out."""
    scm = b',"scm":' + go_json.string(schema) if schema else b""
    tbl = b',"tbl":' + go_json.string(table) if table else b""
    return scm + tbl


def _column_plan(place: int, column: ColumnInfo, flag: int, options: OpenOptions) -> ColumnPlan:
    handle = bool(flag & ColumnFlag.HANDLE_KEY)
    h = b',"h":true' if handle else b""
    f = b"" if options.legacy_no_flag else b',"f":%d' % flag
    prefix = b'%b:{"t":%d%b%b,"v":' % (go_json.string(column.name), column.type, h, f)
    return ColumnPlan(place, prefix, handle, _renderer(column.type, column.binary, options))


def _renderer(code: MySQLType, binary: bool, options: OpenOptions) -> Renderer:
    if code in INTEGERS or code in NUMBERED:
        return go_json.numbers
    if code in FLOATS:
        return go_float.numbers
    if code in LOBS:
        return _base64_strings
    if code in STRINGS and binary:
        return _go_quoted_strings
    if code in STRINGS:
        return _base64_strings if options.legacy_varchar_base64 else go_json.strings
    return go_json.strings


def _base64_strings(values: Column) -> list[bytes]:
    return go_json.quoted(None if value is None else b2a_base64(value, newline=False) for value in values)


def _go_quoted_strings(values: Column) -> list[bytes]:
    return go_json.strings(go_quote.quote_all(values))
