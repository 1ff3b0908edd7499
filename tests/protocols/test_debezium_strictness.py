"""Anything that is not a Debezium message is a decode error, and is detected quickly."""

from __future__ import annotations

import contextlib
import itertools
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.protocols.debezium_tables import EXTENDED, samples
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import RowEvent
from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder
from ticdc_producer.protocols.debezium.envelope import watermark_schema
from ticdc_producer.protocols.row_options import DebeziumOptions


@pytest.mark.parametrize("disable_schema", [False, True])
def test_every_truncation_is_a_decode_error(disable_schema: bool) -> None:
    options = DebeziumOptions(
        enable_tidb_extension=True, output_ddl=True, debezium_disable_schema=disable_schema
    )
    for key, value in samples(options):
        cuts = [(key[:cut], value) for cut in range(len(key))]
        cuts += [(key, value[:cut]) for cut in range(len(value))]
        for pair in cuts:
            with pytest.raises(DecodeError) as error:
                list(DebeziumDecoder().events(*pair))
            assert 0 <= error.value.byte <= len(pair[error.value.part == "value"])


@pytest.mark.parametrize("flips", [range(8), (255,)])
def test_every_damaged_byte_decodes_or_is_a_decode_error(flips) -> None:
    rejected = total = 0
    for key, value in samples(EXTENDED)[1:2]:
        for part, data in enumerate((key, value)):
            for index, flip in itertools.product(range(len(data)), flips):
                damaged = bytearray(data)
                damaged[index] ^= 255 if flip == 255 else 1 << flip
                pair = (bytes(damaged), value) if part == 0 else (key, bytes(damaged))
                total += 1
                try:
                    list(DebeziumDecoder().events(*pair))
                except DecodeError:
                    rejected += 1
    assert rejected > total // 4  # the structure is checked, but not the names of unknown members


@settings(max_examples=3 * settings().max_examples)
@given(st.binary(max_size=80) | st.none(), st.binary(max_size=80) | st.none())
@example(b"{}", b"{}")
@example(b'{"payload":null}', b'{"payload":null}')
@example(None, b'{"payload":{"source":{"commit_ts":1},"op":"c","after":{"a":"\\ud800"}}}')
def test_arbitrary_bytes_decode_or_are_a_decode_error(key: bytes | None, value: bytes | None) -> None:
    with contextlib.suppress(DecodeError):
        list(DebeziumDecoder().events(key, value))


SOURCE = (
    b'"ts_ms":1,"source":{"version":"2.4.0.Final","connector":"TiCDC","name":"c","ts_ms":0,"snapshot":"false",'
    b'"db":"s","table":"t","server_id":0,"gtid":null,"file":"","pos":0,"row":0,"thread":0,"query":null,'
    b'"commit_ts":1,"cluster_id":"c"}'
)
_COMMON = json.loads(watermark_schema("c.s.t", DebeziumOptions()))["fields"]


def _message(
    value: bytes, schema: bytes, envelope: bytes = b"c.s.t.Envelope", op: bytes = b"string"
) -> bytes:
    """Return an insert of a row with one column.

    :param schema: the members of the column's schema besides its name.
    :param envelope: name of the envelope.
    :param op: type of the member ``op``.
    """
    image = (
        b'{"type":"struct","name":"c.s.t.Value","field":"%b","fields":[{"field":"c","optional":false,%b}]}'
    )
    common = [
        json.dumps(entry | {"type": op.decode()} if entry["field"] == "op" else entry) for entry in _COMMON
    ]
    members = [image % (b"before", schema), image % (b"after", schema), *map(str.encode, common)]
    return (
        b'{"payload":{%b,"op":"c","after":{"c":%b}},"schema":{"type":"struct","name":"%b","fields":[%b]}}'
        % (SOURCE, value, envelope, b",".join(members))
    )


INT = b'"type":"int32"'


def _key(schema: bytes, name: bytes = b"c.s.t.Key", field: bytes = b"c") -> bytes:
    return (
        b'{"payload":{"c":1},"schema":{"type":"struct","name":"%b","optional":false,'
        b'"fields":[{"field":"%b","optional":false,%b}]}}' % (name, field, schema)
    )


