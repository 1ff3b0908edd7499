"""The encoder of Avro, and the parts of an event that Avro does not transport.

A message part consists of a zero byte, the schema id in four bytes, and a record. Source: tiflow
``pkg/sink/codec/avro/avro.go``, ``confluent_schema_registry.go``.

The first byte is the kind of event. It is followed by JSON, or by a 64-bit number, big-endian. Source: tiflow
``pkg/sink/codec/avro/avro.go`` (``EncodeDDLEvent``, ``EncodeCheckpointEvent``).

- Rows without ``avro-include-before-value``: the old image of updates, the columns of deletes outside of the
  key, and the operation if there is no TiDB extension.
- Rows without the TiDB extension: the commit-ts. With it the commit-ts of deletes that are tombstones.
- Names: characters that Avro does not allow are replaced.
- Types: the width of integers narrower than BIGINT, the exact type of texts and byte strings, UNSIGNED of
  FLOAT, DOUBLE and DECIMAL.
- Values: of ENUM and SET members with the same text in the schema's list, the first one arrives; a SET
  with only its empty member arrives as the empty set, which has the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import DDLEvent, Kind, Message, Op, Value
from ticdc_producer.model.fidelity import CommitTs, Fidelity, ValueProjection
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Fragments,
    as_int64,
    concat,
    fixed_width,
    integers,
    lengths,
)
from ticdc_producer.protocols.avro import plan as binary
from ticdc_producer.protocols.avro.names import (
    DDL,
    DELETE,
    WATERMARK,
    Part,
    head,
    sanitized,
    tidb_type,
    type_text,
)
from ticdc_producer.protocols.avro.plan import AvroTablePlan, table_plan
from ticdc_producer.protocols.avro.row_checksum import CHECKSUM_VERSION, RowChecksums
from ticdc_producer.protocols.avro.schemas import SchemaID, key_flag, schema_of
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowStatus, encoded_rows
from ticdc_producer.protocols.go_json import STRINGS
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD, too_large
from ticdc_producer.protocols.member_text import escaped, member_indexes, member_text, no_member
from ticdc_producer.protocols.message_batch import MessageBatch, one_message_per_row
from ticdc_producer.protocols.row_options import AvroOptions


def ddl(event: DDLEvent) -> Message:
    """Return the message of a DDL event."""
    value = b'{"query":%b,"type":%d,"schema":%b,"table":%b,"commitTs":%d}' % (
        STRINGS.literal(event.query),
        event.ddl_type,
        STRINGS.literal(event.schema),
        STRINGS.literal(event.table),
        event.commit_ts,
    )
    return Message(None, bytes((DDL,)) + value, Kind.DDL.label, event.commit_ts)


def watermark(ts: int) -> Message:
    """Return the message of a resolved event."""
    return Message(None, bytes((WATERMARK,)) + ts.to_bytes(8, "big"), Kind.RESOLVED.label, ts)


T = MySQLType


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroFidelity(Fidelity):
    """The fidelity of Avro.

    :param key_flag: the flag of the columns in message keys.
    """

    key_flag: ColumnFlag = ColumnFlag.HANDLE_KEY

    @classmethod
    def of(cls, options: AvroOptions) -> AvroFidelity:
        """Return the fidelity of an encoder with these options."""
        before = options.avro_include_before_value
        of_rows: CommitTs = "exact" if before or options.marks_deletes else "not deletes"
        return cls(
            old_values="all" if before else "none",
            names_operation=options.names_operation,
            deletes="all" if before else "handle-key",
            table_ids="none",
            commit_ts=of_rows if options.enable_tidb_extension else "none",
            resolved=options.sends_watermarks,
            row_checksums=options.has_checksums,
            key_flag=key_flag(options),
        )

    def visible_flag(self, flag: int, /) -> int:
        """Return the flag of the handle key for the columns of the message key; no other flag is visible."""
        return int(ColumnFlag.HANDLE_KEY) if flag & self.key_flag else 0

    def visible_type(self, column: ColumnInfo, _flag: int, /) -> str:
        return type_text(tidb_type(column))

    def visible_name(self, name: str) -> str:
        return sanitized(name)

    def ddl_skip_reason(self, _action: int, /) -> str:  # all DDLs or none
        return "" if self.resolved else "Avro has no message for DDLs"

    def value_projection(self, column: ColumnInfo) -> ValueProjection | None:
        if column.type == T.ENUM:
            return partial(_enum, member_indexes(",".join(map(escaped, column.elements))), column)
        return (
            partial(_set, [escaped(member) for member in column.elements]) if column.type == T.SET else None
        )


def _enum(indexes: Mapping[str, int], column: ColumnInfo, value: Value) -> Value:
    return None if value is None else b"%d" % indexes.get(escaped(member_text(column, value)), 0)


def _set(members: Sequence[str], value: Value) -> Value:
    if value is None:
        return None
    mask = int(value)
    texts = [member for index, member in enumerate(members) if mask >> index & 1]
    if mask >> len(members) or texts == [""]:
        return b"0"
    first_indexes = {members.index(member) for member in texts}
    return b"%d" % sum(1 << index for index in first_indexes)


_OPS = {Op.INSERT: b"c", Op.UPDATE: b"u", Op.DELETE: b"d"}
_NO_BEFORE, _BEFORE = b"\x00", b"\x02"
"""Indexes of the branches of the old image's union, as encoded."""
_SOUND = b"\x00"
"""``_tidb_corrupted`` of a row that is not."""
_VERSION = binary.longs(np.array([CHECKSUM_VERSION]))[0].as_py()
_NO_CHECKSUM = b"\x00" + _SOUND + b"\x00"
"""The fields of a row whose images have the checksum 0: their defaults."""


