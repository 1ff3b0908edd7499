"""Properties of every message: it survives the round trip, and follows the options."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.protocols.debezium_tables import (
    EXTENDED,
    IMAGE,
    KEY,
    NOW,
    SMALL,
    TABLE,
    T,
    column_of,
    sent,
)
from tests.protocols.encoding import encode_changes, framed, one_by_one
from tests.protocols.golden_messages import encode_rows
from tests.protocols.random_tables import History, histories
from ticdc_producer.errors import ChangefeedError, EncodeError
from ticdc_producer.model.event import (
    ColumnDefinition,
    DDLEvent,
    Op,
    ResolvedEvent,
    RowEvent,
    TemporalDefinition,
)
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder
from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder
from ticdc_producer.protocols.row_options import DebeziumOptions


@given(histories())
def test_messages_with_replaced_utf8_are_valid_json(history: History) -> None:
    encoder = DebeziumEncoder(DebeziumOptions(invalid_utf8="replace"))
    for row in one_by_one(encode_rows(encoder, history.rows)):
        if row.refusal is None:  # TiCDC refuses some dates
            json.loads(row.key.decode())
            json.loads(row.value.decode())


@given(st.text(max_size=9), st.text(max_size=9), st.sets(st.text(max_size=9), min_size=1, max_size=4))
@example("1db", "t.%d", {"payload", "schema"})
def test_any_names_survive_the_round_trip(schema: str, name: str, columns: set[str]) -> None:
    table = TableInfo(
        schema=schema,
        name=name,
        table_id=1,
        columns=tuple(column_of(column, T.LONG, nullable=False) for column in sorted(columns)),
        indexes=(KEY,),
    )
    (message,) = sent(table, [(Op.INSERT, 1, (), (b"7",) * len(columns))], DebeziumOptions())
    (event,) = DebeziumDecoder().events(message.key, message.value)
    assert isinstance(event, RowEvent)
    assert (event.schema, event.table) == (schema, name)
    assert event.after == dict.fromkeys(columns, b"7")
    assert [column.flag for column in event.columns] == [2] + [0] * (len(columns) - 1)


@given(st.text(max_size=60), st.integers(0, 2**63 - 1))
def test_ddl_and_resolved_survive_the_round_trip(query: str, ts: int) -> None:
    query = query.encode("utf-8", "replace").decode()
    ddl = DDLEvent(commit_ts=ts, schema="s", table="t", query=query, ddl_type=3)
    encoder, decoder = DebeziumEncoder(EXTENDED), DebeziumDecoder()
    message = encoder.ddl(ddl, TABLE)
    assert message is not None
    (event,) = decoder.events(message.key, message.value)
    assert event == DDLEvent(commit_ts=ts, schema="s", table="t", query=query, ddl_type=0)
    message = encoder.resolved(ts)
    assert message is not None
    assert list(decoder.events(message.key, message.value)) == [ResolvedEvent(commit_ts=ts)]
    assert DebeziumEncoder().resolved(ts) is None


def test_members_after_one_that_ends_with_a_backslash_are_read() -> None:
    table = TableInfo(
        schema="s",
        name="t",
        table_id=1,
        columns=(column_of("e", T.ENUM, charset="utf8mb4", elements=("x", "a\\", "b", "x,y")),),
    )
    for index in (b"0", b"1", b"2", b"3"):
        (message,) = sent(table, [(Op.INSERT, 1, (), (index,))], DebeziumOptions())
        (event,) = DebeziumDecoder().events(message.key, message.value)
        assert isinstance(event, RowEvent)
        assert event.after == {"e": index}


@pytest.mark.parametrize(
    ("defined", "length", "default"),
    [
        (TemporalDefinition(length=1, has_default=True, default="2021-01-01"), 1, "2021-01-01"),
        (TemporalDefinition(has_default=True, default="current_timestamp"), None, NOW),
        (TemporalDefinition(has_default=True), None, None),
        (TemporalDefinition(length=1), 1, "2020-01-01 00:00:00"),
        (None, 3, "2020-01-01 00:00:00"),
    ],
)
def test_the_definition_takes_precedence_over_the_table(
    defined: TemporalDefinition | None, length: int | None, default: str | None
) -> None:
    definitions = (ColumnDefinition(name="ts", temporal=defined),)
    described = _described(definitions)
    assert (described["length"], described["defaultValueExpression"]) == (length, default)
    assert described["comment"] is None


def test_a_ddl_without_definitions_describes_columns_by_the_table() -> None:
    for definitions in ((), (ColumnDefinition(name="other", temporal=TemporalDefinition()),)):
        described = _described(definitions)
        assert (described["length"], described["comment"]) == (3, "c")
        assert described["defaultValueExpression"] == "2020-01-01 00:00:00"


def _described(definitions: tuple[ColumnDefinition, ...]) -> dict[str, Any]:
    """The column ``ts`` in the message of a DDL."""
    column = column_of("ts", T.TIMESTAMP, decimal=3, default=b"2020-01-01 00:00:00", comment="c")
    table = TableInfo(schema="s", name="t", table_id=1, columns=(column,))
    ddl = DDLEvent(commit_ts=1, schema="s", table="t", query="…", ddl_type=5, definitions=definitions)
    message = DebeziumEncoder(EXTENDED).ddl(ddl, table)
    assert message is not None
    (described,) = json.loads(message.value or b"")["payload"]["tableChanges"][0]["table"]["columns"]
    return dict(described)


def test_a_ddl_without_its_table_is_sent_without_columns() -> None:
    ddl = DDLEvent(commit_ts=1, schema="s", table="t", query="CREATE TABLE `t` (`id` INT)", ddl_type=3)
    message = DebeziumEncoder(DebeziumOptions(output_ddl=True)).ddl(ddl)
    assert message is not None
    assert message.value is not None
    changes = json.loads(message.value)["payload"]["tableChanges"]
    assert changes == [{"type": "CREATE", "id": '"s"."t"', "table": None}]


def test_a_refused_date_affects_only_its_row() -> None:
    bad = (*IMAGE[:3], b"2021-00-01 00:00:00")
    encoder = DebeziumEncoder()
    rows = encode_changes(encoder, SMALL, [(Op.UPDATE, 5, IMAGE, IMAGE), (Op.UPDATE, 6, bad, IMAGE)])
    assert [row.refusal is None for row in one_by_one(rows)] == [True, False]
    with pytest.raises(EncodeError, match=r"value: '2021-00-01', in column 'dt' of s\.t, id='1'"):
        framed(encoder, rows)
    blind = DebeziumEncoder(DebeziumOptions(output_old_value=False))
    (row,) = one_by_one(encode_changes(blind, SMALL, [(Op.UPDATE, 6, bad, IMAGE)]))
    assert row.refusal is None


@pytest.mark.parametrize(
    ("zone", "local", "utc"),
    [
        ("Asia/Tokyo", b"2020-01-01 09:00:00.5", b"2020-01-01T00:00:00.5Z"),
        ("+05:30", b"2020-01-01 00:00:00.0", b"2019-12-31T18:30:00.0Z"),
        ("America/New_York", b"2020-11-01 00:30:00.0", b"2020-11-01T04:30:00.0Z"),
    ],
)
def test_timestamps_are_in_the_time_zone_of_the_changefeed(zone: str, local: bytes, utc: bytes) -> None:
    table = TableInfo(
        schema="s", name="t", table_id=1, columns=(column_of("ts", T.TIMESTAMP, decimal=1),)
    )  # fmt: skip
    (message,) = sent(table, [(Op.INSERT, 1, (), (local,))], DebeziumOptions(time_zone=zone))
    assert message.key is not None
    assert message.value is not None
    assert b'"after":{"ts":"%b"}' % utc in message.value
    (event,) = DebeziumDecoder(time_zone=zone).events(message.key, message.value)
    assert isinstance(event, RowEvent)
    assert event.after == {"ts": local}


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(ChangefeedError):
        DebeziumDecoder(time_zone="Mars/Olympus")


def test_build_time_is_the_commit_time_by_default() -> None:
    row = (Op.INSERT, 1_700_000_000_123 << 18, IMAGE, IMAGE)
    (message,) = sent(SMALL, [row], DebeziumOptions())
    assert b'},"ts_ms":1700000000123,' in (message.value or b"")
    (message,) = sent(SMALL, [row], DebeziumOptions(build_ts_ms=7))
    assert b'},"ts_ms":7,' in (message.value or b"")
