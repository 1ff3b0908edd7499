"""Encoder of CSV. DDLs and resolved events have no lines: the sink writes them to other files."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import DDLEvent, Message, Op, Value
from ticdc_producer.model.fidelity import Fidelity, StoredValues, ValueProjection
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Fragment, concat, integers, map_distinct
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.csv.options import CSVOptions
from ticdc_producer.protocols.csv.values import (
    Field,
    HandleTexts,
    field_of,
    quoted,
    quoted_text,
    text_like_null,
)
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowStatus, encoded_rows
from ticdc_producer.protocols.member_text import member_number, member_text, no_member
from ticdc_producer.protocols.message_batch import MessageBatch, one_message_per_row
from ticdc_producer.protocols.storage_files import column_type

_PRIMARY = ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class CSVFidelity(Fidelity):
    """The fidelity of CSV. Types and key are those of schema files; ENUM and SET are texts.

    :param bare_null: the text that is written as NULL is, if nothing is quoted; None if there is none.
    :param bytes_text: the form of binary strings.
    """

    bare_null: bytes | None = None
    bytes_text: Callable[[bytes], bytes] = bytes

    def visible_type(self, column: ColumnInfo, _flag: int, /) -> str:
        return column_type(column).lower()

    def visible_flag(self, flag: int, /) -> int:
        return int(_PRIMARY) if flag & ColumnFlag.PRIMARY_KEY else 0

    def value_projection(self, column: ColumnInfo) -> ValueProjection | None:
        members = column.type in (MySQLType.ENUM, MySQLType.SET)
        if not members and self.bare_null is None:
            return None
        in_bytes = column.binary and column.type in STRINGS | LOBS

        def project(value: Value) -> Value:
            text = value if value is None or not members else member_text(column, value).encode()
            written = self.bytes_text(text) if in_bytes and text is not None else text
            return None if written == self.bare_null else text

        return project

    def stored_values(self, column: ColumnInfo) -> StoredValues | None:
        if column.type not in (MySQLType.ENUM, MySQLType.SET):
            return None
        return partial(map_distinct, function=partial(member_number, column))


def _hex(value: bytes) -> bytes:
    return value.hex().encode()


@dataclass(frozen=True, slots=True)
class _Plan:
    """The compiled layout of one table version's lines.

    :param names: table and schema as fields.
    :param enums: image index and number of members of each ENUM column.
    """

    names: bytes
    fields: tuple[Field, ...]
    enums: tuple[tuple[int, int], ...]
    handles: HandleTexts


class CSVEncoder:
    """An encoder of rows as lines; it caches one compiled plan per table version."""

    def __init__(self, options: CSVOptions | None = None) -> None:
        self.options = options or CSVOptions()
        self._plans: dict[TableInfo, _Plan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version: one line per row, or two for an update with its old value."""
        plan = self._plan(table)
        if batch.op == Op.UPDATE and self.options.output_old_value:
            old, new = self._line(plan, batch, b"D", batch.before), self._line(plan, batch, b"I", batch.after)
            fragments = [*old, *new]
        else:
            fragments = list(self._line(plan, batch, batch.op.name[:1].encode(), batch.primary_images))
        statuses: dict[int, RowStatus] = {}
        for row, refusal in _refusals(plan, table, batch):
            statuses.setdefault(row, RowStatus(refusal=refusal))
        empty = concat((b"",), len(batch))
        return encoded_rows(empty, concat(fragments, len(batch)), batch.commit_ts, statuses)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Return one message per row, with its lines.

        :raises EncodeError: for the first row that TiCDC rejects.
        """
        return (one_message_per_row(part, keyed=False) for part in rows)

    def ddl(
        self,
        event: DDLEvent,  # noqa: ARG002  # a DDL is a schema file
        table: TableInfo | None = None,  # noqa: ARG002  # the sink writes that file
        before: TableInfo | None = None,  # noqa: ARG002  # the sink writes that file
    ) -> Message | None:
        return None

    def resolved(self, ts: int) -> Message | None:  # noqa: ARG002  # it is in the sink's metadata file
        return None

    @property
    def fidelity(self) -> CSVFidelity:
        options = self.options
        return CSVFidelity(
            old_values="all" if options.output_old_value else "none",
            table_ids="none",
            commit_ts="exact" if options.include_commit_ts else "none",
            resolved=False,
            bare_null=text_like_null(options),
            bytes_text=b64encode if options.binary_encoding_method == "base64" else _hex,
        )

    def header(self, table: TableInfo) -> bytes:
        """Return the first line of a file with ``output-field-header``; names are never quoted."""
        options = self.options
        enabled = {"operation": True, "table": True, "schema": True, "commit-ts": options.include_commit_ts}
        enabled["is-update"] = options.output_old_value
        names = [f"ticdc-meta${name}" for name, is_enabled in enabled.items() if is_enabled]
        names += [column.name for column in table.sent_columns]
        return (options.delimiter.join(names) + options.terminator).encode()

    def _line(self, plan: _Plan, batch: RowBatch, op: bytes, image: Sequence[pa.Array]) -> Iterator[Fragment]:
        options, comma = self.options, self.options.delimiter.encode()
        yield quoted_text(op.decode(), options) + comma + plan.names
        if options.include_commit_ts:
            yield from (comma, integers(batch.commit_ts))
        if options.output_old_value:
            yield comma + (b"true" if batch.op == Op.UPDATE else b"false")
        if options.writes_handle:
            yield from (comma, quoted(plan.handles.of(batch, image), options))
        for field, values in zip(plan.fields, image, strict=True):
            yield from (comma, field(values))
        yield options.terminator.encode()

    def _plan(self, table: TableInfo) -> _Plan:
        if table not in self._plans:
            self._plans[table] = _plan(table, self.options)
        return self._plans[table]


def _plan(table: TableInfo, options: CSVOptions) -> _Plan:
    names = [quoted_text(name, options) for name in (table.name, table.schema)]
    columns = table.sent_columns
    return _Plan(
        names=options.delimiter.encode().join(names),
        fields=tuple(field_of(column, options) for column in columns),
        enums=tuple((index, len(c.elements)) for index, c in enumerate(columns) if c.type == MySQLType.ENUM),
        handles=HandleTexts(table, options.time_zone),
    )


def _refusals(plan: _Plan, table: TableInfo, batch: RowBatch) -> Iterator[tuple[int, EncodeError]]:
    """Yield the index of each row with the error value of an ENUM, and TiCDC's error."""
    images = (batch.before, batch.after)
    for index, members in plan.enums:
        for image in (image for image in images if image):
            for row in pc.indices_nonzero(pc.fill_null(pc.equal(image[index], b"0"), False)).to_pylist():
                value = batch.value_name(table, row, table.sent_columns[index].name)
                commit_ts = batch.commit_ts[row].as_py()
                yield row, no_member("CSV", "csv encode failed", table, members, commit_ts, value)
