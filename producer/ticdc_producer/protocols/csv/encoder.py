"""Encoder of CSV. DDLs and resolved events have no lines: they are other files of the sink."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.collation import sort_key
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import DDLEvent, Message, Op
from ticdc_producer.model.mysql_type import INTEGERS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Piece, integers, joined, mapped
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.csv.fidelity import CSVLosses
from ticdc_producer.protocols.csv.options import CSVOptions
from ticdc_producer.protocols.csv.values import Field, field_of, quoted, quoted_text
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowNote, encoded_rows
from ticdc_producer.protocols.message_batch import MessageBatch, row_by_row


@dataclass(frozen=True, slots=True)
class _Plan:
    """One table version.

    :param names: table and schema as fields.
    :param enums: places of the ENUM columns in an image, with their number of members.
    :param handle: places of the clustered key; None where rows have an integer handle. ``sort_keys`` is what
        of each of its columns the handle holds.
    """

    names: bytes
    fields: tuple[Field, ...]
    enums: tuple[tuple[int, int], ...]
    handle: tuple[int, ...] | None
    sort_keys: tuple[Field, ...]


class CSVEncoder:
    """Values in, lines out; keeps one compiled plan per table version it has met."""

    def __init__(self, options: CSVOptions | None = None) -> None:
        self.options = options or CSVOptions()
        self._plans: dict[TableInfo, _Plan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version, each as its line, an update with its old value as two."""
        plan = self._plan(table)
        if batch.op == Op.UPDATE and self.options.output_old_value:
            old, new = self._line(plan, batch, b"D", batch.before), self._line(plan, batch, b"I", batch.after)
            pieces = [*old, *new]
        else:
            pieces = list(self._line(plan, batch, batch.op.name[:1].encode(), batch.shown))
        notes: dict[int, RowNote] = {}
        for place, refusal in _refusals(plan, table, batch):
            notes.setdefault(place, RowNote(refusal=refusal))
        empty = joined((b"",), len(batch))
        return encoded_rows(empty, joined(pieces, len(batch)), batch.commit_ts, notes)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """The lines of each row, which a file holds one after the other.

        :raises EncodeError: the refusal of a row that has one.
        """
        return (row_by_row(part, keyed=False) for part in rows)

    def ddl(
        self,
        event: DDLEvent,  # noqa: ARG002  # a DDL is a schema file
        table: TableInfo | None = None,  # noqa: ARG002  # likewise
        before: TableInfo | None = None,  # noqa: ARG002  # likewise
    ) -> Message | None:
        return None

    def resolved(self, ts: int) -> Message | None:  # noqa: ARG002  # the sink's metadata file tells it
        return None

    @property
    def losses(self) -> CSVLosses:
        options = self.options
        return CSVLosses(
            old_values="all" if options.output_old_value else "none",
            table_ids="none",
            commit_ts="exact" if options.include_commit_ts else "none",
            resolved=False,
            # A backslash in a text is doubled where nothing is quoted.
            bare_null=None if options.quote or "\\" in options.null else options.null.encode(),
        )

    def header(self, table: TableInfo) -> bytes:
        """The first line of a file with ``output-field-header``; its names are never quoted."""
        options = self.options
        told = {"operation": True, "table": True, "schema": True, "commit-ts": options.include_commit_ts}
        told["is-update"] = options.output_old_value
        names = [f"ticdc-meta${name}" for name, is_there in told.items() if is_there]
        names += [column.name for column in table.sent_columns]
        return (options.delimiter.join(names) + options.terminator).encode()

    def _line(self, plan: _Plan, batch: RowBatch, op: bytes, image: Sequence[pa.Array]) -> Iterator[Piece]:
        options, comma = self.options, self.options.delimiter.encode()
        yield quoted_text(op.decode(), options) + comma + plan.names
        if options.include_commit_ts:
            yield from (comma, integers(batch.commit_ts))
        if options.output_old_value:
            yield comma + (b"true" if batch.op == Op.UPDATE else b"false")
        if options.output_handle_key:
            yield from (comma, quoted(_handles(plan, batch, image), options))
        for field, values in zip(plan.fields, image, strict=True):
            yield from (comma, field(values))
        yield options.terminator.encode()

    def _plan(self, table: TableInfo) -> _Plan:
        if table not in self._plans:
            self._plans[table] = _plan(table, self.options)
        return self._plans[table]


def _plan(table: TableInfo, options: CSVOptions) -> _Plan:
    names = [quoted_text(name, options) for name in (table.name, table.schema)]
    columns, key = table.sent_columns, table.clustered_key
    handle = [] if key is None else [table.sent.index(offset) for offset in key.offsets]
    if len(handle) == 1 and columns[handle[0]].type in INTEGERS:
        handle = []
    return _Plan(
        names=options.delimiter.encode().join(names),
        fields=tuple(field_of(column, options) for column in columns),
        enums=tuple((at, len(c.elements)) for at, c in enumerate(columns) if c.type == MySQLType.ENUM),
        handle=tuple(handle) or None,
        sort_keys=tuple(_sort_key_of(columns[place]) for place in handle),
    )


def _sort_key_of(column: ColumnInfo) -> Field:
    if column.binary or column.type not in STRINGS:
        return lambda values: values
    return lambda values: mapped(values, lambda value: sort_key(value, column.collation))


def _handles(plan: _Plan, batch: RowBatch, image: Sequence[pa.Array]) -> pa.Array:
    """Handles as TiDB prints them: the integer, or the key's values in braces, texts as they are sorted."""
    if plan.handle is None:
        return integers(batch.row_id)
    pieces: list[Piece] = [b"{"]
    for number, place in enumerate(plan.handle):
        pieces += [b", " * bool(number), plan.sort_keys[number](image[place])]
    return joined([*pieces, b"}"], len(batch))


def _refusals(plan: _Plan, table: TableInfo, batch: RowBatch) -> Iterator[tuple[int, EncodeError]]:
    """Places of rows with the error value of an ENUM, of which TiCDC finds no name."""
    images = (batch.before, batch.after)
    for place, members in plan.enums:
        for image in (image for image in images if image):
            for row in pc.indices_nonzero(pc.fill_null(pc.equal(image[place], b"0"), False)).to_pylist():
                yield row, _refusal(table, members, batch.commit_ts[row].as_py())


def _refusal(table: TableInfo, members: int, commit_ts: int) -> EncodeError:
    what = f"convert to MySQL enum failed: number 0 overflow enum boundary [1, {members}]"
    return EncodeError(
        f"csv encode failed: {what}: [types:1265]Data truncated for column '%s' at row %d",
        code="CDC:ErrCSVEncodeFailed",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="the empty error value of an ENUM has no name in CSV",
    )
