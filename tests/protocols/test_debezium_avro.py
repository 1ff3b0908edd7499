"""Debezium in Avro: bytes written by hand from TiCDC's source, and TiCDC's values of Debezium's JSON.

TiCDC's encoder converts the values of both protocols alike. No golden file has its Avro.
"""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import fastavro
import numpy as np
import pytest

from tests.golden_events import GOLDEN, GoldenRow
from tests.protocols.debezium_events import DebeziumDDL, events_of
from tests.protocols.encoding import ID_AND_TEXT, messages_of
from tests.protocols.expected_events import expected_ddl, expected_resolved, expected_row
from tests.protocols.golden_messages import load_messages, row_messages
from ticdc_producer.errors import DecodeError, EncodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Event, Message, Op, RowEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.schemas import assign_ids
from ticdc_producer.protocols.debezium_avro.decoder import DebeziumAvroDecoder
from ticdc_producer.protocols.debezium_avro.encoder import DebeziumAvroEncoder
from ticdc_producer.protocols.debezium_avro.fidelity import DebeziumAvroFidelity
from ticdc_producer.protocols.debezium_avro.schemas import schemas
from ticdc_producer.protocols.debezium_avro.wire import wire_form
from ticdc_producer.protocols.row_options import DebeziumAvroOptions

T = MySQLType
TS = 429918007904436226
BUILT = 946684800000
PATHS = sorted((GOLDEN / "new").glob("*.new-debezium.tidb-extension.jsonl"))
WATERMARKS = DebeziumAvroOptions(enable_tidb_extension=True, avro_enable_watermark=True, build_ts_ms=BUILT)
KEY_SCHEMA = (
    '{"connect.name":"default.s.tKey","fields":[{"connect.field":"id","default":null,"name":"id",'
    '"type":["null","int"]}],"name":"tKey","namespace":"default.s","type":"record"}'
)
IMAGE_SCHEMA = (
    '{"connect.name":"default.s.t","fields":[{"connect.field":"id","default":null,"name":"id",'
    '"type":["null","int"]},{"connect.field":"v","default":null,"name":"v","type":["null","string"]}],'
    '"name":"t","namespace":"default.s","type":"record"}'
)
VALUE_SCHEMA = (
    '{"connect.name":"default.s.tEnvelope","connect.version":1,"fields":['
    f'{{"connect.field":"before","default":null,"name":"before","type":["null",{IMAGE_SCHEMA}]}},'
    '{"connect.field":"after","default":null,"name":"after","type":["null","default.s.t"]},'
    '{"connect.field":"source","name":"source","type":{"connect.name":"default.s.Source","fields":['
    '{"connect.field":"version","name":"version","type":"string"},'
    '{"connect.field":"connector","name":"connector","type":"string"},'
    '{"connect.field":"name","name":"name","type":"string"},'
    '{"connect.field":"ts_ms","name":"ts_ms","type":"long"},'
    '{"connect.field":"snapshot","default":null,"name":"snapshot","type":["null","string"]},'
    '{"connect.field":"db","name":"db","type":"string"},'
    '{"connect.field":"table","name":"table","type":"string"},'
    '{"connect.field":"server_id","name":"server_id","type":"long"},'
    '{"connect.field":"gtid","default":null,"name":"gtid","type":["null","string"]},'
    '{"connect.field":"file","name":"file","type":"string"},'
    '{"connect.field":"pos","name":"pos","type":"long"},'
    '{"connect.field":"row","name":"row","type":"int"},'
    '{"connect.field":"thread","default":null,"name":"thread","type":["null","long"]},'
    '{"connect.field":"query","default":null,"name":"query","type":["null","string"]},'
    '{"connect.field":"commit_ts","name":"commit_ts","type":"long"},'
    '{"connect.field":"cluster_id","name":"cluster_id","type":"string"}'
    '],"name":"Source","namespace":"default.s","type":"record"}},'
    '{"connect.field":"op","name":"op","type":"string"},'
    '{"connect.field":"ts_ms","name":"ts_ms","type":"long"}'
    '],"name":"tEnvelope","namespace":"default.s","type":"record"}'
)


