"""Simple's Avro encoding, read by another library with the schema that readers use."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import fastavro
import pytest

from tests.protocols.encoding import messages_of
from tests.protocols.simple_avro_schema import MESSAGE, NS
from ticdc_producer.errors import ChangefeedError, DecodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent, Op, RowEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.compression import claimed_message, plain
from ticdc_producer.protocols.registry import wire_digests
from ticdc_producer.protocols.row_options import SimpleOptions
from ticdc_producer.protocols.simple.avro_form import avro_form
from ticdc_producer.protocols.simple.decoder import SimpleDecoder
from ticdc_producer.protocols.simple.encoder import SimpleEncoder
from ticdc_producer.protocols.wire_digests import contents

T = MySQLType
AVRO = SimpleOptions(encoding_format="avro", build_ts_ms=5)
KEY = IndexInfo(id=0, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
TABLE = TableInfo(
    schema="s",
    name="t",
    table_id=9,
    columns=(
        ColumnInfo(name="id", type=T.LONGLONG, unsigned=True, nullable=False),
        ColumnInfo(name="d", type=T.DOUBLE),
        ColumnInfo(name="b", type=T.BLOB),
        ColumnInfo(name="v", type=T.VARCHAR, charset="utf8mb4", has_default=True, default=b"x"),
        ColumnInfo(name="at", type=T.TIMESTAMP),
        ColumnInfo(name="n", type=T.SET, charset="utf8mb4", elements=("p", "q")),
    ),
    indexes=(KEY,),
    update_ts=7,
)
ROW = (b"18446744073709551615", b"0.25", b"\xff", None, b"2020-01-02 03:04:05", b"3")


def read(value: bytes | None) -> Any:
    """The payload of a message, without the byte before it: the union branch of the message."""
    assert value is not None
    body = io.BytesIO(value[1:])
    names = fastavro.parse_schema(_without_second_definition())
    record = fastavro.schemaless_reader(body, names)
    assert body.read() == b""
    assert isinstance(record, dict)
    return record


def _without_second_definition() -> dict[str, Any]:
    text = json.loads(json.dumps(MESSAGE))
    images = text["fields"][1]["type"][3]["fields"]
    images[-1]["type"][1]["values"][-2:] = [f"{NS}.Timestamp", f"{NS}.UnsignedBigint"]
    return dict(text)


def test_another_library_reads_the_same_row() -> None:
    (update,) = messages_of(SimpleEncoder(AVRO), TABLE, [(Op.UPDATE, 11, ROW, ROW)])
    image = {
        "id": {"value": -1}, "d": 0.25, "b": b"\xff", "v": None, "n": 3,
        "at": {"location": "UTC", "value": "2020-01-02 03:04:05"},
    }  # fmt: skip
    record = read(update.value)
    assert record["type"] == "DML"
    assert record["payload"] == {
        "version": 1, "database": "s", "table": "t", "tableID": 1, "type": "UPDATE", "commitTs": 11,
        "buildTs": 5, "schemaVersion": 7, "claimCheckLocation": None, "handleKeyOnly": None,
        "checksum": None, "data": image, "old": image,
    }  # fmt: skip


def test_another_library_reads_the_columns_of_a_table_schema() -> None:
    options = SimpleOptions(
        encoding_format="avro", send_bootstrap_interval_in_sec=120, send_bootstrap_in_msg_count=2
    )
    bootstrap, _ = messages_of(SimpleEncoder(options), TABLE, [(Op.INSERT, 11, (), ROW)])
    record = read(bootstrap.value)
    assert record["type"] == "BOOTSTRAP"
    table = record["payload"]["tableSchema"]
    assert [column["name"] for column in table["columns"]] == [column.name for column in TABLE.columns]
    assert [column["default"] for column in table["columns"]] == [None, None, None, "x", None, None]
    ddl = DDLEvent(commit_ts=11, schema="s", table="t", query="CREATE TABLE t (id INT)", ddl_type=3)
    payload = read(SimpleEncoder(AVRO).ddl(ddl, TABLE).value)["payload"]
    assert (payload["type"], payload["tableSchema"], payload["preTableSchema"]) == ("CREATE", table, None)


def digest(value: bytes) -> int:
    digests = wire_digests("simple", {"encoding_format": "avro"}, canonical=True)
    assert digests is not None
    return int(digests.of_messages([None], [value], [1], contents({}))[0])


def written(message: dict[str, Any]) -> bytes:
    """A message as another library writes it, after the union branch of the message."""
    body = io.BytesIO()
    fastavro.schemaless_writer(body, fastavro.parse_schema(_without_second_definition()), message)
    return b"\x16" + body.getvalue()


def test_the_canonical_form_has_the_table_schema_and_not_the_order_of_columns() -> None:
    (update,) = messages_of(SimpleEncoder(AVRO), TABLE, [(Op.UPDATE, 11, ROW, ROW)])
    message = read(update.value)
    assert digest(written(message)) == digest(update.value or b"")
    message["payload"]["data"] = dict(reversed(message["payload"]["data"].items()))
    message["payload"]["buildTs"] = 6
    assert written(message) != update.value
    assert digest(written(message)) == digest(update.value or b"")
    message["payload"]["data"]["d"] = -0.25
    assert digest(written(message)) != digest(update.value or b"")
    ddl = DDLEvent(commit_ts=11, schema="s", table="t", query="CREATE TABLE t (id INT)", ddl_type=3)
    value = SimpleEncoder(AVRO).ddl(ddl, TABLE).value or b""
    assert avro_form(value) == {"message": "DDL", **read(value)["payload"]}


def test_the_build_time_alone_is_left_out_of_the_bytes_that_are_compared() -> None:
    digests = wire_digests("simple", {"encoding_format": "avro"})
    assert digests is not None
    long_names = replace(TABLE, schema="s" * 40, name="表" * 60)
    messages = [
        messages_of(SimpleEncoder(AVRO), table, [(Op.UPDATE, 11, ROW, ROW)])[0].value
        for table in (TABLE, long_names)
    ]
    ddl = DDLEvent(commit_ts=11, schema="s", table="t", query="CREATE TABLE t (id INT)" * 20, ddl_type=3)
    messages += [SimpleEncoder(AVRO).ddl(ddl, TABLE).value, SimpleEncoder(AVRO).resolved(7).value]
    for value in messages:
        message = read(value)
        others = []
        for name, number in (("buildTs", 1 << 50), ("commitTs", 1 << 50), ("version", 2)):
            changed = {**message, "payload": {**message["payload"], name: number}}
            others.append(written(changed))
        of_bytes = digests.of_messages([None] * 4, [value, *others], [1] * 4, contents({})).tolist()
        assert of_bytes[0] == of_bytes[1]
        assert len({*of_bytes}) == 3


def test_every_truncation_is_a_decode_error() -> None:
    (insert,) = messages_of(SimpleEncoder(AVRO), TABLE, [(Op.INSERT, 11, (), ROW)])
    value = insert.value or b""
    for end in range(len(value)):
        with pytest.raises(DecodeError):
            list(SimpleDecoder().events(None, value[:end]))


LARGE = {"encoding_format": "avro", "build_ts_ms": 5, "max_message_bytes": 120}
COLUMNS = SimpleOptions(
    encoding_format="avro", send_bootstrap_interval_in_sec=120, send_bootstrap_in_msg_count=2
)


@pytest.mark.parametrize("handling", ["handle-key-only", "claim-check"])
@pytest.mark.parametrize("compression", ["none", "lz4", "snappy"])
def test_rows_that_are_too_large_have_their_handle_key(handling: str, compression: str) -> None:
    options: dict[str, Any] = {
        **LARGE,
        "large_message_handle_option": handling,
        "large_message_handle_compression": compression,
        "claim_check_storage_uri": "file:///claims",
    }
    row = (ROW[0], b"0.25", bytes(range(256)) * 4, None, ROW[4], b"3")
    encoder = SimpleEncoder(SimpleOptions(**options), name_claim=lambda _: "c.json")
    (message,) = messages_of(encoder, TABLE, [(Op.UPDATE, 11, row, row)])
    assert (compression == "none") == (message.value or b"").startswith(b"\x16")
    payload = read(plain(message.value or b"", "value"))["payload"]
    location = "file:///claims/c.json" if handling == "claim-check" else None
    assert (payload["claimCheckLocation"], payload["handleKeyOnly"]) == (location, True)
    assert payload["data"] == payload["old"] == {"id": {"value": -1}}
    (table, _) = messages_of(SimpleEncoder(COLUMNS), TABLE, [(Op.INSERT, 11, (), ROW)])
    decoder = SimpleDecoder([table.value or b""])
    (event,) = decoder.events(None, message.value)
    assert isinstance(event, RowEvent)
    assert (event.handle_key_only, event.claim_check, event.after) == (True, location or "", {"id": ROW[0]})
    if handling == "claim-check":
        (claim,) = message.claims
        (stored,) = decoder.events(*claimed_message(claim.content))
        names = [column.name for column in TABLE.columns]
        assert isinstance(stored, RowEvent)
        assert stored.after == dict(zip(names, row, strict=True))


def test_the_bytes_of_a_row_with_only_its_handle_key() -> None:
    options: dict[str, Any] = {**LARGE, "large_message_handle_option": "handle-key-only"}
    (message,) = messages_of(
        SimpleEncoder(SimpleOptions(**options)),
        TABLE,
        [(Op.INSERT, 11, (), (ROW[0], b"0.25", b"x" * 999, *ROW[3:]))],
    )
    head = b"\x16\x06\x06\x02" + b"\x02s" + b"\x02t" + b"\x02" + b"\x00" + b"\x16" + b"\x0a" + b"\x0e"
    no_location, handle_key_only, no_checksum = b"\x00", b"\x02\x01", b"\x00"
    data = b"\x02" + b"\x02" + b"\x04id" + b"\x0e\x01" + b"\x00"
    assert message.value == head + no_location + handle_key_only + no_checksum + data + b"\x00"


def test_an_unknown_encoding_format_is_refused() -> None:
    with pytest.raises(ChangefeedError, match="encoding-format"):
        SimpleOptions(encoding_format="xml")
