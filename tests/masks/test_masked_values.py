"""Masked values: equal for equal ones, different for different ones, and of their type."""

from __future__ import annotations

import json
import string
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ticdc_producer.errors import RecordingError
from ticdc_producer.masks.cipher import CipherKey
from ticdc_producer.masks.methods import check_method, masked_values
from ticdc_producer.masks.rules import ColumnMask, MaskRule, MaskRules, Method
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType as T
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.replica.versions import LENIENT

KEY = CipherKey.derived(b"a key of the tests", "test")
TEXT = ColumnInfo(name="a", type=T.VARCHAR, length=64, charset="utf8mb4", collation="utf8mb4_bin")


def masked(method: Method, column: ColumnInfo, values: list[str | bytes | None]) -> list[bytes | None]:
    mask = ColumnMask(method, provider="name", secret=KEY)
    encoded = [value.encode() if isinstance(value, str) else value for value in values]
    result: list[bytes | None] = masked_values(
        mask, column, pa.array(encoded, pa.binary())
    ).values.to_pylist()
    return result


def column(
    kind: T,
    *,
    length: int = -1,
    decimal: int = -1,
    unsigned: bool = False,
    charset: str = "binary",
    collation: str = "binary",
) -> ColumnInfo:
    return ColumnInfo(
        name="a",
        type=kind,
        length=length,
        decimal=decimal,
        unsigned=unsigned,
        charset=charset,
        collation=collation,
    )


_INTEGERS = {T.TINY: 8, T.SHORT: 16, T.INT24: 24, T.LONG: 32, T.LONGLONG: 64}


@pytest.mark.parametrize("method", ["hash", "format"])
@settings(max_examples=20)
@given(data=st.data())
def test_integers_keep_their_range_and_are_permuted_alike_in_all_types(
    method: Method, data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from([*_INTEGERS]))
    bits = _INTEGERS[kind]
    numbers = data.draw(st.lists(st.integers(-(1 << bits - 1), (1 << bits - 1) - 1), min_size=1, unique=True))
    texts = [str(number) for number in numbers]
    results = [int(value or b"") for value in masked(method, column(kind), [*texts])]
    assert len({*results}) == len(results)
    assert all(-(1 << bits - 1) <= result < 1 << bits - 1 for result in results)
    assert masked(method, column(T.LONGLONG), [*texts]) == [str(result).encode() for result in results]
    if method == "format":
        assert [len(str(result)) for result in results] == [len(text) for text in texts]


def test_every_value_of_a_small_type_is_used_once() -> None:
    numbers = [str(number) for number in range(-128, 128)]
    assert sorted(masked("hash", column(T.TINY), [*numbers])) == sorted(number.encode() for number in numbers)
    unsigned = [str(number) for number in range(256)]
    results = masked("hash", column(T.TINY, unsigned=True), [*unsigned])
    assert sorted(results) == sorted(number.encode() for number in unsigned)
    years = [str(year) for year in range(1901, 2156)]
    assert sorted(masked("format", column(T.YEAR), [*years])) == [year.encode() for year in years]


_WORDS = st.text(string.ascii_letters + string.digits + " .-@漢字", max_size=12)


@settings(max_examples=20)
@given(texts=st.lists(_WORDS, min_size=1, unique_by=str.lower))
def test_texts_keep_their_form_and_stay_different_in_every_collation(texts: list[str]) -> None:
    results = [(value or b"").decode() for value in masked("format", TEXT, [*texts])]
    assert len({result.lower() for result in results}) == len(results)
    for text, result in zip(texts, results, strict=True):
        assert [_form(character) for character in result] == [_form(character) for character in text]
    swapped = [
        value.decode() for value in masked("format", TEXT, [text.swapcase() for text in texts]) if value
    ]
    assert [text.swapcase() for text in swapped] == [result for result in results if result]


