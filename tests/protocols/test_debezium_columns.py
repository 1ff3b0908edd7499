"""A value is encoded the same in a column and on its own."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ticdc_producer.model.event import Value
from ticdc_producer.model.values.temporal_text import zone_of
from ticdc_producer.protocols.arrow_text import NULL, Fragments, concat
from ticdc_producer.protocols.debezium import temporal
from ticdc_producer.protocols.debezium import values as rendered

DATES = st.dates().map(str) | st.sampled_from(
    ["0000-00-00", "0000-01-01", "0069-12-31", "0070-01-01", "0099-02-29", "0100-01-01", "9999-12-31"]
)
IMPOSSIBLE = st.sampled_from(["2021-00-01", "2021-01-00", "2021-02-29", "0000-00-01"])
CLOCKS = st.times().map(lambda time: time.isoformat("microseconds"))


def _columns(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[Value]]:
    return st.lists(st.none() | texts.map(str.encode), max_size=8)


def _datetimes(dates: st.SearchStrategy[str], fsp: int) -> st.SearchStrategy[str]:
    cut = len(".000000") if fsp == 0 else 6 - fsp
    return st.builds(lambda day, clock: f"{day} {clock[: len(clock) - cut]}", dates, CLOCKS)


def _holds(column: Fragments, values: Sequence[Value], encode: Callable[[bytes], bytes]) -> None:
    expected = [NULL if value is None else encode(value) for value in values]
    assert concat(column, len(values)).to_pylist() == expected


def _array(values: Sequence[Value]) -> pa.Array:
    return pa.array(values, pa.binary())


@given(_columns(DATES) | _columns(DATES | IMPOSSIBLE))
def test_dates(values: list[Value]) -> None:
    column = temporal.dates(_array(values), invalid=b"bad")
    _holds(column, values, partial(temporal.date_json, invalid=b"bad"))


@pytest.mark.parametrize("fsp", [0, 1, 3, 4, 6])
def test_datetimes(fsp: int) -> None:
    @given(_columns(_datetimes(DATES, fsp)) | _columns(_datetimes(DATES | IMPOSSIBLE, fsp)))
    def check(values: list[Value]) -> None:
        zero_and_invalid = {"fsp": fsp, "zero": b"zero", "invalid": temporal.REFUSED}
        column = temporal.datetimes(_array(values), **zero_and_invalid)
        _holds(column, values, partial(temporal.datetime_json, **zero_and_invalid))

    check()


@pytest.mark.parametrize("zone", ["UTC", "+05:30", "America/New_York", "Africa/Monrovia"])
@pytest.mark.parametrize("fsp", [0, 3, 6])
def test_timestamps(fsp: int, zone: str) -> None:
    dates = st.dates(min_value=date(1969, 12, 30), max_value=date(2038, 1, 19)).map(str)
    some = dates | st.just("0000-00-00")

    @given(_columns(_datetimes(some, fsp)) | _columns(_datetimes(some | IMPOSSIBLE, fsp)))
    @example([b"1970-01-01 00:00:00.999999", b"1970-01-01 00:00:01.000000", None])
    def check(values: list[Value]) -> None:
        column = temporal.timestamps(_array(values), zone_of(zone))
        _holds(column, values, partial(temporal.timestamp_json, zone=zone_of(zone)))

    check()


@pytest.mark.parametrize("fsp", [-1, 0, 1, 6])
def test_times(fsp: int) -> None:
    def time(sign: str, hours: int, clock: str) -> str:
        return f"{sign}{hours:02}{clock[2:]}"

    clocks = _datetimes(st.just(""), max(fsp, 0)).map(str.strip)
    times = st.builds(time, st.sampled_from(["", "-"]), st.integers(0, 838), clocks)

    @given(_columns(times))
    @example([b"-00:00:00.1", b"01:00:00", None, b"00:00:00.123456"])
    def check(values: list[Value]) -> None:
        _holds(temporal.times(_array(values), fsp), values, temporal.time_json)

    check()


@pytest.mark.parametrize("scale", [0, 2, 10, 30])
def test_decimals(scale: int) -> None:
    short, long = 10 ** max(scale, 5), 10**40

    def decimal(number: int) -> str:
        digits = f"{abs(number):0{scale + 1}d}"
        point = f".{digits[-scale:]}" if scale else ""
        return f"{'-' * (number < 0)}{digits[: len(digits) - scale]}{point}"

    @given(_columns((st.integers(-short, short) | st.integers(-long, long)).map(decimal)))
    def check(values: list[Value]) -> None:
        _holds(rendered.decimals(_array(values)), values, rendered.float64)

    check()


@given(_columns(st.integers(0, 2**64 - 1).map(str)))
def test_unsigned_numbers_wrap(values: list[Value]) -> None:
    def signed(value: bytes) -> bytes:
        return b"%d" % int.from_bytes(int(value).to_bytes(8, "big"), "big", signed=True)

    _holds(rendered.wrapped_integers(_array(values)), values, signed)


@pytest.mark.parametrize("length", [1, 8, 9, 64])
def test_bits(length: int) -> None:
    def little(value: bytes) -> bytes:
        return b'"%b"' % b64encode(int(value).to_bytes((length + 7) // 8, "little"))

    def boolean(value: bytes) -> bytes:
        return b"true" if value != b"0" else b"false"

    @given(_columns(st.integers(0, 2**length - 1).map(str)))
    def check(values: list[Value]) -> None:
        _holds(rendered.bits(_array(values), length), values, boolean if length == 1 else little)

    check()


@given(st.lists(st.none() | st.binary(max_size=9), max_size=9), st.integers(0, 9))
def test_base64(values: list[Value], start: int) -> None:
    column = _array([*values, b"end"]).slice(start)
    encoded = rendered.base64_strings(column)
    _holds(encoded, [*values, b"end"][start:], lambda value: b'"%b"' % b64encode(value))