class AvroEncoder:
    """An encoder of values to messages. It caches the plan and the schema ids of every table version.

    :param schema_id: looks up a schema id; called once per schema.
    """

    def __init__(self, options: AvroOptions | None = None, *, schema_id: SchemaID) -> None:
        self.options = options or AvroOptions()
        self._schema_id = schema_id
        self._plans: dict[TableInfo, AvroTablePlan] = {}
        self._heads: dict[tuple[TableInfo, Part], bytes] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``."""
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        plan, count = self._plans[table], len(batch)
        nothing = pa.nulls(count, pa.binary())
        options = self.options
        has_value = batch.op != Op.DELETE or options.avro_include_before_value
        unsendable = _unsendable(plan, table, batch.op, options, has_value=has_value)
        if unsendable is not None:
            notes = {
                index: RowStatus(refusal=unsendable(ts)) for index, ts in enumerate(as_int64(batch.commit_ts))
            }
            return encoded_rows(nothing, nothing, batch.commit_ts, notes)
        key = concat(self._key(plan, table, batch), count) if plan.key else nothing
        value = nothing
        if has_value:
            value = concat(self._value(plan, table, batch), count)
        elif options.marks_deletes:
            value = concat((bytes((DELETE,)), _big_endian(as_int64(batch.commit_ts))), count)
        return encoded_rows(key, value, batch.commit_ts, self._notes(plan, table, batch, key, value))

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Return one message per row."""
        return (one_message_per_row(part, keyed=True) for part in rows)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # the message has no table schema
        before: TableInfo | None = None,  # noqa: ARG002  # nor the schema before the DDL
    ) -> Message | None:
        """Return the message of a DDL event; None unless watermarks are enabled."""
        return ddl(event) if self.options.sends_watermarks else None

    def resolved(self, ts: int) -> Message | None:
        """Return the watermark message; None unless watermarks are enabled."""
        return watermark(ts) if self.options.sends_watermarks else None

    @property
    def fidelity(self) -> AvroFidelity:
        return AvroFidelity.of(self.options)

    def _key(self, plan: AvroTablePlan, table: TableInfo, batch: RowBatch) -> Iterator[Fragment]:
        yield self._head(table, "key")
        yield from plan.cells(batch.primary_images, plan.key)

    def _value(self, plan: AvroTablePlan, table: TableInfo, batch: RowBatch) -> Iterator[Fragment]:
        yield self._head(table, "value")
        yield from plan.cells(batch.primary_images, plan.value)
        if self.options.avro_include_before_value and batch.op == Op.INSERT:
            yield _NO_BEFORE
        elif self.options.avro_include_before_value:
            yield _BEFORE
            yield from plan.cells(batch.before, plan.value)
        if self.options.names_operation:
            yield binary.literal(_OPS[batch.op])
        if self.options.enable_tidb_extension:
            commits = as_int64(batch.commit_ts)
            yield from (binary.longs(commits), binary.longs(commits >> LOGICAL_BITS))
        if self.options.has_checksums:
            yield from self._checksum(table, batch)

    def _checksum(self, table: TableInfo, batch: RowBatch) -> Fragments:
        """Encode the checksum of the row, whether it is corrupted, and the version."""
        checksums = RowChecksums.of(table, batch, self.options.profile, self.options.time_zone)
        numbers = checksums.previous if batch.op == Op.DELETE else checksums.current
        texts = concat(binary.length_prefixed(integers(pa.array(numbers))), len(batch))
        present = concat((texts, _SOUND, _VERSION), len(batch))
        if checksums.present.all():
            return (present,)
        return (pc.if_else(pa.array(checksums.present), present, pa.scalar(_NO_CHECKSUM, pa.binary())),)

    def _head(self, table: TableInfo, part: Part) -> bytes:
        if (table, part) not in self._heads:
            number = self._schema_id(table, part, schema_of(part, table, self.options))
            self._heads[table, part] = head(number)
        return self._heads[table, part]

    def _notes(
        self, plan: AvroTablePlan, table: TableInfo, batch: RowBatch, key: pa.Array, value: pa.Array
    ) -> dict[int, RowStatus]:
        commits, limit = batch.commit_ts, self.options.max_message_bytes
        sizes = lengths(key) + lengths(value) + RECORD_OVERHEAD
        notes = {}
        for index in np.flatnonzero(sizes > limit).tolist():
            refusal = too_large(int(sizes[index]), limit, table.schema, table.name, commits[index].as_py())
            notes[index] = RowStatus(refusal=refusal)
        for column, members in reversed(plan.enums):
            for image in self._images(batch, in_key=column in plan.key):
                is_error = pc.fill_null(pc.equal(image[column], b"0"), False)
                for index in pc.indices_nonzero(is_error).to_pylist():
                    notes[index] = RowStatus(
                        refusal=no_member(
                            "Avro",
                            "encode to avro native data",
                            table,
                            members,
                            commits[index].as_py(),
                            batch.value_name(table, index, table.sent_columns[column].name),
                        )
                    )
        return notes

    def _images(self, batch: RowBatch, *, in_key: bool) -> list[Sequence[pa.Array]]:
        """Return the images in which a column is sent.

        :param in_key: whether the column belongs to the message key.
        """
        new = [batch.after] if batch.op != Op.DELETE else []
        has_old = batch.op != Op.INSERT and self.options.avro_include_before_value
        old = [batch.before] if has_old or (batch.op == Op.DELETE and in_key) else []
        return [*new, *old]


