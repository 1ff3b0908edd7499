"""Functions on Arrow text columns, compared with plain Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.protocols.arrow_text import (
    concat,
    contents,
    differ,
    fixed_width,
    integers,
    lengths,
    map_values,
    merge_runs,
    quoted,
    without_first_byte,
)
from ticdc_producer.protocols.canal_json.plan import JSON_STRINGS as EASYJSON
from ticdc_producer.protocols.go_json import JSONITER_STRINGS as JSONITER
from ticdc_producer.protocols.go_json import STRINGS as ENCODING_JSON

columns = st.lists(st.none() | st.binary(max_size=12), min_size=1, max_size=12)
texts = st.lists(st.binary(max_size=12), min_size=1, max_size=12)


def _column(values: list[bytes | None]) -> pa.Array:
    """A column that does not start at the beginning of its buffers, like a slice."""
    return pa.array([b"before", *values], pa.binary()).slice(1)


@given(columns)
def test_shared_texts_surround_each_value(values: list[bytes | None]) -> None:
    result = concat((b"<", b"%d", _column(values), b">"), len(values))
    assert result.to_pylist() == [b"<%d" + (b"null" if value is None else value) + b">" for value in values]
    assert concat((b"x", b"y"), 3).to_pylist() == [b"xy"] * 3
    assert concat((), 2).to_pylist() == [b""] * 2


@given(columns)
def test_null_has_no_quotes(values: list[bytes | None]) -> None:
    result = concat(quoted(_column(values)), len(values))
    assert result.to_pylist() == [b"null" if value is None else b'"' + value + b'"' for value in values]


@given(texts, st.data())
def test_each_run_becomes_one_text(values: list[bytes], data: st.DataObject) -> None:
    starts = sorted(data.draw(st.sets(st.integers(0, len(values) - 1))) | {0})
    runs = zip(starts, [*starts[1:], len(values)], strict=True)
    result = merge_runs(_column([*values]), np.array(starts))
    assert result.to_pylist() == [b"".join(values[start:end]) for start, end in runs]


@given(columns)
def test_functions_that_read_buffers(values: list[bytes | None]) -> None:
    column = _column(values)
    assert contents(column) == b"".join(filter(None, values))
    assert lengths(column).tolist() == [len(value or b"") for value in values]
    assert map_values(column, bytes.upper).to_pylist() == [value and value.upper() for value in values]
    assert without_first_byte(column).to_pylist() == [value and value[1:] for value in values]


@given(columns, st.data())
def test_null_equals_only_null(old: list[bytes | None], data: st.DataObject) -> None:
    new = [data.draw(st.sampled_from([value, None, b"other"])) for value in old]
    assert differ(_column(old), _column(new)).to_pylist() == [a != b for a, b in zip(old, new, strict=True)]


def test_texts_of_fixed_width_and_integers() -> None:
    assert fixed_width(b"aabbcc", 2).to_pylist() == [b"aa", b"bb", b"cc"]
    assert fixed_width(b"", 2).to_pylist() == []
    assert integers(pa.array([-(2**63), 7])).to_pylist() == [b"-9223372036854775808", b"7"]


@given(columns)
def test_a_column_is_escaped_like_each_of_its_values(values: list[bytes | None]) -> None:
    for strings in (ENCODING_JSON, EASYJSON, JSONITER):
        alone = [strings.escaped(_column([value]))[0].as_py() for value in values]
        assert strings.escaped(_column(values)).to_pylist() == alone
