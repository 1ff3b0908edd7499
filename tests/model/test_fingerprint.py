"""Equal values share a fingerprint, different ones do not."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.fingerprint import value_hashes

VALUES = st.lists(st.none() | st.binary(max_size=40) | st.binary(min_size=120, max_size=140), max_size=30)
NEAR = [b"a" * length + end for length in range(140) for end in (b"", b"\0", b"\1", b"\0\0", b"\0a")]


@given(VALUES, st.integers(0, 30))
def test_a_fingerprint_depends_on_the_value_alone(values: list[bytes | None], start: int) -> None:
    together = value_hashes(pa.array(values, pa.binary())).tolist()
    alone = [int(value_hashes(pa.array([value], pa.binary()))[0]) for value in values]
    assert together == alone
    assert value_hashes(pa.array(values, pa.binary()).slice(start)).tolist() == together[start:]
    assert value_hashes(pa.array(values, pa.large_binary())).tolist() == together


@given(VALUES)
def test_different_values_have_different_fingerprints(values: list[bytes | None]) -> None:
    different = [*dict.fromkeys([*values, *NEAR])]
    assert len(set(value_hashes(pa.array(different, pa.binary())).tolist())) == len(different)
