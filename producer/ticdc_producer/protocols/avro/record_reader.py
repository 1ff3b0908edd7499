"""Reads row records by their schema in the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.tso import LOGICAL_BITS, MAX_TS
from ticdc_producer.protocols.avro.cursor import Cursor, Reader
from ticdc_producer.protocols.avro.field_reader import BadSchema, field_reader
from ticdc_producer.protocols.avro.layout import COMMIT_TS, OP, PHYSICAL
from ticdc_producer.protocols.avro.names import NAMESPACE

_EXTENSION = {OP: "string", COMMIT_TS: "long", PHYSICAL: "long"}
_OPS = {b"c": Op.INSERT, b"u": Op.UPDATE}


class _Field(msgspec.Struct):
    name: str
    type: object


class _Record(msgspec.Struct):
    type: str
    name: str
    namespace: str
    fields: list[_Field]


_DECODER = msgspec.json.Decoder(_Record)


@dataclass(frozen=True, slots=True)
class Row:
    """The content of a record.

    :param op: None without the TiDB extension.
    :param commit_ts: 0 without the TiDB extension.
    """

    values: Mapping[str, Value]
    op: Op | None = None
    commit_ts: int = 0


@dataclass(frozen=True, slots=True)
class RecordReader:
    """Reads records of one schema.

    :param types: column name to SQL type name.
    :param readers: one per column, in the same order.
    :param extended: whether records have the fields of the TiDB extension.
    """

    schema: str
    table: str
    types: Mapping[str, str]
    readers: Sequence[Reader]
    extended: bool

    def row(self, cursor: Cursor) -> Row:
        """Read a record, which must extend to the end of the message part.

        :raises DecodeError: for a malformed record.
        """
        values = {name: read(cursor) for name, read in zip(self.types, self.readers, strict=True)}
        row = _extended(cursor, values) if self.extended else Row(values)
        cursor.end()
        return row


def _extended(cursor: Cursor, values: Mapping[str, Value]) -> Row:
    op = _OPS.get(cursor.length_prefixed())
    if op is None:
        raise cursor.error("OP", "an _tidb_op c or u")
    commit_ts = cursor.long()
    if not 0 <= commit_ts <= MAX_TS:
        raise cursor.error("COMMIT-TS", "a _tidb_commit_ts of 0 … 2^63-1")
    if cursor.long() != commit_ts >> LOGICAL_BITS:
        raise cursor.error("COMMIT-TS", "the _tidb_commit_physical_time of the commit-ts")
    return Row(values, op, commit_ts)


def record_reader(schema: str) -> RecordReader:
    """Make the reader for the records of a schema.

    :raises BadSchema: for a schema that TiCDC does not write.
    """
    try:
        record = _DECODER.decode(schema)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        raise BadSchema("a record") from None
    if record.type != "record" or not record.namespace.startswith(f"{NAMESPACE}."):
        raise BadSchema(f"a record in a namespace {NAMESPACE}.DATABASE")
    last = {field.name: field.type for field in record.fields[-len(_EXTENSION) :]}
    extended = last == _EXTENSION
    columns = record.fields[: -len(_EXTENSION)] if extended else record.fields
    read = [(field.name, *field_reader(field.type)) for field in columns]
    types = {name: text for name, text, _ in read}
    if len(types) < len(read):
        raise BadSchema("fields of different names")
    return RecordReader(
        schema=record.namespace.removeprefix(f"{NAMESPACE}."),
        table=record.name,
        types=types,
        readers=[reader for _, _, reader in read],
        extended=extended,
    )