def _form(character: str) -> str:
    for name, characters in (
        ("digit", string.digits),
        ("lower", string.ascii_lowercase),
        ("upper", string.ascii_uppercase),
    ):
        if character in characters:
            return name
    return character if character.isascii() else "ideograph"


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (T.NEW_DECIMAL, ["0.00", "-0.01", "12.34", "-9999.99"]),
        (T.DOUBLE, ["0", "-1.5", "0.000123", "3.141592653589793", "123456789012345680000"]),
        (T.FLOAT, ["1.5", "16777216", "0.1"]),
        (T.DATE, ["2024-02-29", "0000-00-00", "1000-01-01", "9999-12-31"]),
        (T.DATETIME, ["2024-02-29 23:59:59.25", "0000-00-00 00:00:00.00"]),
        (T.DURATION, ["-838:59:59.00", "838:59:59.00", "00:00:00.00", "-00:00:00.50", "12:34:56.78"]),
        (T.YEAR, ["0", "1999"]),
        (T.JSON, ['{"a": [1, 2.5, "Ann Miller", null, true]}', '"x"', "[]"]),
    ],
)
@pytest.mark.parametrize("method", ["hash", "format"])
def test_masked_values_are_canonical_values_of_their_type(method: Method, kind: T, values: list[str]) -> None:
    own = column(kind, length=20, decimal=2 if kind in (T.NEW_DECIMAL, T.DATETIME, T.DURATION) else -1)
    for value in masked(method, own, [*values]):
        assert coerce(own, read(own, value), LENIENT) == value


def test_a_shift_of_dates_keeps_their_order_and_times() -> None:
    days = ["2023-12-31 01:02:03", "2024-01-01 04:05:06", "0000-00-00 00:00:00"]
    first, second, zero = (value or b"" for value in masked("date-shift", column(T.DATETIME), [*days]))
    assert first < second
    assert (first[10:], second[10:], zero) == (b" 01:02:03", b" 04:05:06", days[2].encode())
    assert first[:10] != days[0][:10].encode()


def test_a_date_is_masked_alike_by_both_of_its_type_codes() -> None:
    for method in ("format", "date-shift"):
        assert masked(method, column(T.NEW_DATE), ["2024-02-29"]) == masked(
            method, column(T.DATE), ["2024-02-29"]
        )


def test_fake_texts_have_the_length_of_the_texts() -> None:
    names = ["Ann Miller", "Bob", "", "Ann Miller"]
    results = masked("fake", TEXT, [*names])
    assert [len(value or b"") for value in results] == [10, 3, 0, 10]
    assert results[0] == results[3] != b"Ann Miller"


def test_a_hash_is_long_enough_for_no_two_texts_to_be_equal() -> None:
    assert [len(value or b"") for value in masked("hash", TEXT, ["a", "b" * 60])] == [32, 32]
    short = column(T.VARCHAR, length=31, charset="utf8mb4")
    with pytest.raises(RecordingError, match="32 characters, and the column 31"):
        check_method(ColumnMask("hash"), short, "s.t.a")


def test_other_keys_give_other_values() -> None:
    other = ColumnMask("format", secret=CipherKey.derived(b"another key", "test"))
    values = pa.array([b"ann.miller@example.com"], pa.binary())
    assert masked_values(other, TEXT, values).values.to_pylist() != masked(
        "format", TEXT, ["ann.miller@example.com"]
    )


def test_null_stays_null_and_the_method_null_leaves_nothing() -> None:
    assert masked("format", TEXT, [None, "a"])[0] is None
    assert masked("null", TEXT, ["a", None]) == [None, None]


@pytest.mark.parametrize(
    ("kind", "value"),
    [(T.LONG, "Alice"), (T.LONGLONG, "-0"), (T.DATE, "Alice"), (T.JSON, '{"Alice'), (T.YEAR, "9999")],
)
def test_a_value_that_is_none_of_its_type_is_refused_without_it(kind: T, value: str) -> None:
    with pytest.raises(RecordingError, match="a value is no") as error:
        masked("format", column(kind), [value])
    assert value not in str(error.value)


@pytest.mark.parametrize(
    ("pattern", "names", "fits"),
    [
        ("*", ("my.db", "t", "a"), True),
        ("a", ("my.db", "t.u", "a"), True),
        ("t*u.a", ("my.db", "t.u", "A"), True),
        ("*.a*b", ("s", "t", "a.b"), True),
        ("t.a", ("s", "x.t", "a"), False),
        ("s.t.*", ("s", "t", "a.b"), True),
    ],
)
def test_patterns_match_names_with_dots(pattern: str, names: tuple[str, str, str], fits: bool) -> None:
    given = MaskRules((MaskRule(columns=[pattern], method="format"),), b"a key of the tests")
    schema, table, name = names
    own = replace(TEXT, name=name)
    assert (given.mask_of(schema, table, own) is not None) == fits


