"""Canal-JSON's forms: options, size limits, and messages of older, newer and foreign programs."""

from __future__ import annotations

import json

import pytest

from tests.golden_events import GOLDEN, GoldenRow
from tests.protocols.canal_json_messages import row_message
from tests.protocols.encoding import framed, one_by_one, row_batch
from tests.protocols.golden_messages import events_of, load_messages
from ticdc_producer.errors import ChangefeedError, EncodeError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent, EventColumn, Op, RowEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.registry import file_format
from ticdc_producer.protocols.row_options import CanalJSONOptions

T = MySQLType

SHOP = TableInfo(
    schema="shop",
    name="item",
    table_id=1,
    columns=(
        ColumnInfo(name="id", type=T.LONG, unsigned=True, nullable=False),
        ColumnInfo(name="qty", type=T.TINY, unsigned=True),
        ColumnInfo(name="raw", type=T.VARCHAR),
        ColumnInfo(name="gone", type=T.VARCHAR, charset="utf8mb4"),
    ),
    indexes=(IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True),),
)
OLD, NEW = (b"3000000000", b"200", b"\x05\xff<", None), (b"3000000000", b"100", b"\x05\xff<", None)
TS = 1700000000123 << 18 | 5


def _batch(op: Op, before: tuple[bytes | None, ...] = (), after: tuple[bytes | None, ...] = ()) -> RowBatch:
    return row_batch(op, [before], [after], commit_ts=[TS])


def _value(options: CanalJSONOptions, batch: RowBatch) -> bytes:
    (message,) = framed(CanalJSONEncoder(options), [CanalJSONEncoder(options).rows(SHOP, batch)])
    assert message.value
    return message.value


HEAD = '{"id":0,"database":"shop","table":"item","pkNames":["id"],"isDdl":false,"type":'
TIMES = '"es":1700000000123,"ts":1700000000456,"sql":"",'
TYPES = '"mysqlType":{"id":"int unsigned","qty":"tinyint unsigned","raw":"varbinary","gone":"varchar"}'
DATA = '[{"id":"3000000000","qty":"200","raw":"\\u0005ÿ\\u003c","gone":null}]'


def test_deletes_of_old_versions_repeat_the_row_and_the_documentation_shows_data_first() -> None:
    codes = '"sqlType":{"id":-5,"qty":5,"raw":2004,"gone":12},'
    cases = {
        (True, False): f'"old":{DATA},"data":{DATA}}}',
        (True, True): f'"data":{DATA},"old":{DATA}}}',
        (False, True): f'"data":{DATA},"old":null}}',
    }
    for (legacy_delete_old, data_first), tail in cases.items():
        options = CanalJSONOptions(
            build_ts_ms=1700000000456, legacy_delete_old=legacy_delete_old, legacy_data_before_old=data_first
        )
        value = _value(options, _batch(Op.DELETE, before=OLD))
        assert value.decode() == f'{HEAD}"DELETE",{TIMES}{codes}{TYPES},{tail}'
        (event,) = CanalJSONDecoder().events(None, value)
        assert isinstance(event, RowEvent)
        assert event.before == dict(zip(("id", "qty", "raw", "gone"), OLD, strict=True))


def test_the_code_of_an_unsigned_number_follows_the_new_value() -> None:
    options = CanalJSONOptions(build_ts_ms=1700000000456, only_output_updated_columns=True)
    value = _value(options, _batch(Op.UPDATE, before=OLD, after=NEW)).decode()
    assert '"sqlType":{"id":-5,"qty":-6,' in value
    assert '"old":[{"qty":"200"}],"data":[{' in value
    unchanged = _value(options, _batch(Op.UPDATE, before=OLD, after=OLD)).decode()
    assert '"old":[{}],"data":[{' in unchanged


def test_without_a_build_time_ts_is_the_commit_time() -> None:
    value = json.loads(_value(CanalJSONOptions(), _batch(Op.INSERT, after=NEW)))
    assert value["ts"] == value["es"] == 1700000000123
    ddl = CanalJSONEncoder().ddl(DDLEvent(commit_ts=TS, schema="s", table="t", query="x", ddl_type=3))
    assert json.loads(ddl.value or b"")["ts"] == 1700000000123


def test_a_row_over_the_limit_is_rejected_or_reduced_to_its_handle_key() -> None:
    length = len(_value(CanalJSONOptions(enable_tidb_extension=True), _batch(Op.INSERT, after=NEW))) + 36
    for limit, option, shortened in [(length, "none", False), (length - 1, "handle-key-only", True)]:
        options = CanalJSONOptions(
            enable_tidb_extension=True, max_message_bytes=limit, large_message_handle_option=option
        )
        value = _value(options, _batch(Op.INSERT, after=NEW))
        assert (b'"data":[{"id":"3000000000"}],"_tidb"' in value) is shortened
        assert (b'"onlyHandleKey":true}}' in value) is shortened
        (event,) = CanalJSONDecoder().events(None, value)
        assert isinstance(event, RowEvent)
        assert event.handle_key_only is shortened


@pytest.mark.parametrize("option", ["none", "handle-key-only"])
def test_a_row_that_fits_in_no_form_is_rejected(option: str) -> None:
    options = CanalJSONOptions(
        enable_tidb_extension=True, max_message_bytes=100, large_message_handle_option=option
    )
    encoder = CanalJSONEncoder(options)
    (row,) = one_by_one([encoder.rows(SHOP, _batch(Op.INSERT, after=NEW))])
    with pytest.raises(EncodeError) as error:
        framed(encoder, [row.alone])
    assert error.value.code == "CDC:ErrMessageTooLarge"
    assert f"table:item, length:{len(row.value) + 36}, maxMessageBytes:100" in error.value.what


