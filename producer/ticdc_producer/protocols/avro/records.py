"""Reads the records of message parts by their schemas, which are strictly those that TiCDC writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from ticdc_producer.model.event import Op, RowChecksum, Value
from ticdc_producer.model.tso import LOGICAL_BITS, MAX_TS
from ticdc_producer.protocols.avro.field_reader import (
    AvroCursor,
    BadSchema,
    Reader,
    field_reader,
    has_equal_members,
)
from ticdc_producer.protocols.avro.names import (
    BEFORE,
    BEFORE_SUFFIX,
    CHECKSUM,
    CHECKSUM_VERSION,
    COMMIT_TS,
    CORRUPTED,
    NAMESPACE,
    OP,
    PHYSICAL,
)

_TYPES = {OP: "string", COMMIT_TS: "long", PHYSICAL: "long"}
_EXTENSION, _CHECKSUM = (OP, COMMIT_TS, PHYSICAL), (CHECKSUM, CORRUPTED, CHECKSUM_VERSION)
_OWN_FIELDS = (
    (), _EXTENSION, (*_EXTENSION, *_CHECKSUM),
    (BEFORE, OP), (BEFORE, *_EXTENSION), (BEFORE, *_EXTENSION, *_CHECKSUM),
)  # fmt: skip
"""The fields after those of the columns: none, those of the extension, of checksums, each with old images."""
_OPS = {b"c": Op.INSERT, b"u": Op.UPDATE, b"d": Op.DELETE}


_MOST_CHECKSUM_DIGITS = 10


class _Field(msgspec.Struct):
    name: str
    type: object
    default: object = msgspec.UNSET


class _Record(msgspec.Struct):
    type: str
    name: str
    namespace: str
    fields: list[_Field]


_DECODER = msgspec.json.Decoder(_Record)


@dataclass(frozen=True, slots=True)
class RecordRow:
    """The content of a record.

    :param values: the new image; of a delete the old one.
    :param before: the old image; None without one.
    :param op: None if the schema has no operation.
    :param commit_ts: 0 without the TiDB extension.
    :param checksum: None without one.
    """

    values: Mapping[str, Value]
    before: Mapping[str, Value] | None = None
    op: Op | None = None
    commit_ts: int = 0
    checksum: RowChecksum | None = None


@dataclass(frozen=True, slots=True)
class RecordReader:
    """A reader of records of one schema.

    :param types: column name to SQL type name.
    :param readers: one per column, in the same order.
    :param own: the names of the fields after the columns.
    :param exact: whether all values are read as they were, so that their checksum can be computed.
    :param time_zone: of TIMESTAMP values.
    """

    schema: str
    table: str
    types: Mapping[str, str]
    readers: Sequence[Reader]
    own: Collection[str]
    exact: bool = True
    time_zone: str = "UTC"

    def row(self, cursor: AvroCursor) -> RecordRow:
        """Read a record, which must extend to the end of the message part.

        :raises DecodeError: for a malformed record.
        """
        values = self._image(cursor)
        before = self._image(cursor) if BEFORE in self.own and cursor.branch() else None
        op = self._op(cursor, values, before) if OP in self.own else None
        commit_ts = _commit_ts(cursor) if COMMIT_TS in self.own else 0
        checksum = self._checksum(cursor, op) if CHECKSUM in self.own else None
        cursor.end()
        return RecordRow(values, before, op, commit_ts, checksum)

    def _image(self, cursor: AvroCursor) -> dict[str, Value]:
        return {name: read(cursor) for name, read in zip(self.types, self.readers, strict=True)}

    def _checksum(self, cursor: AvroCursor, op: Op | None) -> RowChecksum | None:
        """Read the checksum: of a delete that of the old image, else that of the new one.

        :return: None if it is empty.
        """
        text, corrupted, version = cursor.length_prefixed(), cursor.take(1), cursor.long()
        if not text:
            return None
        if not text.isdigit() or len(text) > _MOST_CHECKSUM_DIGITS or int(text) >> 32 or corrupted > b"\x01":
            raise cursor.error("CHECKSUM", "a number of 32 bits, and a boolean")
        current, previous = (0, int(text)) if op == Op.DELETE else (int(text), 0)
        return RowChecksum(
            version=version,
            corrupted=corrupted == b"\x01",
            current=current,
            previous=previous,
            columns=tuple(self.types) if self.exact else (),
            time_zone=self.time_zone,
        )

    def _op(self, cursor: AvroCursor, values: Mapping[str, Value], before: Mapping[str, Value] | None) -> Op:
        op = _OPS.get(cursor.length_prefixed())
        if op is None or (op == Op.DELETE and BEFORE not in self.own):
            raise cursor.error("OP", "an _tidb_op c or u, or d with an old image")
        if BEFORE in self.own and (before is None) != (op == Op.INSERT):
            raise cursor.error("BEFORE", "an old image of an update or delete, and none of an insert")
        if op == Op.DELETE and before != values:
            raise cursor.error("BEFORE", "the columns of the deleted row also as old image")
        return op


def _commit_ts(cursor: AvroCursor) -> int:
    commit_ts = cursor.long()
    if not 0 <= commit_ts <= MAX_TS:
        raise cursor.error("COMMIT-TS", "a _tidb_commit_ts of 0 … 2^63-1")
    if cursor.long() != commit_ts >> LOGICAL_BITS:
        raise cursor.error("COMMIT-TS", "the _tidb_commit_physical_time of the commit-ts")
    return commit_ts


def record_reader(schema: str, time_zone: str = "UTC") -> RecordReader:
    """Make the reader for the records of a schema.

    :param time_zone: of TIMESTAMP values.
    :raises BadSchema: for a schema that TiCDC does not write.
    """
    try:
        record = _DECODER.decode(schema)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        raise BadSchema("a record") from None
    if record.type != "record" or not record.namespace.startswith(f"{NAMESPACE}."):
        raise BadSchema(f"a record in a namespace {NAMESPACE}.DATABASE")
    columns = record.fields[: _number_of_columns(record)]
    own = tuple(field.name for field in record.fields[len(columns) :])
    if own not in _OWN_FIELDS:
        raise BadSchema("the fields of TiCDC after those of the columns")
    read = [(field.name, *field_reader(field.type)) for field in columns]
    types = {name: text for name, text, _ in read}
    if len(types) < len(read):
        raise BadSchema("fields of different names")
    return RecordReader(
        schema=record.namespace.removeprefix(f"{NAMESPACE}."),
        table=record.name,
        types=types,
        readers=[reader for _, _, reader in read],
        own=own,
        exact=not any(map(has_equal_members, (field.type for field in columns))),
        time_zone=time_zone,
    )


def _number_of_columns(record: _Record) -> int:
    """Return the index of the first field that is not a column; the types of columns have parameters."""
    for index, field in enumerate(record.fields):
        if _TYPES.get(field.name) == field.type:
            return index
        if field.name == BEFORE and _is_old_image(field.type, record, record.fields[:index]):
            return index
    return len(record.fields)


def _is_old_image(kind: object, record: _Record, columns: Sequence[_Field]) -> bool:
    """Return whether a type is that of the old image: a union of null and a record with the same columns."""
    match kind:
        case ["null", {"type": "record"} as image]:
            name = record.name + BEFORE_SUFFIX
            try:
                return msgspec.convert(image, _Record) == _Record(
                    "record", name, record.namespace, [*columns]
                )
            except msgspec.ValidationError:
                return False
    return False