class Registry:
    """The schemas of some tables, numbered from 1."""

    def __init__(self, tables: Sequence[TableInfo], options: DebeziumAvroOptions) -> None:
        self.registered = schemas(tables, lambda _: "topic", options)
        self.ids = assign_ids(self.registered)
        self.by_id = {number: schema for (_, schema), number in self.ids.items()}
        self.parsed = {
            number: fastavro.parse_schema(json.loads(schema)) for number, schema in self.by_id.items()
        }
        self.encoder = DebeziumAvroEncoder(options, schema_ids=self.ids)

    def read(self, part: bytes | None) -> dict[str, object]:
        """Read a part with another library."""
        assert part is not None
        assert part[0] == 0
        body = io.BytesIO(part[5:])
        record = fastavro.schemaless_reader(body, self.parsed[int.from_bytes(part[1:5], "big")])
        assert body.read() == b""
        assert isinstance(record, dict)
        return record

    def events(self, message: Message, time_zone: str = "UTC") -> list[Event]:
        decoder = DebeziumAvroDecoder(self.by_id.get, time_zone=time_zone)
        return list(decoder.events(message.key, message.value))


def prefixed(text: str) -> bytes:
    return bytes((len(text.encode()) << 1,)) + text.encode()


def test_bytes_written_by_hand() -> None:
    registry = Registry([ID_AND_TEXT], DebeziumAvroOptions())
    assert [(entry.subject, entry.schema) for entry in registry.registered] == [
        ("topic-key", KEY_SCHEMA),
        ("topic-value", VALUE_SCHEMA),
    ]
    insert, delete = messages_of(
        registry.encoder,
        ID_AND_TEXT,
        [(Op.INSERT, 1 << 20, (), (b"1", None)), (Op.DELETE, 0, (b"1", b"x"), ())],
    )
    source = [prefixed("2.4.0.Final"), prefixed("TiCDC"), prefixed("default")]
    names = b"".join(map(prefixed, ("s", "t")))
    assert insert.key == bytes.fromhex("0000000001 0202")
    assert insert.value == b"".join((
        bytes.fromhex("0000000002 00 02 0202 00"),  # no before; after: id 1, v null
        *source, b"\x08", b"\x00", names, b"\x00\x00\x00\x00\x00\x00\x00",
        bytes.fromhex("80808001"), prefixed("default"), prefixed("c"), b"\x08",
    ))  # fmt: skip
    assert delete.value == b"".join((
        bytes.fromhex("0000000002 02 0202 02") + prefixed("x") + b"\x00",
        *source, b"\x00", b"\x00", names, b"\x00" * 7, b"\x00", prefixed("default"), prefixed("d"), b"\x00",
    ))  # fmt: skip


def test_the_types_of_ticdcs_own_test() -> None:
    """Table, row and cluster are those of ticdc ``TestDebeziumConfluentAvroEncodeRowEvent``."""
    columns = (
        ColumnInfo(name="id", type=T.LONG, nullable=False),
        ColumnInfo(name="name", type=T.VARCHAR, charset="utf8mb4"),
        ColumnInfo(name="bin", type=T.VARCHAR, length=16),
        ColumnInfo(name="price", type=T.NEW_DECIMAL, length=10, decimal=4),
        ColumnInfo(name="ubig", type=T.LONGLONG, unsigned=True),
        ColumnInfo(name="v", type=T.LONGLONG),
    )
    table = replace(ID_AND_TEXT, schema="test", name="foo", columns=columns)
    options = DebeziumAvroOptions(cluster_id="dbserver1", avro_bigint_unsigned_handling_mode="string")
    registry = Registry([table], options)
    row = (b"1", b"alice", b"\x01\x02\x03", b"12.3400", b"18446744073709551615", None)
    (message,) = messages_of(registry.encoder, table, [(Op.INSERT, TS, (), row)])
    value = registry.read(message.value)
    assert registry.read(message.key) == {"id": 1}
    assert value["after"] == {
        "id": 1, "name": "alice", "bin": b"\x01\x02\x03", "price": Decimal("12.3400"),
        "ubig": "18446744073709551615", "v": None,
    }  # fmt: skip
    assert value["before"] is None
    schema = registry.registered[1].schema
    decimal = (
        '{"connect.name":"org.apache.kafka.connect.data.Decimal","connect.parameters":{"precision":"10",'
        '"scale":"4"},"logicalType":"decimal","precision":10,"scale":4,"type":"bytes"}'
    )
    assert f'"name":"price","type":["null",{decimal}]' in schema
    assert '"connect.name":"dbserver1.test.fooEnvelope"' in schema


