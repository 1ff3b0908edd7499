"""One form of row message: an operation, the columns it shows, and the template of its text."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from producer.codec.base import RowBatch
from producer.codec.canal_json.options import CanalJSONOptions
from producer.codec.canal_json.plan import Column, ColumnPlan, TablePlan, table_plan
from producer.codec.canal_json.record_key import RecordKeys
from producer.model.event import Op
from producer.model.table import TableInfo
from producer.model.tso import LOGICAL_BITS


@dataclass(frozen=True, slots=True)
class RowForm:
    """Writes rows of one operation.

    :param template: open in it, in this order: commit time in milliseconds, build time if it is no
        constant, codes of the columns whose code depends on the value, old and new values, commit-ts,
        location of a claim-check object, row key.
    :param record_keys: None where messages show none.
    """

    template: bytes
    op: Op
    columns: tuple[ColumnPlan, ...]
    options: CanalJSONOptions
    record_keys: RecordKeys | None

    def texts(self, batch: RowBatch, locations: Sequence[bytes] = ()) -> list[bytes]:
        """One message per row.

        :param batch: rows of this form's operation.
        :param locations: of their claim-check objects as JSON, where this form tells one.
        """
        shown = batch.before if self.op == Op.DELETE else batch.after
        physical = [ts >> LOGICAL_BITS for ts in batch.commit_ts]
        times = [physical, physical] if self.options.build_ts_ms is None else [physical]
        codes = [c.sql_type.codes(shown[c.place]) for c in self.columns if c.sql_type.limit]
        data = [c.render(shown[c.place]) for c in self.columns]
        old = self._old(batch, data)
        images = [*data, *old] if self.options.legacy_data_before_old else [*old, *data]
        extension: list[Sequence[object]] = [batch.commit_ts] if self.options.enable_tidb_extension else []
        if locations:
            extension.append(locations)
        if self.record_keys is not None:
            keys = self.record_keys.of(batch, shown)
            extension.append([b2a_base64(key, newline=False) for key in keys])
        rows = zip(*times, *codes, *images, *extension, strict=True)
        return [self.template % row for row in rows]

    def _old(self, batch: RowBatch, data: list[list[bytes]]) -> list[list[bytes]]:
        if self.op == Op.UPDATE:
            if self.options.updated_columns_only:
                return [_changed(self.columns, batch)]
            return [column.render(batch.before[column.place]) for column in self.columns]
        return data if self.op == Op.DELETE and self.options.legacy_delete_old else []


Forms: TypeAlias = Mapping[tuple[Op, bool], RowForm]
"""By operation, and whether the row was too large and shows its handle key alone."""


def table_forms(table: TableInfo, options: CanalJSONOptions) -> Forms:
    """Compile every form of one table version."""
    plan = table_plan(table, options)
    keys = RecordKeys(table, options.time_zone) if options.shows_row_key else None
    return {(op, large): _row_form(plan, op, options, keys, large) for op in Op for large in (False, True)}


def _row_form(
    plan: TablePlan, op: Op, options: CanalJSONOptions, keys: RecordKeys | None, large: bool
) -> RowForm:
    trimmed = large or (op == Op.DELETE and options.delete_only_output_handle_key_columns)
    columns = plan.handle_key if trimmed else plan.columns
    values = b"[{%b}]" % _members(columns, (b"%b" for _ in columns))
    data = b',"data":' + values
    old = b',"old":' + (_old_template(op, options) or values)
    template = b'%b"%b","es":%%d,"ts":%b,"sql":"",%b%b%b}' % (
        plan.head.replace(b"%", b"%%"),
        op.name.encode(),
        b"%d" if options.build_ts_ms is None else b"%d" % options.build_ts_ms,
        _types(columns, options),
        data + old if options.legacy_data_before_old else old + data,
        _extension(options, large),
    )
    return RowForm(template, op, columns, options, keys)


def _old_template(op: Op, options: CanalJSONOptions) -> bytes:
    """The old image where it is not the form of ``data``; empty where it is."""
    if op == Op.UPDATE:
        return b"[{%b}]" if options.updated_columns_only else b""
    return b"" if op == Op.DELETE and options.legacy_delete_old else b"null"


def _types(columns: Sequence[ColumnPlan], options: CanalJSONOptions) -> bytes:
    """``sqlType`` and ``mysqlType``; without any column they are null, but the classic second one empty."""
    if not columns and options.profile == "new":
        return b'"sqlType":null,"mysqlType":null'
    codes = (b"%b" if column.sql_type.limit else column.sql_type.code for column in columns)
    texts = (column.mysql_type.replace(b"%", b"%%") for column in columns)
    sql_types = b"{%b}" % _members(columns, codes) if columns else b"null"
    return b'"sqlType":%b,"mysqlType":{%b}' % (sql_types, _members(columns, texts))


def _members(columns: Sequence[ColumnPlan], texts: Iterable[bytes]) -> bytes:
    named = zip(columns, texts, strict=True)
    return b",".join(column.name.replace(b"%", b"%%") + b":" + text for column, text in named)


def _extension(options: CanalJSONOptions, large: bool) -> bytes:
    if not options.enable_tidb_extension:
        return b""
    told = b""
    if large:
        claimed = options.large_message_handle_option == "claim-check"
        told = b',"claimCheckLocation":%b' if claimed else b',"onlyHandleKey":true'
    key = b',"rowkey":"%b"' if options.shows_row_key else b""
    return b',"_tidb":{"commitTs":%d' + told + key + b"}"


def _changed(columns: Sequence[ColumnPlan], batch: RowBatch) -> list[bytes]:
    """The members of the old images that the update changed, one text per row."""
    members = [
        _changed_members(column, batch.before[column.place], batch.after[column.place])
        for column in columns
        if batch.before[column.place] != batch.after[column.place]
    ]
    if not members:
        return [b""] * len(batch.op)
    return [b",".join(filter(None, row)) for row in zip(*members, strict=True)]


def _changed_members(column: ColumnPlan, old: Column, new: Column) -> list[bytes]:
    prefix = column.name + b":"
    rendered = zip(column.render(old), old, new, strict=True)
    return [b"" if a == b else prefix + text for text, a, b in rendered]