def test_a_pattern_of_more_than_three_parts_is_refused() -> None:
    with pytest.raises(ValueError, match="three parts"):
        MaskRule(columns=["my.db.t.a"], method="format")


def test_a_zero_with_a_sign_stays_and_no_other_decimal_becomes_it() -> None:
    own = column(T.NEW_DECIMAL, length=9, decimal=1)
    values = ["-0.0", *(f"-0.{digit}" for digit in range(1, 10))]
    results = masked("format", own, [*values])
    assert results[0] == b"-0.0"
    assert len({*results}) == len(values)


def test_hashes_of_texts_that_are_no_utf8_are_different() -> None:
    first, second = masked("hash", TEXT, [b"M\xfcller", b"M\xe9ller"])
    assert first != second


def test_texts_stay_different_where_spaces_at_the_end_do_not_count() -> None:
    words = [a + b for a in string.ascii_lowercase for b in string.ascii_lowercase]
    values = [word + " " * (number % 3) for number, word in enumerate(words)]
    results = [(value or b"").decode() for value in masked("format", TEXT, [*values])]
    assert len({result.rstrip() for result in results}) == len(values)
    assert [len(result) for result in results] == [len(value) for value in values]


def test_days_that_do_not_exist_are_not_sure_to_stay_different() -> None:
    values = pa.array([b"2024-00-01", b"0000-00-00", b"2024-01-01", None], pa.binary())
    result = masked_values(ColumnMask("format", secret=KEY), column(T.DATE), values)
    assert result.ambiguous.tolist() == [True, False, False, False]


@pytest.mark.parametrize(("kind", "greatest"), [(T.FLOAT, 3.4028235e38), (T.DOUBLE, 1.7976931348623157e308)])
def test_floats_stay_in_the_range_of_their_type(kind: T, greatest: float) -> None:
    whole = "1" + "0" * (308 if kind == T.DOUBLE else 38)
    for number in range(40):
        (result,) = masked("format", column(kind), [str(int(whole) + number * int(whole) // 100)])
        assert 0 < float(result or b"") <= greatest
        (tiny,) = masked("format", column(kind), [f"0.{'0' * (44 if kind == T.FLOAT else 322)}{number}"])
        assert tiny == b"0" or number == 0


@pytest.mark.parametrize("hours", [-12, 0, 8])
def test_timestamps_stay_in_their_range_in_every_time_zone(hours: int) -> None:
    shift = np.timedelta64(hours, "h")
    first, last = (np.datetime64(text) + shift for text in ("1970-01-01T00:00:01", "2038-01-19T03:14:07"))
    texts = [str(moment).replace("T", " ") for end in (first, last) for moment in end + _NEAR]
    inside = [text for text in texts if str(first) <= text.replace(" ", "T") <= str(last)]
    results = [(value or b"").decode() for value in masked("format", column(T.TIMESTAMP), [*inside])]
    assert len({*results}) == len(inside)
    assert all(str(first) <= result.replace(" ", "T") <= str(last) for result in results)


_NEAR = np.concatenate([np.arange(-3000, 3000, 97), np.arange(-3, 4)]).astype("m8[s]")


def test_a_text_of_more_bytes_than_its_column_is_refused() -> None:
    tiny = column(T.TINY_BLOB, charset="utf8mb4", collation="utf8mb4_bin")
    with pytest.raises(RecordingError, match="more bytes than tinytext holds"):
        masked("format", tiny, ["я" * 127])
    assert masked("format", tiny, ["я" * 85])


def test_documents_with_the_largest_numbers_and_halves_of_surrogate_pairs_are_masked() -> None:
    (result,) = masked("format", column(T.JSON), ['{"a": [1.7e308, -1.7e308], "b": "\\ud800x"}'])
    (number, _), text = json.loads(result or b"").values()
    assert 0 < number < float("inf")
    assert len(text) == 2
    integers = [*range(2000), (1 << 64) - 1, -(1 << 63)]
    (result,) = masked("format", column(T.JSON), [json.dumps(integers)])
    assert json.loads(result or b"") == [
        int(value or b"") for value in masked("format", column(T.LONGLONG), [*map(str, integers)])
    ]
