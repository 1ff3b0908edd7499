"""Canal-JSON in detail: its text and types, older, newer and foreign forms, and refusals by name."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from producer.codec.base import RowBatch
from producer.codec.canal_json import CanalJSONDecoder, CanalJSONEncoder, CanalJSONOptions
from producer.codec.canal_json.json_text import latin1_strings, plain_strings, strings
from producer.codec.canal_json.mysql_type import bare_type, full_type
from producer.errors import ChangefeedError, DecodeError, EncodeError
from producer.model.event import DDLEvent, EventColumn, Op, RowEvent
from producer.model.mysql_type import MySQLType
from producer.model.table import ColumnInfo, IndexInfo, TableInfo
from tests.codec.golden_messages import events_of, load_messages
from tests.golden_events import GOLDEN, GoldenRow

T = MySQLType
SEED_BYTES = bytes((5, 7, 10, 15, 36, 50, 43, 99, 120, 60, 38, 255, 254, 45, 55, 70))


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        (b"\x08\x0c\x09\x0d\x0a\x7f", b'"\\u0008\\u000c\\t\\r\\n\x7f"'),
        (b'a<b>&"\\', b'"a\\u003cb\\u003e\\u0026\\"\\\\"'),
        (b"\\b\\f\x08", b'"\\\\b\\\\f\\u0008"'),
        (b"a\xff\xfeb\xc3", b'"a\\ufffd\\ufffdb\\ufffd"'),
        (b"\xed\xa0\x80", b'"\\ufffd\\ufffd\\ufffd"'),
        ("\ufffd\u2028\u2029\u0080é/'🙂".encode(), '"\ufffd\\u2028\\u2029\u0080é/\'🙂"'.encode()),
        (b"\xff\xe2\x80\xa8<", b'"\\ufffd\\u2028\\u003c"'),
        (b"", b'""'),
        (None, b"null"),
    ],
)
def test_text_is_escaped_as_easyjson_does(text: bytes | None, literal: bytes) -> None:
    assert strings([text]) == [literal]
    assert strings([None, text, b"<x", text]) == [b"null", literal, b'"\\u003cx"', literal]


def test_every_control_character_has_the_long_form_but_three() -> None:
    short = {9: b'"\\t"', 10: b'"\\n"', 13: b'"\\r"'}
    assert strings([bytes((code,)) for code in range(0x20)]) == [
        short.get(code, b'"\\u%04x"' % code) for code in range(0x20)
    ]


def test_bytes_are_the_characters_of_their_numbers() -> None:
    assert latin1_strings([SEED_BYTES]) == ['"\\u0005\\u0007\\n\\u000f$2+cx\\u003c\\u0026ÿþ-7F"'.encode()]
    every = bytes(range(256))
    assert json.loads(latin1_strings([every])[0]).encode("latin-1") == every


def test_a_column_may_be_empty_or_null_throughout() -> None:
    for render in (strings, latin1_strings, plain_strings):
        assert render([]) == []
        assert render([None, None]) == [b"null", b"null"]


def _column(code: MySQLType, **facts: object) -> ColumnInfo:
    return ColumnInfo(name="c", type=code, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("column", "bare", "full"),
    [
        (_column(T.LONG), "int", "int(11)"),
        (_column(T.TINY, length=1), "tinyint", "tinyint(1)"),
        (
            _column(T.LONG, length=10, unsigned=True, zerofill=True),
            "int unsigned zerofill",
            "int(10) unsigned zerofill",
        ),
        (_column(T.YEAR, length=4, unsigned=True, zerofill=True), "year", "year(4)"),
        (_column(T.BIT, length=3, unsigned=True), "bit", "bit(3)"),
        (_column(T.NEW_DECIMAL), "decimal", "decimal(10,0)"),
        (_column(T.NEW_DECIMAL, length=10, decimal=4), "decimal", "decimal(10,4)"),
        (_column(T.FLOAT, length=12), "float", "float"),
        (_column(T.DOUBLE, length=7, decimal=0), "double", "double"),
        (_column(T.DOUBLE, length=20, decimal=3, unsigned=True), "double unsigned", "double(20,3) unsigned"),
        (_column(T.DATETIME, length=19, decimal=0), "datetime", "datetime"),
        (_column(T.DURATION, length=14, decimal=3), "time", "time(3)"),
        (_column(T.VARCHAR, length=23), "varbinary", "varbinary(23)"),
        (_column(T.STRING, charset="utf8mb4"), "char", "char(1)"),
        (_column(T.BLOB, length=65535, charset="utf8mb4"), "text", "text"),
        (_column(T.VECTOR_FLOAT32), "vector", "vector"),
        (_column(T.VECTOR_FLOAT32, length=5), "vector", "vector(5)"),
        (_column(T.ENUM, elements=("a", "it's", "b\\\n")), "enum", "enum('a','it''s','b\\\\n')"),
        (_column(T.SET, elements=("x,y", "")), "set", "set('x,y','')"),
    ],
)
def test_types_have_a_bare_and_a_full_form(column: ColumnInfo, bare: str, full: str) -> None:
    assert (bare_type(column), full_type(column)) == (bare, full)


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
    def image(values: tuple[bytes | None, ...]) -> list[list[bytes | None]]:
        return [[value] for value in values] or [[] for _ in SHOP.columns]

    return RowBatch(
        op=[op], commit_ts=[TS], table_id=[1], row_id=[0], before=image(before), after=image(after)
    )


def _value(options: CanalJSONOptions, batch: RowBatch) -> bytes:
    (message,) = CanalJSONEncoder(options).messages(CanalJSONEncoder(options).rows(SHOP, batch))
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
    for (delete_old, data_first), tail in cases.items():
        options = CanalJSONOptions(
            build_ts_ms=1700000000456, delete_old=delete_old, data_before_old=data_first
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


@pytest.mark.parametrize(
    ("code", "limit", "below", "above"),
    [
        (T.TINY, 127, -6, 5),
        (T.SHORT, 32767, 5, 4),
        (T.INT24, 8388607, 4, 4),
        (T.LONG, 2147483647, 4, -5),
        (T.LONGLONG, 9223372036854775807, -5, 3),
    ],
)
def test_unsigned_numbers_take_the_wider_code_above_the_signed_range(
    code: MySQLType, limit: int, below: int, above: int
) -> None:
    table = TableInfo(schema="s", name="t", table_id=1, columns=(_column(code, unsigned=True),))
    values = [b"%d" % limit, b"%d" % (limit + 1), b"9", None]
    zeros = [0] * len(values)
    batch = RowBatch(
        op=[Op.INSERT] * 4, commit_ts=zeros, table_id=zeros, row_id=zeros, before=[[]], after=[values]
    )
    rows = [json.loads(row.value) for row in CanalJSONEncoder().rows(table, batch)]
    assert [row["sqlType"] for row in rows] == [{"c": below}, {"c": above}, {"c": below}, {"c": below}]


def test_without_a_build_time_ts_is_the_commit_time() -> None:
    value = json.loads(_value(CanalJSONOptions(), _batch(Op.INSERT, after=NEW)))
    assert value["ts"] == value["es"] == 1700000000123
    ddl = CanalJSONEncoder().ddl(DDLEvent(commit_ts=TS, schema="s", table="t", query="x", ddl_type=3))
    assert json.loads(ddl.value or b"")["ts"] == 1700000000123


def test_a_row_over_the_limit_is_refused_or_cut_to_its_handle_key() -> None:
    length = len(_value(CanalJSONOptions(enable_tidb_extension=True), _batch(Op.INSERT, after=NEW))) + 36
    for limit, option, shortened in [(length, "none", False), (length - 1, "handle-key-only", True)]:
        options = CanalJSONOptions(
            enable_tidb_extension=True, max_message_bytes=limit, large_message_handle_option=option
        )  # type: ignore[arg-type]
        value = _value(options, _batch(Op.INSERT, after=NEW))
        assert (b'"data":[{"id":"3000000000"}],"_tidb"' in value) is shortened
        assert (b'"onlyHandleKey":true}}' in value) is shortened
        (event,) = CanalJSONDecoder().events(None, value)
        assert isinstance(event, RowEvent)
        assert event.handle_key_only is shortened


@pytest.mark.parametrize("option", ["none", "handle-key-only"])
def test_a_row_that_fits_in_no_form_is_refused(option: str) -> None:
    options = CanalJSONOptions(
        enable_tidb_extension=True, max_message_bytes=100, large_message_handle_option=option
    )  # type: ignore[arg-type]
    encoder = CanalJSONEncoder(options)
    (row,) = encoder.rows(SHOP, _batch(Op.INSERT, after=NEW))
    with pytest.raises(EncodeError) as error:
        list(encoder.messages([row]))
    assert error.value.code == "CDC:ErrMessageTooLarge"
    assert f"table:item, length:{len(row.value) + 36}, maxMessageBytes:100" in error.value.what


@pytest.mark.parametrize(("option", "extension"), [("handle-key-only", False), ("handle-key", True)])
def test_large_message_handles_that_ticdc_refuses_are_refused(option: str, extension: bool) -> None:
    with pytest.raises(ChangefeedError) as error:
        CanalJSONOptions(large_message_handle_option=option, enable_tidb_extension=extension)  # type: ignore[arg-type]
    assert error.value.parameter == "large-message-handle-option"


NEW_FILES = sorted((GOLDEN / "new").glob("*.new-canal-json.tidb-extension.output-row-key.jsonl"))


@pytest.mark.parametrize("path", NEW_FILES, ids=lambda path: path.name.split(".")[0])
def test_the_row_keys_of_the_newer_program_tell_table_and_row(path) -> None:
    events = events_of(GOLDEN / "visible" / path.name)
    seen = 0
    for message in load_messages(path):
        (event,) = CanalJSONDecoder().events(message.key, message.value)
        if isinstance(event, RowEvent):
            golden = events[message.events[0]]
            assert isinstance(golden, GoldenRow)
            assert (event.table_id, event.row_id) == (golden.table_id, golden.row_id)
            seen += 1
    assert seen >= 7


def test_a_claim_check_says_where_the_row_is() -> None:
    (path,) = (GOLDEN / "large-messages").glob("*.claim-check.jsonl")
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
    got = [e for m in stored for e in CanalJSONDecoder().events(m.key, m.value)]
    assert got == [event for event in expected if isinstance(event, RowEvent)]


def _message(**members: object) -> bytes:
    row = {
        "database": "d", "table": "t", "pkNames": ["id"], "isDdl": False, "type": "INSERT", "es": 5, "ts": 6,
        "sql": "", "sqlType": {"id": 4, "v": 12}, "mysqlType": {"id": "int", "v": "varchar"},
        "data": [{"id": "1", "v": "a"}], "old": None,
    }  # fmt: skip
    return json.dumps({name: value for name, value in (row | members).items() if value != ...}).encode()


def test_official_canal_sends_several_rows_and_types_in_its_own_words() -> None:
    value = _message(
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
def test_a_row_of_a_table_without_key_cut_to_its_key_is_empty(types: dict[str, object]) -> None:
    value = _message(type="DELETE", data=[{}], pkNames=[], **types)
    (event,) = CanalJSONDecoder().events(None, value)
    assert isinstance(event, RowEvent)
    assert (event.columns, event.before, event.after) == ((), {}, None)


def test_the_same_row_is_what_ticdc_writes_for_it() -> None:
    table = TableInfo(schema="d", name="t", table_id=1, columns=(_column(T.LONG),))
    options = CanalJSONOptions(delete_only_output_handle_key_columns=True)
    batch = RowBatch(op=[Op.DELETE], commit_ts=[TS], table_id=[1], row_id=[0], before=[[b"1"]], after=[[]])
    (row,) = CanalJSONEncoder(options).rows(table, batch)
    assert b'"pkNames":[],' in row.value
    assert row.value.endswith(b'"sqlType":null,"mysqlType":{},"old":null,"data":[{}]}')


def _typed(mysql_type: str, value: object) -> bytes:
    return _message(mysqlType={"id": "int", "v": mysql_type}, data=[{"id": "1", "v": value}])


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (b"", "CANAL-JSON"),
        (b"{", "CANAL-JSON"),
        (_message() + b"x", "CANAL-JSON"),
        (_message() + b"{", "CANAL-JSON"),
        (_message() + b"{}", "CANAL-MEMBER"),
        (_message().replace(b'"a"', b'"\xff"'), "CANAL-JSON"),
        (_message().replace(b'"a"', b'"\\ud800"'), "CANAL-JSON"),
        (b'{"x":' + b"[" * 100_000, "CANAL-JSON"),
        (b'{"x":' + b'{"a":' * 100_000, "CANAL-JSON"),
        (b"[]", "CANAL-MEMBER"),
        (_message(database=...), "CANAL-MEMBER"),
        (_message(isDdl=...), "CANAL-MEMBER"),
        (_message(isDdl="false"), "CANAL-MEMBER"),
        (_message(es=-1), "CANAL-MEMBER"),
        (_message(es=1 << 45), "CANAL-MEMBER"),
        (_message(_tidb={"commitTs": 1 << 63}), "CANAL-MEMBER"),
        (_message(_tidb={"commitTs": 1.0}), "CANAL-MEMBER"),
        (_typed("int", 1), "CANAL-MEMBER"),
        (_message(type="UPSERT"), "CANAL-TYPE"),
        (_message(type="CREATE"), "CANAL-TYPE"),
        (_message(isDdl=True), "CANAL-TYPE"),
        (_message(type="TIDB_WATERMARK"), "CANAL-WATERMARK"),
        (_message(type="TIDB_WATERMARK", _tidb={"commitTs": 5}), "CANAL-WATERMARK"),
        (_message(data=None), "CANAL-ROW-EMPTY"),
        (_message(data=[]), "CANAL-ROW-EMPTY"),
        (_message(old=[{"v": "b"}]), "CANAL-OLD"),
        (_message(type="UPDATE"), "CANAL-OLD"),
        (_message(type="UPDATE", old=[{"v": "b"}] * 2), "CANAL-OLD"),
        (_message(type="DELETE", old=[{"id": "2", "v": "a"}]), "CANAL-OLD"),
        (_message(type="UPDATE", old=[{"w": "b"}]), "CANAL-COLUMN"),
        (_message(data=[{"id": "1"}]), "CANAL-COLUMN"),
        (_message(mysqlType=None), "CANAL-COLUMN"),
        (_message(sqlType={"id": 4}), "CANAL-COLUMN"),
        (_typed("number", "1"), "CANAL-MYSQL-TYPE"),
        (_typed("int(x)", "1"), "CANAL-MYSQL-TYPE"),
        (_typed("", "1"), "CANAL-MYSQL-TYPE"),
        (_typed("enum(1)", "1"), "CANAL-MYSQL-TYPE"),
        (_typed("int", "1.0"), "CANAL-VALUE"),
        (_typed("int", "01"), "CANAL-VALUE"),
        (_typed("int", "٣"), "CANAL-VALUE"),
        (_typed("double", "NaN"), "CANAL-VALUE"),
        (_typed("decimal(3,1)", "1e3"), "CANAL-VALUE"),
        (_typed("datetime(3)", "yesterday"), "CANAL-VALUE"),
        (_typed("enum('a','b')", "a"), "CANAL-VALUE"),
        (_typed("tinyint", "128"), "CANAL-RANGE"),
        (_typed("tinyint(3) unsigned zerofill", "-1"), "CANAL-RANGE"),
        (_typed("bigint unsigned", "18446744073709551616"), "CANAL-RANGE"),
        (_typed("float", "340282356779733661637539395458142568447"), "CANAL-RANGE"),
        (_typed("double", "1.0E999"), "CANAL-RANGE"),
        (_typed("varbinary(8)", "Ā"), "CANAL-BYTES"),
        (_message(_tidb={"rowkey": "?"}), "CANAL-ROWKEY"),
        (_message(_tidb={"rowkey": "AAAA"}), "CANAL-ROWKEY"),
    ],
)
def test_each_broken_rule_has_its_code(value: bytes, code: str) -> None:
    with pytest.raises(DecodeError) as error:
        list(CanalJSONDecoder().events(None, value))
    assert error.value.code == code
    assert error.value.part == "value"
    assert 0 <= error.value.byte <= len(value)


def test_an_error_tells_the_object_it_stands_in() -> None:
    good = _message() + b"\r\n"
    with pytest.raises(DecodeError) as error:
        list(CanalJSONDecoder().events(None, good + _typed("int", "x")))
    assert error.value.byte == len(good)
    with pytest.raises(DecodeError) as error:
        list(CanalJSONDecoder().events(None, good + _message().replace(b'"a"', b'"\xff"')))
    assert error.value.byte == len(good) + _message().index(b'"a"') + 1


HOSTILE = {
    "names": _message(pkNames=[f"n{i}" for i in range(100_000)]),
    "columns": _message(
        pkNames=[f"n{i}" for i in range(50_000)],
        sqlType=None,
        mysqlType={f"n{i}": "int" for i in range(50_000)},
        data=[{f"n{i}": "1" for i in range(50_000)}],
    ),
    "rows": _message(data=[{"id": "1", "v": ""}] * 50_000),
    "objects": _message() * 20_000,
    "type": _typed("enum('" + "','" * 500_000 + "')", "1"),
    "parameters": _typed("int(" * 300_000, "1"),
    "digits": _typed("double", "1" * 1_000_000),
    "braces": _message() + b"{" * 1_000_000,
    "spaces": b" " * 1_000_000,
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_sizes_cost_no_more_than_their_bytes(value: bytes) -> None:
    """Anything quadratic would take hours here."""
    tracemalloc.start()
    try:
        for _ in CanalJSONDecoder().events(None, value):
            pass
    except DecodeError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 40 * len(value) + 1_000_000
