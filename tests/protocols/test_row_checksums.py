"""Checksums of rows in Avro and Simple. No golden file has them; the bytes are written by hand.

Source: tidb ``pkg/util/rowcodec/common.go`` (``appendDatumForChecksum``); tiflow and ticdc
``pkg/sink/codec/avro``, ``pkg/sink/codec/simple``.
"""

from __future__ import annotations

import json
import struct
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from tests.protocols.avro_golden import Registry
from tests.protocols.encoding import messages_of
from ticdc_producer import run
from ticdc_producer.errors import EncodeError
from ticdc_producer.faults.message_traps import with_wrong_checksum
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Message, Op
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import Decoder
from ticdc_producer.protocols.row_options import AvroOptions, SimpleOptions
from ticdc_producer.protocols.simple.decoder import SimpleDecoder
from ticdc_producer.protocols.simple.encoder import SimpleEncoder
from ticdc_producer.targets.decode import event_columns
from ticdc_producer.testing.encoding import framed, row_batch

T = MySQLType
TS = 429918007904436226
UTF8 = {"charset": "utf8mb4"}
KEY = IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
_VECTOR = b"\x02\0\0\0" + struct.pack("<2f", 1, 2.5)
_TEXT = b"\x03\0\0\0abc"
CELLS: list[tuple[ColumnInfo, bytes, bytes]] = [
    (ColumnInfo(name="id", type=T.LONG, nullable=False), b"1", b"\x01\0\0\0\0\0\0\0"),
    (ColumnInfo(name="small", type=T.SHORT), b"-2", b"\xfe\xff\xff\xff\xff\xff\xff\xff"),
    (ColumnInfo(name="big", type=T.LONGLONG, unsigned=True), b"18446744073709551615", b"\xff" * 8),
    (ColumnInfo(name="year", type=T.YEAR, unsigned=True), b"2021", b"\xe5\x07\0\0\0\0\0\0"),
    (ColumnInfo(name="bits", type=T.BIT, length=64, unsigned=True), b"1", b"\x01" + b"\0" * 7),
    (ColumnInfo(name="enum", type=T.ENUM, elements=("a", "b"), **UTF8), b"2", b"\x02" + b"\0" * 7),
    (ColumnInfo(name="set", type=T.SET, elements=("a", "b"), **UTF8), b"3", b"\x03" + b"\0" * 7),
    (ColumnInfo(name="double", type=T.DOUBLE), b"1.5", b"\0\0\0\0\0\0\xf8\x3f"),
    # 0.1 as a FLOAT is 0x3dcccccd, widened to 64 bits.
    (ColumnInfo(name="float", type=T.FLOAT), b"0.1", b"\0\0\0\xa0\x99\x99\xb9\x3f"),
    (ColumnInfo(name="text", type=T.VARCHAR, **UTF8), b"abc", _TEXT),
    (ColumnInfo(name="bytes", type=T.BLOB), b"\xff", b"\x01\0\0\0\xff"),
    (ColumnInfo(name="decimal", type=T.NEW_DECIMAL, length=5, decimal=2), b"-1.50", b"\x05\0\0\0-1.50"),
    (ColumnInfo(name="time", type=T.DURATION, decimal=1), b"-01:00:00.5", b"\x0b\0\0\0-01:00:00.5"),
    (ColumnInfo(name="date", type=T.DATE), b"2021-12-20", b"\x0a\0\0\0" + b"2021-12-20"),
    # In Tokyo it is nine hours later than in UTC.
    (
        ColumnInfo(name="at", type=T.TIMESTAMP, decimal=3),
        b"2021-12-20 01:00:00.250",
        b"\x17\0\0\0" + b"2021-12-19 16:00:00.250",
    ),
    (ColumnInfo(name="json", type=T.JSON), b'{"a": 1}', b"\x08\0\0\0" + b'{"a": 1}'),
    (ColumnInfo(name="vector", type=T.VECTOR_FLOAT32), b"[1,2.5]", _VECTOR),
    (ColumnInfo(name="nothing", type=T.VARCHAR, **UTF8), b"", b"\0\0\0\0"),
]  # fmt: skip
"""Columns, each with a value and its bytes in the checksum."""
TABLE = TableInfo(
    schema="test",
    name="t",
    table_id=1,
    columns=tuple(replace(column, id=number) for number, (column, _, _) in enumerate(CELLS, 1)),
    indexes=(KEY,),
    update_ts=7,
)
ROW = tuple(value for _, value, _ in CELLS)
NULLS = (b"1", *[None] * (len(CELLS) - 1))
OF_ROW, OF_NULLS = crc32(b"".join(encoded for _, _, encoded in CELLS)), crc32(CELLS[0][2])
CHANGES = [(Op.INSERT, TS, (), ROW), (Op.UPDATE, TS, ROW, NULLS), (Op.DELETE, TS, NULLS, ())]
ON: dict[str, Any] = {"integrity_check_level": "correctness", "time_zone": "Asia/Tokyo"}
AVRO: dict[str, Any] = {
    **ON, "enable_tidb_extension": True, "avro_decimal_handling_mode": "string",
    "avro_bigint_unsigned_handling_mode": "string",
}  # fmt: skip
BOOTSTRAP = {"send_bootstrap_interval_in_sec": 120, "send_bootstrap_in_msg_count": 2}


