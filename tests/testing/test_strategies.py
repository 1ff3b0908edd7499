"""The public strategies: consistent examples, errors of invalid arguments, shrinking."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from ticdc_producer.errors import ChangefeedError, DecodeError, EncodeError, ProducerError
from ticdc_producer.model.event import Message, Op, ResolvedEvent, RowEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.protocols.registry import BUILT_IN, decoder
from ticdc_producer.testing.change_log import ChangeLog, RowChange, Transaction, row_key
from ticdc_producer.testing.encoding import encoder_of
from ticdc_producer.testing.registered import register
from ticdc_producer.testing.strategies import (
    avro_schema,
    changelogs,
    corrupted,
    encoded,
    messages,
    rows,
    tables,
    transactions,
)

each_protocol = pytest.mark.parametrize("protocol", sorted(BUILT_IN.keys() - {"csv"}))
FAST = ("avro", "craft", "open-protocol")
"""A protocol with schemas, one in bytes, and one whose messages have several events."""
some_protocols = pytest.mark.parametrize(
    "protocol",
    [
        pytest.param(name, marks=() if name in FAST else pytest.mark.slow)
        for name in sorted(BUILT_IN.keys() - {"csv"})
    ],
)
EXTENDED = {"avro": "avro&enable-tidb-extension=true"}
"""Options without which a protocol does not name operations."""
each_tier = pytest.mark.parametrize(
    "examples", [pytest.param(8, id="fast"), pytest.param(200, id="full", marks=pytest.mark.slow)]
)
at_once = settings(database=None, phases=[Phase.generate])
"""The first example, which nobody has to read."""
_SENT_FIRST = [Op.DELETE, Op.UPDATE, Op.INSERT]


@given(tables(), st.data())
def test_rows_fit_their_table(table: TableInfo, data: st.DataObject) -> None:
    row = data.draw(rows(table))
    assert table.handle_index is not None
    assert len(row) == len(table.sent_columns)
    for column, value in zip(table.sent_columns, row, strict=True):
        assert value is not None or column.nullable
        if value is not None and not column.binary:
            value.decode()


@given(tables(types=["int", "text"], max_columns=2, keys=["none"], partitioned=True))
def test_tables_match_the_arguments(table: TableInfo) -> None:
    assert 1 <= len(table.sent_columns) <= 2
    for column in table.sent_columns:
        assert column.type == MySQLType.LONG or (column.type, column.charset) == (MySQLType.BLOB, "utf8mb4")
    assert table.handle_index is None
    assert table.partitions


@given(changelogs())
def test_a_history_is_consistent(log: ChangeLog) -> None:
    stamps = [transaction.commit_ts for transaction in log.transactions]
    assert stamps == sorted(set(stamps))
    assert len({table.qualified_name for table in log.tables}) == len(log.tables)
    state: dict[Any, Any] = {}
    for transaction in log.transactions:
        _check_transaction(transaction)
        for change in transaction.changes:
            key = change.table.qualified_name, row_key(change.table, change.image)
            assert state.get(key) == change.before
            state[key] = change.after
    left = [key for key, image in state.items() if image is not None]
    for table in log.tables:
        assert len(log.state[table.qualified_name]) == sum(name == table.qualified_name for name, _ in left)


def _check_transaction(transaction: Transaction) -> None:
    assert transaction.changes
    keys = [
        (change.table.qualified_name, row_key(change.table, change.image)) for change in transaction.changes
    ]
    assert len(set(keys)) == len(keys)
    order = [(change.physical_id, _SENT_FIRST.index(change.op)) for change in transaction.changes]
    assert order == sorted(order)
    for change in transaction.changes:
        assert change.before != change.after
        assert (change.before is None, change.after is None) == (
            change.op == Op.INSERT,
            change.op == Op.DELETE,
        )
        if change.before and change.after:
            assert row_key(change.table, change.before) == row_key(change.table, change.after)


@given(st.data())
def test_a_transaction_changes_the_given_tables(data: st.DataObject) -> None:
    table = data.draw(tables())
    transaction = data.draw(transactions([table], commit_ts=7, max_changes=2))
    _check_transaction(transaction)
    assert transaction.commit_ts == 7
    assert len(transaction.changes) <= 2
    assert {change.table for change in transaction.changes} == {table}


def reader(protocol: str) -> Decoder:
    return decoder(protocol, {"schema_of": avro_schema})


@each_tier
@each_protocol
def test_messages_decode_to_their_history(protocol: str, examples: int) -> None:
    @settings(max_examples=examples)
    @given(changelogs(protocol=EXTENDED.get(protocol, protocol)))
    def check(log: ChangeLog) -> None:
        visible_name = encoder_of(protocol).fidelity.visible_name
        reads, sent = reader(protocol), encoded(log, protocol=EXTENDED.get(protocol, protocol))
        events = [event for m in sent for event in reads.events(m.key, m.value)]
        changed = [event for event in events if isinstance(event, RowEvent)]
        assert [(e.op, e.schema, e.table) for e in changed] == [
            (change.op, *map(visible_name, (change.table.schema, change.table.name)))
            for change in log.changes()
        ]
        resolved = [event for event in events if isinstance(event, ResolvedEvent)]
        assert len(resolved) == (
            len(log.transactions) if protocol in ("open-protocol", "craft", "simple") else 0
        )

    check()


@each_tier
@some_protocols
def test_messages_contain_only_rows_that_the_encoder_accepts(protocol: str, examples: int) -> None:
    @settings(max_examples=examples)
    @given(messages(protocol=protocol))
    def check(drawn: list[Message]) -> None:
        reads = reader(protocol)
        assert sum(len(list(reads.events(m.key, m.value))) for m in drawn) >= 1

    check()


def test_a_row_that_the_encoder_rejects_is_an_error() -> None:
    table = find(tables(types=["datetime"], max_columns=1), lambda _: True, settings=at_once)
    fraction = b"." + b"0" * table.columns[0].decimal if table.columns[0].decimal else b""
    change = RowChange(table=table, op=Op.INSERT, after=(b"2021-00-00 00:00:00" + fraction,))
    log = ChangeLog(tables=(table,), transactions=(Transaction(commit_ts=1, changes=(change,)),))
    with pytest.raises(EncodeError, match="ErrDebeziumEncodeFailed"):
        encoded(log, protocol="debezium")


@each_tier
@some_protocols
def test_damaged_messages_differ(protocol: str, examples: int) -> None:
    strategy = messages(protocol=protocol)
    reads, read = reader(protocol), []

    @settings(max_examples=examples)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        drawn = data.draw(strategy)
        damaged = data.draw(corrupted(st.just(drawn)))
        assert (damaged.key, damaged.value) not in [(m.key, m.value) for m in drawn] or len(drawn) > 1
        try:
            read.append(bool(list(reads.events(damaged.key, damaged.value))))
        except DecodeError:
            read.append(False)

    check()
    assert not all(read)  # some damage is found


def test_cut_truncates_the_value() -> None:
    whole = Message(key=None, value=b"0123456789", type="row", commit_ts=1)

    @given(corrupted(st.just([whole]), damages=["cut"]))
    def check(damaged: Message) -> None:
        assert damaged.value is not None
        assert len(damaged.value) < 10
        assert (whole.value or b"").startswith(damaged.value)

    check()


def test_examples_shrink_to_short_ones() -> None:
    log = find(
        changelogs(tables=tables(types=["int"], max_columns=1), max_transactions=2, max_changes=1),
        lambda log: any(change.op == Op.DELETE for change in log.changes()),
        settings=settings(database=None, derandomize=True),
    )
    table, *transactions = repr(log).splitlines()
    assert table.startswith("test.t ('a' int")
    assert [line.partition(" test.t {'a': '0'")[0] for line in transactions] == [
        "429918007904436226: insert",
        "429918008166580226: delete",
    ]


def _keyless() -> TableInfo:
    return find(tables(keys=["none"]), lambda _: True, settings=at_once)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tables(types=["varchr"]), "unknown type 'varchr' (did you mean 'varchar'?)"),
        (lambda: tables(types="int"), "types is not a list"),
        (lambda: tables(types=[]), "types is not a list"),
        (lambda: tables(max_columns=0), "max_columns is 0, and must be at least 1"),
        (lambda: tables(keys=["foreign"]), "unknown key 'foreign'"),  # type: ignore[list-item]
        (lambda: tables(keys=[]), "keys is empty"),
        (lambda: transactions([]), "there is no table"),
        (lambda: transactions([_keyless()]), "has no handle key"),
        (lambda: changelogs(max_transactions=0), "max_transactions is 0, and must be at least 1"),
        (lambda: corrupted(st.just([]), damages=["burn"]), "unknown damage 'burn'"),  # type: ignore[list-item]
        (lambda: corrupted(st.just([]), damages=[]), "damages is empty"),
    ],
)
def test_an_invalid_argument_is_refused_at_once(make: Any, message: str) -> None:
    with pytest.raises(ProducerError) as error:
        make()
    assert message in str(error.value)


@pytest.mark.parametrize("make", [messages, changelogs])
def test_an_unknown_protocol_or_option_is_refused_at_once(make: Any) -> None:
    for protocol in ("canal-jsn", "canal-json&enable-tidb-extensio=true", "avro&force=1"):
        with pytest.raises(ChangefeedError):
            make(protocol=protocol)


def test_hypothesis_knows_the_types() -> None:
    register()

    @settings(max_examples=5)
    @given(st.from_type(TableInfo), st.from_type(ChangeLog))
    def check(table: TableInfo, log: ChangeLog) -> None:
        assert table.sent_columns
        assert log.tables

    check()


def test_a_change_without_images_is_refused() -> None:
    with pytest.raises(ProducerError, match="without images"):
        _ = RowChange(table=_keyless(), op=Op.INSERT).image
