"""The header of AWS Glue in Avro: bytes written by hand from TiCDC's source, without Glue's service.

Source: ticdc ``pkg/sink/codec/avro/glue_schema_registry.go`` (``getMsgHeader``): a byte 3, a byte 0 for no
compression, and the 16 bytes of the UUID of the schema's version. No golden file has it.
"""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocols.encoding import ID_AND_TEXT, messages_of
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Op, RowEvent
from ticdc_producer.protocols.avro.decoder import AvroDecoder, wire_form
from ticdc_producer.protocols.avro.encoder import AvroEncoder
from ticdc_producer.protocols.avro.names import head, head_size, schema_id_of
from ticdc_producer.protocols.avro.schemas import assign_uuids, schema_id_lookup, schemas
from ticdc_producer.protocols.base import MAX_SCHEMA_NUMBER, schema_id_text
from ticdc_producer.protocols.debezium_avro import schemas as debezium_schemas
from ticdc_producer.protocols.debezium_avro.decoder import DebeziumAvroDecoder
from ticdc_producer.protocols.debezium_avro.encoder import DebeziumAvroEncoder
from ticdc_producer.protocols.row_options import AvroOptions, DebeziumAvroOptions

TS = 429918007904436226
TEXT = "b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63"
ID = UUID(TEXT).int
OPTIONS = AvroOptions(enable_tidb_extension=True)
REGISTERED = schemas([ID_AND_TEXT], lambda _table: "t", OPTIONS)
IDS = assign_uuids(REGISTERED)
TEXTS = {number: schema for (_, schema), number in IDS.items()}
ROWS = [(Op.INSERT, TS, (), (b"1", b"a")), (Op.DELETE, TS, (b"1", b"a"), ())]


def test_the_header_is_ticdcs() -> None:
    assert head(ID) == bytes((3, 0)) + UUID(TEXT).bytes
    assert head(258) == bytes((0, 0, 0, 1, 2))
    assert (schema_id_text(ID), schema_id_text(258)) == (TEXT, "258")


@given(st.integers(0, MAX_SCHEMA_NUMBER) | st.uuids(version=4).map(lambda uuid: uuid.int), st.binary())
def test_a_header_is_read_as_it_was_written(schema_id: int, record: bytes) -> None:
    part = head(schema_id) + record
    assert schema_id_of(part) == schema_id
    assert part[head_size(part) :] == record


def test_rows_have_the_header_in_key_and_value() -> None:
    plain = AvroEncoder(OPTIONS, schema_id=lambda *_: 7)
    glue = AvroEncoder(OPTIONS, schema_id=schema_id_lookup(IDS))
    assert all(UUID(int=number).version == 5 for number in TEXTS)
    for expected, message in zip(
        messages_of(plain, ID_AND_TEXT, ROWS), messages_of(glue, ID_AND_TEXT, ROWS), strict=True
    ):
        parts = zip(
            (expected.key, expected.value), (message.key, message.value), ("key", "value"), strict=True
        )
        for other, own, part in parts:
            number = next(number for (of, _), number in IDS.items() if of == part)
            assert own == (None if other is None else head(number) + other[5:])


def test_messages_are_decoded_and_compared_by_their_schemas() -> None:
    encoder = AvroEncoder(OPTIONS, schema_id=schema_id_lookup(IDS))
    decoder = AvroDecoder(TEXTS.get)
    messages = messages_of(encoder, ID_AND_TEXT, ROWS)
    events = [event for message in messages for event in decoder.events(message.key, message.value)]
    assert [(event.op, event.commit_ts) for event in events if isinstance(event, RowEvent)] == [
        (Op.INSERT, TS), (Op.DELETE, 0),
    ]  # fmt: skip
    value = messages[0].value or b""
    other = head(7) + value[head_size(value) :]
    number = schema_id_of(value)
    assert wire_form(TEXTS.get)(value) == wire_form({7: TEXTS[number or 0]}.get)(other)


def test_a_delete_with_its_commit_ts_is_no_header() -> None:
    """Both begin with a byte 3."""
    options = AvroOptions(enable_tidb_extension=True, avro_enable_watermark=True, profile="new")
    ids = assign_uuids(schemas([ID_AND_TEXT], lambda _table: "t", options))
    texts = {number: schema for (_, schema), number in ids.items()}
    encoder, decoder = AvroEncoder(options, schema_id=schema_id_lookup(ids)), AvroDecoder(texts.get)
    for ts in (TS, 1):
        (message,) = messages_of(encoder, ID_AND_TEXT, [(Op.DELETE, ts, (b"1", b"a"), ())])
        assert message.value == b"\x03" + ts.to_bytes(8, "big")
        (event,) = decoder.events(message.key, message.value)
        assert isinstance(event, RowEvent)
        assert (event.op, event.commit_ts) == (Op.DELETE, ts)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (head(ID) + b"\x02", f"an id of the registry, not {TEXT}"),
        (bytes((3, 5)) + UUID(TEXT).bytes, "a header with the id of a schema"),
        (bytes((3, 0)) + UUID(TEXT).bytes[:15], "a header with the id of a schema"),
    ],
    ids=["unknown", "compressed", "short"],
)
def test_a_wrong_header_is_an_error(value: bytes, error: str) -> None:
    with pytest.raises(DecodeError, match=error):
        list(AvroDecoder(TEXTS.get).events(None, value))


def test_debezium_has_the_same_header() -> None:
    options = DebeziumAvroOptions(enable_tidb_extension=True, build_ts_ms=1)
    ids = assign_uuids(debezium_schemas.schemas([ID_AND_TEXT], lambda _table: "t", options))
    texts = {number: schema for (_, schema), number in ids.items()}
    (message,) = messages_of(DebeziumAvroEncoder(options, schema_ids=ids), ID_AND_TEXT, ROWS[:1])
    assert {schema_id_of(message.key or b""), schema_id_of(message.value or b"")} <= {*texts}
    (event,) = DebeziumAvroDecoder(texts.get).events(message.key, message.value)
    assert isinstance(event, RowEvent)
    assert (event.op, event.commit_ts) == (Op.INSERT, TS)