def of_json(kind: str, value: object) -> object:
    """The value that Debezium's JSON has, as Avro has it."""
    word = kind.partition(" ")[0]
    if word in ("decimal", "double", "float") and isinstance(value, int | float):
        return float(np.float32(value)) if word == "float" else float(value)
    return value


def is_refused(row: GoldenRow) -> bool:
    """Whether the table has virtual columns, or the row a number above Avro's ``long``."""
    images = [image for image in (row.before, row.after) if image]
    above = any(
        value is not None and int(value) >> 63
        for image in images
        for column, value in zip(row.table.sent_columns, image, strict=True)
        if column.type == T.LONGLONG and column.unsigned
    )
    return above or any(column.is_virtual for column in row.table.columns)


def is_other_than_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return True
    return False


def as_json(value: object) -> object:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return float(value) if isinstance(value, Decimal) else value


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name.split(".")[0])
def test_values_are_those_of_ticdcs_json(path: Path) -> None:
    events, registries, compared = events_of(path), dict[TableInfo, Registry](), 0
    for message in load_messages(path):
        row = events[message.events[0]]
        if not isinstance(row, GoldenRow) or message.error:
            continue
        if row.table not in registries:
            registries[row.table] = Registry([row.table], WATERMARKS)
        registry = registries[row.table]
        if is_refused(row) or is_other_than_utf8(message.value or b""):
            continue
        (ours,) = row_messages(registry.encoder, [row])
        sent, read = json.loads(message.value or b""), registry.read(ours.value)
        payload = sent["payload"]
        types = {field["field"]: field["tidb_type"] for field in sent["schema"]["fields"][0]["fields"]}
        for name in ("before", "after"):
            image, other = payload.get(name), read[name]
            expected = image and {column: of_json(types[column], value) for column, value in image.items()}
            assert isinstance(other, Mapping | None)
            assert (other and {column: as_json(value) for column, value in other.items()}) == expected
        source = read["source"]
        assert isinstance(source, Mapping)
        shared = {name: payload["source"][name] for name in ("version", "db", "table", "ts_ms", "commit_ts")}
        assert {name: source[name] for name in shared} == shared
        assert (read["op"], read["ts_ms"]) == (payload["op"], BUILT)
        assert registry.events(ours) == [expected_row(row, registry.encoder.fidelity)]
        compared += 1
    assert compared or "generated" in path.name


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name.split(".")[0])
def test_ddls_and_watermarks_are_read(path: Path) -> None:
    registry = Registry([ID_AND_TEXT], WATERMARKS)
    ddls = [event for event in events_of(path).values() if isinstance(event, DebeziumDDL)]
    for ddl in ddls:
        message = registry.encoder.ddl(ddl.event, ddl.table, ddl.before)
        if message is not None:
            value = registry.read(message.value)
            assert value["ddl"] == ddl.event.query
            assert registry.events(message) == [expected_ddl(ddl.event, registry.encoder.fidelity)]
    mark = registry.encoder.resolved(TS)
    assert mark is not None
    assert registry.read(mark.key) == {}
    assert registry.read(mark.value)["op"] == "m"
    assert registry.events(mark) == [expected_resolved(TS, registry.encoder.fidelity)]


