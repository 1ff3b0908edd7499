"""Encodes row messages in Simple's Avro encoding, with one compiled form per operation.

A row is an Avro map. TiCDC writes its columns in random order; here they are sorted by name, as in JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import Fragment, Fragments, as_int64, concat
from ticdc_producer.protocols.avro import binary
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.craft.varint import varint
from ticdc_producer.protocols.simple import avro_layout as layout
from ticdc_producer.protocols.simple.avro_messages import head, length_prefixed
from ticdc_producer.protocols.simple.options import SimpleOptions

T = MySQLType
_PLAIN = (INTEGERS | {T.YEAR, T.ENUM}) - {T.LONGLONG}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A column as an entry of the map.

    :param index: index into the row image.
    :param name: the name, preceded by its length.
    :param written: encodes values, each preceded by its union branch.
    """

    index: int
    name: bytes
    written: Callable[[pa.Array], Fragments]


@dataclass(frozen=True, slots=True)
class AvroRowForm:
    """Encodes rows of one operation.

    :param start: the bytes of the message before the table id.
    :param version: the schema version of the table.
    """

    start: bytes
    version: int
    op: Op
    entries: tuple[_Entry, ...]
    options: SimpleOptions

    def texts(
        self,
        batch: RowBatch,
        locations: pa.Array | None = None,  # noqa: ARG002  # handling of large messages is not available in Avro
    ) -> pa.Array:
        """One message per row."""
        commits, built = as_int64(batch.commit_ts), self.options.build_ts_ms
        fragments = [
            self.start, binary.longs(as_int64(batch.table_id)),
            varint(layout.OP_NAMES.index(self.op.name)), binary.longs(commits),
            binary.longs(commits >> LOGICAL_BITS) if built is None else varint(built),
            varint(self.version),
            layout.NULL * 3,  # claimCheckLocation, handleKeyOnly, checksum
            *self._image(batch.after), *self._image(batch.before),
        ]  # fmt: skip
        return concat(fragments, len(batch))

    def _image(self, image: Sequence[pa.Array]) -> Iterator[Fragment]:
        if not image:
            yield layout.NULL
            return
        yield layout.PRESENT + (varint(len(self.entries)) if self.entries else b"")
        for entry in self.entries:
            yield entry.name
            yield from entry.written(image[entry.index])
        yield varint(0)


def avro_table_forms(table: TableInfo, options: SimpleOptions) -> dict[tuple[Op, bool], AvroRowForm]:
    """Compile the form of every operation for one table version; no form has only the handle key."""
    start = head(layout.DML) + length_prefixed(table.schema) + length_prefixed(table.name)
    ordered = sorted(enumerate(table.sent_columns), key=lambda each: each[1].name.encode())
    entries = tuple(
        _Entry(index, length_prefixed(column.name), _written(column, options.time_zone))
        for index, column in ordered
    )
    return {(op, False): AvroRowForm(start, table.update_ts, op, entries, options) for op in Op}


def _written(column: ColumnInfo, time_zone: str) -> Callable[[pa.Array], Fragments]:
    branch, writer = _branch(column, time_zone)
    return partial(_in_branch, varint(branch), writer)


def _in_branch(branch: bytes, writer: Callable[[pa.Array], Fragments], values: pa.Array) -> Fragments:
    if not values.null_count:
        return branch, *writer(values)
    if values.null_count == len(values):
        return (layout.NULL,)
    present = concat((branch, *writer(values)), len(values))
    return (pc.if_else(values.is_null(), pa.scalar(layout.NULL, pa.binary()), present),)


def _branch(column: ColumnInfo, time_zone: str) -> tuple[int, Callable[[pa.Array], Fragments]]:
    """The union branch of the values of a column that are not NULL, and their encoding."""
    match column.type:
        case T.LONGLONG:
            return (
                (layout.UNSIGNED_BIGINT, binary.unsigned) if column.unsigned else (layout.LONG, binary.signed)
            )
        case T.BIT | T.SET:
            return layout.LONG, binary.unsigned
        case T.FLOAT:
            return layout.FLOAT, binary.floats
        case T.DOUBLE:
            return layout.DOUBLE, binary.doubles
        case T.TIMESTAMP:
            zone = length_prefixed(time_zone)
            return layout.TIMESTAMP, lambda values: (zone, *binary.length_prefixed(values))
    if column.type in _PLAIN:
        return layout.LONG, binary.signed
    if column.type in STRINGS | LOBS and column.binary:
        return layout.BYTES, binary.length_prefixed
    return layout.STRING, binary.length_prefixed