def codec(name: str, **options: Any) -> tuple[list[Message], Decoder]:
    """The messages of ``CHANGES``, and the decoder of their changefeed."""
    if name == "avro":
        registry = Registry()
        encoder = registry.encoder(AvroOptions(**AVRO, **options))
        messages = messages_of(encoder, TABLE, CHANGES)
        return messages, registry.decoder(AVRO["time_zone"])
    form = name.removeprefix("simple-")
    encoder = SimpleEncoder(SimpleOptions(**ON, **BOOTSTRAP, encoding_format=form, **options))
    described = [message.value or b"" for message in messages_of(encoder, TABLE, CHANGES)]
    messages = [message for message in messages_of(encoder, TABLE, CHANGES) if message.events]
    return messages, SimpleDecoder(described)


def errors(messages: list[Message], decoder: Decoder) -> list[object]:
    _, columns = event_columns([(message.key, message.value) for message in messages], decoder)
    return columns["error"]


def test_the_checksums_of_simple_as_json() -> None:
    messages, _ = codec("simple-json")
    checksums = [json.loads(message.value or b"")["checksum"] for message in messages]
    version = {"version": 2, "corrupted": False}
    assert checksums == [
        {**version, "current": OF_ROW, "previous": 0},
        {**version, "current": OF_NULLS, "previous": OF_ROW},
        {**version, "current": 0, "previous": OF_NULLS},
    ]
    member = (
        b'"schemaVersion":7,"checksum":{"version":2,"corrupted":false,"current":%d,"previous":0},"data":{'
    )
    assert member % OF_ROW in (messages[0].value or b"")


def zigzag(number: int) -> bytes:
    """An Avro ``long`` of a number that is not negative."""
    number, encoded = number << 1, b""
    while number >= 0x80:
        encoded, number = encoded + bytes([number & 0x7F | 0x80]), number >> 7
    return encoded + bytes([number])


def test_the_checksums_of_simple_as_avro() -> None:
    messages, _ = codec("simple-avro")
    pairs = [(OF_ROW, 0), (OF_NULLS, OF_ROW), (0, OF_NULLS)]
    for message, (current, previous) in zip(messages, pairs, strict=True):
        no_location, whole_row = b"\x00", b"\x00"
        checksum = b"\x02" + b"\x04" + b"\x00" + zigzag(current) + zigzag(previous)
        assert b"\x0e" + no_location + whole_row + checksum in (message.value or b"")


@pytest.mark.parametrize("before", [False, True])
def test_the_checksums_of_avro(before: bool) -> None:
    options = {"profile": "new", "avro_include_before_value": True} if before else {}
    messages, _ = codec("avro", **options)
    numbers = [OF_ROW, OF_NULLS, OF_NULLS] if before else [OF_ROW, OF_NULLS]
    values = [message.value for message in messages if message.value is not None]
    for value, number in zip(values, numbers, strict=True):
        text = b"%d" % number
        assert value.endswith(bytes([len(text) << 1]) + text + b"\x00" + b"\x04")


