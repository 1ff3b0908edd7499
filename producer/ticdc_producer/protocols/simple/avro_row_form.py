"""One form of row message in Simple's Avro form: an operation, and the columns it shows.

A row is a map, which TiCDC writes in random order; here it has the order of the names, as in JSON.
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
from ticdc_producer.protocols.arrow_text import Piece, Pieces, joined, numbers
from ticdc_producer.protocols.avro import binary
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.craft.varint import varint
from ticdc_producer.protocols.simple import avro_layout as layout
from ticdc_producer.protocols.simple.avro_messages import counted, head
from ticdc_producer.protocols.simple.options import SimpleOptions

T = MySQLType
_PLAIN = (INTEGERS | {T.YEAR, T.ENUM}) - {T.LONGLONG}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A column as an entry of the map.

    :param place: index into the row image.
    :param name: with its length before it.
    :param written: values with the branch of each.
    """

    place: int
    name: bytes
    written: Callable[[pa.Array], Pieces]


@dataclass(frozen=True, slots=True)
class AvroRowForm:
    """Writes rows of one operation.

    :param start: the message up to the table id.
    :param version: of the table, as rows name it.
    """

    start: bytes
    version: int
    op: Op
    entries: tuple[_Entry, ...]
    options: SimpleOptions

    def texts(
        self,
        batch: RowBatch,
        locations: pa.Array | None = None,  # noqa: ARG002  # of large rows, which this form refuses
    ) -> pa.Array:
        """One message per row."""
        commits, built = numbers(batch.commit_ts), self.options.build_ts_ms
        pieces = [
            self.start, binary.longs(numbers(batch.table_id)),
            varint(layout.OP_WORDS.index(self.op.name)), binary.longs(commits),
            binary.longs(commits >> LOGICAL_BITS) if built is None else varint(built),
            varint(self.version),
            layout.NULL * 3,  # claimCheckLocation, handleKeyOnly, checksum
            *self._image(batch.after), *self._image(batch.before),
        ]  # fmt: skip
        return joined(pieces, len(batch))

    def _image(self, image: Sequence[pa.Array]) -> Iterator[Piece]:
        if not image:
            yield layout.NULL
            return
        yield layout.THERE + (varint(len(self.entries)) if self.entries else b"")
        for entry in self.entries:
            yield entry.name
            yield from entry.written(image[entry.place])
        yield varint(0)


def avro_table_forms(table: TableInfo, options: SimpleOptions) -> dict[tuple[Op, bool], AvroRowForm]:
    """Compile every form of one table version; none shows a handle key alone."""
    start = head(layout.DML) + counted(table.schema) + counted(table.name)
    ordered = sorted(enumerate(table.sent_columns), key=lambda each: each[1].name.encode())
    entries = tuple(
        _Entry(place, counted(column.name), _written(column, options.time_zone)) for place, column in ordered
    )
    return {(op, False): AvroRowForm(start, table.update_ts, op, entries, options) for op in Op}


def _written(column: ColumnInfo, time_zone: str) -> Callable[[pa.Array], Pieces]:
    branch, writer = _branch(column, time_zone)
    return partial(_in_branch, varint(branch), writer)


def _in_branch(branch: bytes, writer: Callable[[pa.Array], Pieces], values: pa.Array) -> Pieces:
    if not values.null_count:
        return branch, *writer(values)
    if values.null_count == len(values):
        return (layout.NULL,)
    there = joined((branch, *writer(values)), len(values))
    return (pc.if_else(values.is_null(), pa.scalar(layout.NULL, pa.binary()), there),)


def _branch(column: ColumnInfo, time_zone: str) -> tuple[int, Callable[[pa.Array], Pieces]]:
    """The branch of a column's values that are not NULL, and their form."""
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
            zone = counted(time_zone)
            return layout.TIMESTAMP, lambda values: (zone, *binary.counted(values))
    if column.type in _PLAIN:
        return layout.LONG, binary.signed
    if column.type in STRINGS | LOBS and column.binary:
        return layout.BYTES, binary.counted
    return layout.STRING, binary.counted
