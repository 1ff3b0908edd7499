"""Converts test rows to the columns that an encoder takes, and its result to single rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Message, Op
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.encoded_rows import EncodedRows, RowStatus
from ticdc_producer.testing.encoding import Values, framed, row_batch

__all__ = [
    "ID_AND_TEXT",
    "Change",
    "OneRow",
    "Values",
    "alone",
    "encode_changes",
    "framed",
    "messages_of",
    "one_by_one",
    "row_batch",
]

ID_AND_TEXT = TableInfo(
    schema="s",
    name="t",
    table_id=1,
    columns=(
        ColumnInfo(name="id", type=MySQLType.LONG, nullable=False),
        ColumnInfo(name="v", type=MySQLType.VARCHAR, charset="utf8mb4", collation="utf8mb4_bin"),
    ),
    indexes=(IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True),),
)
"""A table with a clustered key and a text."""

Change: TypeAlias = tuple[Op, int, Values, Values]
"""Operation, commit-ts, old image and new image."""


@dataclass(frozen=True)
class OneRow:
    """One of many rows.

    :param alone: the row alone, ready for framing.
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
    def status(self) -> RowStatus:
        return self.alone.statuses.get(0, RowStatus())

    @property
    def refusal(self) -> EncodeError | None:
        return self.status.refusal


def one_by_one(encoded: Iterable[EncodedRows]) -> list[OneRow]:
    return [OneRow(rows.slice(index, 1)) for rows in encoded for index in range(len(rows))]


def alone(rows: Iterable[OneRow]) -> Iterator[EncodedRows]:
    """Single rows as the input of framing."""
    return (row.alone for row in rows)


def encode_changes(encoder: Encoder, table: TableInfo, changes: Iterable[Change]) -> list[EncodedRows]:
    """Encode changes of one table; each run of one operation in one call."""
    encoded = []
    for op, run in groupby(changes, key=lambda change: change[0]):
        _, stamps, before, after = zip(*run, strict=True)
        encoded.append(encoder.rows(table, row_batch(op, before, after, commit_ts=stamps)))
    return encoded


def messages_of(encoder: Encoder, table: TableInfo, changes: Iterable[Change]) -> list[Message]:
    return framed(encoder, encode_changes(encoder, table, changes))
