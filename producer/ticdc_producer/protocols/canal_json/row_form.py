"""The compiled text of one table version's rows, by operation and columns.

TiCDC uses easyjson for rows, goccy/go-json for DDLs and watermarks. Both differ from Go's
``encoding/json`` only in two characters: backspace and form feed have no short form.
This was measured with the real libraries.

A plan contains the texts that all rows share. Times, type codes that depend on values, and the values are
inserted per row; values are rendered column by column.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Fragments,
    Renderer,
    concat,
    contents,
    differ,
    integers,
    map_values,
    quoted,
    without_first_byte,
)
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.canal_json.column_types import JDBCType, bare_type, full_type, sql_type
from ticdc_producer.protocols.canal_json.record_key import RecordKeys
from ticdc_producer.protocols.go_json import JSONStrings
from ticdc_producer.protocols.row_options import CanalJSONOptions

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_LONG = {chr(code): f"\\u{code:04x}" for code in (*range(0x20), *b"<>&", 0x2028, 0x2029)}

JSON_STRINGS = JSONStrings({**_LONG, **_SHORT}, bad_byte="\\ufffd")
_CHARACTERS = [JSON_STRINGS.literal(chr(code))[1:-1] for code in range(0x100)]


def latin1_strings(values: pa.Array) -> Fragments:
    """Return the JSON literals of byte strings, with each byte as the character of its number (ISO-8859-1).

    >>> concat(latin1_strings(pa.array([b"a\\xe9"])), 1).to_pylist()[0].decode()
    '"aé"'
    """
    if contents(values).isascii():
        return JSON_STRINGS.literals(values)
    return quoted(map_values(values, lambda value: b"".join(map(_CHARACTERS.__getitem__, value))))


def string(text: str) -> bytes:
    """Return the JSON literal of a text."""
    return JSON_STRINGS.literal(text)


@dataclass(frozen=True, slots=True)
class CanalJSONColumnPlan:
    """One column: its index in the image, and its texts in a message.

    :param image_index: index into the row image.
    :param name: the column's name as JSON.
    :param mysql_type: its type text as JSON.
    :param render: formats values as JSON.
    """

    image_index: int
    name: bytes
    sql_type: JDBCType
    mysql_type: bytes
    render: Renderer
    handle_key: bool
    primary_key: bool


@dataclass(frozen=True, slots=True)
class CanalJSONTablePlan:
    """One table version.

    :param head: the message up to its operation.
    :param columns: in table order.
    """

    head: bytes
    columns: tuple[CanalJSONColumnPlan, ...]

    @property
    def handle_key(self) -> tuple[CanalJSONColumnPlan, ...]:
        return tuple(column for column in self.columns if column.handle_key)


def table_plan(table: TableInfo, options: CanalJSONOptions) -> CanalJSONTablePlan:
    """Compile the plan of one table version."""
    described = zip(table.sent_columns, table.sent_flags, strict=True)
    columns = tuple(
        _column_plan(index, column, flag, options) for index, (column, flag) in enumerate(described)
    )
    keys = b",".join(column.name for column in columns if column.primary_key)
    head = b'{"id":0,"database":%b,"table":%b,"pkNames":[%b],"isDdl":false,"type":' % (
        string(table.schema),
        string(table.name),
        keys,
    )
    return CanalJSONTablePlan(head, columns)


def _column_plan(index: int, column: ColumnInfo, flag: int, options: CanalJSONOptions) -> CanalJSONColumnPlan:
    text = full_type(column) if options.content_compatible else bare_type(column)
    return CanalJSONColumnPlan(
        image_index=index,
        name=string(column.name),
        sql_type=sql_type(column),
        mysql_type=string(text),
        render=_renderer(column),
        handle_key=bool(flag & ColumnFlag.HANDLE_KEY),
        primary_key=bool(flag & ColumnFlag.PRIMARY_KEY),
    )


def _renderer(column: ColumnInfo) -> Renderer:
    if column.type in STRINGS | LOBS:
        return latin1_strings if column.binary else JSON_STRINGS.literals
    return JSON_STRINGS.literals if column.type == MySQLType.JSON else quoted


_NONE = pa.scalar(b"", pa.binary())


@dataclass(frozen=True, slots=True)
class CanalJSONRowForm:
    """Encodes rows of one operation.

    :param head: the message up to its operation.
    :param large: whether the rows were too large and carry only their handle key.
    :param record_keys: None if messages do not contain record keys.
    """

    head: bytes
    op: Op
    columns: tuple[CanalJSONColumnPlan, ...]
    options: CanalJSONOptions
    large: bool
    record_keys: RecordKeys | None

    def texts(self, batch: RowBatch, locations: pa.Array | None = None) -> pa.Array:
        """Return one message per row.

        :param batch: rows of this form's operation.
        :param locations: locations of the rows' claim-check objects as JSON; None if nothing is stored.
        """
        physical = integers(pc.shift_right(batch.commit_ts, LOGICAL_BITS))
        built = self.options.build_ts_ms
        fragments = [
            self.head, b'"%b","es":' % self.op.name.encode(), physical,
            b',"ts":', physical if built is None else b"%d" % built,
            b',"sql":"",', *self._types(batch), *self._images(batch), *self._extension(batch, locations),
            b"}",
        ]  # fmt: skip
        return concat(fragments, len(batch))

    def _types(self, batch: RowBatch) -> Iterator[Fragment]:
        """Yield ``sqlType`` and ``mysqlType``.

        Without columns both are null, except that ``mysqlType`` is ``{}`` in classic TiCDC (tiflow).
        """
        if not self.columns:
            yield b'"sqlType":null,"mysqlType":' + (b"null" if self.options.profile == "new" else b"{}")
            return
        codes = [
            (column.sql_type.codes(batch.primary_images[column.image_index]),) for column in self.columns
        ]
        texts: list[Fragments] = [(column.mysql_type,) for column in self.columns]
        yield from (b'"sqlType":{', *self._members(codes), b'},"mysqlType":{', *self._members(texts), b"}")

    def _members(self, values: Sequence[Fragments]) -> Iterator[Fragment]:
        """Yield the columns as members of an object."""
        for number, (column, value) in enumerate(zip(self.columns, values, strict=True)):
            yield b"," * bool(number) + column.name + b":"
            yield from value

    def _images(self, batch: RowBatch) -> tuple[Fragment, ...]:
        new = [column.render(batch.primary_images[column.image_index]) for column in self.columns]
        data = (b',"data":[{', *self._members(new), b"}]")
        old = (b',"old":', *self._old(batch, new))
        return (*data, *old) if self.options.legacy_data_before_old else (*old, *data)

    def _old(self, batch: RowBatch, new: Sequence[Fragments]) -> Fragments:
        if self.op == Op.UPDATE and self.options.updated_columns_only:
            return b"[{", self._changed(batch), b"}]"
        if self.op == Op.UPDATE:
            old = [column.render(batch.before[column.image_index]) for column in self.columns]
            return b"[{", *self._members(old), b"}]"
        if self.op == Op.DELETE and self.options.legacy_delete_old:
            return b"[{", *self._members(new), b"}]"
        if self.op == Op.INSERT and self.options.legacy_insert_old:
            return (b"[null]",)
        return (b"null",)

    def _changed(self, batch: RowBatch) -> Fragment:
        """Return the members of the old images that the update changed.

        >>> columns = [
        ...     CanalJSONColumnPlan(i, b'"%c"' % name, JDBCType(b"4"), b'"int"', quoted, False, False)
        ...     for i, name in enumerate(b"ab")
        ... ]
        >>> form = CanalJSONRowForm(b"", Op.UPDATE, tuple(columns), CanalJSONOptions(), False, None)
        >>> ids, old, new = pa.array([1]), pa.array([b"2"]), pa.array([b"3"])
        >>> before, after = [pa.array([b"1"]), old], [pa.array([b"1"]), new]
        >>> batch = RowBatch(
        ...     op=Op.UPDATE, commit_ts=ids, table_id=ids, row_id=ids, before=before, after=after
        ... )
        >>> form._changed(batch).to_pylist()
        [b'"b":"2"']
        """
        rows = len(batch)
        members = [b""] + [
            pc.if_else(changed, concat((b"," + column.name + b":", *column.render(old)), rows), _NONE)
            for column in self.columns
            for old, new in [(batch.before[column.image_index], batch.after[column.image_index])]
            if pc.any(changed := differ(old, new)).as_py()
        ]
        return without_first_byte(concat(members, rows))

    def _extension(self, batch: RowBatch, locations: pa.Array | None) -> Iterator[Fragment]:
        if not self.options.enable_tidb_extension:
            return
        yield from (b',"_tidb":{"commitTs":', integers(batch.commit_ts))
        if locations is not None:
            yield from (b',"claimCheckLocation":', locations)
        elif self.large:
            yield b',"onlyHandleKey":true'
        if self.record_keys is not None:
            keys = map_values(self.record_keys.of(batch), partial(b2a_base64, newline=False))
            yield from (b',"rowkey":"', keys, b'"')
        yield b"}"


Forms: TypeAlias = Mapping[tuple[Op, bool], CanalJSONRowForm]
"""By operation, and whether the row was too large and carries only its handle key."""


def table_forms(table: TableInfo, options: CanalJSONOptions) -> Forms:
    """Compile every form of one table version."""
    plan = table_plan(table, options)
    keys = RecordKeys(table, options.time_zone) if options.has_row_key else None
    return {(op, large): _row_form(plan, op, options, keys, large) for op in Op for large in (False, True)}


def _row_form(
    plan: CanalJSONTablePlan, op: Op, options: CanalJSONOptions, keys: RecordKeys | None, large: bool
) -> CanalJSONRowForm:
    trimmed = large or (op == Op.DELETE and options.delete_only_output_handle_key_columns)
    columns = plan.handle_key if trimmed else plan.columns
    return CanalJSONRowForm(plan.head, op, columns, options, large, keys)
