"""Messages of rows, all messages of a batch at once; ``message`` has their layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.event import Kind
from ticdc_producer.protocols.arrow_text import (
    Numbers,
    Piece,
    fixed_width,
    joined,
    lengths,
    numbers,
    regrouped,
)
from ticdc_producer.protocols.batching import BatchedRows
from ticdc_producer.protocols.craft.chunks import delta_uvarint_chunks, delta_varint_chunks
from ticdc_producer.protocols.craft.dictionary_batch import Wording, worded
from ticdc_producer.protocols.craft.layout import VERSION
from ticdc_producer.protocols.craft.plan import RowForm
from ticdc_producer.protocols.craft.varint import uvarint
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.varint_columns import uvarints, varints, zigzag


def row_messages(batch: BatchedRows, forms: Sequence[RowForm]) -> MessageBatch:
    """The messages of batched rows.

    :param forms: what the rows' ``form`` is a place in.
    """
    rows, starts, messages = batch.rows, batch.starts, len(batch.starts)
    words = worded(numbers(rows.column("form")), starts, forms)
    header = joined(_header(batch, words), messages)
    bodies = joined(
        (words.heads, rows.column("value"), words.old_heads, rows.column("old")), len(rows), null=b""
    )
    tables = joined(_size_tables(batch, words, header, lengths(bodies)), messages)
    tail = pc.binary_reverse(uvarints(lengths(tables)))
    sections = (uvarint(VERSION), header, regrouped(bodies, starts), words.dictionaries, tables, tail)
    return MessageBatch(
        key=pa.nulls(messages, pa.binary()),
        value=joined(sections, messages),
        commit_ts=batch.first("commit_ts"),
        events=pa.array(batch.counts),
    )


def _header(batch: BatchedRows, words: Wording) -> Iterator[Piece]:
    rows, starts = batch.rows, batch.starts
    yield from delta_uvarint_chunks(numbers(rows.column("commit_ts")), starts)
    yield regrouped(fixed_width(uvarint(Kind.ROW) * len(rows), 1), starts)
    for each in (numbers(rows.column("partition")), words.schemas, words.tables):
        yield from delta_varint_chunks(each, starts)


def _size_tables(batch: BatchedRows, words: Wording, header: pa.Array, sizes: Numbers) -> Iterator[Piece]:
    """Sizes of header and dictionary, of the rows, and of the column groups row by row.

    :param sizes: of each row.
    """
    headers = lengths(header)
    yield from (uvarint(2), varints(headers), varints(words.dictionary_sizes - headers))
    yield from (uvarints(batch.counts), *delta_varint_chunks(sizes, batch.starts))
    yield _group_tables(words.head_sizes + lengths(batch.rows.column("value")), sizes, batch.starts)


def _group_tables(first: Numbers, sizes: Numbers, starts: Numbers) -> pa.Array:
    """The tables of all rows of each message: how many groups a row has, and their sizes.

    :param first: sizes of the rows' first groups.
    """
    second = sizes - first
    two = second > 0
    groups = 1 + two
    table = np.stack((groups, zigzag(first), zigzag(second - first)), axis=1)
    before = np.cumsum(groups + 1) - groups - 1
    written = np.stack((np.ones_like(two), np.ones_like(two), two), axis=1)
    return regrouped(uvarints(table[written]), before[starts])