@pytest.mark.parametrize("options", [DebeziumAvroOptions(), replace(WATERMARKS, enable_tidb_extension=False)])
def test_ddls_and_watermarks_need_extension_and_option(options: DebeziumAvroOptions) -> None:
    encoder = DebeziumAvroEncoder(options)
    assert encoder.resolved(TS) is None
    assert encoder.fidelity.ddl_skip_reason(3)


def test_names_are_those_of_avro_and_connect_has_the_others() -> None:
    columns = (
        ColumnInfo(name="1 id", type=T.LONG, nullable=False),
        ColumnInfo(name="数", type=T.TINY),
        ColumnInfo(name="e", type=T.ENUM, charset="utf8mb4", elements=("<a>", "b,c")),
    )
    table = replace(ID_AND_TEXT, schema="my-db", name="1.t", columns=columns)
    registry = Registry([table], DebeziumAvroOptions())
    (message,) = messages_of(registry.encoder, table, [(Op.INSERT, TS, (), (b"1", b"-5", b"1"))])
    assert registry.read(message.value)["after"] == {"_1_id": 1, "_": -5, "e": "<a>"}
    schema = registry.registered[1].schema
    assert '"name":"_1_tEnvelope","namespace":"default.my_db"' in schema
    assert '"connect.field":"数","default":null,"name":"_"' in schema
    assert '{"connect.type":"int16","type":"int"}' in schema
    assert r'"allowed":"\u003ca\u003e,b\\,c"' in schema
    (event,) = registry.events(message)
    assert isinstance(event, RowEvent)
    assert event.after == {"1 id": b"1", "数": b"-5", "e": b"1"}


@pytest.mark.parametrize(
    ("columns", "row", "code"),
    [
        ((ColumnInfo(name="u", type=T.LONGLONG, unsigned=True),), (b"9223372036854775808",), "EncodeFailed"),
        (
            (ColumnInfo(name="a-b", type=T.LONG), ColumnInfo(name="a_b", type=T.LONG)),
            (b"1", b"2"),
            "SchemaAPI",
        ),
        ((ColumnInfo(name="g", type=T.LONG, generated="virtual", expression="id"),), (), "SchemaAPI"),
    ],
    ids=["a number above long", "names that become equal", "a virtual column, which TiCDC lists twice"],
)
def test_rows_that_ticdc_refuses(columns: tuple[ColumnInfo, ...], row: tuple[bytes, ...], code: str) -> None:
    table = replace(ID_AND_TEXT, columns=(ID_AND_TEXT.columns[0], *columns))
    registry = Registry([table], DebeziumAvroOptions())
    with pytest.raises(EncodeError, match=r"unsigned bigint|a record can have") as refusal:
        messages_of(registry.encoder, table, [(Op.INSERT, TS, (), (b"1", *row))])
    assert code in refusal.value.code


@pytest.mark.parametrize(
    ("digits", "scale", "value", "text"),
    [
        ("1.25", 1, "1.2", "1.25"), ("-1.25", 1, "-1.3", "-1.25"), ("1.5", 0, "1", "1.5"),
        ("1e2", 2, "100.00", "100"), (".5", 2, "0.50", "0.5"), ("+1.5", 1, "1.5", "1.5"), ("-0", 0, "0", "0"),
    ],
)  # fmt: skip
def test_the_digits_of_a_default_are_those_that_goavro_writes(
    digits: str, scale: int, value: str, text: str
) -> None:
    column = ColumnInfo(
        name="d", type=T.NEW_DECIMAL, length=8, decimal=scale, has_default=True, default=value.encode(),
        default_text=digits.encode(),
    )  # fmt: skip
    table = replace(ID_AND_TEXT, columns=(ID_AND_TEXT.columns[0], column))
    for mode, expected in (("precise", Decimal(value)), ("string", text)):
        options = DebeziumAvroOptions(avro_decimal_handling_mode=mode)
        registry = Registry([table], options)
        (message,) = messages_of(registry.encoder, table, [(Op.INSERT, TS, (), (b"1", None))])
        assert registry.read(message.value)["after"] == {"id": 1, "d": expected}
        projection = DebeziumAvroFidelity.of(options).value_projection(column)
        assert projection is not None
        assert projection(None) == str(expected).encode()


