"""What Canal-JSON's decoder rejects, with which error code, and at what cost."""

from __future__ import annotations

import contextlib
import tracemalloc

import pytest

from tests.protocols.canal_json_messages import row_message
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import RowEvent
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
from ticdc_producer.protocols.canal_json.envelope import codes_of


def _typed(mysql_type: str, value: object, code: int | None = None) -> bytes:
    """Return a row whose second column has a type, and its code in ``sqlType`` unless one is given."""
    try:
        code = codes_of(mysql_type)[0] if code is None else code
    except BadValue:
        code = 12
    types = {"id": "int", "v": mysql_type}
    return row_message(sqlType={"id": 4, "v": code}, mysqlType=types, data=[{"id": "1", "v": value}])


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (b"", "CANAL-JSON"),
        (b"{", "CANAL-JSON"),
        (row_message() + b"x", "CANAL-JSON"),
        (row_message() + b"{", "CANAL-JSON"),
        (row_message() + b"{}", "CANAL-JSON"),
        (row_message() + row_message(), "CANAL-JSON"),
        (row_message().replace(b'"a"', b'"\xff"'), "CANAL-JSON"),
        (row_message().replace(b'"a"', b'"\\ud800"'), "CANAL-JSON"),
        (b'{"x":' + b"[" * 100_000, "CANAL-JSON"),
        (b'{"x":' + b'{"a":' * 100_000, "CANAL-JSON"),
        (b"[]", "CANAL-MEMBER"),
        (row_message(database=...), "CANAL-MEMBER"),
        (row_message(isDdl=...), "CANAL-MEMBER"),
        (row_message(isDdl="false"), "CANAL-MEMBER"),
        (row_message(es=-1), "CANAL-MEMBER"),
        (row_message(es=1 << 45), "CANAL-MEMBER"),
        (row_message(_tidb={"commitTs": 1 << 63}), "CANAL-MEMBER"),
        (row_message(_tidb={"commitTs": 1.0}), "CANAL-MEMBER"),
        (row_message(es=1, _tidb={"commitTs": 5 << 18}), "CANAL-TIME"),
        (row_message(type="TIDB_WATERMARK", es=1, _tidb={"watermarkTs": 5 << 18}), "CANAL-TIME"),
        (_typed("int", 1), "CANAL-MEMBER"),
        (row_message(type="UPSERT"), "CANAL-TYPE"),
        (row_message(type="CREATE"), "CANAL-TYPE"),
        (row_message(isDdl=True), "CANAL-TYPE"),
        (row_message(type="TIDB_WATERMARK"), "CANAL-WATERMARK"),
        (row_message(type="TIDB_WATERMARK", _tidb={"commitTs": 5}), "CANAL-WATERMARK"),
        (row_message(data=None), "CANAL-ROW-EMPTY"),
        (row_message(data=[]), "CANAL-ROW-EMPTY"),
        (row_message(old=[{"v": "b"}]), "CANAL-OLD"),
        (row_message(type="UPDATE"), "CANAL-OLD"),
        (row_message(type="UPDATE", old=[None]), "CANAL-OLD"),
        (row_message(type="DELETE", old=[None]), "CANAL-OLD"),
        (row_message(old=[None, None]), "CANAL-OLD"),
        (row_message(type="UPDATE", old=[{"v": "b"}] * 2), "CANAL-OLD"),
        (row_message(type="DELETE", old=[{"id": "2", "v": "a"}]), "CANAL-OLD"),
        (row_message(type="UPDATE", old=[{"w": "b"}]), "CANAL-COLUMN"),
        (row_message(data=[{"id": "1"}]), "CANAL-COLUMN"),
        (row_message(mysqlType=None), "CANAL-COLUMN"),
        (row_message(sqlType={"id": 4}), "CANAL-COLUMN"),
        (row_message(pkNames=["id", "x"]), "CANAL-COLUMN"),
        (_typed("number", "1"), "CANAL-MYSQL-TYPE"),
        (_typed("int(x)", "1"), "CANAL-MYSQL-TYPE"),
        (_typed("", "1"), "CANAL-MYSQL-TYPE"),
        (_typed("enum(1)", "1"), "CANAL-MYSQL-TYPE"),
        (_typed("bigint", "1", 12), "CANAL-SQL-TYPE"),
        (_typed("int", "1", -5), "CANAL-SQL-TYPE"),
        (_typed("blob", "a", 2005), "CANAL-SQL-TYPE"),
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
        (row_message(_tidb={"rowkey": "?"}), "CANAL-ROWKEY"),
        (row_message(_tidb={"rowkey": "AAAA"}), "CANAL-ROWKEY"),
    ],
)
def test_each_broken_rule_has_its_code(value: bytes, code: str) -> None:
    with pytest.raises(DecodeError) as error:
        list(CanalJSONDecoder().events(None, value))
    assert error.value.code == code
    assert error.value.part == "value"
    assert 0 <= error.value.byte <= len(value)


@pytest.mark.parametrize(("value", "code"), [("1", 4), ("4294967295", -5)])
def test_a_large_unsigned_integer_has_the_code_of_the_next_type(value: str, code: int) -> None:
    [event] = CanalJSONDecoder().events(None, _typed("int unsigned", value, code))
    assert isinstance(event, RowEvent)
    assert event.after == {"id": b"1", "v": value.encode()}


def test_an_error_contains_the_offset_of_the_bad_byte() -> None:
    with pytest.raises(DecodeError) as error:
        list(CanalJSONDecoder().events(None, row_message().replace(b'"a"', b'"\xff"')))
    assert error.value.byte == row_message().index(b'"a"') + 1


HOSTILE = {
    "names": row_message(pkNames=[f"n{i}" for i in range(100_000)]),
    "columns": row_message(
        pkNames=[f"n{i}" for i in range(50_000)],
        sqlType=None,
        mysqlType={f"n{i}": "int" for i in range(50_000)},
        data=[{f"n{i}": "1" for i in range(50_000)}],
    ),
    "rows": row_message(data=[{"id": "1", "v": ""}] * 50_000),
    "objects": row_message() * 20_000,
    "type": _typed("enum('" + "','" * 500_000 + "')", "1"),
    "parameters": _typed("int(" * 300_000, "1"),
    "digits": _typed("double", "1" * 1_000_000),
    "braces": row_message() + b"{" * 1_000_000,
    "spaces": b" " * 1_000_000,
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_sizes_cost_no_more_than_their_bytes(value: bytes) -> None:
    """A decoder with quadratic cost would take hours."""
    tracemalloc.start()
    try:
        with contextlib.suppress(DecodeError):
            for _ in CanalJSONDecoder().events(None, value):
                pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 40 * len(value) + 1_000_000
