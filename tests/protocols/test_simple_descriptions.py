"""BOOTSTRAP messages of Simple, and decoding of rows whose table schema has not been received yet."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import pytest

from tests.protocols.encoding import encode_changes, framed
from ticdc_producer.errors import DecodeError, EncodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent, Message, Op, ResolvedEvent, RowEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS
from ticdc_producer.protocols.row_options import SimpleOptions
from ticdc_producer.protocols.simple.decoder import SimpleDecoder
from ticdc_producer.protocols.simple.encoder import SimpleEncoder

T = MySQLType
KEY = IndexInfo(id=0, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
COLUMNS = (
    ColumnInfo(name="id", type=T.LONG, nullable=False),
    ColumnInfo(name="v", type=T.VARCHAR, charset="utf8mb4"),
    ColumnInfo(name="b", type=T.BLOB),
    ColumnInfo(name="ts", type=T.TIMESTAMP),
)
IMAGE = (b"1", "aé".encode(), b"\0\xff", b"2020-01-01 00:00:00")


def _table(name: str, table_id: int, update_ts: int = 7) -> TableInfo:
    return TableInfo(
        schema="s", name=name, table_id=table_id, columns=COLUMNS, indexes=(KEY,), update_ts=update_ts
    )


A, B = _table("a", 1), _table("b", 2)


def _sent(options: SimpleOptions, rows: Sequence[tuple[TableInfo, int]], parts: int = 1) -> list[Message]:
    """Messages of inserts at some milliseconds, passed to the encoder in ``parts`` batches."""
    encoder = SimpleEncoder(options)
    encoded = [
        encoding
        for table, ms in rows
        for encoding in encode_changes(encoder, table, [(Op.INSERT, ms << LOGICAL_BITS, (), IMAGE)])
    ]
    size = -(-len(encoded) // parts)
    batches = [encoded[start : start + size] for start in range(0, len(encoded), size)]
    return [message for batch in batches for message in framed(encoder, batch)]


def _labels(messages: Sequence[Message]) -> list[str]:
    values = [json.loads(message.value or b"") for message in messages]
    return [
        f"{value['tableSchema']['table']}?" if "tableSchema" in value else value["table"] for value in values
    ]


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_bootstraps_precede_the_first_row_and_follow_a_number_of_rows(parts: int) -> None:
    options = SimpleOptions(send_bootstrap_interval_in_sec=120, send_bootstrap_in_msg_count=2)
    messages = _sent(options, [(A, 1), (B, 2), (A, 3), (A, 4), (B, 5), (A, 6), (A, 7)], parts)
    assert _labels(messages) == ["a?", "a", "b?", "b", "a", "a?", "a", "b", "a", "a?", "a"]
    assert [message.events for message in messages] == [0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1]


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_bootstraps_repeat_after_the_interval(parts: int) -> None:
    options = SimpleOptions(send_bootstrap_interval_in_sec=1, send_bootstrap_in_msg_count=100)
    messages = _sent(options, [(A, 0), (A, 999), (A, 1000), (A, 1500), (A, 5000)], parts)
    assert _labels(messages) == ["a?", "a", "a", "a?", "a", "a", "a?", "a"]


@pytest.mark.parametrize(("seconds", "count"), [(0, 5), (5, 0)])
def test_a_bound_of_zero_sends_no_bootstrap(seconds: int, count: int) -> None:
    options = SimpleOptions(send_bootstrap_interval_in_sec=seconds, send_bootstrap_in_msg_count=count)
    assert _labels(_sent(options, [(A, 1), (A, 2)])) == ["a", "a"]


def test_a_bootstrap_over_the_size_limit_is_refused() -> None:
    options = SimpleOptions(
        send_bootstrap_interval_in_sec=1, send_bootstrap_in_msg_count=1, max_message_bytes=400
    )
    with pytest.raises(EncodeError, match=r"table:a, length:\d+, maxMessageBytes:400"):
        _sent(options, [(A, 1)])


def test_rows_wait_for_the_schema_of_their_version() -> None:
    encoder, decoder = SimpleEncoder(SimpleOptions()), SimpleDecoder()
    newer = _table("a", 1, update_ts=8)
    for table in (A, newer, A):
        (row,) = framed(encoder, encode_changes(encoder, table, [(Op.INSERT, 9, (), IMAGE)]))
        assert list(decoder.events(row.key, row.value)) == []
    assert decoder.waiting == 3
    ddl = encoder.ddl(DDLEvent(commit_ts=8, schema="s", table="a", query="ALTER", ddl_type=5), newer)
    ddl_event, row_event = decoder.events(ddl.key, ddl.value)
    assert isinstance(ddl_event, DDLEvent)
    assert isinstance(row_event, RowEvent)
    assert row_event.after == dict(zip(("b", "id", "ts", "v"), _by_name(), strict=True))
    assert decoder.waiting == 2
    mark = encoder.resolved(10)
    assert list(decoder.events(mark.key, mark.value)) == [ResolvedEvent(commit_ts=10)]
    assert decoder.waiting == 2


def _by_name() -> list[bytes]:
    return [IMAGE[index] for index in (2, 0, 3, 1)]


def test_with_all_schemas_given_a_row_of_another_version_is_an_error() -> None:
    options = SimpleOptions(send_bootstrap_interval_in_sec=1, send_bootstrap_in_msg_count=9)
    bootstrap, row = _sent(options, [(A, 1)])
    decoder = SimpleDecoder([bootstrap.value or b"", b"damaged"])
    assert len(list(decoder.events(row.key, row.value))) == 1
    with pytest.raises(DecodeError) as error:
        list(SimpleDecoder([]).events(row.key, row.value))
    assert error.value.code == "SIMPLE-UNDESCRIBED"


def _samples() -> list[Message]:
    options = SimpleOptions(send_bootstrap_interval_in_sec=1, send_bootstrap_in_msg_count=9)
    encoder = SimpleEncoder(options)
    changes = [(Op.INSERT, 5, IMAGE, IMAGE), (Op.UPDATE, 6, IMAGE, IMAGE), (Op.DELETE, 7, IMAGE, IMAGE)]
    ddl = DDLEvent(commit_ts=8, schema="s", table="a", query="ALTER TABLE `a` …", ddl_type=5)
    rows = framed(encoder, encode_changes(encoder, A, changes))
    return [*rows, encoder.ddl(ddl, A, A), encoder.resolved(9)]


SAMPLES = _samples()


@pytest.mark.parametrize("sample", range(len(SAMPLES)))
def test_every_truncation_is_a_decode_error(sample: int) -> None:
    value = SAMPLES[sample].value or b""
    for cut in range(len(value)):
        with pytest.raises(DecodeError) as error:
            list(SimpleDecoder([SAMPLES[0].value or b""]).events(None, value[:cut]))
        assert 0 <= error.value.byte <= cut


@pytest.mark.parametrize("sample", range(len(SAMPLES)))
def test_every_bit_flip_decodes_or_is_a_decode_error(sample: int) -> None:
    value, rejected = SAMPLES[sample].value or b"", 0
    decoder = SimpleDecoder([SAMPLES[0].value or b""])
    for index, bit in itertools.product(range(len(value)), range(8)):
        damaged = bytearray(value)
        damaged[index] ^= 1 << bit
        try:
            list(decoder.events(None, bytes(damaged)))
        except DecodeError as error:
            rejected += 0 <= error.byte <= len(value)
    assert rejected > len(value)


ROW = {"version": 1, "database": "s", "table": "a", "tableID": 1, "commitTs": 9, "schemaVersion": 7}
WHOLE = {"b": "AP8=", "id": "1", "ts": {"location": "UTC", "value": "2020-01-01 00:00:00"}, "v": "x"}
REFUSED = {
    "SIMPLE-VERSION": {"version": 2, "type": "INSERT", "data": WHOLE},
    "SIMPLE-TYPE": {"type": "insert", "data": WHOLE},
    "SIMPLE-IMAGES": {"type": "DELETE", "data": WHOLE},
    "SIMPLE-COLUMN": {"type": "INSERT", "data": {**WHOLE, "w": "1"}},
    "SIMPLE-RANGE": {"type": "INSERT", "data": {**WHOLE, "id": "2147483648"}},
    "SIMPLE-BASE64": {"type": "INSERT", "data": {**WHOLE, "b": "AP8"}},
    "SIMPLE-VALUE": {"type": "INSERT", "data": {**WHOLE, "ts": "2020-01-01 00:00:00"}},
    "SIMPLE-BOOTSTRAP": {"type": "BOOTSTRAP"},
    "SIMPLE-MEMBER": {"type": "INSERT", "data": {**WHOLE, "id": 1}},
}


@pytest.mark.parametrize("code", REFUSED)
def test_each_error_has_its_code(code: str) -> None:
    decoder = SimpleDecoder([SAMPLES[0].value or b""])
    with pytest.raises(DecodeError) as error:
        list(decoder.events(None, json.dumps({**ROW, **REFUSED[code]}).encode()))
    assert error.value.code == code


def test_the_handle_key_is_derived_from_the_indexes() -> None:
    """The narrower of two unique keys is chosen, although the one called ``primary`` is the first."""
    columns = tuple(ColumnInfo(name=name, type=T.LONG, nullable=False) for name in "abc")
    wide = IndexInfo(id=1, name="ab", offsets=(0, 1), unique=True)
    table = TableInfo(
        schema="s",
        name="a",
        table_id=1,
        columns=columns,
        indexes=(wide, IndexInfo(id=2, name="c", offsets=(2,), unique=True)),
    )
    options = SimpleOptions(send_bootstrap_interval_in_sec=1, send_bootstrap_in_msg_count=9)
    encoder, decoder = SimpleEncoder(options), SimpleDecoder()
    sent = framed(encoder, encode_changes(encoder, table, [(Op.INSERT, 5, (), (b"1", b"2", b"3"))]))
    (row,) = [event for message in sent for event in decoder.events(message.key, message.value)]
    assert isinstance(row, RowEvent)
    assert [column.name for column in row.columns if column.flag & 2] == ["c"]