def test_a_key_column_of_the_name_of_an_image_is_compared() -> None:
    columns = (replace(ID_AND_TEXT.columns[0], name="after"), ID_AND_TEXT.columns[1])
    table = replace(ID_AND_TEXT, columns=columns)
    registry = Registry([table], DebeziumAvroOptions())
    form = wire_form(lambda number: registry.by_id.get(number))
    rows = [(Op.INSERT, TS, (), (number, b"x")) for number in (b"1", b"4")]
    first, second = messages_of(registry.encoder, table, rows)
    assert form(first.key) != form(second.key)


def test_null_of_a_column_with_a_default_is_the_default() -> None:
    columns = (
        ID_AND_TEXT.columns[0],
        ColumnInfo(name="d", type=T.NEW_DECIMAL, length=6, decimal=2, has_default=True, default=b"5.00",
                   default_text=b"5"),
        ColumnInfo(name="b", type=T.BIT, length=9, has_default=True, default=b"258",
                   default_text=b"\x01\x02"),
        ColumnInfo(name="v", type=T.VARCHAR, length=3, has_default=True, default=b"\xff\x00"),
        ColumnInfo(name="f", type=T.FLOAT, length=9, decimal=3, has_default=True, default=b"0.1"),
    )  # fmt: skip
    table = replace(ID_AND_TEXT, columns=columns)
    registry = Registry([table], DebeziumAvroOptions())
    (message,) = messages_of(registry.encoder, table, [(Op.INSERT, TS, (), (b"1", *[None] * 4))])
    after = registry.read(message.value)["after"]
    single = 0.10000000149011612  # TiCDC reads it with 32 bits, and writes a double
    assert after == {"id": 1, "d": Decimal("5.00"), "b": b"\x02\x01", "v": b"\xff\x00", "f": single}


def test_a_float_of_a_given_precision_is_a_double_of_its_32_bits() -> None:
    number = ColumnInfo(name="f", type=T.FLOAT, length=9, decimal=3)
    table = replace(ID_AND_TEXT, columns=(ID_AND_TEXT.columns[0], number))
    for extension, text in ((False, b"0.10000000149011612"), (True, b"0.1")):
        registry = Registry([table], DebeziumAvroOptions(enable_tidb_extension=extension))
        (message,) = messages_of(registry.encoder, table, [(Op.INSERT, TS, (), (b"1", b"0.1"))])
        (event,) = registry.events(message)
        assert getattr(event, "after", None) == {"id": b"1", "f": text}
        assert registry.encoder.fidelity.full_projection(number)(b"0.1") == text


def _without(schema: str, old: str, new: str) -> str:
    assert old in schema
    return schema.replace(old, new)