@pytest.mark.parametrize(("option", "extension"), [("handle-key-only", False), ("handle-key", True)])
def test_large_message_handles_that_ticdc_rejects_are_rejected(option: str, extension: bool) -> None:
    with pytest.raises(ChangefeedError) as error:
        CanalJSONOptions(large_message_handle_option=option, enable_tidb_extension=extension)
    assert error.value.parameter == "large-message-handle-option"


NEW_FILES = sorted((GOLDEN / "new").glob("*.new-canal-json.tidb-extension.output-row-key.jsonl"))


@pytest.mark.parametrize("path", NEW_FILES, ids=lambda path: path.name.split(".")[0])
def test_row_keys_of_the_new_architecture_contain_table_and_row(path) -> None:
    events = events_of(path)
    for message in load_messages(path):
        (event,) = CanalJSONDecoder().events(message.key, message.value)
        if isinstance(event, RowEvent):
            golden = events[message.events[0]]
            assert isinstance(golden, GoldenRow)
            assert (event.table_id, event.row_id) == (golden.table_id, golden.row_id)


def test_row_keys_of_every_file_are_read() -> None:
    assert len(NEW_FILES) == 16


def test_a_claim_check_contains_the_location_of_the_row() -> None:
    variant = "canal-json.tidb-extension.max-message-bytes-1024.claim-check"
    path = GOLDEN / "large-messages" / f"generated_defaults.{variant}.jsonl"
    events = [e for m in load_messages(path) for e in CanalJSONDecoder().events(m.key, m.value)]
    claimed = [event for event in events if isinstance(event, RowEvent) and event.claim_check]
    assert claimed
    for event in claimed:
        assert event.handle_key_only
        assert event.claim_check.endswith(".json")
        assert all(column.flag == 10 for column in event.columns)


@pytest.mark.parametrize("name", ["seed_t1", "strings"])
def test_a_storage_file_is_read_row_by_row(name: str) -> None:
    one_by_one = GOLDEN / "visible" / f"{name}.canal-json.jsonl"
    expected = [e for m in load_messages(one_by_one) for e in CanalJSONDecoder().events(m.key, m.value)]
    stored = load_messages(GOLDEN / "visible" / f"{name}.canal-json.storage.jsonl")
    options = CanalJSONOptions(row_end="\r\n")
    rows = [row for m in stored for row in file_format("canal-json").rows(m.value or b"", options)]
    decoded = [event for row in rows for event in CanalJSONDecoder().events(None, row)]
    assert decoded == [event for event in expected if isinstance(event, RowEvent)]


def test_alibaba_canal_sends_several_rows_and_its_own_type_names() -> None:
    value = row_message(
        id=7,
        gtid="",
        type="UPDATE",
        mysqlType={"id": "decimal(10, 4)", "v": "double"},
        sqlType={"id": 3, "v": 8},
        data=[{"id": "1.5000", "v": "1.0E10"}, {"id": "2.0000", "v": None}],
        old=[{"v": "1.0"}, {"v": "-1.5E-7"}],
    )
    first, second = CanalJSONDecoder().events(None, value)
    assert isinstance(first, RowEvent)
    assert isinstance(second, RowEvent)
    assert (first.commit_ts, first.before, first.after) == (
        5 << 18,
        {"v": b"1"},
        {"id": b"1.5000", "v": b"10000000000"},
    )
    assert (second.before, second.after) == ({"v": b"-0.00000015"}, {"id": b"2.0000", "v": None})
    assert first.columns == (EventColumn("id", "decimal(10, 4)", 10), EventColumn("v", "double", 0))


@pytest.mark.parametrize("types", [{"sqlType": None, "mysqlType": None}, {"sqlType": None, "mysqlType": {}}])
def test_a_row_of_a_table_without_key_reduced_to_its_key_is_empty(types: dict[str, object]) -> None:
    value = row_message(type="DELETE", data=[{}], pkNames=[], **types)
    (event,) = CanalJSONDecoder().events(None, value)
    assert isinstance(event, RowEvent)
    assert (event.columns, event.before, event.after) == ((), {}, None)


def test_a_delete_of_such_a_table_is_written_empty() -> None:
    table = TableInfo(schema="d", name="t", table_id=1, columns=(ColumnInfo(name="c", type=T.LONG),))
    options = CanalJSONOptions(delete_only_output_handle_key_columns=True)
    (row,) = one_by_one([CanalJSONEncoder(options).rows(table, _batch(Op.DELETE, before=(b"1",)))])
    assert b'"pkNames":[],' in row.value
    assert row.value.endswith(b'"sqlType":null,"mysqlType":{},"old":null,"data":[{}]}')


@pytest.mark.parametrize(
    ("options", "today", "earlier"),
    [
        ({"legacy_insert_old": True}, b'"old":null', b'"old":[null]'),
        ({"legacy_row_end": True}, b"}]}", b"}]}\r\n"),
    ],
)
def test_forms_of_earlier_versions_have_the_same_event(
    options: dict[str, bool], today: bytes, earlier: bytes
) -> None:
    batch = _batch(Op.INSERT, after=NEW)
    value = _value(CanalJSONOptions(build_ts_ms=1700000000456), batch)
    old_form = _value(CanalJSONOptions(build_ts_ms=1700000000456, **options), batch)
    assert today in value
    assert old_form == value.replace(today, earlier)
    assert [*CanalJSONDecoder().events(None, old_form)] == [*CanalJSONDecoder().events(None, value)]


def test_messages_with_an_end_are_not_compressed() -> None:
    with pytest.raises(ChangefeedError, match="legacy-row-end cannot be combined"):
        CanalJSONOptions(legacy_row_end=True, large_message_handle_compression="lz4")
