"""Two values have one typed form only if the comparison of rows treats them as equal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.consumer_state.test_canonical_values import OTHER, SAME, column
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import TYPES
from ticdc_producer.model.mysql_type import MySQLType as T
from ticdc_producer.verifier.consumer_state.canonical_value import (
    UNREADABLE,
    actual_reader,
    expected_reader,
)
from ticdc_producer.verifier.consumer_state.row_sums import row_sums
from ticdc_producer.verifier.consumer_state.typed_columns import typed_texts, typed_values

ZONES: Sequence[tzinfo] = (UTC, ZoneInfo("Asia/Tokyo"))
COLUMNS = [
    *(column(kind, unsigned=unsigned) for kind in (T.TINY, T.LONG, T.LONGLONG) for unsigned in (False, True)),
    column(T.YEAR, unsigned=True), column(T.BIT, length=64, unsigned=True),
    column(T.NEW_DECIMAL, length=12, decimal=2), column(T.NEW_DECIMAL, length=38, decimal=0),
    column(T.NEW_DECIMAL, length=65, decimal=30),
    column(T.FLOAT), column(T.DOUBLE),
    column(T.DATE),
    *(column(kind, decimal=digits) for kind in (T.DATETIME, T.TIMESTAMP) for digits in (0, 2, 6)),
    column(T.DURATION, decimal=0), column(T.DURATION, decimal=6),
    column(T.ENUM, elements=("small", "large", "1"), charset="utf8mb4"),
    column(T.SET, elements=("new", "used", "1"), charset="utf8mb4"),
    column(T.VARCHAR), column(T.VARCHAR, charset="binary"), column(T.STRING), column(T.BLOB,
    charset="binary"),
    column(T.JSON), column(T.VECTOR_FLOAT32),
]  # fmt: skip
TIME = datetime(2021, 12, 20, 13, 30, 49)
TEXTS = [
    "", "0", "1", "01", "1.0", "1.50", "1.5", "-1", "+1", " 1", "1 ", "0x1", "1e0", "-0", "-0.00",
    "150", "1,50",
    "2021", "2021-12-20", "2021-12-20 00:00:00", "2021-12-20 13:30", "2021-12-20 13:30:49",
    "2021-12-20T13:30:49", "2021-12-20 13:30:49.12", "2021-12-20 13:30:49.120000", "2021-12-20 13:30:49+00",
    "2021-12-20 13:30:49Z", "0000-00-00", "0000-00-00 00:00:00", "13:30:49", "9:05:00", "09:05:00",
    "09:05:00.000000", "-00:00:01", "small", "large", "Small", "new,used", "used,new", "null", "true",
    '{"a": 1}', '{"a":1.0}', "[1, 2]", "[1,2]", "inf", "NaN", "18446744073709551615", "９",
]  # fmt: skip
ARRAYS = [
    *(pa.array([text]) for text in TEXTS),
    *(pa.array([text.encode()]) for text in TEXTS),
    *(pa.array([value], kind) for kind in (pa.int8(), pa.int64(), pa.uint64()) for value in (0, 1, 3, 100)),
    pa.array([-1], pa.int32()), pa.array([2**64 - 1], pa.uint64()), pa.array([2021], pa.int16()),
    pa.array([True]), pa.array([False]), pa.array([b"\xff" * 8]), pa.array([b"\xff\x00"]),
    pa.array([b"\x01"]),
    pa.array([1.0]), pa.array([1.5]), pa.array([0.0]), pa.array([-0.0]), pa.array([123.99], pa.float32()),
    pa.array([123.99]), pa.array([float("nan")]), pa.array([1e300]), pa.array([float("inf")]),
    pa.array([2.0**200]), pa.array([str(2**200)]),
    pa.array([Decimal("1.50")]), pa.array([Decimal("1.5")]), pa.array([Decimal(1)]),
    pa.array([Decimal("-1.00")]),
    pa.array([Decimal("1.501")]), pa.array([Decimal(2**64 - 1)]), pa.array([Decimal(1)],
    pa.decimal256(65, 30)),
    pa.array([date(2021, 12, 20)]), pa.array([TIME]), pa.array([TIME], pa.timestamp("ns")),
    pa.array([TIME], pa.timestamp("ms")), pa.array([TIME.replace(microsecond=120_000)]),
    pa.array([TIME.replace(tzinfo=UTC)]), pa.array([TIME.replace(tzinfo=UTC)], pa.timestamp("us",
    "Asia/Tokyo")),
    pa.array([datetime(2021, 12, 20)]), pa.array([timedelta(hours=9, minutes=5)]),
    pa.array([timedelta(seconds=-1)]), pa.array(["small"]).dictionary_encode(),
    pa.array([["used", "new"]]), pa.array([{"a": 1}]), pa.array([[1.0, 2.0]]),
]  # fmt: skip


def digest_of(typed: Callable[[], pa.Array]) -> int | None:
    """The digest of one value; None if it has no typed form."""
    try:
        return row_sums([typed()], 1).hash
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # as ``typed_values`` says that there is none
        return None


def is_stored(kind: ColumnInfo, text: bytes) -> bool:
    """Whether a column can have a canonical text."""
    form = TYPES[kind.type].form
    if text.startswith(UNREADABLE) or not form:
        return not text.startswith(UNREADABLE)
    digits = len(text.partition(b".")[2])
    has_digits = kind.type == T.VECTOR_FLOAT32 or digits == max(kind.decimal, 0)
    return has_digits and re.fullmatch(form.pattern, text.decode()) is not None


def check_digests(kind: ColumnInfo, arrays: Sequence[pa.Array], zone: tzinfo) -> int:
    """Check that a value with the digest of an expected text is compared as equal to it.

    The expected texts are those canonical texts of the values that a column of the type can have.

    :return: number of the arrays that have a digest.
    """
    values = [actual_reader(kind, zone, Fidelity())(array[0].as_py()) for array in arrays]
    expected: dict[int, bytes] = {}
    for value in values:
        if value is not None and is_stored(kind, value):
            digest = digest_of(lambda text=value: typed_texts(kind, pa.array([text], pa.binary())))
            if digest is not None:
                assert expected.setdefault(digest, value) == value, (kind, value)
    digests = [digest_of(lambda array=array: typed_values(kind, array, zone)) for array in arrays]
    for array, value, digest in zip(arrays, values, digests, strict=True):
        assert digest not in expected or expected[digest] == value, (kind, array)
    return len(digests) - digests.count(None)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("kind", COLUMNS)
def test_one_digest_is_one_value(kind: ColumnInfo, zone: tzinfo) -> None:
    assert check_digests(kind, ARRAYS, zone) > 0


VALUES: Sequence[st.SearchStrategy[Any]] = [
    st.integers(-(2**63), 2**63 - 1), st.integers(0, 300), st.floats(),
    st.integers(-(10**20), 10**20).map(lambda cents: Decimal(cents).scaleb(-2)),
    st.datetimes(), st.datetimes(timezones=st.just(UTC)), st.dates(), st.text(), st.binary(),
    st.from_regex(r"-?\d{1,4}(\.\d{0,3})?", fullmatch=True),
    st.from_regex(r"\d{4}-0[1-9]-[012]\d[ T][01]\d:[0-5]\d(:[0-5]\d(\.\d{1,6})?)?", fullmatch=True),
]  # fmt: skip


@given(st.data())
def test_one_digest_of_random_values_is_one_value(data: st.DataObject) -> None:
    kind, zone = data.draw(st.sampled_from(COLUMNS)), data.draw(st.sampled_from(ZONES))
    values = data.draw(st.lists(st.one_of(VALUES), min_size=2, max_size=10))
    arrays = [array for value in values for array in forms_of(value)]
    check_digests(kind, arrays, zone)


def forms_of(value: object) -> list[pa.Array]:
    """A value, and its text, as arrays; no array for a value that Arrow cannot have."""
    arrays = []
    for form in (value, str(value)):
        try:
            arrays.append(pa.array([form]))
        except (pa.ArrowInvalid, UnicodeEncodeError, OverflowError, TypeError):
            continue
    return arrays


def test_equal_values_have_the_digest_of_the_expected_text() -> None:
    """The usual forms of each type are decided without the rows."""
    usual: list[tuple[ColumnInfo, str, pa.Array]] = [
        (column(T.LONG), "5", pa.array([5], pa.int32())), (column(T.LONG), "5", pa.array([Decimal(5)])),
        (column(T.LONG), "5", pa.array(["5"])), (column(T.TINY), "1", pa.array([True])),
        (column(T.LONGLONG, unsigned=True), str(2**64 - 1), pa.array([2**64 - 1], pa.uint64())),
        (column(T.LONGLONG, unsigned=True), str(2**64 - 1), pa.array([Decimal(2**64 - 1)])),
        (column(T.LONGLONG, unsigned=True), str(2**64 - 1), pa.array([str(2**64 - 1)])),
        (column(T.NEW_DECIMAL, length=12, decimal=2), "-1.50", pa.array([Decimal("-1.5")])),
        (column(T.NEW_DECIMAL, length=12, decimal=2), "-1.50", pa.array(["-1.5"])),
        (column(T.NEW_DECIMAL, length=12, decimal=2), "1.50", pa.array([1.5])),
        (column(T.NEW_DECIMAL, length=12, decimal=2), "1.00", pa.array([1])),
        (column(T.NEW_DECIMAL, length=30, decimal=2), "1.50", pa.array([Decimal("1.5")])),
        (column(T.NEW_DECIMAL, length=65, decimal=2), "1.50", pa.array([Decimal("1.5")],
        pa.decimal256(65, 1))),
        (column(T.FLOAT), "123.99", pa.array([123.99], pa.float32())), (column(T.FLOAT), "0.1",
        pa.array([0.1])),
        (column(T.DOUBLE), "0.1", pa.array(["0.10"])), (column(T.YEAR, unsigned=True), "2021",
        pa.array([2021])),
        (column(T.BIT, length=9, unsigned=True), "511", pa.array([b"\x01\xff"])),
        (column(T.ENUM, elements=("a", "b")), "2", pa.array(["b"])),
        (column(T.ENUM, elements=("a", "b")), "2", pa.array([2])),
        (column(T.SET, elements=("a", "b")), "3", pa.array(["b,a"])),
        (column(T.DATE), "2021-12-20", pa.array([date(2021, 12, 20)])),
        (column(T.DATE), "2021-12-20", pa.array([datetime(2021, 12, 20)])),
        (column(T.DATETIME, decimal=2), "2021-12-20 13:30:49.00", pa.array([TIME])),
        (column(T.DATETIME, decimal=2), "2021-12-20 13:30:49.00", pa.array(["2021-12-20T13:30:49Z"])),
        (column(T.TIMESTAMP, decimal=0), "2021-12-20 22:30:49", pa.array([TIME.replace(tzinfo=UTC)])),
        (column(T.DURATION, decimal=0), "09:05:00", pa.array([timedelta(hours=9, minutes=5)])),
        (column(T.STRING), "ab", pa.array(["ab  "])), (column(T.VARCHAR), "ab", pa.array([b"ab"])),
        (column(T.VARCHAR), "ab", pa.array(["ab"]).dictionary_encode()),
        (column(T.JSON), '{"a": 1}', pa.array(['{"a": 1}'])),
        (column(T.VECTOR_FLOAT32), "[1,2]", pa.array(["[1,2]"])),
    ]  # fmt: skip
    for kind, text, array in usual:
        expected = typed_texts(kind, pa.array([text.encode()], pa.binary()))
        assert typed_values(kind, array, ZoneInfo("Asia/Tokyo")).equals(expected), (kind, array)


@pytest.mark.parametrize(("kind", "expected", "actual"), [*SAME, *OTHER])
def test_a_digest_agrees_with_the_comparison(
    kind: ColumnInfo, expected: str | bytes | None, actual: Any
) -> None:
    """The values whose comparison has tests of its own."""
    zone, text = ZoneInfo("Asia/Tokyo"), expected.encode() if isinstance(expected, str) else expected
    equal = expected_reader(kind, Fidelity())(text) == actual_reader(kind, zone, Fidelity())(actual)
    wanted = digest_of(lambda: typed_texts(kind, pa.array([text], pa.binary())))
    digests = [
        digest_of(lambda array=array: typed_values(kind, array, zone)) for array in forms_of(actual)[:1]
    ]
    assert equal or wanted is None or wanted not in digests
