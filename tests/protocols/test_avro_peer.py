"""Another Avro library reads the same values from our messages, and accepts the schemas."""

from __future__ import annotations

import io
import json
from decimal import Decimal

import fastavro
import pytest

from tests.protocols.avro_golden import Registry
from tests.protocols.encoding import messages_of
from ticdc_producer.errors import ChangefeedError, DecodeError, EncodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.parameter import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.decoder import AvroDecoder
from ticdc_producer.protocols.avro.encoder import AvroEncoder
from ticdc_producer.protocols.avro.names import Part, sanitized, subject
from ticdc_producer.protocols.avro.schemas import schemas
from ticdc_producer.protocols.row_options import AvroOptions

T = MySQLType
KEY = IndexInfo(id=0, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
COLUMNS = (
    ColumnInfo(name="id", type=T.LONGLONG, unsigned=True, nullable=False),
    ColumnInfo(name="de", type=T.NEW_DECIMAL, length=12, decimal=3),
    ColumnInfo(name="f", type=T.FLOAT),
    ColumnInfo(name="d", type=T.DOUBLE, has_default=True, default=b"2.5"),
    ColumnInfo(name="v", type=T.VARCHAR, charset="utf8mb4", has_default=True, default=b"<&>"),
    ColumnInfo(name="b", type=T.BLOB),
    ColumnInfo(name="e", type=T.ENUM, charset="utf8mb4", elements=("x", "y,z")),
)
TABLE = TableInfo(schema="1-s", name="t t", table_id=1, columns=COLUMNS, indexes=(KEY,))
ROW = (b"18446744073709551615", b"-128.000", b"0.5", None, "é".encode(), b"\xff\x00", b"2")
TS = 429918007904436226


def read(registry: Registry, data: bytes | None) -> dict[str, object]:
    assert data is not None
    schema = registry.schema_of(int.from_bytes(data[1:5], "big"))
    assert data[0] == 0
    assert schema is not None
    body = io.BytesIO(data[5:])
    record = fastavro.schemaless_reader(body, fastavro.parse_schema(json.loads(schema)))
    assert body.read() == b""
    assert isinstance(record, dict)
    return record


def test_another_library_reads_the_same_row() -> None:
    registry = Registry()
    encoder = registry.encoder(AvroOptions(enable_tidb_extension=True))
    update, delete = messages_of(encoder, TABLE, [(Op.UPDATE, TS, ROW, ROW), (Op.DELETE, TS, ROW, ())])
    assert read(registry, update.key) == {"id": -1}
    assert read(registry, update.value) == {
        "id": -1, "de": Decimal("-128.000"), "f": 0.5, "d": None, "v": "é", "b": b"\xff\x00", "e": "y,z",
        "_tidb_op": "u", "_tidb_commit_ts": TS, "_tidb_commit_physical_time": TS >> 18,
    }  # fmt: skip
    assert (read(registry, delete.key), delete.value) == ({"id": -1}, None)


def test_the_schema_has_the_defaults_of_the_columns() -> None:
    registry = Registry()
    messages_of(registry.encoder(AvroOptions()), TABLE, [(Op.INSERT, TS, (), ROW)])
    (_, schema) = registry.ids
    fields = {field["name"]: field for field in json.loads(schema[1])["fields"]}
    assert (fields["v"]["default"], fields["d"]["default"], fields["b"]["default"]) == ("<&>", 2.5, None)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("a", "a"), ("a-b", "a_b"), ("1a", "_1a"), ("é中", "__"), ("Ab_9", "Ab_9")],
)
def test_names_are_sanitized(name: str, allowed: str) -> None:
    assert sanitized(name) == allowed


def test_a_subject_has_no_dots() -> None:
    part: Part = "key"
    assert subject("a.b.c", part) == "a_b_c-key"