def test_the_schema_has_the_fields_of_the_checksum_after_the_extension() -> None:
    registry = Registry()
    reordered = replace(TABLE, columns=(*TABLE.columns[1:3], *TABLE.columns[:1], *TABLE.columns[3:]),
                        indexes=(replace(KEY, offsets=(2,)),))  # fmt: skip
    row = (*ROW[1:3], *ROW[:1], *ROW[3:])
    messages_of(registry.encoder(AvroOptions(**AVRO)), reordered, [(Op.INSERT, TS, (), row)])
    (schema,) = [json.loads(schema) for subject, schema in registry.ids if subject == "test_t-value"]
    names = [field["name"] for field in schema["fields"]]
    assert names[:3] == ["id", "small", "big"]  # in order of their ids, and not of the table
    assert schema["fields"][-3:] == [
        {"default": "", "name": "_tidb_row_level_checksum", "type": "string"},
        {"default": False, "name": "_tidb_corrupted", "type": "boolean"},
        {"default": 0, "name": "_tidb_checksum_version", "type": "int"},
    ]


CODECS = [("avro", {}), ("avro", {"profile": "new", "avro_include_before_value": True}),
          ("simple-json", {}), ("simple-json", {"profile": "new"}), ("simple-avro", {})]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), CODECS)
def test_a_wrong_checksum_is_a_decode_error(name: str, options: dict[str, Any]) -> None:
    messages, decoder = codec(name, **options)
    assert errors(messages, decoder) == [None] * 3
    wrong = [with_wrong_checksum(message, decoder.events) for message in messages]
    damaged = [message for message in wrong if message is not None]
    assert len(damaged) == (2 if name == "avro" and not options else 3)
    assert errors(damaged, decoder) == ["CHECKSUM"] * len(damaged)


def test_a_changed_value_is_a_decode_error() -> None:
    messages, decoder = codec("simple-json")
    changed = [replace_bytes(message, b'"text":"abc"', b'"text":"abd"') for message in messages[:2]]
    assert errors(changed, decoder) == ["CHECKSUM"] * 2


def replace_bytes(message: Message, old: bytes, new: bytes) -> Message:
    value = message.value or b""
    assert old in value
    return Message(message.key, value.replace(old, new), message.type, message.commit_ts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"corrupted":false', b'"corrupted":true'),
        (b'"location":"Asia/Tokyo"', b'"location":"Asia/Seoul/"'),
        (b'"location":"Asia/Tokyo"', b'"location":"UTC"'),
    ],
)
def test_what_ticdc_marked_and_other_zones_are_decode_errors(old: bytes, new: bytes) -> None:
    messages, decoder = codec("simple-json")
    assert errors([replace_bytes(messages[0], old, new)], decoder) == ["CHECKSUM"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"current":%d' % OF_ROW, b'"current":0'),
        (b'"text":"abc"', '"text":"\ufffd"'.encode()),
    ],
)
def test_what_cannot_be_verified_is_no_error(old: bytes, new: bytes) -> None:
    """TiCDC writes 0 if it has no checksum; U+FFFD may be a byte that JSON cannot carry."""
    messages, decoder = codec("simple-json")
    assert errors([replace_bytes(messages[0], old, new)], decoder) == [None]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"2021-12-20 01:00:00.250", b"2021-02-30 01:00:00.250"),
        (b"2021-12-20 01:00:00.250", b"0001-01-01 00:00:00.000"),
        (b"2021-12-20 01:00:00.250", b"9999-12-31 23:00:00.000"),
        (b"[1,2.5]", b"[1e300]"),
    ],
)
def test_a_value_that_no_column_has_is_an_error_of_its_row(old: bytes, new: bytes, zone: str) -> None:
    encoder = SimpleEncoder(SimpleOptions(**{**ON, **BOOTSTRAP, "time_zone": zone}))
    messages = messages_of(encoder, TABLE, [(Op.INSERT, TS + number, (), ROW) for number in range(3)])
    described = [message.value or b"" for message in messages if not message.events]
    rows = [message for message in messages if message.events]
    rows[1] = replace_bytes(rows[1], old, new)
    assert errors(rows, SimpleDecoder(described)) == [None, "CHECKSUM", None]


def test_a_half_of_a_split_update_is_0_with_a_version() -> None:
    batch = row_batch(Op.INSERT, (), [ROW], commit_ts=[TS], split=True)
    for profile, text in (("classic", b"0"), ("new", b"%d" % OF_ROW)):
        encoder = Registry().encoder(AvroOptions(**AVRO, profile=profile))
        (message,) = framed(encoder, [encoder.rows(TABLE, batch)])
        end = bytes([len(text) << 1]) + text + b"\x00" + b"\x04"
        assert (message.value or b"").endswith(end)


