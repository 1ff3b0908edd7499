"""Builds the messages of rows, all messages of a batch at once; ``message`` describes the layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Kind
from ticdc_producer.protocols.arrow_text import (
    Fragment,
    Numbers,
    as_int64,
    concat,
    fixed_width,
    lengths,
    merge_runs,
)
from ticdc_producer.protocols.batching import BatchedRows
from ticdc_producer.protocols.craft.chunks import delta_uvarint_chunks, delta_varint_chunks
from ticdc_producer.protocols.craft.dictionary_batch import BatchDictionary, build_dictionary
from ticdc_producer.protocols.craft.layout import VERSION
from ticdc_producer.protocols.craft.plan import RowForm
from ticdc_producer.protocols.craft.varint import uvarint
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.varint_columns import uvarints, varints, zigzag


def row_messages(batch: BatchedRows, forms: Sequence[RowForm]) -> MessageBatch:
    """The messages of batched rows.

    :param forms: the row forms that the rows' ``form`` column indexes.
    """
    rows, starts, messages = batch.rows, batch.starts, len(batch.starts)
    dictionary = build_dictionary(as_int64(rows.column("form")), starts, forms)
    header = concat(_header(batch, dictionary), messages)
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


def _header(batch: BatchedRows, dictionary: BatchDictionary) -> Iterator[Fragment]:
    rows, starts = batch.rows, batch.starts
    yield from delta_uvarint_chunks(as_int64(rows.column("commit_ts")), starts)
    yield merge_runs(fixed_width(uvarint(Kind.ROW) * len(rows), 1), starts)
    for each in (as_int64(rows.column("partition")), dictionary.schemas, dictionary.tables):
        yield from delta_varint_chunks(each, starts)


def _size_tables(
    batch: BatchedRows, dictionary: BatchDictionary, header: pa.Array, sizes: Numbers
) -> Iterator[Fragment]:
    """The size tables: of header and dictionary, of the rows, and of the column groups of each row.

    :param sizes: bytes of each row.
    """
    headers = lengths(header)
    yield from (uvarint(2), varints(headers), varints(dictionary.dictionary_sizes - headers))
    yield from (uvarints(batch.counts), *delta_varint_chunks(sizes, batch.starts))
    yield _group_tables(dictionary.head_sizes + lengths(batch.rows.column("value")), sizes, batch.starts)


def _group_tables(first: Numbers, sizes: Numbers, starts: Numbers) -> pa.Array:
    """For each message, the tables of its rows: number and sizes of a row's groups.

    :param first: bytes of each row's first group.
    :param sizes: bytes of each row.
    :param starts: index of the first row of each message.
    """
    second = sizes - first
    has_second = second > 0
    groups = 1 + has_second
    table = np.stack((groups, zigzag(first), zigzag(second - first)), axis=1)
    before = np.cumsum(groups + 1) - groups - 1
    ones = np.ones_like(has_second)
    present = np.stack((ones, ones, has_second), axis=1)
    return merge_runs(uvarints(table[present]), before[starts])
