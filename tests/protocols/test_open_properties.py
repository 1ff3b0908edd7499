"""Properties of every message: limits, and damage that is a decode error."""

from __future__ import annotations

import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocols.encoding import alone, framed, messages_of, one_by_one, row_batch
from tests.protocols.golden_messages import encode_rows
from tests.protocols.random_tables import History, histories
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Op, ResolvedEvent, RowEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.batch_options import OpenOptions
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD
from ticdc_producer.protocols.open_protocol.decoder import OpenDecoder
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder

T = MySQLType


def _column(name: str, code: MySQLType, *, charset: str = "binary", unsigned: bool = False) -> ColumnInfo:
    return ColumnInfo(name=name, type=code, charset=charset, unsigned=unsigned)


TABLE = TableInfo(
    schema="s",
    name="t<%s>",
    table_id=1,
    columns=(
        ColumnInfo(name="id", type=T.LONGLONG, unsigned=True, nullable=False),
        _column("%d é", T.VARCHAR, charset="utf8mb4"),
        _column("vb", T.VARCHAR),
        _column("txt", T.BLOB, charset="utf8mb4"),
        _column("f", T.FLOAT),
        _column("D", T.DOUBLE),
        _column("set", T.SET, charset="utf8mb4", unsigned=False),
    ),
    indexes=(IndexInfo(id=0, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True),),
)


@given(histories(), st.integers(1, 5), st.integers(300, 4000))
def test_messages_keep_within_the_limits(history: History, batch_size: int, limit: int) -> None:
    options = OpenOptions(max_batch_size=batch_size, max_message_bytes=limit, batch_by="partition")
    encoder = OpenEncoder(options)
    rows = [row for row in one_by_one(encode_rows(encoder, history.rows)) if row.refusal is None]
    for message in framed(encoder, alone(rows)):
        assert message.events <= batch_size
        assert message.size + RECORD_OVERHEAD <= limit


@given(st.binary(max_size=12), st.binary(max_size=12))
def test_the_new_architecture_copies_bytes_that_are_not_utf8(varchar: bytes, blob: bytes) -> None:
    image = (b"1", varchar, blob, blob, None, None, None)
    encoder = OpenEncoder(OpenOptions(profile="new"))
    (message,) = messages_of(encoder, TABLE, [(Op.INSERT, 5, image, image)])
    (event,) = OpenDecoder().events(message.key, message.value)
    assert isinstance(event, RowEvent)
    assert list((event.after or {}).values()) == list(image)


def test_a_name_that_is_not_utf8_is_a_decode_error() -> None:
    key, value = _sample()
    with pytest.raises(DecodeError) as error:
        list(OpenDecoder().events(key, value.replace("d é".encode(), b"d \xff\xff")))
    assert error.value.code == "OPEN-COLUMN"


def test_a_resolved_event_is_read_without_value_bytes_too() -> None:
    message = OpenEncoder().resolved(5)
    assert message.value == bytes(8)
    assert list(OpenDecoder().events(message.key, b"")) == [ResolvedEvent(commit_ts=5)]


def _sample() -> tuple[bytes, bytes]:
    image = (b"1", "aé<".encode(), b"\x00\xff", b"blob", b"1.5", b"0.0000001", b"3")
    rows = [(Op.INSERT, 5, image, image), (Op.UPDATE, 6, image, image), (Op.DELETE, 7, image, image)]
    (message,) = messages_of(OpenEncoder(), TABLE, rows)
    assert message.key
    assert message.value
    return message.key, message.value


def test_every_truncation_is_a_decode_error() -> None:
    key, value = _sample()
    for cut in range(len(key)):
        if cut == 8:  # the version alone is a message without events; the value is then too long
            continue
        with pytest.raises(DecodeError):
            list(OpenDecoder().events(key[:cut], value))
    for cut in range(len(value)):
        with pytest.raises(DecodeError) as error:
            list(OpenDecoder().events(key, value[:cut]))
        assert 0 <= error.value.byte <= len(value)


