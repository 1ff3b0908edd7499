"""The partition rule for many rows at once, against the rule for one row."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dispatch.reference_dispatch import row_hash
from ticdc_producer.dispatch import Route
from ticdc_producer.dispatch.row_hashes import value_hashes
from ticdc_producer.model.event import Value

VALUES = st.none() | st.binary(max_size=9) | st.binary(min_size=60, max_size=70)
"""Around the length above which values are hashed in another way."""


def single_hashes(name: str, values: Sequence[Value], *, skips_null: bool) -> list[int]:
    route = Route(
        topic="t",
        rule="columns",
        key_columns=((name, 0),),
        base_hash=0,
        table_key="s.t",
        skips_null=skips_null,
    )
    return [row_hash(route, [value]) for value in values]


@given(st.text(max_size=9), st.lists(VALUES), st.booleans())
def test_columns_are_hashed_as_single_values_are(name: str, values: list[Value], skips_null: bool) -> None:
    hashes = value_hashes(name, pa.array(values, pa.binary()), skips_null=skips_null)
    assert hashes.tolist() == single_hashes(name, values, skips_null=skips_null)


@given(st.lists(VALUES), st.lists(VALUES), st.lists(VALUES))
def test_a_slice_is_hashed_without_what_is_around_it(
    before: list[Value], values: list[Value], after: list[Value]
) -> None:
    column = pa.array([*before, *values, *after], pa.binary()).slice(len(before), len(values))
    assert value_hashes("c", column).tolist() == single_hashes("c", values, skips_null=False)


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 1000])
def test_values_of_one_length(length: int) -> None:
    values = [bytes([byte]) * length for byte in range(256)]
    hashes = value_hashes("c", pa.array(values, pa.binary()))
    assert hashes.tolist() == single_hashes("c", values, skips_null=False)


def test_a_column_of_nulls() -> None:
    nulls = pa.nulls(2, pa.binary())
    assert value_hashes("c", nulls).tolist() == single_hashes("c", [None] * 2, skips_null=False)
    assert value_hashes("c", nulls, skips_null=True).tolist() == [0, 0]