def test_a_message_with_its_schemas_is_read() -> None:
    (event,) = DebeziumDecoder().events(_key(INT), _message(b"1", INT))
    assert isinstance(event, RowEvent)
    assert event.after == {"c": b"1"}


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        (b'{"payload":{"c":1}}', _message(b"1", INT), "DEBEZIUM-KEY"),
        (
            _key(INT),
            b'{%b,"op":"c","after":{"c":1}}' % SOURCE,
            "DEBEZIUM-KEY",
        ),
        (_key(b'"type":"int64"'), _message(b"1", INT), "DEBEZIUM-KEY"),
        (_key(INT, name=b"c.s.u.Key"), _message(b"1", INT), "DEBEZIUM-KEY"),
        (_key(INT, field=b"d"), _message(b"1", INT), "DEBEZIUM-KEY"),
        (_key(INT), _message(b"1", INT, envelope=b"c.s.t.Row"), "DEBEZIUM-SCHEMA"),
        (_key(INT), _message(b"1", INT, envelope=b"c.s.u.Envelope"), "DEBEZIUM-SCHEMA"),
        (_key(INT), _message(b"1", INT, op=b"int32"), "DEBEZIUM-SCHEMA"),
    ],
)
def test_schemas_that_contradict_each_other_are_refused(key: bytes, value: bytes, code: str) -> None:
    with pytest.raises(DecodeError) as error:
        list(DebeziumDecoder().events(key, value))
    assert error.value.code == code


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
        list(DebeziumDecoder().events(None, _message(value, schema)))


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("template", [b'{"x":%b', b'{"payload":%b', b'{"payload":{},"schema":%b'])
def test_deep_nesting_is_refused(opening: bytes, template: bytes) -> None:
    deep = template % (opening * 200_000)
    for pair in ((deep, None), (None, deep)):
        with pytest.raises(DecodeError):
            list(DebeziumDecoder().events(*pair))


def test_a_very_long_list_of_members_is_read() -> None:
    allowed = b"\\\\," * 200_000 + b"z"  # as JSON: members that end with a backslash
    schema = b'"type":"string","name":"io.debezium.data.Enum","parameters":{"allowed":"%b"}' % allowed
    (event,) = DebeziumDecoder().events(None, _message(b'"z"', schema))
    assert isinstance(event, RowEvent)
    assert event.after == {"c": b"2"}


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        (b"", b"{}", "DEBEZIUM-JSON"),
        (b"[]", b"{}", "DEBEZIUM-FORM"),
        (None, b"{}", "DEBEZIUM-FORM"),
        (None, b'{%b,"op":"m"}' % SOURCE.replace(b'"commit_ts":1', b'"commit_ts":-1'), "DEBEZIUM-SOURCE"),
        (None, b"{%b}" % SOURCE, "DEBEZIUM-OP"),
        (None, b'{%b,"op":"t"}' % SOURCE, "DEBEZIUM-OP"),
        (b'{"a":1}', b'{%b,"op":"m"}' % SOURCE, "DEBEZIUM-KEY"),
        (b'{"a":1}', b'{%b,"op":"c","after":{"a":2}}' % SOURCE, "DEBEZIUM-KEY"),
        (
            b'{"databaseName":"x"}',
            b'{%b,"databaseName":"s","ddl":"","tableChanges":[]}' % SOURCE,
            "DEBEZIUM-KEY",
        ),
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


def test_a_tombstone_has_no_event() -> None:
    assert list(DebeziumDecoder().events(b'{"payload":{"id":1}}', None)) == []
    assert list(DebeziumDecoder().events(None, None)) == []


def test_payloads_without_a_wrapper_are_read() -> None:
    value = b'{"after":{"id":1},"op":"c",%b}' % SOURCE
    (event,) = DebeziumDecoder().events(b'{"id":1}', value)
    assert isinstance(event, RowEvent)
    assert event.after == {"id": b"1"}
    assert [(column.type, column.flag) for column in event.columns] == [("", 2)]