def test_every_bit_flip_decodes_or_is_a_decode_error() -> None:
    key, value = _sample()
    rejected = 0
    for part, data in enumerate((key, value)):
        for offset, bit in itertools.product(range(len(data)), range(8)):
            damaged = bytearray(data)
            damaged[offset] ^= 1 << bit
            pair = (bytes(damaged), value) if part == 0 else (key, bytes(damaged))
            try:
                list(OpenDecoder().events(*pair))
            except DecodeError:
                rejected += 1
    assert rejected > (len(key) + len(value)) * 4  # the structure is checked, not only the JSON


@pytest.mark.parametrize(
    ("key", "value"), [(b"", b""), (bytes(7) + b"\x01", b"x"), (bytes(7) + b"\x01" + b"\xff" * 8, b"")]
)
def test_small_broken_frames_are_decode_errors(key: bytes, value: bytes) -> None:
    with pytest.raises(DecodeError):
        list(OpenDecoder().events(key, value))


def _framed(json: bytes) -> bytes:
    return struct.pack(">Q", len(json)) + json


HEAD = struct.pack(">Q", 1) + _framed(b'{"ts":1,"scm":"s","tbl":"t","t":1}')


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (b'{"t":3,"f":0,"v":1.5}', "OPEN-COLUMN"),
        (b'{"t":1,"f":1,"v":128}', "OPEN-RANGE"),
        (b'{"t":1,"f":128,"v":-1}', "OPEN-RANGE"),
        (b'{"t":8,"f":0,"v":18446744073709551616}', "OPEN-RANGE"),
        (b'{"t":3,"f":0}', "OPEN-COLUMN"),
        (b'{"t":3,"f":11,"v":1}', "OPEN-COLUMN"),  # the flag of a handle key without h
        (b'{"t":3,"h":true,"f":1,"v":1}', "OPEN-COLUMN"),
        (b'{"f":0,"v":1}', "OPEN-COLUMN"),
        (b'{"t":252,"f":0,"v":"a"}', "OPEN-BASE64"),
        (b'{"t":15,"f":1,"v":"\\\\q"}', "OPEN-QUOTE"),
        (b'{"t":4,"f":0,"v":1e39}', "OPEN-RANGE"),
        (b'{"t":5,"f":0,"v":1e999}', "OPEN-RANGE"),
        (b'{"t":12,"f":0,"v":"yesterday"}', "OPEN-COLUMN"),
        (b'{"t":246,"f":0,"v":"1e3"}', "OPEN-COLUMN"),
        (b'{"t":255,"f":0,"v":"point"}', "OPEN-COLUMN"),
        (b'{"t":300,"f":0,"v":null}', "OPEN-COLUMN"),
        (b'{"t":3,"f":0,"v":' + b"[" * 100_000, "OPEN-COLUMN"),
    ],
)
def test_a_value_that_does_not_fit_its_type_has_a_code(column: bytes, code: str) -> None:
    with pytest.raises(DecodeError) as error:
        list(OpenDecoder().events(HEAD, _framed(b'{"u":{"c":' + column + b"}}")))
    assert error.value.code == code


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        (b"\0" * 7, b"", "OPEN-KEY-SHORT"),
        (struct.pack(">Q", 2), b"", "OPEN-VERSION"),
        (HEAD[:-1], b"", "OPEN-KEY-TRUNCATED"),
        (HEAD, b"\0" * 7, "OPEN-VALUE-TRUNCATED"),
        (HEAD, b"\xff" * 8 + b"{}", "OPEN-VALUE-TRUNCATED"),
        (HEAD, b"", "OPEN-COUNT-MISMATCH"),
        (HEAD, _framed(b'{"u":{"c":{"t":3,"v":1}}}') + _framed(b"{}"), "OPEN-COUNT-MISMATCH"),
        (HEAD, _framed(b"{}"), "OPEN-ROW-EMPTY"),
        (HEAD, _framed(b'{"d":{"c":{"t":3,"v":1}},"u":{"c":{"t":3,"v":1}}}'), "OPEN-ROW-EMPTY"),
        (HEAD, _framed(b"[]"), "OPEN-VALUE-JSON"),
        (struct.pack(">Q", 1) + _framed(b'{"ts":1,"t":4}'), _framed(b"{}"), "OPEN-TYPE"),
        (struct.pack(">Q", 1) + _framed(b'{"ts":-1,"t":3}'), bytes(8), "OPEN-KEY-JSON"),
        (struct.pack(">Q", 1) + _framed(b'{"t":3}'), bytes(8), "OPEN-KEY-JSON"),
        (struct.pack(">Q", 1) + _framed(b'{"ts":1,"ptn":9223372036854775808,"t":1}'), b"", "OPEN-KEY-JSON"),
        (struct.pack(">Q", 1) + _framed(b'{"ts":1,"rid":9223372036854775808,"t":1}'), b"", "OPEN-KEY-JSON"),
        (struct.pack(">Q", 1) + _framed(b'{"ts":1,"t":3}'), _framed(b"x"), "OPEN-RESOLVED-VALUE"),
    ],
)
def test_each_broken_rule_has_its_code(key: bytes, value: bytes, code: str) -> None:
    with pytest.raises(DecodeError) as error:
        list(OpenDecoder().events(key, value))
    assert error.value.code == code