def _big_endian(numbers: Numbers) -> pa.Array:
    return fixed_width(numbers.astype(">i8").tobytes(), 8)


def _unsendable(
    plan: AvroTablePlan, table: TableInfo, op: Op, options: AvroOptions, *, has_value: bool
) -> Callable[[int], EncodeError] | None:
    """Return the refusal of all rows of a table, given their commit-ts; None if they can be sent."""
    clash = plan.clash if has_value else plan.key_clash
    if clash:
        what = f"a record can have no field, or no second one, named {clash!r}"
        hint = "Avro's names have letters, digits and _ alone: rename a column"
    elif op == Op.DELETE and not plan.key and not has_value:
        what = "a delete would have neither key nor value"
        hint = "TiCDC new architecture uses only primary keys as message keys: add a primary key to the table"
    elif has_value and options.profile == "new" and [*plan.value] != sorted(plan.value):
        what = "with row checksums TiCDC new architecture mixes up columns that are not in order of their ids"
        hint = "add columns without FIRST and AFTER, or set integrity-check-level=none or profile=classic"
    else:
        return None

    def refusal(commit_ts: int) -> EncodeError:
        code, ts = "CDC:ErrAvroMarshalFailed", int(commit_ts)
        return EncodeError(what, code=code, table=table.qualified_name, commit_ts=ts, hint=hint)

    return refusal
