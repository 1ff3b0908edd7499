"""The encoder of Debezium in Avro.

A key or value is a byte 0, the id of its schema in four bytes, and a record. Source: ticdc
``pkg/sink/codec/debezium/avro.go``, ``encoder.go``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import DDLEvent, Kind, Message, Op
from ticdc_producer.model.fidelity import replace_invalid
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS, physical
from ticdc_producer.protocols.arrow_text import Fragment, as_int64, concat
from ticdc_producer.protocols.avro import plan as binary
from ticdc_producer.protocols.avro.names import Part, head
from ticdc_producer.protocols.base import RowBatch, SchemaIDs
from ticdc_producer.protocols.debezium.ddl import ddl_message
from ticdc_producer.protocols.debezium.schemas import DDL_KEY_SCHEMA
from ticdc_producer.protocols.debezium_avro import schemas
from ticdc_producer.protocols.debezium_avro.connect import (
    JSON,
    NULL,
    OTHER,
    ConnectSchema,
    avro_schema,
    encoded,
    length_prefixed,
)
from ticdc_producer.protocols.debezium_avro.fidelity import DebeziumAvroFidelity
from ticdc_producer.protocols.debezium_avro.plan import RowPlan, row_plan
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowStatus, encoded_rows
from ticdc_producer.protocols.message_batch import MessageBatch, one_message_per_row
from ticdc_producer.protocols.row_options import DebeziumAvroOptions

T = MySQLType
_OPS = {Op.INSERT: b"c", Op.UPDATE: b"u", Op.DELETE: b"d"}
_VERSION, _CONNECTOR = "2.4.0.Final", "TiCDC"
_LARGEST = b"9223372036854775807"


class DebeziumAvroEncoder:
    """An encoder of values to messages. It caches the plan of every table version.

    :param schema_ids: the ids of the schemas in a registry; None: all are 0.
    """

    def __init__(
        self, options: DebeziumAvroOptions | None = None, *, schema_ids: SchemaIDs | None = None
    ) -> None:
        self.options = options or DebeziumAvroOptions()
        self._ids = schema_ids
        self._plans: dict[TableInfo, RowPlan] = {}
        self._heads: dict[tuple[TableInfo, Part], bytes] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``."""
        count = len(batch)
        if name := schemas.clash(table):
            nothing = pa.nulls(count, pa.binary())
            notes = {
                i: RowStatus(refusal=_clash(table, name, ts))
                for i, ts in enumerate(batch.commit_ts.to_pylist())
            }
            return encoded_rows(nothing, nothing, batch.commit_ts, notes)
        if table not in self._plans:
            self._plans[table] = row_plan(table, self.options)
        plan = self._plans[table]
        key = concat((self._head(table, "key"), *plan.cells(batch.primary_images, plan.key)), count)
        value = concat(self._value(plan, table, batch), count)
        return encoded_rows(key, value, batch.commit_ts, self._refused(table, batch))

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Return one message per row."""
        return (one_message_per_row(part, keyed=True) for part in rows)

    def ddl(
        self, event: DDLEvent, table: TableInfo | None = None, before: TableInfo | None = None
    ) -> Message | None:
        """Return the message of a DDL event; None without watermarks, and for types that TiCDC skips.

        :param table: the table after the DDL; without it the message has no columns.
        :param before: the table before the DDL; RENAME TABLE takes the old name from it.
        """
        if not self.options.sends_watermarks:
            return None
        message = ddl_message(event, table, before, self.options.of_json)
        if message is None:
            return None
        key, value = _payload(message.key), _payload(message.value)
        return Message(
            self._part("key", DDL_KEY_SCHEMA, key),
            self._header("value", self._ddl_schema) + encoded(schemas.ddl_schema("", self.options), value),
            Kind.DDL.label,
            event.commit_ts,
        )

    def resolved(self, ts: int) -> Message | None:
        """Return the watermark message; None unless watermarks are enabled."""
        if not self.options.sends_watermarks:
            return None
        value = {
            "source": self._source(ts),
            "op": "m",
            "ts_ms": self.options.of_json.ts_ms(ts),
            "transaction": None,
        }
        return Message(
            self._part("key", schemas.watermark_key_schema(self.options), {}),
            self._part("value", schemas.watermark_schema(self.options), value),
            Kind.RESOLVED.label,
            ts,
        )

    @cached_property
    def _ddl_schema(self) -> str:
        """The registered schema of DDLs; that of no database if none is registered."""
        registered = (schema for _, schema in self._ids or () if schemas.is_ddl_schema(schema))
        return next(registered, avro_schema(schemas.ddl_schema("", self.options)))

    @cached_property
    def fidelity(self) -> DebeziumAvroFidelity:
        """What messages keep of events."""
        return DebeziumAvroFidelity.of(self.options)

    def _value(self, plan: RowPlan, table: TableInfo, batch: RowBatch) -> Iterator[Fragment]:
        yield self._head(table, "value")
        has_old = batch.op == Op.DELETE or (batch.op == Op.UPDATE and self.options.output_old_value)
        for image, sent in ((batch.before, has_old), (batch.after, batch.op != Op.DELETE)):
            yield OTHER if sent else NULL
            yield from plan.cells(image) if sent else ()
        commits = as_int64(batch.commit_ts)
        millis, given = binary.longs(commits >> LOGICAL_BITS), self.options.build_ts_ms
        cluster = length_prefixed(self.options.cluster_id.encode())
        yield length_prefixed(_VERSION.encode()) + length_prefixed(_CONNECTOR.encode()) + cluster
        yield millis
        names = b"".join(length_prefixed(name.encode()) for name in (table.schema, table.name))
        # snapshot, the names, server_id, gtid, file, pos, row, thread, query
        yield NULL + names + b"\x00" + NULL + b"\x00\x00\x00" + NULL + NULL
        yield binary.longs(commits)
        yield cluster + length_prefixed(_OPS[batch.op])
        yield millis if given is None else binary.longs(as_int64(pa.array([given])))[0].as_py()

    def _head(self, table: TableInfo, part: Part) -> bytes:
        if (table, part) not in self._heads:
            make = schemas.key_schema if part == "key" else schemas.value_schema
            schema = avro_schema(make(table, self.options))
            self._heads[table, part] = self._header(part, schema, table.qualified_name)
        return self._heads[table, part]

    def _part(self, part: Part, schema: ConnectSchema, payload: JSON) -> bytes:
        return self._header(part, avro_schema(schema)) + encoded(schema, payload)

    def _header(self, part: Part, schema: str, table: str = "") -> bytes:
        number = 0 if self._ids is None else self._ids.get((part, schema))
        if number is None:
            raise EncodeError(
                f"the {part} schema has no id",
                code="CDC:ErrAvroSchemaAPIError",
                table=table,
                hint="the option schema_ids has an id for each schema",
            )
        return head(number)

    def _source(self, ts: int) -> JSON:
        cluster = self.options.cluster_id
        head = {"version": _VERSION, "connector": _CONNECTOR, "name": cluster, "ts_ms": physical(ts)}
        position = {"snapshot": "false", "server_id": 0, "file": "", "pos": 0, "row": 0, "thread": 0}
        return {**head, **position, "db": "", "table": "", "commit_ts": ts, "cluster_id": cluster}

    def _refused(self, table: TableInfo, batch: RowBatch) -> dict[int, RowStatus]:
        """Return the rows with a BIGINT UNSIGNED that Avro's ``long`` cannot hold."""
        notes: dict[int, RowStatus] = {}
        if self.options.avro_bigint_unsigned_handling_mode == "string":
            return notes
        has_old = batch.op == Op.DELETE or self.options.output_old_value
        for image in (batch.before if has_old else (), batch.after):
            for column, values in reversed([*zip(table.sent_columns, image, strict=False)]):
                if column.type == T.LONGLONG and column.unsigned:
                    for index in _overflowing(values):
                        value = values[index].as_py().decode()
                        notes[index] = RowStatus(refusal=_overflow(table, batch, index, column.name, value))
        return notes


