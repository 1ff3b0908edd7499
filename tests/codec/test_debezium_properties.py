"""What must hold for every message: it survives the round trip, and damage is a decode error."""

from __future__ import annotations

import contextlib
import itertools
import json
from datetime import date, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from producer.codec.base import RowBatch
from producer.codec.debezium import DebeziumDecoder, DebeziumEncoder, DebeziumOptions
from producer.errors import ChangefeedError, DecodeError, EncodeError
from producer.model.event import DDLEvent, Op, ResolvedEvent, RowEvent
from producer.model.float_text import plain_text
from producer.model.mysql_type import MySQLType
from producer.model.table import ColumnInfo, IndexInfo, TableInfo

T = MySQLType
NOW = "1970-01-01 00:00:00"  # what stands for CURRENT_TIMESTAMP
EXTENDED = DebeziumOptions(enable_tidb_extension=True, output_ddl=True)
ELEMENTS = ("a", "b,c", "it's", 'q"', "é", "%d", "back\\")


def _column(name: str, code: MySQLType, **rest) -> ColumnInfo:
    return ColumnInfo(name=name, type=code, **rest)


# Every type that arrives as it was sent when its SQL type is named.
COLUMNS = (
    _column("id", T.LONGLONG, unsigned=True, nullable=False),
    _column("%d é", T.VARCHAR, charset="utf8mb4"),
    _column('q"\\', T.STRING, length=8),
    _column("txt", T.BLOB, charset="utf8mb4"),
    _column("blob", T.LONG_BLOB),
    _column("f", T.FLOAT),
    _column("D", T.DOUBLE),
    _column("e", T.ENUM, charset="utf8mb4", elements=ELEMENTS),
    _column("s", T.SET, charset="utf8mb4", elements=("x", "y z", "%s")),
    _column("b1", T.BIT, length=1, unsigned=True),
    _column("b9", T.BIT, length=9, unsigned=True),
    _column("d", T.DATE),
    _column("dt", T.DATETIME, decimal=6),
    _column("dt0", T.DATETIME, decimal=0),
    _column("ts", T.TIMESTAMP, decimal=3),
    _column("t", T.DURATION, decimal=6),
    _column("y", T.YEAR, unsigned=True),
    _column("j", T.JSON),
    _column("n", T.TINY),
    _column("m", T.INT24, unsigned=True),
)
KEY = IndexInfo(id=0, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
TABLE = TableInfo(schema="s-1", name="t<%s>", table_id=1, columns=COLUMNS, indexes=(KEY,))


def _numbers(low: int, high: int) -> st.SearchStrategy[bytes]:
    return st.integers(low, high).map(lambda number: b"%d" % number)


def _floats(code: MySQLType, width: int) -> st.SearchStrategy[bytes]:
    floats = st.floats(width=width, allow_nan=False, allow_infinity=False)
    return floats.map(lambda number: plain_text(number, code))


def _moment(moment: datetime, digits: int) -> bytes:
    """Canonical text without trailing zeros in the fraction, of which Debezium keeps no account."""
    kept = moment.replace(microsecond=moment.microsecond // 10 ** (6 - digits) * 10 ** (6 - digits))
    text = kept.isoformat(" ").encode()
    return text.rstrip(b"0") if kept.microsecond else text


def _span(micros: int) -> bytes:
    seconds, rest = divmod(abs(micros), 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    fraction = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{'-' if micros < 0 else ''}{clock}{fraction}".encode()


_TEXT = st.text(max_size=8).map(str.encode) | st.binary(max_size=8)
_DATETIMES = st.datetimes(min_value=datetime(100, 1, 1))
_TIMESTAMPS = st.datetimes(min_value=datetime(1970, 1, 1, 0, 0, 1), max_value=datetime(2038, 1, 19))
_MAX_SPAN = (838 * 3600 + 59 * 60 + 59) * 1_000_000
_NULLABLE = (
    _TEXT,
    st.binary(max_size=8),
    _TEXT,
    st.binary(max_size=8),
    _floats(T.FLOAT, 32),
    _floats(T.DOUBLE, 64),
    _numbers(0, len(ELEMENTS)),
    _numbers(0, 7),
    _numbers(0, 1),
    _numbers(0, 511),
    st.dates(min_value=date(100, 1, 1)).map(lambda day: day.isoformat().encode()),
    _DATETIMES.map(lambda moment: _moment(moment, 6)),
    _DATETIMES.map(lambda moment: _moment(moment, 0)),
    _TIMESTAMPS.map(lambda moment: moment.isoformat(" ", "milliseconds").encode()),
    st.integers(-_MAX_SPAN, _MAX_SPAN).map(_span),
    _numbers(1901, 2155),
    _TEXT,
    _numbers(-128, 127),
    _numbers(0, 2**24 - 1),
)
_IMAGES = st.tuples(_numbers(0, 2**64 - 1), *(st.none() | values for values in _NULLABLE))
_ROWS = st.lists(
    st.tuples(st.sampled_from(Op), st.integers(1, 2**62), _IMAGES, _IMAGES), min_size=1, max_size=12
)


def _batch(rows, width: int = len(COLUMNS)) -> RowBatch:
    old = [before for op, _, before, _ in rows if op != Op.INSERT]
    new = [after for op, _, _, after in rows if op != Op.DELETE]
    return RowBatch(
        op=[op for op, *_ in rows],
        commit_ts=[ts for _, ts, *_ in rows],
        table_id=[1] * len(rows),
        row_id=[0] * len(rows),
        before=[[image[i] for image in old] for i in range(width)],
        after=[[image[i] for image in new] for i in range(width)],
    )


def _sent(table: TableInfo, rows, options: DebeziumOptions):
    encoder = DebeziumEncoder(options)
    return list(encoder.messages(encoder.rows(table, _batch(rows, len(table.columns)))))


@settings(max_examples=120, deadline=None)
@given(_ROWS)
def test_rows_survive_the_round_trip(rows) -> None:
    messages = _sent(TABLE, rows, EXTENDED)
    events = [event for m in messages for event in DebeziumDecoder().events(m.key, m.value)]
    names = [column.name for column in COLUMNS]
    types = [column.type_name for column in COLUMNS]
    assert [(e.commit_ts, e.op, e.schema, e.table) for e in events] == [
        (ts, op, TABLE.schema, TABLE.name) for op, ts, *_ in rows
    ]
    for event, (op, _, before, after) in zip(events, rows, strict=True):
        assert isinstance(event, RowEvent)
        assert [column.type for column in event.columns] == types
        assert event.after == (None if op == Op.DELETE else dict(zip(names, after, strict=True)))
        assert event.before == (None if op == Op.INSERT else dict(zip(names, before, strict=True)))


@settings(deadline=None)
@given(_ROWS)
def test_one_row_at_a_time_gives_the_same_bytes(rows) -> None:
    options = DebeziumOptions(invalid_utf8="replace")
    together = [(m.key, m.value) for m in _sent(TABLE, rows, options)]
    assert together == [(m.key, m.value) for row in rows for m in _sent(TABLE, [row], options)]
    for key, value in together:  # so that any JSON reader takes them
        json.loads((key or b"").decode())
        json.loads((value or b"").decode())


@given(st.text(max_size=9), st.text(max_size=9), st.sets(st.text(max_size=9), min_size=1, max_size=4))
@example("1db", "t.%d", {"payload", "schema"})
def test_any_names_survive_the_round_trip(schema: str, name: str, columns: set[str]) -> None:
    table = TableInfo(
        schema=schema,
        name=name,
        table_id=1,
        columns=tuple(_column(column, T.LONG, nullable=False) for column in sorted(columns)),
        indexes=(KEY,),
    )
    (message,) = _sent(table, [(Op.INSERT, 1, (), (b"7",) * len(columns))], DebeziumOptions())
    (event,) = DebeziumDecoder().events(message.key, message.value)
    assert isinstance(event, RowEvent)
    assert (event.schema, event.table) == (schema, name)
    assert event.after == dict.fromkeys(columns, b"7")
    assert [column.flag for column in event.columns] == [2] + [0] * (len(columns) - 1)


@given(st.text(max_size=60), st.integers(0, 2**63 - 1))
@example("CREATE TABLE `t` (`a` INT", 1)
@example("ALTER TABLE `t` CHANGE COLUMN", 1)
def test_ddl_and_resolved_survive_the_round_trip(query: str, ts: int) -> None:
    query = query.encode("utf-8", "replace").decode()
    ddl = DDLEvent(commit_ts=ts, schema="s", table="t", query=query, ddl_type=3)
    encoder, decoder = DebeziumEncoder(EXTENDED), DebeziumDecoder()
    message = encoder.ddl(ddl, TABLE)
    assert message is not None
    (event,) = decoder.events(message.key, message.value)
    assert event == DDLEvent(commit_ts=ts, schema="s", table="t", query=query, ddl_type=0)
    message = encoder.resolved(ts)
    assert message is not None
    assert list(decoder.events(message.key, message.value)) == [ResolvedEvent(commit_ts=ts)]
    assert DebeziumEncoder().resolved(ts) is None


SMALL = TableInfo(
    schema="s",
    name="t",
    table_id=1,
    columns=(
        _column("id", T.LONG, nullable=False),
        _column("v", T.VARCHAR, charset="utf8mb4"),
        _column("e", T.ENUM, charset="utf8mb4", elements=("x", "y")),
        _column("dt", T.DATETIME, decimal=0),
    ),
    indexes=(KEY,),
)
IMAGE = (b"1", "aé".encode(), b"2", b"2020-01-01 00:00:00")


def _samples(options: DebeziumOptions) -> list[tuple[bytes, bytes]]:
    encoder = DebeziumEncoder(options)
    rows = [(Op.INSERT, 5, IMAGE, IMAGE), (Op.UPDATE, 6, IMAGE, IMAGE), (Op.DELETE, 7, IMAGE, IMAGE)]
    ddl = DDLEvent(commit_ts=8, schema="s", table="t", query="CREATE TABLE `t` (`id` INT)", ddl_type=3)
    messages = [*_sent(SMALL, rows, options), encoder.ddl(ddl, SMALL), encoder.resolved(9)]
    return [(m.key or b"", m.value or b"") for m in messages if m is not None]


@pytest.mark.parametrize("disable_schema", [False, True])
def test_every_truncation_is_a_decode_error(disable_schema: bool) -> None:
    options = DebeziumOptions(enable_tidb_extension=True, output_ddl=True, disable_schema=disable_schema)
    for key, value in _samples(options):
        cuts = [(key[:cut], value) for cut in range(len(key))]
        cuts += [(key, value[:cut]) for cut in range(len(value))]
        for pair in cuts:
            with pytest.raises(DecodeError) as error:
                list(DebeziumDecoder().events(*pair))
            assert 0 <= error.value.byte <= len(pair[error.value.part == "value"])


@pytest.mark.parametrize("flips", [range(8), (255,)])
def test_every_damaged_byte_decodes_or_is_a_decode_error(flips) -> None:
    refused = total = 0
    for key, value in _samples(EXTENDED)[1:2]:
        for part, data in enumerate((key, value)):
            for place, flip in itertools.product(range(len(data)), flips):
                damaged = bytearray(data)
                damaged[place] ^= 255 if flip == 255 else 1 << flip
                pair = (bytes(damaged), value) if part == 0 else (key, bytes(damaged))
                total += 1
                try:
                    list(DebeziumDecoder().events(*pair))
                except DecodeError:
                    refused += 1
    assert refused > total // 4  # the structure is checked, although names that nobody reads are not


@settings(max_examples=300)
@given(st.binary(max_size=80) | st.none(), st.binary(max_size=80) | st.none())
@example(b"{}", b"{}")
@example(b'{"payload":null}', b'{"payload":null}')
@example(None, b'{"payload":{"source":{"commit_ts":1},"op":"c","after":{"a":"\\ud800"}}}')
def test_arbitrary_bytes_decode_or_are_a_decode_error(key: bytes | None, value: bytes | None) -> None:
    with contextlib.suppress(DecodeError):
        list(DebeziumDecoder().events(key, value))


def _message(value: bytes, schema: bytes) -> bytes:
    return (
        b'{"payload":{"source":{"commit_ts":1,"db":"s","table":"t"},"op":"c","after":{"c":%b}},"schema":'
        b'{"fields":[{"field":"after","fields":[{"field":"c","optional":false,%b}]}]}}' % (value, schema)
    )


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (b"1.5", b'"type":"int32"'),
        (b"true", b'"type":"int32"'),
        (b"null", b'"type":"int32"'),
        (b"32768", b'"type":"int16"'),
        (b"128", b'"type":"int16","tidb_type":"tinyint"'),
        (b"-1", b'"type":"int32","tidb_type":"smallint unsigned"'),
        (b"9223372036854775808", b'"type":"int64","tidb_type":"bigint unsigned"'),
        (b"1e39", b'"type":"float"'),
        (b"1e999", b'"type":"double"'),
        (b'"1"', b'"type":"double"'),
        (b"1", b'"type":"boolean"'),
        (b'"YQ="', b'"type":"string","tidb_type":"blob"'),
        (b'"YWI="', b'"type":"bytes","name":"io.debezium.data.Bits","parameters":{"length":"8"}'),
        (b'"/w=="', b'"type":"bytes","name":"io.debezium.data.Bits","parameters":{"length":"7"}'),
        (b'"/w=="', b'"type":"bytes","name":"io.debezium.data.Bits","parameters":{"length":"99"}'),
        (b'"c"', b'"type":"string","name":"io.debezium.data.Enum","parameters":{"allowed":"a,b"}'),
        (b'"a,a"', b'"type":"string","name":"io.debezium.data.EnumSet","parameters":{"allowed":"a,b"}'),
        (b'"a"', b'"type":"string","name":"io.debezium.data.Enum"'),
        (b"99999999999", b'"type":"int32","name":"io.debezium.time.Date"'),
        (b"9223372036854775807", b'"type":"int64","name":"io.debezium.time.Timestamp"'),
        (b"3020400000000", b'"type":"int64","name":"io.debezium.time.MicroTime"'),
        (b'"2020-13-01T00:00:00Z"', b'"type":"string","name":"io.debezium.time.ZonedTimestamp"'),
        (b'"2020-01-01 00:00:00"', b'"type":"string","name":"io.debezium.time.ZonedTimestamp"'),
        (b"2156", b'"type":"int32","name":"io.debezium.time.Year"'),
        (b'"[1,x]"', b'"type":"string","name":"io.debezium.data.TiDBVectorFloat32"'),
        (b"1", b'"type":"geometry"'),
        (b"[1]", b'"type":"int32"'),
        (b"[" * 100_000, b'"type":"int32"'),
        (b"1" * 5_000, b'"type":"int64"'),
        (b'"\xff"', b'"type":"string","tidb_type":"json\xff"'),
    ],
)
def test_a_value_that_does_not_fit_its_type_is_refused(value: bytes, schema: bytes) -> None:
    with pytest.raises(DecodeError):
        list(DebeziumDecoder().events(b'{"payload":{}}', _message(value, schema)))


SOURCE = b'"source":{"commit_ts":1,"db":"s","table":"t"}'


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("place", [b'{"x":%b', b'{"payload":%b', b'{"payload":{},"schema":%b'])
def test_deep_nesting_is_refused(opening: bytes, place: bytes) -> None:
    deep = place % (opening * 200_000)
    for pair in ((deep, None), (None, deep)):
        with pytest.raises(DecodeError):
            list(DebeziumDecoder().events(*pair))


def test_members_after_one_that_ends_with_a_backslash_are_read() -> None:
    table = TableInfo(
        schema="s",
        name="t",
        table_id=1,
        columns=(_column("e", T.ENUM, charset="utf8mb4", elements=("x", "a\\", "b", "x,y")),),
    )
    for index in (b"0", b"1", b"2", b"3"):
        (message,) = _sent(table, [(Op.INSERT, 1, (), (index,))], DebeziumOptions())
        (event,) = DebeziumDecoder().events(message.key, message.value)
        assert isinstance(event, RowEvent)
        assert event.after == {"e": index}


def test_a_list_of_very_many_members_is_read() -> None:
    allowed = b"\\\\," * 200_000 + b"z"  # as JSON: members that end with a backslash
    schema = b'"type":"string","name":"io.debezium.data.Enum","parameters":{"allowed":"%b"}' % allowed
    (event,) = DebeziumDecoder().events(b"{}", _message(b'"z"', schema))
    assert isinstance(event, RowEvent)
    assert event.after == {"c": b"2"}


@pytest.mark.parametrize(
    ("query", "length", "default"),
    [
        (
            "CREATE TABLE `t` (`ts` TIMESTAMP(3) DEFAULT _UTF8MB4'2020-01-01 05:30:00')",
            3,
            "2020-01-01 05:30:00",
        ),
        (
            "CREATE TABLE IF NOT EXISTS `t` (`a` INT,`ts` TIMESTAMP DEFAULT CURRENT_TIMESTAMP())",
            None,
            NOW,
        ),
        ("ALTER TABLE `t` ADD COLUMN (`x` INT, `ts` TIMESTAMP NULL DEFAULT NULL)", None, None),
        ("ALTER TABLE `t` CHANGE COLUMN `old` `ts` TIMESTAMP(1), ADD INDEX(`ts`)", 1, "2020-01-01 00:00:00"),
        ("ALTER TABLE `ts` DROP COLUMN `x`", 3, "2020-01-01 00:00:00"),
        ("ALTER TABLE `t` COMMENT = '(`ts` TIMESTAMP(6) DEFAULT NULL)'", 3, "2020-01-01 00:00:00"),
    ],
)
def test_the_query_says_more_of_a_column_than_its_table(query: str, length, default) -> None:
    column = _column("ts", T.TIMESTAMP, decimal=3, default=b"2020-01-01 00:00:00", comment="c")
    table = TableInfo(schema="s", name="t", table_id=1, columns=(column,))
    ddl = DDLEvent(commit_ts=1, schema="s", table="t", query=query, ddl_type=5)
    message = DebeziumEncoder(EXTENDED).ddl(ddl, table)
    assert message is not None
    (shown,) = json.loads(message.value or b"")["payload"]["tableChanges"][0]["table"]["columns"]
    assert (shown["length"], shown["defaultValueExpression"]) == (length, default)


def test_a_ddl_without_its_table_is_sent_without_columns() -> None:
    ddl = DDLEvent(commit_ts=1, schema="s", table="t", query="CREATE TABLE `t` (`id` INT)", ddl_type=3)
    message = DebeziumEncoder(DebeziumOptions(output_ddl=True)).ddl(ddl)
    assert message is not None
    assert message.value is not None
    changes = json.loads(message.value)["payload"]["tableChanges"]
    assert changes == [{"type": "CREATE", "id": '"s"."t"', "table": None}]


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        (None, None, "DEBEZIUM-EMPTY"),
        (b"", b"{}", "DEBEZIUM-JSON"),
        (b"[]", b"{}", "DEBEZIUM-FORM"),
        (None, b"{}", "DEBEZIUM-FORM"),
        (None, b'{"source":{"commit_ts":-1},"op":"m"}', "DEBEZIUM-SOURCE"),
        (None, b"{%b}" % SOURCE, "DEBEZIUM-OP"),
        (None, b'{%b,"op":"t"}' % SOURCE, "DEBEZIUM-OP"),
        (b'{"a":1}', b'{%b,"op":"m"}' % SOURCE, "DEBEZIUM-KEY"),
        (b'{"a":1}', b'{%b,"op":"c","after":{"a":2}}' % SOURCE, "DEBEZIUM-KEY"),
        (b'{"databaseName":"x"}', b'{%b,"databaseName":"s","ddl":""}' % SOURCE, "DEBEZIUM-KEY"),
        (None, b'{%b,"op":"c","after":{}}' % SOURCE, "DEBEZIUM-ROW"),
        (None, b'{%b,"op":"d","after":{"a":1}}' % SOURCE, "DEBEZIUM-ROW"),
        (None, b'{%b,"op":"u","before":{"b":1},"after":{"a":1}}' % SOURCE, "DEBEZIUM-ROW"),
        (None, b'{"payload":{%b,"op":"c","after":{"a":1}},"schema":{}}' % SOURCE, "DEBEZIUM-SCHEMA"),
        (None, b'{"payload":{%b,"op":"c","after":{"\xff":1}}}' % SOURCE, "DEBEZIUM-SOURCE"),
    ],
)
def test_each_broken_rule_has_its_code(key: bytes | None, value: bytes | None, code: str) -> None:
    with pytest.raises(DecodeError) as error:
        list(DebeziumDecoder().events(key, value))
    assert error.value.code == code