def test_a_decode_error_can_name_topic_partition_and_offset() -> None:
    with pytest.raises(DecodeError) as error:
        list(OpenDecoder().events(b"", b""))
    located = error.value.at("t", 1, 42)
    assert str(located) == "t/1@42: OPEN-KEY-SHORT at key byte 0: expected 8 bytes of protocol version"


@pytest.mark.parametrize("count", [0, 2])
def test_messages_without_events_and_with_several_resolved_events_are_read(count: int) -> None:
    key = struct.pack(">Q", 1) + b"".join(_framed(b'{"t":3,"ts":%d,"x":[1]}' % n) for n in range(count))
    assert len(list(OpenDecoder().events(key, bytes(8 * count)))) == count


def test_the_older_forms_of_the_documentation_sample() -> None:
    options = OpenOptions(legacy_no_flag=True, legacy_varchar_base64=True, output_row_id=False)
    table = TableInfo(
        schema="test",
        name="t1",
        table_id=1,
        columns=(
            ColumnInfo(name="id", type=T.LONG, nullable=False),
            ColumnInfo(name="val", type=T.VARCHAR, charset="utf8mb4"),
        ),
        indexes=TABLE.indexes,
    )
    batch = row_batch(Op.INSERT, (), [(b"1", b"aa")], commit_ts=[415508878783938562], row_id=1)
    (row,) = one_by_one([OpenEncoder(options).rows(table, batch)])
    assert row.key == b'{"ts":415508878783938562,"scm":"test","tbl":"t1","t":1}'
    assert row.value == b'{"u":{"id":{"t":3,"h":true,"v":1},"val":{"t":15,"v":"YWE="}}}'
    (message,) = framed(OpenEncoder(options), [row.alone])
    (event,) = OpenDecoder(legacy_varchar_base64=True).events(message.key, message.value)
    assert isinstance(event, RowEvent)
    assert event.after == {"id": b"1", "val": b"aa"}
    assert [column.flag for column in event.columns] == [2, 0]


@pytest.mark.parametrize("number", [-(2**63), 2**64 - 1])
def test_without_flags_an_integer_may_be_signed_or_unsigned(number: int) -> None:
    (event,) = OpenDecoder().events(HEAD, _framed(b'{"u":{"c":{"t":8,"h":true,"v":%d}}}' % number))
    assert isinstance(event, RowEvent)
    assert event.after == {"c": b"%d" % number}
