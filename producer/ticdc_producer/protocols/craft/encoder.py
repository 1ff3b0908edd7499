"""Encoder of Craft: builds the messages of a batch of rows at once, and those of DDLs and resolved events.

Only the size tables give the ends of the sections. Their own length is at the end of the message in reverse
byte order, so that a reader starts there. Source: tiflow craft ``message_encoder.go`` (``Encode``).

TiCDC ends a message after the row that exceeds one of the limits, so no row is ever too large. Source:
tiflow ``craft_encoder.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import DDLEvent, Kind, Message, Op
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Fragments,
    as_int64,
    concat,
    fixed_width,
    lengths,
    merge_runs,
    uvarints,
    varints,
    zigzag,
)
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.batch_options import CraftOptions
from ticdc_producer.protocols.craft.dictionary import BatchDictionary, TermDictionary, build_dictionary
from ticdc_producer.protocols.craft.plan import CraftRowForm, CraftTablePlan, table_plan
from ticdc_producer.protocols.craft.wire import (
    NO_NAME,
    NO_PARTITION,
    VERSION,
    delta_varint_chunk,
    uvarint,
    varint,
)
from ticdc_producer.protocols.encoded_rows import BatchedRows, EncodedRows, MessageLimits, RowStatus, batched
from ticdc_producer.protocols.message_batch import MessageBatch


def ddl_message(event: DDLEvent) -> Message:
    terms = TermDictionary()
    header = _header(event.commit_ts, Kind.DDL, terms.id(event.schema), terms.id(event.table))
    query = event.query.encode()
    body = uvarint(event.ddl_type) + uvarint(len(query)) + query
    return Message(None, _assemble(header, body, terms.encoded()), Kind.DDL.label, event.commit_ts)


def resolved_message(ts: int) -> Message:
    header = _header(ts, Kind.RESOLVED, NO_NAME, NO_NAME)
    return Message(None, _assemble(header, b"", b""), Kind.RESOLVED.label, ts)


def _header(commit_ts: int, kind: Kind, schema: int, table: int) -> bytes:
    names = map(varint, (NO_PARTITION, schema, table))
    return uvarint(commit_ts) + uvarint(kind) + b"".join(names)


def _assemble(header: bytes, body: bytes, dictionary: bytes) -> bytes:
    tables = _size_table((len(header), len(dictionary))) + _size_table((len(body),))
    length = uvarint(len(tables))[::-1]
    return b"".join((uvarint(VERSION), header, body, dictionary, tables, length))


def _size_table(sizes: Sequence[int]) -> bytes:
    return uvarint(len(sizes)) + delta_varint_chunk(sizes)


def delta_uvarint_chunks(numbers: np.ndarray, starts: np.ndarray) -> Fragments:
    """Encode each run of numbers (int64) as a chunk: the first number, then the differences.

    >>> chunks = delta_uvarint_chunks(np.array([5, 6, 8, 9, 9]), np.array([0, 3]))
    >>> [chunk.to_pylist() for chunk in chunks]
    [[b'\\x05', b'\\t'], [b'\\x01\\x02', b'\\x00']]

    :param starts: index of the first number of each run, ascending from 0.
    """
    return _delta_chunks(numbers, starts, lambda steps: uvarints(steps.view(np.uint64)))


def delta_varint_chunks(numbers: np.ndarray, starts: np.ndarray) -> Fragments:
    """Encode each run of signed numbers as ``delta_uvarint_chunks`` does for unsigned numbers."""
    return _delta_chunks(numbers, starts, varints)


def _delta_chunks(
    numbers: np.ndarray, starts: np.ndarray, encode: Callable[[np.ndarray], pa.Array]
) -> Fragments:
    """Encode the first numbers separately: differences are usually small, and encode faster without them.

    >>> texts = lambda numbers: pa.array([b"%+d" % number for number in numbers])
    >>> chunks = _delta_chunks(np.array([5, 6, 8, 9, 7]), np.array([0, 3]), texts)
    >>> [chunk.to_pylist() for chunk in chunks]
    [[b'+5', b'+9'], [b'+1+2', b'-2']]
    """
    steps = encode(np.delete(np.diff(numbers), starts[1:] - 1))
    return encode(numbers[starts]), merge_runs(steps, starts - np.arange(len(starts)))


def row_messages(batch: BatchedRows, forms: Sequence[CraftRowForm]) -> MessageBatch:
    """Return the messages of batched rows.

    :param forms: the row forms that the rows' ``form`` column indexes.
    """
    rows, starts, messages = batch.rows, batch.starts, len(batch.starts)
    dictionary = build_dictionary(as_int64(rows.column("form")), starts, forms)
    header = concat(_row_header(batch, dictionary), messages)
    bodies = concat(
        (dictionary.heads, rows.column("value"), dictionary.old_heads, rows.column("old")),
        len(rows),
        null=b"",
    )
    tables = concat(_size_tables(batch, dictionary, header, lengths(bodies)), messages)
    tail = pc.binary_reverse(uvarints(lengths(tables)))
    sections = (uvarint(VERSION), header, merge_runs(bodies, starts), dictionary.dictionaries, tables, tail)
    return MessageBatch(
        key=pa.nulls(messages, pa.binary()),
        value=concat(sections, messages),
        commit_ts=batch.first("commit_ts"),
        events=pa.array(batch.counts),
    )


def _row_header(batch: BatchedRows, dictionary: BatchDictionary) -> Iterator[Fragment]:
    rows, starts = batch.rows, batch.starts
    yield from delta_uvarint_chunks(as_int64(rows.column("commit_ts")), starts)
    yield merge_runs(fixed_width(uvarint(Kind.ROW) * len(rows), 1), starts)
    for column in (as_int64(rows.column("partition")), dictionary.schemas, dictionary.tables):
        yield from delta_varint_chunks(column, starts)


def _size_tables(
    batch: BatchedRows, dictionary: BatchDictionary, header: pa.Array, sizes: Numbers
) -> Iterator[Fragment]:
    """Yield the size tables: of header and dictionary, of the rows, and of the column groups of each row.

    :param sizes: bytes of each row.
    """
    headers = lengths(header)
    yield from (uvarint(2), varints(headers), varints(dictionary.dictionary_sizes - headers))
    yield from (uvarints(batch.counts), *delta_varint_chunks(sizes, batch.starts))
    yield _group_tables(dictionary.head_sizes + lengths(batch.rows.column("value")), sizes, batch.starts)


def _group_tables(first: Numbers, sizes: Numbers, starts: Numbers) -> pa.Array:
    """Return the tables of each message's rows. A row's table has the number and the sizes of its groups.

    Here the second row, of 10 bytes, has two groups, of 4 and 6 bytes. A size is encoded as its difference
    from the one before it, in zig-zag.

    >>> _group_tables(np.array([3, 4]), np.array([3, 10]), np.array([0])).to_pylist()
    [b'\\x01\\x06\\x02\\x08\\x04']

    :param first: bytes of each row's first group.
    :param sizes: bytes of each row.
    :param starts: index of the first row of each message.
    """
    second = sizes - first
    has_second = second > 0
    groups = 1 + has_second
    table = np.stack((groups, zigzag(first), zigzag(second - first)), axis=1)
    before = np.cumsum(groups + 1) - groups - 1  # numbers in the tables of earlier rows
    always = np.ones_like(has_second)
    present = np.stack((always, always, has_second), axis=1)
    return merge_runs(uvarints(table[present]), before[starts])


def messages(
    rows: Iterable[EncodedRows], forms: Sequence[CraftRowForm], options: CraftOptions
) -> Iterator[MessageBatch]:
    """Yield messages of consecutive rows, each of one batch key.

    :param forms: the row forms that the rows' ``form`` column indexes.
    :raises EncodeError: for the first row that TiCDC rejects.
    """
    limits = MessageLimits(rows=options.max_batch_size, size=options.max_message_bytes, rows_beyond=1)
    for batch in batched(rows, _estimates, limits, by_batch_key=options.batch_by != "partition"):
        yield row_messages(batch, forms)


def _estimates(rows: EncodedRows) -> Numbers:
    return as_int64(rows.column("estimate"))


class CraftEncoder:
    """An encoder of events as messages; it caches one compiled plan per table version."""

    def __init__(self, options: CraftOptions | None = None) -> None:
        self.options = options or CraftOptions()
        self._plans: dict[TableInfo, CraftTablePlan] = {}
        self._forms: list[CraftRowForm] = []
        self._form_indexes: dict[CraftRowForm, int] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``.

        The names of a row have no ids until it is framed. ``value`` is the value chunk of its first group,
        ``old`` that of an update's old values, and ``form`` the index of the form that frames them.
        """
        plan, rows = self._plan(table), len(batch)
        group = plan.first_group(batch.op)
        value, estimate = group.images(batch.primary_images, rows)
        estimate += group.row_estimate
        old = pa.nulls(rows, pa.binary())
        if batch.op == Op.UPDATE:
            old, more = plan.whole.images(batch.before, rows)
            estimate += more
        columns = {
            "value": value,
            "old": old,
            "commit_ts": batch.commit_ts,
            "form": pa.repeat(self._form_index(CraftRowForm(group, batch.op)), rows),
            "partition": batch.table_id if plan.partitioned else pa.repeat(NO_PARTITION, rows),
            "estimate": pa.array(estimate),
        }
        rejected = () if group.columns else _no_handle_key(table, batch.commit_ts)
        statuses = {row: RowStatus(refusal=refusal) for row, refusal in enumerate(rejected)}
        return EncodedRows(pa.record_batch(columns), statuses)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Put consecutive rows of one partition into messages."""
        return messages(rows, self._forms, self.options)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # only some protocols describe tables
        before: TableInfo | None = None,  # noqa: ARG002  # and none its former state
    ) -> Message:
        return ddl_message(event)

    def resolved(self, ts: int) -> Message:
        return resolved_message(ts)

    @property
    def fidelity(self) -> Fidelity:
        """The fidelity of Craft, which has no row ids either."""
        only_keys = self.options.delete_only_output_handle_key_columns
        return Fidelity(deletes="handle-key" if only_keys else "all")

    def _plan(self, table: TableInfo) -> CraftTablePlan:
        plan = self._plans.get(table)
        if plan is None:
            self._plans[table] = plan = table_plan(table, self.options)
        return plan

    def _form_index(self, form: CraftRowForm) -> int:
        """Return the index of a form in ``self._forms``; new forms are appended."""
        if form not in self._form_indexes:
            self._form_indexes[form] = len(self._forms)
            self._forms.append(form)
        return self._form_indexes[form]


def _no_handle_key(table: TableInfo, commit_ts: pa.Array) -> Iterator[EncodeError]:
    for ts in commit_ts.to_pylist():
        yield EncodeError(
            "a delete has no handle key columns to show",
            code="CDC:ErrCraftCodecInvalidData",
            table=table.qualified_name,
            commit_ts=ts,
            hint="turn delete-only-output-handle-key-columns off for tables without a handle key",
        )
