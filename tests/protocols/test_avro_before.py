"""Old images in Avro, as TiCDC new architecture writes them; no golden file has them.

Source: ticdc ``pkg/sink/codec/avro/arvo.go`` (``encodeValue``, ``schemaWithBeforeValue``).
"""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest

from tests.protocols.avro_golden import Registry
from tests.protocols.encoding import messages_of
from ticdc_producer.errors import DecodeError, EncodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Message, Op, RowEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.row_options import AvroOptions

T = MySQLType
TS = 429918007904436226
KEY = IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
COLUMNS = (
    ColumnInfo(name="id", type=T.LONG, nullable=False),
    ColumnInfo(name="v", type=T.VARCHAR, charset="utf8mb4"),
)
TABLE = TableInfo(schema="test", name="t", table_id=1, columns=COLUMNS, indexes=(KEY,))
OLD, NEW = (b"1", b"a"), (b"1", None)
CHANGES = [(Op.INSERT, TS, (), OLD), (Op.UPDATE, TS, OLD, NEW), (Op.DELETE, TS, NEW, ())]


def long(number: int) -> bytes:
    """Return an Avro ``long`` as another library writes it."""
    written = io.BytesIO()
    fastavro.schemaless_writer(written, {"type": "long"}, number)
    return written.getvalue()


EXTENSION = long(TS) + long(TS >> 18)


def encoded(registry: Registry, **options: Any) -> list[Message]:
    return messages_of(registry.encoder(AvroOptions(profile="new", **options)), TABLE, CHANGES)


def records(messages: list[Message]) -> list[bytes | None]:
    """The values without the byte 0 and the schema id."""
    return [None if message.value is None else message.value[5:] for message in messages]


@pytest.mark.parametrize(("extension", "end"), [(False, b""), (True, EXTENSION)])
def test_the_bytes_of_rows(extension: bool, end: bytes) -> None:
    registry = Registry()
    messages = encoded(registry, avro_include_before_value=True, enable_tidb_extension=extension)
    assert records(messages) == [
        b"\x02\x02\x02a" + b"\x00" + b"\x02c" + end,
        b"\x02\x00" + b"\x02" + b"\x02\x02\x02a" + b"\x02u" + end,
        b"\x02\x00" + b"\x02" + b"\x02\x00" + b"\x02d" + end,
    ]
    decoder = registry.decoder()
    events = [event for message in messages for event in decoder.events(message.key, message.value)]
    old, new = dict(zip(["id", "v"], OLD, strict=True)), dict(zip(["id", "v"], NEW, strict=True))
    ts = TS if extension else 0
    assert [(e.op, e.commit_ts, e.before, e.after) for e in events if isinstance(e, RowEvent)] == [
        (Op.INSERT, ts, None, old), (Op.UPDATE, ts, old, new), (Op.DELETE, ts, new, None),
    ]  # fmt: skip


def test_the_schema() -> None:
    registry = Registry()
    encoded(registry, avro_include_before_value=True, enable_tidb_extension=True)
    columns = (
        '{"name":"id","type":{"type":"int","connect.parameters":{"tidb_type":"INT"}}},'
        '{"default":null,"name":"v","type":["null",{"type":"string","connect.parameters":{"tidb_type":"TEXT"}}]}'
    )
    before = f'{{"type":"record","name":"t_before","namespace":"default.test","fields":[{columns}]}}'
    assert ("test_t-value", (
        f'{{"type":"record","name":"t","namespace":"default.test","fields":[{columns},'
        f'{{"default":null,"name":"_ticdc_before","type":["null",{before}]}},'
        '{"default":"","name":"_tidb_op","type":"string"},'
        '{"default":0,"name":"_tidb_commit_ts","type":"long"},'
        '{"default":0,"name":"_tidb_commit_physical_time","type":"long"}]}'
    )) in registry.ids  # fmt: skip


def test_with_watermarks_the_value_of_a_delete_is_its_commit_ts() -> None:
    registry = Registry()
    *_, delete = encoded(registry, enable_tidb_extension=True, avro_enable_watermark=True)
    assert delete.value == b"\x03" + TS.to_bytes(8, "big")
    (event,) = registry.decoder().events(delete.key, delete.value)
    assert (event.commit_ts, isinstance(event, RowEvent) and event.op) == (TS, Op.DELETE)
    with pytest.raises(DecodeError, match="AVRO-DELETE"):
        list(registry.decoder().events(delete.key, delete.value[:-1]))


def test_a_delete_without_a_primary_key_needs_an_old_image() -> None:
    table = TableInfo(schema="test", name="t", table_id=1, columns=COLUMNS)
    deletes = [(Op.DELETE, TS, OLD, ())]
    (delete,) = messages_of(
        Registry().encoder(AvroOptions(profile="new", avro_include_before_value=True)), table, deletes
    )
    assert (delete.key, records([delete])) == (
        None,
        [b"\x02\x02\x02a" + b"\x02" + b"\x02\x02\x02a" + b"\x02d"],
    )
    with pytest.raises(EncodeError, match="neither key nor value"):
        messages_of(Registry().encoder(AvroOptions(profile="new")), table, deletes)


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (b"\x02\x00" + b"\x00" + b"\x02u", "AVRO-BEFORE"),
        (b"\x02\x00" + b"\x02\x02\x00" + b"\x02c", "AVRO-BEFORE"),
        (b"\x02\x00" + b"\x02\x04\x00" + b"\x02d", "AVRO-BEFORE"),
        (b"\x02\x00" + b"\x04\x02\x00" + b"\x02d", "AVRO-UNION"),
        (b"\x02\x00" + b"\x00" + b"\x02x", "AVRO-OP"),
    ],
)
def test_a_wrong_old_image_is_a_decode_error(record: bytes, code: str) -> None:
    registry = Registry()
    insert, *_ = encoded(registry, avro_include_before_value=True)
    assert insert.value is not None
    with pytest.raises(DecodeError) as error:
        list(registry.decoder().events(None, insert.value[:5] + record))
    assert error.value.code == code


def test_the_fields_of_an_old_image_are_those_of_the_row() -> None:
    registry = Registry()
    insert, *_ = encoded(registry, avro_include_before_value=True)
    ((subject, schema), number) = next(
        entry for entry in registry.ids.items() if entry[0][0].endswith("-value")
    )
    wrong = json.loads(schema)
    wrong["fields"][2]["type"][1]["fields"].pop()
    registry.ids = {(subject, json.dumps(wrong)): number}
    with pytest.raises(DecodeError, match="AVRO-SCHEMA"):
        list(registry.decoder().events(None, insert.value))