def _named(namespace: str | None) -> str:
    """Return a schema whose images have the name of a type, which other members have."""
    image = json.dumps({"name": "string"} | ({} if namespace is None else {"namespace": namespace}))
    schema = _without(VALUE_SCHEMA, '"name":"t","namespace":"default.s"', image[1:-1])
    return _without(schema, '["null","default.s.t"]', '["null","string"]')


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        (None, "SCHEMA-ID"),
        ("[]", "SCHEMA"),
        ("{", "SCHEMA"),
        ("[" * 9999, "SCHEMA"),
        (_without(VALUE_SCHEMA, '"connect.field":"op","name":"op"', '"name":"ope"'), "SCHEMA"),
        (_without(VALUE_SCHEMA, '["null","default.s.t"]', '["null","default.s.u"]'), "SCHEMA"),
        (_without(VALUE_SCHEMA, '["null","int"]', '"int"'), "SCHEMA"),
        (_without(VALUE_SCHEMA, '["null","int"]', '["null","date"]'), "SCHEMA"),
        (_without(VALUE_SCHEMA, '"name":"gtid"', '"name":7'), "SCHEMA"),
        (_without(VALUE_SCHEMA, '"name":"v"', '"name":"v","tidb_type":"geometry"'), "SCHEMA"),
        (_without(VALUE_SCHEMA, '"connect.field":"v"', '"connect.field":"id"'), "SCHEMA"),
        (_named(""), "SCHEMA"),
        (_named(None), "SCHEMA"),
    ],
)
def test_schemas_that_ticdc_does_not_write(schema: str | None, code: str) -> None:
    (message,) = messages_of(
        Registry([ID_AND_TEXT], DebeziumAvroOptions()).encoder,
        ID_AND_TEXT,
        [(Op.INSERT, TS, (), (b"1", b"x"))],
    )
    decoder = DebeziumAvroDecoder({2: schema}.get)
    with pytest.raises(DecodeError) as error:
        list(decoder.events(None, message.value))
    assert error.value.code == f"DEBEZIUM-AVRO-{code}"


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (prefixed("c"), prefixed("r"), "OP"),
        (prefixed("c"), prefixed("d"), "ROW"),
        (b"\x00\x02\x02\x02", b"\x00\x00\x02\x02", "TEXT"),
        (b"\x00\x02\x02\x02", b"\x02\x04\x02\x02", "UNION"),
    ],
)
def test_damaged_rows(old: bytes, new: bytes, code: str) -> None:
    registry = Registry([ID_AND_TEXT], DebeziumAvroOptions())
    (message,) = messages_of(registry.encoder, ID_AND_TEXT, [(Op.INSERT, TS, (), (b"1", b"x"))])
    assert message.value is not None
    assert old in message.value[5:]
    damaged = message.value[:5] + message.value[5:].replace(old, new, 1)
    with pytest.raises(DecodeError) as error:
        registry.events(Message(message.key, damaged, message.type, TS))
    assert error.value.code == f"DEBEZIUM-AVRO-{code}"


def test_a_key_of_another_row() -> None:
    registry = Registry([ID_AND_TEXT], DebeziumAvroOptions())
    first, second = messages_of(
        registry.encoder,
        ID_AND_TEXT,
        [(Op.INSERT, TS, (), (b"1", b"x")), (Op.INSERT, TS, (), (b"2", b"x"))],
    )
    with pytest.raises(DecodeError, match="columns and values"):
        registry.events(Message(first.key, second.value, first.type, TS))
    assert not list(DebeziumAvroDecoder(registry.by_id.get).events(first.key, None))  # a tombstone


def test_the_wall_clock_is_not_compared() -> None:
    early, late = (
        Registry([ID_AND_TEXT], replace(WATERMARKS, build_ts_ms=built))
        for built in (BUILT, BUILT + (1 << 40))
    )
    parts = []
    for registry in (early, late):
        (row,) = messages_of(registry.encoder, ID_AND_TEXT, [(Op.INSERT, TS, (), (b"1", b"x"))])
        mark = registry.encoder.resolved(TS)
        assert mark is not None
        form = wire_form(registry.by_id.get)
        parts.append([form(part) for part in (row.key, row.value, mark.key, mark.value) if part is not None])
    assert parts[0] == parts[1]


def test_a_key_is_the_handle_key() -> None:
    index = IndexInfo(id=1, name="u", offsets=(1,), unique=True)
    columns = (ID_AND_TEXT.columns[0], replace(ID_AND_TEXT.columns[1], nullable=False))
    table = replace(ID_AND_TEXT, columns=columns, indexes=(index,))
    registry = Registry([table], DebeziumAvroOptions())
    (message,) = messages_of(registry.encoder, table, [(Op.INSERT, TS, (), (b"1", b"x"))])
    assert registry.read(message.key) == {"v": "x"}
