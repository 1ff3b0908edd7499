"""The text of Canal-JSON: escaping, bytes, type texts and type codes."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from tests.protocols.encoding import messages_of
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Op
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Renderer, concat, quoted
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.canal_json.plan import JSON_STRINGS, bare_type, full_type, latin1_strings

T = MySQLType
SEED_BYTES = bytes((5, 7, 10, 15, 36, 50, 43, 99, 120, 60, 38, 255, 254, 45, 55, 70))


def printed(render: Renderer, values: list[bytes | None]) -> list[bytes]:
    """The values of a column as in messages."""
    return list(concat(render(pa.array(values, pa.binary())), len(values)).to_pylist())


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
    assert printed(JSON_STRINGS.literals, [text]) == [literal]
    assert printed(JSON_STRINGS.literals, [None, text, b"<x", text]) == [
        b"null",
        literal,
        b'"\\u003cx"',
        literal,
    ]


def test_all_control_characters_except_three_have_the_long_form() -> None:
    short = {9: b'"\\t"', 10: b'"\\n"', 13: b'"\\r"'}
    assert printed(JSON_STRINGS.literals, [bytes((code,)) for code in range(0x20)]) == [
        short.get(code, b'"\\u%04x"' % code) for code in range(0x20)
    ]


def test_bytes_are_the_characters_of_their_numbers() -> None:
    assert printed(latin1_strings, [SEED_BYTES]) == [
        '"\\u0005\\u0007\\n\\u000f$2+cx\\u003c\\u0026ÿþ-7F"'.encode()
    ]
    every = bytes(range(256))
    assert json.loads(printed(latin1_strings, [every])[0]).encode("latin-1") == every


def test_a_column_may_be_empty_or_null_throughout() -> None:
    for render in (JSON_STRINGS.literals, latin1_strings, quoted):
        assert printed(render, []) == []
        assert printed(render, [None, None]) == [b"null", b"null"]


def _column(code: MySQLType, **attributes: object) -> ColumnInfo:
    return ColumnInfo(name="c", type=code, **attributes)


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
    changes = [(Op.INSERT, 0, (), (value,)) for value in values]
    rows = [json.loads(message.value or b"") for message in messages_of(CanalJSONEncoder(), table, changes)]
    assert [row["sqlType"] for row in rows] == [{"c": below}, {"c": above}, {"c": below}, {"c": below}]
