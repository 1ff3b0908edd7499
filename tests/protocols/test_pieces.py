"""Texts of many rows put together: Arrow's way against Python's."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.protocols.arrow_text import (
    contents,
    differ,
    fixed_width,
    integers,
    joined,
    lengths,
    mapped,
    quoted,
    regrouped,
    without_first,
)
from ticdc_producer.protocols.canal_json.json_text import STRINGS as EASYJSON
from ticdc_producer.protocols.go_json import STRINGS as ENCODING_JSON
from ticdc_producer.protocols.jsoniter import STRINGS as JSONITER

columns = st.lists(st.none() | st.binary(max_size=12), min_size=1, max_size=12)
texts = st.lists(st.binary(max_size=12), min_size=1, max_size=12)


def _column(values: list[bytes | None]) -> pa.Array:
    """Not at the start of its buffers, as columns of slices are."""
    return pa.array([b"before", *values], pa.binary()).slice(1)


@given(columns)
def test_shared_texts_stand_around_each_value(values: list[bytes | None]) -> None:
    made = joined((b"<", b"%d", _column(values), b">"), len(values))
    assert made.to_pylist() == [b"<%d" + (b"null" if value is None else value) + b">" for value in values]
    assert joined((b"x", b"y"), 3).to_pylist() == [b"xy"] * 3
    assert joined((), 2).to_pylist() == [b""] * 2


@given(columns)
def test_null_has_no_quotes(values: list[bytes | None]) -> None:
    made = joined(quoted(_column(values)), len(values))
    assert made.to_pylist() == [b"null" if value is None else b'"' + value + b'"' for value in values]


@given(texts, st.data())
def test_runs_become_one_text_each(values: list[bytes], data: st.DataObject) -> None:
    starts = sorted(data.draw(st.sets(st.integers(0, len(values) - 1))) | {0})
    runs = zip(starts, [*starts[1:], len(values)], strict=True)
    made = regrouped(_column([*values]), np.array(starts))
    assert made.to_pylist() == [b"".join(values[start:end]) for start, end in runs]


@given(columns)
def test_what_is_read_from_buffers(values: list[bytes | None]) -> None:
    column = _column(values)
    assert contents(column) == b"".join(filter(None, values))
    assert lengths(column).tolist() == [len(value or b"") for value in values]
    assert mapped(column, bytes.upper).to_pylist() == [value and value.upper() for value in values]
    assert without_first(column).to_pylist() == [value and value[1:] for value in values]


@given(columns, st.data())
def test_null_differs_from_all_but_null(old: list[bytes | None], data: st.DataObject) -> None:
    new = [data.draw(st.sampled_from([value, None, b"other"])) for value in old]
    assert differ(_column(old), _column(new)).to_pylist() == [a != b for a, b in zip(old, new, strict=True)]


def test_numbers_of_fixed_width() -> None:
    assert fixed_width(b"aabbcc", 2).to_pylist() == [b"aa", b"bb", b"cc"]
    assert fixed_width(b"", 2).to_pylist() == []
    assert integers(pa.array([-(2**63), 7])).to_pylist() == [b"-9223372036854775808", b"7"]


@given(columns)
def test_a_column_is_escaped_as_each_of_its_values(values: list[bytes | None]) -> None:
    for strings in (ENCODING_JSON, EASYJSON, JSONITER):
        alone = [strings.escaped(_column([value]))[0].as_py() for value in values]
        assert strings.escaped(_column(values)).to_pylist() == alone