def test_a_tombstone_holds_no_event() -> None:
    assert list(DebeziumDecoder().events(b'{"payload":{"id":1}}', None)) == []


def test_payloads_without_a_wrapper_are_read() -> None:
    value = b'{"after":{"id":1},"op":"c",%b,"more":[{}]}' % SOURCE
    (event,) = DebeziumDecoder().events(b'{"id":1}', value)
    assert isinstance(event, RowEvent)
    assert event.after == {"id": b"1"}
    assert [(column.type, column.flag) for column in event.columns] == [("", 2)]


def test_a_refused_date_stops_its_row_alone() -> None:
    bad = (*IMAGE[:3], b"2021-00-01 00:00:00")
    encoder = DebeziumEncoder()
    rows = encoder.rows(SMALL, _batch([(Op.INSERT, 5, IMAGE, IMAGE), (Op.UPDATE, 6, bad, IMAGE)], 4))
    assert [row.refusal is None for row in rows] == [True, False]
    with pytest.raises(EncodeError, match="Incorrect datetime value: '2021-00-01'"):
        list(encoder.messages(rows))
    blind = DebeziumEncoder(DebeziumOptions(output_old_value=False))
    assert blind.rows(SMALL, _batch([(Op.UPDATE, 6, bad, IMAGE)], 4))[0].refusal is None


