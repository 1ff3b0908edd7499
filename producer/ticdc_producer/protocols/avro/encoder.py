"""Encoder of Avro.

A message part is a zero byte, the id of its schema in four bytes, and a record. Source: tiflow
``pkg/sink/codec/avro/avro.go``, ``confluent_schema_registry.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import DDLEvent, Message, Op
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import Piece, joined, lengths, numbers
from ticdc_producer.protocols.avro import binary, control_encoder
from ticdc_producer.protocols.avro.fidelity import AvroLosses
from ticdc_producer.protocols.avro.layout import MAGIC
from ticdc_producer.protocols.avro.names import Part
from ticdc_producer.protocols.avro.options import AvroOptions
from ticdc_producer.protocols.avro.plan import TablePlan, table_plan
from ticdc_producer.protocols.avro.table_schema import schema_of
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowNote, encoded_rows
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD, too_large
from ticdc_producer.protocols.message_batch import MessageBatch, row_by_row

SchemaID: TypeAlias = Callable[[TableInfo, Part, str], int]
"""The registry's id of a schema: of which table, of its keys or values, and the schema itself."""
_OPS = {Op.INSERT: b"c", Op.UPDATE: b"u"}


class AvroEncoder:
    """Values in, messages out; keeps the plan and the schema ids of every table version it has met.

    :param schema_id: is asked once for each schema.
    """

    def __init__(self, options: AvroOptions | None = None, *, schema_id: SchemaID) -> None:
        self.options = options or AvroOptions()
        self._schema_id = schema_id
        self._plans: dict[TableInfo, TablePlan] = {}
        self._heads: dict[tuple[TableInfo, Part], bytes] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``codec.base.Encoder``. A delete has no value."""
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        plan, count = self._plans[table], len(batch)
        nothing = pa.nulls(count, pa.binary())
        unsendable = _unsendable(plan, table, batch.op)
        if unsendable is not None:
            notes = {
                place: RowNote(refusal=unsendable(ts)) for place, ts in enumerate(numbers(batch.commit_ts))
            }
            return encoded_rows(nothing, nothing, batch.commit_ts, notes)
        key = joined(self._key(plan, table, batch), count) if plan.key else nothing
        value = nothing if batch.op == Op.DELETE else joined(self._value(plan, table, batch), count)
        return encoded_rows(key, value, batch.commit_ts, self._notes(plan, table, batch, key, value))

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """One message per row."""
        return (row_by_row(part, keyed=True) for part in rows)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # a schema says what a table looks like
        before: TableInfo | None = None,  # noqa: ARG002  # likewise
    ) -> Message | None:
        """The DDL event; None but with watermarks."""
        return control_encoder.ddl(event) if self.options.sends_watermarks else None

    def resolved(self, ts: int) -> Message | None:
        """The watermark, where there are any."""
        return control_encoder.watermark(ts) if self.options.sends_watermarks else None

    @property
    def losses(self) -> AvroLosses:
        return AvroLosses.of(self.options)

    def _key(self, plan: TablePlan, table: TableInfo, batch: RowBatch) -> Iterator[Piece]:
        yield self._head(table, "key")
        yield from plan.cells(batch.shown, plan.key)

    def _value(self, plan: TablePlan, table: TableInfo, batch: RowBatch) -> Iterator[Piece]:
        yield self._head(table, "value")
        yield from plan.cells(batch.after, range(len(plan.columns)))
        if self.options.enable_tidb_extension:
            commits = numbers(batch.commit_ts)
            yield from (binary.literal(_OPS[batch.op]), binary.longs(commits))
            yield binary.longs(commits >> LOGICAL_BITS)

    def _head(self, table: TableInfo, part: Part) -> bytes:
        if (table, part) not in self._heads:
            number = self._schema_id(table, part, schema_of(part, table, self.options))
            self._heads[table, part] = bytes((MAGIC,)) + number.to_bytes(4, "big")
        return self._heads[table, part]

    def _notes(
        self, plan: TablePlan, table: TableInfo, batch: RowBatch, key: pa.Array, value: pa.Array
    ) -> dict[int, RowNote]:
        commits, limit = batch.commit_ts, self.options.max_message_bytes
        sizes = lengths(key) + lengths(value) + RECORD_OVERHEAD
        notes = {}
        for place in np.flatnonzero(sizes > limit).tolist():
            refusal = too_large(int(sizes[place]), limit, table.schema, table.name, commits[place].as_py())
            notes[place] = RowNote(refusal=refusal)
        for at, members in reversed(plan.enums):
            shown = [batch.after] if batch.op != Op.DELETE else [batch.before] if at in plan.key else []
            for image in shown:
                for place in pc.indices_nonzero(pc.fill_null(pc.equal(image[at], b"0"), False)).to_pylist():
                    notes[place] = RowNote(refusal=_no_member(table, members, commits[place].as_py()))
        return notes


def _no_member(table: TableInfo, members: int, commit_ts: int) -> EncodeError:
    """The error value of an ENUM, of which TiCDC finds no name."""
    what = f"convert to MySQL enum failed: number 0 overflow enum boundary [1, {members}]"
    return EncodeError(
        f"encode to avro native data: {what}: [types:1265]Data truncated for column '%s' at row %d",
        code="CDC:ErrAvroEncodeFailed",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="the empty error value of an ENUM has no name in Avro",
    )


def _unsendable(plan: TablePlan, table: TableInfo, op: Op) -> Callable[[int], EncodeError] | None:
    """Why no row of a table can be sent."""
    if plan.clash:
        what = f"a record can have no field, or no second one, named {plan.clash!r}"
        hint = "Avro's names have letters, digits and _ alone: rename a column"
    elif op == Op.DELETE and not plan.key:
        what = "a delete would have neither key nor value"
        hint = "the new program writes primary keys alone as keys: the table needs one"
    else:
        return None

    def refusal(commit_ts: int) -> EncodeError:
        code, ts = "CDC:ErrAvroMarshalFailed", int(commit_ts)
        return EncodeError(what, code=code, table=table.qualified_name, commit_ts=ts, hint=hint)

    return refusal
