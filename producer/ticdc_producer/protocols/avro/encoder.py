"""The encoder of Avro.

A message part consists of a zero byte, the schema id in four bytes, and a record. Source: tiflow
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
from ticdc_producer.protocols.arrow_text import Fragment, as_int64, concat, lengths
from ticdc_producer.protocols.avro import binary, control_encoder
from ticdc_producer.protocols.avro.fidelity import AvroFidelity
from ticdc_producer.protocols.avro.layout import MAGIC
from ticdc_producer.protocols.avro.names import Part
from ticdc_producer.protocols.avro.options import AvroOptions
from ticdc_producer.protocols.avro.plan import TablePlan, table_plan
from ticdc_producer.protocols.avro.table_schema import schema_of
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowStatus, encoded_rows
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD, too_large
from ticdc_producer.protocols.message_batch import MessageBatch, one_message_per_row

SchemaID: TypeAlias = Callable[[TableInfo, Part, str], int]
"""Looks up the registry's id of a schema, given the table, key or value, and the schema."""
_OPS = {Op.INSERT: b"c", Op.UPDATE: b"u"}


class AvroEncoder:
    """Encodes values to messages. Caches the plan and the schema ids of every table version.

    :param schema_id: looks up a schema id; called once per schema.
    """

    def __init__(self, options: AvroOptions | None = None, *, schema_id: SchemaID) -> None:
        self.options = options or AvroOptions()
        self._schema_id = schema_id
        self._plans: dict[TableInfo, TablePlan] = {}
        self._heads: dict[tuple[TableInfo, Part], bytes] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``. Deletes have no value."""
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        plan, count = self._plans[table], len(batch)
        nothing = pa.nulls(count, pa.binary())
        unsendable = _unsendable(plan, table, batch.op)
        if unsendable is not None:
            notes = {
                index: RowStatus(refusal=unsendable(ts)) for index, ts in enumerate(as_int64(batch.commit_ts))
            }
            return encoded_rows(nothing, nothing, batch.commit_ts, notes)
        key = concat(self._key(plan, table, batch), count) if plan.key else nothing
        value = nothing if batch.op == Op.DELETE else concat(self._value(plan, table, batch), count)
        return encoded_rows(key, value, batch.commit_ts, self._notes(plan, table, batch, key, value))

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """One message per row."""
        return (one_message_per_row(part, keyed=True) for part in rows)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # the message has no table schema
        before: TableInfo | None = None,  # noqa: ARG002  # likewise
    ) -> Message | None:
        """The message of a DDL event; None unless watermarks are enabled."""
        return control_encoder.ddl(event) if self.options.sends_watermarks else None

    def resolved(self, ts: int) -> Message | None:
        """The watermark message; None unless watermarks are enabled."""
        return control_encoder.watermark(ts) if self.options.sends_watermarks else None

    @property
    def fidelity(self) -> AvroFidelity:
        return AvroFidelity.of(self.options)

    def _key(self, plan: TablePlan, table: TableInfo, batch: RowBatch) -> Iterator[Fragment]:
        yield self._head(table, "key")
        yield from plan.cells(batch.primary_images, plan.key)

    def _value(self, plan: TablePlan, table: TableInfo, batch: RowBatch) -> Iterator[Fragment]:
        yield self._head(table, "value")
        yield from plan.cells(batch.after, range(len(plan.columns)))
        if self.options.enable_tidb_extension:
            commits = as_int64(batch.commit_ts)
            yield from (binary.literal(_OPS[batch.op]), binary.longs(commits))
            yield binary.longs(commits >> LOGICAL_BITS)

    def _head(self, table: TableInfo, part: Part) -> bytes:
        if (table, part) not in self._heads:
            number = self._schema_id(table, part, schema_of(part, table, self.options))
            self._heads[table, part] = bytes((MAGIC,)) + number.to_bytes(4, "big")
        return self._heads[table, part]

    def _notes(
        self, plan: TablePlan, table: TableInfo, batch: RowBatch, key: pa.Array, value: pa.Array
    ) -> dict[int, RowStatus]:
        commits, limit = batch.commit_ts, self.options.max_message_bytes
        sizes = lengths(key) + lengths(value) + RECORD_OVERHEAD
        notes = {}
        for index in np.flatnonzero(sizes > limit).tolist():
            refusal = too_large(int(sizes[index]), limit, table.schema, table.name, commits[index].as_py())
            notes[index] = RowStatus(refusal=refusal)
        for column, members in reversed(plan.enums):
            images = [batch.after] if batch.op != Op.DELETE else [batch.before] if column in plan.key else []
            for image in images:
                is_error = pc.fill_null(pc.equal(image[column], b"0"), False)
                for index in pc.indices_nonzero(is_error).to_pylist():
                    notes[index] = RowStatus(refusal=_no_member(table, members, commits[index].as_py()))
        return notes


def _no_member(table: TableInfo, members: int, commit_ts: int) -> EncodeError:
    """The refusal of the ENUM error value 0, for which TiCDC finds no member."""
    what = f"convert to MySQL enum failed: number 0 overflow enum boundary [1, {members}]"
    return EncodeError(
        f"encode to avro native data: {what}: [types:1265]Data truncated for column '%s' at row %d",
        code="CDC:ErrAvroEncodeFailed",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="the empty error value of an ENUM has no name in Avro",
    )


def _unsendable(plan: TablePlan, table: TableInfo, op: Op) -> Callable[[int], EncodeError] | None:
    """The refusal of all rows of a table, given their commit-ts; None if they can be sent."""
    clash = plan.key_clash if op == Op.DELETE else plan.clash  # a delete has no value
    if clash:
        what = f"a record can have no field, or no second one, named {clash!r}"
        hint = "Avro's names have letters, digits and _ alone: rename a column"
    elif op == Op.DELETE and not plan.key:
        what = "a delete would have neither key nor value"
        hint = "TiCDC new architecture uses only primary keys as message keys: add a primary key to the table"
    else:
        return None

    def refusal(commit_ts: int) -> EncodeError:
        code, ts = "CDC:ErrAvroMarshalFailed", int(commit_ts)
        return EncodeError(what, code=code, table=table.qualified_name, commit_ts=ts, hint=hint)

    return refusal