@pytest.mark.parametrize("second", ["a_b", "a b"])
def test_columns_with_the_same_sanitized_name_are_refused(second: str) -> None:
    columns = (COLUMNS[0], ColumnInfo(name="a-b", type=T.LONG), ColumnInfo(name=second, type=T.LONG))
    table = TableInfo(schema="s", name="t", table_id=1, columns=columns, indexes=(KEY,))
    with pytest.raises(EncodeError, match="a_b") as refusal:
        messages_of(Registry().encoder(AvroOptions()), table, [(Op.INSERT, TS, (), (b"1", b"2", b"3"))])
    assert refusal.value.table == "s.t"


def _clashing(key: tuple[int, ...]) -> TableInfo:
    names = ("a-b", "a_b", "k")
    columns = tuple(ColumnInfo(name=name, type=T.LONG, nullable=False) for name in names)
    primary = IndexInfo(id=1, name="PRIMARY", offsets=key, unique=True, primary=True, clustered=True)
    return TableInfo(schema="s", name="t", table_id=1, columns=columns, indexes=(primary,))


@pytest.mark.parametrize("profile", ["classic", "new"])
def test_a_delete_needs_the_names_of_the_key_alone(profile: Profile) -> None:
    registry, options = Registry(), AvroOptions(profile=profile)
    row = (b"1", b"2", b"3")
    for key, values in (((2,), {"k": 3}), ((0,), {"a_b": 1}), ((1, 2), {"a_b": 2, "k": 3})):
        table = _clashing(key)
        (delete,) = messages_of(registry.encoder(options), table, [(Op.DELETE, TS, row, ())])
        assert (read(registry, delete.key), delete.value) == (values, None)
        for change in ((Op.INSERT, TS, (), row), (Op.UPDATE, TS, row, row)):
            with pytest.raises(EncodeError, match="a_b"):
                messages_of(registry.encoder(options), table, [change])
        registered = schemas([table], lambda table: table.name, options)
        assert [schema.part for schema in registered] == ["key"]


def test_a_delete_is_refused_if_the_names_of_the_key_collide() -> None:
    table = _clashing((0, 1))
    with pytest.raises(EncodeError, match="a_b"):
        messages_of(Registry().encoder(AvroOptions()), table, [(Op.DELETE, TS, (b"1", b"2", b"3"), ())])
    assert schemas([table], lambda table: table.name, AvroOptions()) == []


def test_the_new_architecture_does_not_use_a_unique_key_as_message_key() -> None:
    unique = IndexInfo(id=1, name="u", offsets=(0,), unique=True)
    table = TableInfo(schema="s", name="t", table_id=1, columns=COLUMNS[:1], indexes=(unique,))
    change = [(Op.INSERT, TS, (), (b"7",))]
    keys = [
        messages_of(Registry().encoder(AvroOptions(profile=profile)), table, change)[0].key is None
        for profile in ("classic", "new")
    ]
    assert keys == [False, True]


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ChangefeedError, match="avro-decimal-handling-mode"):
        AvroOptions(avro_decimal_handling_mode="exact")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("schema", "code"),
    [
        (None, "AVRO-SCHEMA-ID"),
        ("", "AVRO-SCHEMA"),
        ("[" * 100_000, "AVRO-SCHEMA"),
        ('{"type":"record","name":"t","namespace":"other.test","fields":[]}', "AVRO-SCHEMA"),
        ('{"type":"record","name":"t","namespace":"default.s","fields":[{"name":"a","type":"int"}]}',
         "AVRO-SCHEMA"),
        ('{"type":"record","name":"t","namespace":"default.s","fields":[]}', "AVRO-END"),
    ],
)  # fmt: skip
def test_a_schema_that_ticdc_does_not_write_is_a_decode_error(schema: str | None, code: str) -> None:
    with pytest.raises(DecodeError) as error:
        list(AvroDecoder(lambda number: schema).events(None, b"\x00\x00\x00\x00\x09\x02"))
    assert error.value.code == code


def test_ids_are_looked_up_once() -> None:
    lookups: list[str] = []

    def number(table: TableInfo, part: Part, schema: str) -> int:
        lookups.append(part)
        return 1

    messages_of(AvroEncoder(schema_id=number), TABLE, [(Op.INSERT, TS, (), ROW)] * 3)
    assert lookups == ["key", "value"]
