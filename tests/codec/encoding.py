"""Rows of tests as the columns that an encoder takes, and what it makes of them one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import pyarrow as pa

from producer.codec.base import Encoder, RowBatch
from producer.codec.encoded_rows import EncodedRows, RowNote
from producer.errors import EncodeError
from producer.model.event import Message, Op, Value
from producer.model.table import TableInfo

Values: TypeAlias = Sequence[Value]
Change: TypeAlias = tuple[Op, int, Values, Values]
"""Operation, commit-ts, old image and new image."""


@dataclass(frozen=True)
class OneRow:
    """One of many rows.

    :param alone: the row as it is framed.
    """

    alone: EncodedRows

    def column(self, name: str) -> object:
        return self.alone.column(name)[0].as_py()

    @property
    def key(self) -> bytes:
        return bytes(self.alone.column("key")[0].as_py())

    @property
    def value(self) -> bytes:
        return bytes(self.alone.column("value")[0].as_py())

    @property
    def note(self) -> RowNote:
        return self.alone.notes.get(0, RowNote())

    @property
    def refusal(self) -> EncodeError | None:
        return self.note.refusal


def one_by_one(encoded: Iterable[EncodedRows]) -> list[OneRow]:
    return [OneRow(rows.slice(place, 1)) for rows in encoded for place in range(len(rows))]


def alone(rows: Iterable[OneRow]) -> Iterator[EncodedRows]:
    """Single rows as what an encoder frames."""
    return (row.alone for row in rows)


def row_batch(
    op: Op,
    before: Sequence[Values],
    after: Sequence[Values],
    *,
    commit_ts: Sequence[int],
    table_id: Sequence[int] | int = 1,
    row_id: Sequence[int] | int = 0,
) -> RowBatch:
    """Rows of one operation.

    :param before: the old image of each row; ignored for inserts.
    :param after: the new ones; ignored for deletes.
    """
    rows = len(commit_ts)
    return RowBatch(
        op=op,
        commit_ts=pa.array(commit_ts, pa.int64()),
        table_id=_numbers(table_id, rows),
        row_id=_numbers(row_id, rows),
        before=() if op == Op.INSERT else _columns(before),
        after=() if op == Op.DELETE else _columns(after),
    )


def _numbers(given: Sequence[int] | int, rows: int) -> pa.Array:
    return pa.array([given] * rows if isinstance(given, int) else given, pa.int64())


def _columns(images: Sequence[Values]) -> list[pa.Array]:
    return [pa.array(column, pa.binary()) for column in zip(*images, strict=True)]


def encode_changes(encoder: Encoder, table: TableInfo, changes: Iterable[Change]) -> list[EncodedRows]:
    """Changes of one table, each run of one operation in one call."""
    encoded = []
    for op, run in groupby(changes, key=lambda change: change[0]):
        _, stamps, before, after = zip(*run, strict=True)
        encoded.append(encoder.rows(table, row_batch(op, before, after, commit_ts=stamps)))
    return encoded


def framed(encoder: Encoder, encoded: Iterable[EncodedRows]) -> list[Message]:
    """The messages of rows."""
    return [message for batch in encoder.messages(encoded) for message in batch.messages()]


def messages_of(encoder: Encoder, table: TableInfo, changes: Iterable[Change]) -> list[Message]:
    return framed(encoder, encode_changes(encoder, table, changes))
