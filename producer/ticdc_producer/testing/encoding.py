"""Encodes Python objects: rows as an encoder's Arrow columns, and a change log as messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

import pyarrow as pa

from ticdc_producer.config import resolve
from ticdc_producer.model.event import Message, Op, Value
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.base import Encoder, RowBatch
from ticdc_producer.protocols.encoded_rows import EncodedRows
from ticdc_producer.testing.change_log import ChangeLog, Image, RegisteredIDs, RowChange, Transaction

Values: TypeAlias = Sequence[Value]


def row_batch(
    op: Op,
    before: Sequence[Values],
    after: Sequence[Values],
    *,
    commit_ts: Sequence[int],
    table_id: Sequence[int] | int = 1,
    row_id: Sequence[int] | int = 0,
    split: bool = False,
) -> RowBatch:
    """Build a batch of rows of one operation.

    :param before: the old image of each row; ignored for inserts.
    :param after: the new image of each row; ignored for deletes.
    :param commit_ts: the commit-ts of each row.
    :param table_id: physical ids, or one for all rows.
    :param row_id: integer handles, or one for all rows.
    :param split: whether the rows are halves of split updates.
    """
    rows = len(commit_ts)
    return RowBatch(
        op=op,
        commit_ts=pa.array(commit_ts, pa.int64()),
        table_id=_numbers(table_id, rows),
        row_id=_numbers(row_id, rows),
        before=() if op == Op.INSERT else _columns(before),
        after=() if op == Op.DELETE else _columns(after),
        split=pa.repeat(split, rows),
    )


def _numbers(given: Sequence[int] | int, rows: int) -> pa.Array:
    return pa.array([given] * rows if isinstance(given, int) else given, pa.int64())


def _columns(images: Sequence[Values]) -> list[pa.Array]:
    return [pa.array(column, pa.binary()) for column in zip(*images, strict=True)]


def framed(encoder: Encoder, encoded: Iterable[EncodedRows]) -> list[Message]:
    """Return the messages of encoded rows."""
    return [message for batch in encoder.messages(encoded) for message in batch.messages()]


def encoder_of(protocol: str) -> Encoder:
    """Build the encoder of a protocol with its options.

    :param protocol: a name, optionally followed by ``&`` and parameters of the sink URI.
    :raises ChangefeedError: for an unknown protocol or parameter.
    """
    changefeed = resolve(f"kafka:///topic?protocol={protocol}")
    options = {**changefeed.codec_options(), "schema_ids": RegisteredIDs()}
    return registry.encoder(changefeed.protocol, options)


def log_messages(log: ChangeLog, encoder: Encoder, *, skip_rejected: bool) -> list[Message]:
    """Encode a change log, with a resolved event after each transaction if the protocol has one.

    :param skip_rejected: leave out rows that TiCDC's encoder rejects.
    :raises EncodeError: for the first rejected row, unless ``skip_rejected``.
    """
    messages: list[Message] = []
    for transaction in log.transactions:
        encoded = list(_encoded(transaction, encoder))
        if skip_rejected:
            encoded = [rows.without([index for index, _ in rows.rejected()]) for rows in encoded]
        messages += framed(encoder, (rows for rows in encoded if len(rows)))
        resolved = encoder.resolved(transaction.commit_ts)
        messages += [] if resolved is None else [resolved]
    return messages


def accepts(encoder: Encoder, change: RowChange) -> bool:
    """Return whether TiCDC's encoder accepts a row; otherwise it would stop the changefeed."""
    (rows,) = _encoded(Transaction(commit_ts=1, changes=(change,)), encoder)
    return not any(rows.rejected())


def _encoded(transaction: Transaction, encoder: Encoder) -> Iterable[EncodedRows]:
    """Encode consecutive changes of one table and operation in one call."""
    runs = groupby(transaction.changes, key=lambda change: (change.table, change.op))
    for (table, op), run in runs:
        changes = list(run)
        batch = row_batch(
            op,
            [change.before or () for change in changes],
            [change.after or () for change in changes],
            commit_ts=[transaction.commit_ts] * len(changes),
            table_id=changes[0].physical_id,
            row_id=[_handle(table, change.image) for change in changes],
        )
        yield encoder.rows(table, batch)


def _handle(table: TableInfo, image: Image) -> int:
    """Return the row's integer handle as in TiDB, a signed number; 0 for another kind of handle."""
    key = table.clustered_key
    if key is None or len(key.offsets) > 1 or table.columns[key.offsets[0]].type not in INTEGERS:
        return 0
    number = int(image[table.sent.index(key.offsets[0])] or 0)
    return number - (1 << 64) if number >= 1 << 63 else number