def test_rows_without_values_have_no_checksum() -> None:
    table = replace(
        TABLE, columns=tuple(replace(column, nullable=True) for column in TABLE.columns), indexes=()
    )
    changes = [(Op.INSERT, TS, (), (None,) * len(ROW))]
    (simple,) = messages_of(SimpleEncoder(SimpleOptions(**ON)), table, changes)
    assert b"checksum" not in (simple.value or b"")
    (avro,) = messages_of(Registry().encoder(AvroOptions(**AVRO)), table, changes)
    assert (avro.value or b"").endswith(b"\x00" + b"\x00" + b"\x00")


def test_the_order_of_the_columns_is_that_of_their_ids_in_classic_and_of_the_table_in_new() -> None:
    columns = (replace(TABLE.columns[0], id=2), replace(TABLE.columns[1], id=1))
    table = replace(TABLE, columns=columns)
    changes = [(Op.INSERT, TS, (), ROW[:2])]
    encoded = {"classic": CELLS[1][2] + CELLS[0][2], "new": CELLS[0][2] + CELLS[1][2]}
    for profile, content in encoded.items():
        (message,) = messages_of(SimpleEncoder(SimpleOptions(**ON, profile=profile)), table, changes)
        assert json.loads(message.value or b"")["checksum"]["current"] == crc32(content)
    with pytest.raises(EncodeError, match="not in order of their ids"):
        messages_of(Registry().encoder(AvroOptions(**AVRO, profile="new")), table, changes)


def test_an_hour_that_occurs_twice_is_the_second_east_of_utc_and_the_first_west_of_it() -> None:
    table = replace(TABLE, columns=(TABLE.columns[0], replace(TABLE.columns[14], decimal=0)))
    hours = {"Europe/Berlin": (b"2021-10-31 02:30:00", b"2021-10-31 01:30:00"),
             "America/New_York": (b"2021-11-07 01:30:00", b"2021-11-07 05:30:00")}  # fmt: skip
    for zone, (local, utc) in hours.items():
        encoder = SimpleEncoder(SimpleOptions(integrity_check_level="correctness", time_zone=zone))
        (message,) = messages_of(encoder, table, [(Op.INSERT, TS, (), (b"1", local))])
        checksum = json.loads(message.value or b"")["checksum"]["current"]
        assert checksum == crc32(CELLS[0][2] + b"\x13\0\0\0" + utc)


LEVEL = {"integrity-check-level": "correctness"}
HALVES = """
CREATE DATABASE d; USE d;
CREATE TABLE t (id INT PRIMARY KEY, u INT UNIQUE, v INT);
INSERT INTO t VALUES (1, 1, 1);
UPDATE t SET v = 2;
UPDATE t SET u = 2;
UPDATE t SET id = 2;
"""


@pytest.mark.parametrize("profile", ["classic", "new"])
def test_the_halves_of_a_split_update_have_the_checksum_0_in_classic(profile: str, tmp_path: Path) -> None:
    """An update that moves its row to another key is no split update: TiKV has a delete and an insert."""
    (script := tmp_path / "halves.sql").write_text(HALVES)
    uri, config = f"kafka:///t?protocol=simple&profile={profile}", {"integrity": LEVEL}
    assert run(script, sink_uri=uri, config=config, out=tmp_path / "out").ok
    lines = (tmp_path / "out" / "messages.jsonl").read_text().splitlines()
    values = [json.loads(b64decode(json.loads(line)["value"])) for line in lines]
    checksums = [value["checksum"] for value in values if "checksum" in value]
    assert all(checksum["version"] == 2 and not checksum["corrupted"] for checksum in checksums)
    kinds = [value["type"] for value in values if "checksum" in value]
    assert kinds == ["INSERT", "UPDATE", "DELETE", "INSERT", "DELETE", "INSERT"]
    numbers = [(bool(checksum["current"]), bool(checksum["previous"])) for checksum in checksums]
    halves = [(False, False)] * 2 if profile == "classic" else [(False, True), (True, False)]
    assert numbers == [(True, False), (True, True), *halves, (False, True), (True, False)]