@pytest.mark.parametrize(
    ("zone", "local", "utc"),
    [
        ("Asia/Tokyo", b"2020-01-01 09:00:00.5", b"2020-01-01T00:00:00.5Z"),
        ("+05:30", b"2020-01-01 00:00:00.0", b"2019-12-31T18:30:00.0Z"),
        ("America/New_York", b"2020-11-01 00:30:00.0", b"2020-11-01T04:30:00.0Z"),
    ],
)
def test_timestamps_stand_in_the_changefeeds_zone(zone: str, local: bytes, utc: bytes) -> None:
    table = TableInfo(
        schema="s", name="t", table_id=1, columns=(_column("ts", T.TIMESTAMP, decimal=1),)
    )  # fmt: skip
    (message,) = _sent(table, [(Op.INSERT, 1, (), (local,))], DebeziumOptions(time_zone=zone))
    assert message.key is not None
    assert message.value is not None
    assert b'"after":{"ts":"%b"}' % utc in message.value
    (event,) = DebeziumDecoder(time_zone=zone).events(message.key, message.value)
    assert isinstance(event, RowEvent)
    assert event.after == {"ts": local}


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(ChangefeedError):
        DebeziumDecoder(time_zone="Mars/Olympus")


def test_build_time_is_the_commits_unless_given() -> None:
    row = (Op.INSERT, 1_700_000_000_123 << 18, IMAGE, IMAGE)
    (message,) = _sent(SMALL, [row], DebeziumOptions())
    assert b'},"ts_ms":1700000000123,' in (message.value or b"")
    (message,) = _sent(SMALL, [row], DebeziumOptions(build_ts_ms=7))
    assert b'},"ts_ms":7,' in (message.value or b"")
