"""The encoder of Canal-JSON, the text of rows by operation and columns, and the fidelity of its messages.

The texts that all rows share are compiled once. Times, type codes that depend on values, and the values are
inserted per row; values are rendered column by column.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import DDLEvent, Kind, Message, Op
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import LOBS, STRINGS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS, physical
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Fragments,
    concat,
    differ,
    integers,
    map_values,
    without_first_byte,
)
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.canal_json.envelope import WATERMARK, action_code, ddl_keyword
from ticdc_producer.protocols.canal_json.plan import (
    CanalJSONColumnPlan,
    CanalJSONTablePlan,
    bare_type,
    full_type,
    string,
    table_plan,
)
from ticdc_producer.protocols.canal_json.record_key import RecordKeys
from ticdc_producer.protocols.compression import claim_name, compressed
from ticdc_producer.protocols.encoded_rows import EncodedRows, encoded_rows
from ticdc_producer.protocols.large_message import KeylessMessages, LargeMessages, NameClaim
from ticdc_producer.protocols.message_batch import MessageBatch, one_message_per_row
from ticdc_producer.protocols.row_options import CanalJSONOptions

_NONE = pa.scalar(b"", pa.binary())


@dataclass(frozen=True, slots=True)
class CanalJSONRowForm:
    """The compiled form of the rows of one operation.

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

        >>> from ticdc_producer.protocols.arrow_text import quoted
        >>> from ticdc_producer.protocols.canal_json.plan import JDBCType
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


_PRIMARY = ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class CanalJSONFidelity(Fidelity):
    """The fidelity of Canal-JSON.

    :param column_types: whether types are sent without (``bare``) or with (``full``) their parameters.
    """

    column_types: Literal["bare", "full"]

    def visible_type(self, column: ColumnInfo, _flag: int, /) -> str:
        return bare_type(column) if self.column_types == "bare" else full_type(column)

    def visible_flag(self, flag: int, /) -> int:
        """Return the flags of primary and handle key for columns of ``pkNames``. Others are not sent."""
        return int(_PRIMARY) if flag & ColumnFlag.PRIMARY_KEY else 0

    def visible_ddl_type(self, action: int, /) -> int:
        """Return TiDB's action code; 0 if Canal's keyword has several."""
        return action_code(ddl_keyword(action))


class CanalJSONEncoder:
    """An encoder of events as messages; it caches the compiled row forms per table version."""

    def __init__(
        self, options: CanalJSONOptions | None = None, *, name_claim: NameClaim = claim_name
    ) -> None:
        self.options = options or CanalJSONOptions()
        self._large = LargeMessages(self.options, name_claim)
        self._forms: dict[TableInfo, Forms] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``. Keys stay empty."""
        method = self.options.large_message_handle_compression
        forms = KeylessMessages(self._forms_of(table), batch, method, string)
        rows = encoded_rows(concat((b"",), len(batch)), forms.values(), batch.commit_ts)
        limited = self._large.apply_size_limit(rows, table, forms)
        return _terminated(limited, self.options.end.encode()) if self.options.end else limited

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Return one message per row, without a key.

        :raises EncodeError: for the first row that TiCDC rejects.
        """
        return (one_message_per_row(part, keyed=False) for part in rows)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # only some protocols describe tables
        before: TableInfo | None = None,  # noqa: ARG002  # and none its former state
    ) -> Message:
        ts = event.commit_ts
        extension = b"commitTs" if self.options.enable_tidb_extension else b""
        names = (string(event.schema), string(event.table))
        return self._without_rows(
            Kind.DDL, ts, names, ddl_keyword(event.ddl_type), string(event.query), extension
        )

    def resolved(self, ts: int) -> Message | None:
        """Return a watermark; None without the TiDB extension."""
        if not self.options.enable_tidb_extension:
            return None
        return self._without_rows(Kind.RESOLVED, ts, (b'""', b'""'), WATERMARK, b'""', b"watermarkTs")

    @property
    def fidelity(self) -> CanalJSONFidelity:
        options = self.options
        return CanalJSONFidelity(
            old_values="updated" if options.updated_columns_only else "all",
            deletes="handle-key" if options.delete_only_output_handle_key_columns else "all",
            table_ids="all" if options.has_row_key else "none",
            damaged_text=STRINGS | LOBS,
            commit_ts="exact" if options.enable_tidb_extension else "milliseconds",
            exact_commit_ts_with="enable-tidb-extension",
            column_types="full" if options.content_compatible else "bare",
            resolved=options.enable_tidb_extension,
        )

    def _forms_of(self, table: TableInfo) -> Forms:
        known = self._forms.get(table)
        if known is None:
            known = self._forms[table] = table_forms(table, self.options)
        return known

    def _without_rows(
        self, kind: Kind, ts: int, names: tuple[bytes, bytes], event_type: str, sql: bytes, extension: bytes
    ) -> Message:
        """Return a DDL or watermark. Unlike in rows, ``data`` precedes ``old``, as in the Go struct."""
        built = self.options.build_ts_ms
        value = (
            b'{"id":0,"database":%b,"table":%b,"pkNames":null,"isDdl":%b,"type":"%b","es":%d,"ts":%d,'
            b'"sql":%b,"sqlType":null,"mysqlType":null,"data":null,"old":null%b}'
        ) % (
            *names,
            b"true" if kind is Kind.DDL else b"false",
            event_type.encode(),
            physical(ts),
            physical(ts) if built is None else built,
            sql,
            b',"_tidb":{"%b":%d}' % (extension, ts) if extension else b"",
        )
        value = compressed(value, self.options.large_message_handle_compression)
        return Message(None, value, kind.label, ts)


def _terminated(rows: EncodedRows, end: bytes) -> EncodedRows:
    """Return rows as in a file, or in messages of old versions, each with the terminator."""
    values = concat((rows.column("value"), end), len(rows))
    return encoded_rows(rows.column("key"), values, rows.column("commit_ts"), rows.statuses)
