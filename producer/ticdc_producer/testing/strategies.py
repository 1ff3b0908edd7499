"""Hypothesis strategies: tables, rows, transactions, change logs, messages, and damaged messages.

No Spark and no Kafka. Values are canonical text (docs/testing.md), commit-ts are TSOs. Examples shrink to few
rows of few columns with plain names and values.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias, get_args

from hypothesis import strategies as st
from msgspec.structs import replace

from ticdc_producer.errors import ArgumentError
from ticdc_producer.hints import nearest
from ticdc_producer.model.event import Message
from ticdc_producer.model.table import TableInfo
from ticdc_producer.testing.change_log import (
    ChangeLog,
    Image,
    RowChange,
    Transaction,
    avro_schema,
    key_indexes,
)
from ticdc_producer.testing.random_history import accepted_by, images, random_history, random_transaction
from ticdc_producer.testing.random_tables import COLUMN_TYPES, NAMES, DrawnType, Key, random_table

Damage: TypeAlias = Literal["cut", "flip", "splice"]
DAMAGES: tuple[Damage, ...] = get_args(Damage)


@st.composite
def damaged(draw: st.DrawFn, data: bytes, damages: Collection[Damage] = DAMAGES) -> bytes:
    """Damage bytes: truncate them, flip some bits, or replace, remove or insert some bytes."""
    if not data:
        return draw(st.binary(max_size=8))
    index = st.integers(0, len(data) - 1)
    match draw(st.sampled_from([kind for kind in DAMAGES if kind in damages])):
        case "cut":
            return data[: draw(index)]
        case "flip":
            flipped = bytearray(data)
            for byte, bit in draw(st.lists(st.tuples(index, st.integers(0, 7)), min_size=1, max_size=4)):
                flipped[byte] ^= 1 << bit
            return bytes(flipped)
    start, end = sorted((draw(index), draw(index)))
    return data[:start] + draw(st.binary(max_size=12)) + data[end:]


@st.composite
def damaged_message(
    draw: st.DrawFn, messages: st.SearchStrategy[list[Message]], damages: Collection[Damage]
) -> Message:
    """Draw one of the messages, and damage its key or value."""
    candidates = draw(messages.map(lambda batch: [message for message in batch if message.size]).filter(bool))
    message = draw(st.sampled_from(candidates))
    part = draw(st.sampled_from([name for name in ("value", "key") if getattr(message, name)]))
    original: bytes = getattr(message, part)
    return replace(message, **{part: draw(damaged(original, damages).filter(lambda data: data != original))})


__all__ = [
    "ChangeLog",
    "RowChange",
    "Transaction",
    "avro_schema",
    "changelogs",
    "corrupted",
    "encoded",
    "messages",
    "rows",
    "tables",
    "transactions",
]

START_TS = 429918007904436226
"""Commit-ts of the first transaction, the default of a scenario."""


def tables(
    *,
    types: Collection[str] | None = None,
    max_columns: int = 6,
    keys: Collection[Key] = ("primary", "unique"),
    partitioned: bool | None = None,
    names: st.SearchStrategy[str] = NAMES,
) -> st.SearchStrategy[TableInfo]:
    """Generate tables of 1 to ``max_columns`` columns. Some have an additional virtual column.

    :param types: SQL names of the column types, without parameters; default: all that TiCDC sends.
    :param keys: ``primary`` key, ``unique`` key of NOT NULL columns, or ``none``, a table that TiCDC does not
        replicate.
    :param partitioned: whether tables are partitioned; None: some of them.
    :param names: names of schemas, tables and columns; default: any that MySQL accepts between backquotes.
    :raises ArgumentError: for an invalid argument.
    """
    _check_positive(max_columns=max_columns)
    for key in keys:
        if key not in get_args(Key):
            raise ArgumentError(f"unknown key {key!r}", argument="keys", hint=nearest(key, get_args(Key)))
    if not keys:
        raise ArgumentError("keys is empty", argument="keys", hint="primary, unique, none")
    either = (False, True) if partitioned is None else (partitioned,)
    return random_table(_types(types), max_columns, tuple(keys), either, names)


def _types(names: Collection[str] | None) -> Sequence[DrawnType]:
    if names is None:
        return COLUMN_TYPES
    known = {kind.name for kind in COLUMN_TYPES}
    if isinstance(names, str) or not names:
        raise ArgumentError("types is not a list of type names", argument="types", hint="['int', 'varchar']")
    for name in names:
        if name not in known:
            raise ArgumentError(f"unknown type {name!r}", argument="types", hint=nearest(name, known))
    return [kind for kind in COLUMN_TYPES if kind.name in names]


def rows(table: TableInfo, *, invalid_utf8: bool = False) -> st.SearchStrategy[Image]:
    """Generate rows of a table: canonical text for each of ``table.sent_columns``, None for NULL.

    :param invalid_utf8: text may contain bytes that are not UTF-8, which TiDB accepts with
        ``tidb_skip_utf8_check``.
    """
    return images(table, invalid_utf8=invalid_utf8)


def transactions(
    tables: Sequence[TableInfo], *, commit_ts: int = START_TS, max_changes: int = 6
) -> st.SearchStrategy[Transaction]:
    """Generate transactions with at most one net change per row, in the order in which TiCDC sends them.

    Updates do not change the handle key, otherwise they would be a delete and an insert. Updates and deletes
    target rows that existed before the transaction.

    :param tables: at least one; each with a handle key and a distinct name.
    :param commit_ts: TSO, at least 1.
    :param max_changes: at least 1.
    :raises ArgumentError: for an invalid argument.
    """
    _check_positive(commit_ts=commit_ts, max_changes=max_changes)
    if not tables:
        raise ArgumentError("there is no table", argument="tables")
    if len({table.qualified_name for table in tables}) < len(tables):
        raise ArgumentError("two tables have the same name", argument="tables")
    for table in tables:
        key_indexes(table)
    return random_transaction(tables, commit_ts, max_changes)


def changelogs(
    *,
    tables: st.SearchStrategy[TableInfo] | None = None,
    max_tables: int = 2,
    max_transactions: int = 4,
    max_changes: int = 6,
    protocol: str | None = None,
) -> st.SearchStrategy[ChangeLog]:
    """Generate histories of some tables that are empty at first.

    Inserts target absent rows; updates and deletes existing ones. The result's ``state`` has the rows that a
    consumer must have at the end.

    :param tables: strategy of the tables; default: ``tables()``. Drawing a table without a handle key is an
        error.
    :param max_tables: at least 1.
    :param max_transactions: at least 1.
    :param max_changes: maximum number of changes of a transaction, at least 1.
    :param protocol: draw only rows that TiCDC's encoder of this protocol accepts, for example
        ``canal-json&enable-tidb-extension=true``; default: any rows.
    :raises ArgumentError: for an invalid argument.
    :raises ChangefeedError: for an unknown protocol or parameter.
    """
    _check_positive(max_tables=max_tables, max_transactions=max_transactions, max_changes=max_changes)
    rows_of = images if protocol is None else accepted_by(protocol)
    each = _tables() if tables is None else tables
    return random_history(each, max_tables, max_transactions, max_changes, rows_of, START_TS)


def _tables() -> st.SearchStrategy[TableInfo]:
    return tables()


def encoded(log: ChangeLog, *, protocol: str) -> list[Message]:
    """Return the messages of a change log, as TiCDC sends them to one partition.

    A resolved event follows each transaction if the protocol has resolved events. There are no DDL events.
    The schemas of messages in Avro are those of ``avro_schema``.

    :param protocol: a name, optionally followed by ``&`` and parameters of the sink URI.
    :raises ChangefeedError: for an unknown protocol or parameter.
    :raises EncodeError: for a row that TiCDC's encoder rejects; ``changelogs(protocol=…)`` has none.
    """
    from ticdc_producer.testing.encoding import encoder_of, log_messages

    return log_messages(log, encoder_of(protocol), skip_rejected=False)


def messages(
    *, protocol: str, logs: st.SearchStrategy[ChangeLog] | None = None
) -> st.SearchStrategy[list[Message]]:
    """Generate the messages of a history, at least one, without the rows that TiCDC's encoder rejects.

    :param protocol: a name, optionally followed by ``&`` and parameters of the sink URI.
    :param logs: strategy of the histories; default: ``changelogs()``.
    :raises ChangefeedError: for an unknown protocol or parameter.
    """
    from ticdc_producer.testing.encoding import encoder_of, log_messages

    encoder_of(protocol)  # raises here and not when an example is drawn
    histories = changelogs() if logs is None else logs

    def of_one(log: ChangeLog) -> list[Message]:
        # A new encoder per history, because an encoder of Simple sends each table's schema once.
        return log_messages(log, encoder_of(protocol), skip_rejected=True)

    return histories.map(of_one).filter(bool)


def corrupted(
    messages: st.SearchStrategy[list[Message]], *, damages: Collection[Damage] = DAMAGES
) -> st.SearchStrategy[Message]:
    """Generate messages with a damaged key or value. Decoding them may still succeed.

    :param damages: ``cut`` (truncate), ``flip`` (some bits), ``splice`` (replace, remove or insert bytes).
    :raises ArgumentError: for an unknown damage, or an empty collection.
    """
    for damage in damages:
        if damage not in DAMAGES:
            raise ArgumentError(
                f"unknown damage {damage!r}", argument="damages", hint=nearest(damage, DAMAGES)
            )
    if not damages:
        raise ArgumentError("damages is empty", argument="damages", hint=", ".join(DAMAGES))
    return damaged_message(messages, tuple(damages))


def _check_positive(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ArgumentError(f"{name} is {number}, and must be at least 1", argument=name)
