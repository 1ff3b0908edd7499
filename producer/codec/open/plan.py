"""How the rows of one table version are written, worked out once.

A plan holds a template for the row key and one for each image; what is left per row is to put values
into them. Values are rendered column by column.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from producer.codec import go_json, go_quote
from producer.codec.open.dialect import DIALECTS, Dialect, Renderer
from producer.codec.open.options import OpenOptions
from producer.model.event import Value
from producer.model.flags import ColumnFlag
from producer.model.mysql_type import FLOATS, INTEGERS, LOBS, NUMBERED, STRINGS, MySQLType
from producer.model.table import ColumnInfo, TableInfo

Column: TypeAlias = Sequence[Value]


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
    dialect: Dialect

    def image_texts(self, image: Sequence[Column], *, handle_key_only: bool = False) -> list[bytes]:
        """The members of an image, joined, one text per row."""
        columns = [column for column in self.columns if column.handle_key or not handle_key_only]
        template = b",".join(column.prefix.replace(b"%", b"%%") + b"%b}" for column in columns)
        if not columns:  # of a table without a handle key
            return [b""] * len(image[0])
        values = [column.render(image[column.place]) for column in columns]
        return [template % row for row in zip(*values, strict=True)]

    def row_key(self, commit_ts: int, row_id: int, table_id: int, marks: bytes = b"") -> bytes:
        """The row's key JSON.

        Order of members: ts, scm, tbl, rid, ptn, t, marks; of the new program ts, scm, tbl, t, marks, ptn.

        :param row_id: 0 for none.
        :param marks: ``,"ohk":true`` of a row that shows its handle key alone.
        """
        rid = b',"rid":%d' % row_id if row_id else b""
        ptn = b',"ptn":%d' % table_id if self.partitioned else b""
        before, after = (b"", ptn) if self.dialect.partition_last else (ptn, b"")
        return b'{"ts":%d%b%b%b,"t":1%b%b}' % (commit_ts, self.key_head, rid, before, marks, after)


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
    name = DIALECTS[options.profile].string(column.name)
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
        return go_json.numbers
    if code in FLOATS:
        return dialect.floats
    if code in LOBS:
        return _base64_strings
    if code in STRINGS and binary:
        return partial(_go_quoted_strings, dialect)
    if code in STRINGS:
        return _base64_strings if options.legacy_varchar_base64 else dialect.strings
    return dialect.strings


def _base64_strings(values: Column) -> list[bytes]:
    return go_json.quoted(None if value is None else b2a_base64(value, newline=False) for value in values)


def _go_quoted_strings(dialect: Dialect, values: Column) -> list[bytes]:
    return dialect.strings(go_quote.quote_all(values))
