"""One form of row message: an operation, the columns it shows, and what of its text all rows share."""

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
from ticdc_producer.protocols.arrow_text import Piece, Pieces, differ, integers, joined, mapped, without_first
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.canal_json.options import CanalJSONOptions
from ticdc_producer.protocols.canal_json.plan import ColumnPlan, TablePlan, table_plan
from ticdc_producer.protocols.canal_json.record_key import RecordKeys

_NONE = pa.scalar(b"", pa.binary())


@dataclass(frozen=True, slots=True)
class RowForm:
    """Writes rows of one operation.

    :param head: the message up to its operation.
    :param large: whether the rows were too large and show their handle key alone.
    :param record_keys: None where messages show none.
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
        :param locations: of their claim-check objects as JSON, where this form tells one.
        """
        physical = integers(pc.shift_right(batch.commit_ts, LOGICAL_BITS))
        built = self.options.build_ts_ms
        pieces = [
            self.head, b'"%b","es":' % self.op.name.encode(), physical,
            b',"ts":', physical if built is None else b"%d" % built,
            b',"sql":"",', *self._types(batch), *self._images(batch), *self._extension(batch, locations),
            b"}",
        ]  # fmt: skip
        return joined(pieces, len(batch))

    def _types(self, batch: RowBatch) -> Iterator[Piece]:
        """``sqlType`` and ``mysqlType``; without any column they are null, but the classic second one
        empty."""
        if not self.columns:
            yield b'"sqlType":null,"mysqlType":' + (b"null" if self.options.profile == "new" else b"{}")
            return
        codes = [(column.sql_type.codes(batch.shown[column.place]),) for column in self.columns]
        texts: list[Pieces] = [(column.mysql_type,) for column in self.columns]
        yield from (b'"sqlType":{', *self._members(codes), b'},"mysqlType":{', *self._members(texts), b"}")

    def _members(self, values: Sequence[Pieces]) -> Iterator[Piece]:
        """The columns as members of an object."""
        for place, (column, value) in enumerate(zip(self.columns, values, strict=True)):
            yield b"," * bool(place) + column.name + b":"
            yield from value

    def _images(self, batch: RowBatch) -> tuple[Piece, ...]:
        new = [column.render(batch.shown[column.place]) for column in self.columns]
        data = (b',"data":[{', *self._members(new), b"}]")
        old = (b',"old":', *self._old(batch, new))
        return (*data, *old) if self.options.legacy_data_before_old else (*old, *data)

    def _old(self, batch: RowBatch, new: Sequence[Pieces]) -> Pieces:
        if self.op == Op.UPDATE and self.options.updated_columns_only:
            return b"[{", self._changed(batch), b"}]"
        if self.op == Op.UPDATE:
            old = [column.render(batch.before[column.place]) for column in self.columns]
            return b"[{", *self._members(old), b"}]"
        if self.op == Op.DELETE and self.options.legacy_delete_old:
            return b"[{", *self._members(new), b"}]"
        return (b"null",)

    def _changed(self, batch: RowBatch) -> Piece:
        """The members of the old images that the update changed."""
        rows = len(batch)
        shown = [b""] + [
            pc.if_else(changed, joined((b"," + column.name + b":", *column.render(old)), rows), _NONE)
            for column in self.columns
            for old, new in [(batch.before[column.place], batch.after[column.place])]
            if pc.any(changed := differ(old, new)).as_py()
        ]
        return without_first(joined(shown, rows))

    def _extension(self, batch: RowBatch, locations: pa.Array | None) -> Iterator[Piece]:
        if not self.options.enable_tidb_extension:
            return
        yield from (b',"_tidb":{"commitTs":', integers(batch.commit_ts))
        if locations is not None:
            yield from (b',"claimCheckLocation":', locations)
        elif self.large:
            yield b',"onlyHandleKey":true'
        if self.record_keys is not None:
            keys = mapped(self.record_keys.of(batch), partial(b2a_base64, newline=False))
            yield from (b',"rowkey":"', keys, b'"')
        yield b"}"


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
    return RowForm(plan.head, op, columns, options, large, keys)
