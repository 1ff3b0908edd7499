"""The compiled text of one table version's rows, by operation, and the updates on which TiCDC panics.

Columns are sorted by the bytes of their names, as Go marshals a map. The old image of an update has the
columns that it changed, and every VECTOR column: TiCDC compares the old value of those with itself. Source:
tiflow ``maxwell_message.go`` (``rowChangeToMaxwellMsg``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, LOBS, NUMBERED, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Fragments,
    Renderer,
    base64_texts,
    concat,
    differ,
    integers,
    plain,
    quoted,
    without_first_byte,
)
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.encoded_rows import RowStatus
from ticdc_producer.protocols.go_json import STRINGS as JSON_STRINGS
from ticdc_producer.protocols.go_json import numbers

T = MySQLType
ALWAYS_OLD = frozenset({T.VECTOR_FLOAT32})
"""Types whose old value an update carries even if it did not change."""

_PER_SECOND = 1000
_NONE = pa.scalar(b"", pa.binary())
_BYTES = "runtime error: comparing uncomparable type []uint8"
_NO_VECTOR = "interface conversion: interface {} is nil, not types.VectorFloat32"
_HINTS = {
    _BYTES: "TiCDC cannot send an update with a value in a byte string column as Maxwell",
    _NO_VECTOR: "TiCDC cannot send NULL in a VECTOR column as Maxwell",
}


@dataclass(frozen=True, slots=True)
class MaxwellColumnPlan:
    """One column.

    :param image_index: index into the row image.
    :param name: name of the column.
    :param prefix: the name as JSON, with the colon.
    :param render: formats values as JSON.
    """

    image_index: int
    name: str
    prefix: bytes
    type: MySQLType
    holds_bytes: bool
    handle_key: bool
    render: Renderer

    def member(self, image: Sequence[pa.Array]) -> Fragments:
        """Return the column as member of an object."""
        return self.prefix, *self.render(image[self.image_index])


@dataclass(frozen=True, slots=True)
class MaxwellTablePlan:
    """One table version.

    :param head: the row up to its operation.
    :param columns: in the order of their names.
    :param key_only: whether deletes carry only the handle key.
    """

    table: TableInfo
    head: bytes
    columns: tuple[MaxwellColumnPlan, ...]
    key_only: bool

    def texts(self, batch: RowBatch) -> pa.Array:
        """Return the JSON of every row; that of a row on which TiCDC panics has no meaning."""
        return concat(self._row(batch), len(batch))

    def panics(self, batch: RowBatch) -> dict[int, RowStatus]:
        """Return the rows on which TiCDC's encoder panics, so that they are never sent."""
        reasons: dict[int, tuple[str, MaxwellColumnPlan]] = {}
        for column in self._sent(batch.op):
            for mask, reason in self._panics(column, batch):
                for row in pc.indices_nonzero(mask).to_pylist():
                    reasons.setdefault(row, (reason, column))
        return {
            row: RowStatus(
                refusal=EncodeError(
                    f"{reason}, {batch.value_name(self.table, row, column.name)}",
                    code="panic",
                    table=self.table.qualified_name,
                    commit_ts=batch.commit_ts[row].as_py(),
                    hint=_HINTS[reason],
                )
            )
            for row, (reason, column) in reasons.items()
        }

    @staticmethod
    def _panics(column: MaxwellColumnPlan, batch: RowBatch) -> Iterator[tuple[pa.Array, str]]:
        images = [image[column.image_index] for image in (batch.before, batch.after) if image]
        if column.type == T.VECTOR_FLOAT32:
            yield from ((image.is_null(), _NO_VECTOR) for image in images if image.null_count)
        elif column.holds_bytes and batch.op == Op.UPDATE:
            yield pc.and_(*(image.is_valid() for image in images)), _BYTES

    def _sent(self, op: Op) -> tuple[MaxwellColumnPlan, ...]:
        key_only = op == Op.DELETE and self.key_only
        return tuple(column for column in self.columns if column.handle_key or not key_only)

    def _row(self, batch: RowBatch) -> Iterator[Fragment]:
        milliseconds = pc.shift_right(batch.commit_ts, LOGICAL_BITS)
        seconds = integers(pc.divide(milliseconds, _PER_SECOND))
        yield from (self.head, b'"%b","ts":' % batch.op.label.encode(), seconds)
        columns = self._sent(batch.op)
        if columns:
            name = b"old" if batch.op == Op.DELETE else b"data"
            yield b',"%b":{' % name
            yield from _members(columns, batch.primary_images)
            yield b"}"
        if batch.op == Op.UPDATE:
            yield self._old(batch)
        yield b"}"

    def _old(self, batch: RowBatch) -> pa.Array:
        """Return ``old`` of updates, which is omitted if it has no columns."""
        rows = len(batch)
        members: list[Fragment] = [b""]
        for column in self.columns:
            old, new = (image[column.image_index] for image in (batch.before, batch.after))
            changed = pa.repeat(True, rows) if column.type in ALWAYS_OLD else differ(old, new)
            if pc.any(changed).as_py():
                member = concat((b",", *column.member(batch.before)), rows)
                members.append(pc.if_else(changed, member, _NONE))
        texts = without_first_byte(concat(members, rows))
        return pc.if_else(pc.equal(texts, _NONE), _NONE, concat((b',"old":{', texts, b"}"), rows))


def _members(columns: Sequence[MaxwellColumnPlan], image: Sequence[pa.Array]) -> Iterator[Fragment]:
    for number, column in enumerate(columns):
        yield b"," * bool(number)
        yield from column.member(image)


def table_plan(table: TableInfo, *, key_only: bool) -> MaxwellTablePlan:
    """Compile the plan of one table version."""
    described = zip(table.sent_columns, table.sent_flags, strict=True)
    columns = [_column_plan(index, column, flag) for index, (column, flag) in enumerate(described)]
    columns.sort(key=lambda column: column.name.encode())
    names = JSON_STRINGS.literal(table.schema), JSON_STRINGS.literal(table.name)
    return MaxwellTablePlan(table, b'{"database":%b,"table":%b,"type":' % names, tuple(columns), key_only)


def _column_plan(index: int, column: ColumnInfo, flag: int) -> MaxwellColumnPlan:
    return MaxwellColumnPlan(
        image_index=index,
        name=column.name,
        prefix=JSON_STRINGS.literal(column.name) + b":",
        type=column.type,
        holds_bytes=holds_bytes(column),
        handle_key=bool(flag & ColumnFlag.HANDLE_KEY),
        render=_renderer(column),
    )


def holds_bytes(column: ColumnInfo) -> bool:
    """Return whether a column is a byte string, which is sent as Base64."""
    return column.binary and column.type in STRINGS | LOBS


def _renderer(column: ColumnInfo) -> Renderer:
    if column.type in INTEGERS | NUMBERED:
        return plain
    if column.type in FLOATS:
        return numbers
    if holds_bytes(column):
        return _base64_strings
    return JSON_STRINGS.literals if column.type in STRINGS | LOBS | {T.JSON} else quoted


def _base64_strings(values: pa.Array) -> Fragments:
    return quoted(base64_texts(values))
