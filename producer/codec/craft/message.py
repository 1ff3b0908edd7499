"""A message put together: ``version header body dictionary size-tables length``.

Only the size tables tell where a section ends; their own length stands at the very end, byte for byte
in reverse, so that a reader starts from there. Source: tiflow craft ``message_encoder.go`` (``Encode``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from producer.codec.base import EncodedRow
from producer.codec.craft.plan import GroupPlan
from producer.codec.craft.terms import TermDictionary, vocabulary
from producer.codec.craft.varint import delta_uvarint_chunk, delta_varint_chunk, uvarint
from producer.model.event import DDLEvent, Kind, Message

VERSION = 1
NEW_VALUES = 1
OLD_VALUES = 2
NO_PARTITION = -1

NEW, OLD = bytes((NEW_VALUES,)), bytes((OLD_VALUES,))


@dataclass(slots=True, kw_only=True)
class CraftRow(EncodedRow):
    """A row whose names have no numbers yet: ``value`` is the value chunk of its first group.

    :param first: type of that group, ``NEW`` or ``OLD``.
    :param plan: of its groups.
    :param partition: physical id of the table's partition, -1 of a table without.
    :param old: value chunk of an update's old image; empty, as no such chunk is, for other rows.
    :param estimate: the row's share in TiCDC's estimate of a message's size.
    """

    first: bytes
    plan: GroupPlan
    partition: int
    old: bytes
    estimate: int


def row_message(rows: Sequence[CraftRow]) -> Message:
    """One message of these rows."""
    plans = [row.plan for row in rows]
    words = vocabulary(tuple(dict.fromkeys(plans)))
    header = _header(
        [row.commit_ts for row in rows],
        Kind.ROW,
        [row.partition for row in rows],
        [words.schemas[plan] for plan in plans],
        [words.tables[plan] for plan in plans],
    )
    openings = [words.openings[plan] for plan in plans]
    groups = [_groups(row, opening) for row, opening in zip(rows, openings, strict=True)]
    sizes = [tuple(map(len, each)) for each in groups]
    body = b"".join(chain.from_iterable(groups))
    value = _assembled(header, body, list(map(sum, sizes)), words.dictionary, sizes)
    return Message(None, value, Kind.ROW.word, rows[0].commit_ts, len(rows))


def _groups(row: CraftRow, opening: bytes) -> Sequence[bytes]:
    """The groups of a row, new values before old ones.

    :param opening: what stands between the type of a group and its values.
    """
    first = row.first + opening + row.value
    return (first, OLD + opening + row.old) if row.old else (first,)


def ddl_message(event: DDLEvent) -> Message:
    terms = TermDictionary()
    schema, table = terms.id(event.schema), terms.id(event.table)
    header = _header([event.commit_ts], Kind.DDL, [NO_PARTITION], [schema], [table])
    query = event.query.encode()
    body = uvarint(event.ddl_type) + uvarint(len(query)) + query
    value = _assembled(header, body, [len(body)], terms.encoded())
    return Message(None, value, Kind.DDL.word, event.commit_ts)


def resolved_message(ts: int) -> Message:
    header = _header([ts], Kind.RESOLVED, [NO_PARTITION], [-1], [-1])
    return Message(None, _assembled(header, b"", [0], b""), Kind.RESOLVED.word, ts)


def _header(
    commit_ts: Sequence[int],
    kind: Kind,
    partitions: Sequence[int],
    schemas: Sequence[int],
    tables: Sequence[int],
) -> bytes:
    """Column by column; all events of a message are of one kind."""
    others = map(delta_varint_chunk, (partitions, schemas, tables))
    return delta_uvarint_chunk(commit_ts) + uvarint(kind) * len(commit_ts) + b"".join(others)


def _assembled(
    header: bytes,
    body: bytes,
    sizes: Sequence[int],
    dictionary: bytes,
    groups: Sequence[Sequence[int]] = (),
) -> bytes:
    """The whole message.

    :param sizes: bytes of each event in the body.
    :param groups: bytes of each column group, per row event.
    """
    meta = _size_table((len(header), len(dictionary)))
    tables = meta + _size_table(sizes) + b"".join(map(_size_table, groups))
    length = uvarint(len(tables))[::-1]
    return b"".join((uvarint(VERSION), header, body, dictionary, tables, length))


def _size_table(sizes: Sequence[int]) -> bytes:
    return uvarint(len(sizes)) + delta_varint_chunk(sizes)