def _payload(part: bytes | None) -> JSON:
    """Return the payload of a message in JSON, as Go parses it: bytes that are not UTF-8 are U+FFFD."""
    content: dict[str, JSON] = json.loads(replace_invalid(part or b"{}").decode())
    return content["payload"]


def _overflowing(values: pa.Array) -> list[int]:
    sizes = pc.binary_length(values)
    longest = pc.and_(pc.equal(sizes, len(_LARGEST)), pc.greater(values, _LARGEST))
    large = pc.or_(pc.greater(sizes, len(_LARGEST)), longest)
    indexes: list[int] = pc.indices_nonzero(pc.fill_null(large, False)).to_pylist()
    return indexes


def _overflow(table: TableInfo, batch: RowBatch, index: int, column: str, value: str) -> EncodeError:
    what = f"debezium encode failed: unsigned bigint value {value} overflows avro long"
    return EncodeError(
        f"{what}, {batch.value_name(table, index, column)}",
        code="CDC:ErrDebeziumEncodeFailed",
        table=table.qualified_name,
        commit_ts=batch.commit_ts[index].as_py(),
        hint="set avro-bigint-unsigned-handling-mode=string",
    )


def _clash(table: TableInfo, name: str, commit_ts: int) -> EncodeError:
    return EncodeError(
        f"a record can have no field, or no second one, named {name!r}",
        code="CDC:ErrAvroSchemaAPIError",
        table=table.qualified_name,
        commit_ts=int(commit_ts),
        hint="Avro's names have letters, digits and _ alone, and TiCDC lists virtual columns twice",
    )
