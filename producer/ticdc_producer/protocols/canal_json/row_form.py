"""Row messages of one form: an operation, the columns it contains, and the text that all rows share."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
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
from ticdc_producer.protocols.canal_json.options import CanalJSONOptions
from ticdc_producer.protocols.canal_json.plan import ColumnPlan, TablePlan, table_plan
from ticdc_producer.protocols.canal_json.record_key import RecordKeys

_NONE = pa.scalar(b"", pa.binary())


@dataclass(frozen=True, slots=True)
class RowForm:
    """Encodes rows of one operation.

    :param head: the message up to its operation.
    :param large: whether the rows were too large and carry only their handle key.
    :param record_keys: None if messages do not contain record keys.
    """

    head: bytes
    op: Op
    columns: tuple[ColumnPlan, ...]
    options: CanalJSONOptions
    large: bool
    record_keys: RecordKeys | None

    def texts(self, batch: RowBatch, locations: pa.Array | None = None) -> pa.Array:
        """One message per row.

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
        """``sqlType`` and ``mysqlType``.

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
        """The columns as members of an object."""
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
        return (b"null",)

    def _changed(self, batch: RowBatch) -> Fragment:
        """The members of the old images that the update changed."""
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


Forms: TypeAlias = Mapping[tuple[Op, bool], RowForm]
"""By operation, and whether the row was too large and carries only its handle key."""


def table_forms(table: TableInfo, options: CanalJSONOptions) -> Forms:
    """Compile every form of one table version."""
    plan = table_plan(table, options)
    keys = RecordKeys(table, options.time_zone) if options.has_row_key else None
    return {(op, large): _row_form(plan, op, options, keys, large) for op in Op for large in (False, True)}


def _row_form(
    plan: TablePlan, op: Op, options: CanalJSONOptions, keys: RecordKeys | None, large: bool
) -> RowForm:
    trimmed = large or (op == Op.DELETE and options.delete_only_output_handle_key_columns)
    columns = plan.handle_key if trimmed else plan.columns
    return RowForm(plan.head, op, columns, options, large, keys)
