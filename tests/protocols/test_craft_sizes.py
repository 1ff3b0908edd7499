"""Craft's own comparison of sizes: what we write is as large as what TiCDC writes."""

from __future__ import annotations

import pytest

from tests.docs.craft_sizes import CASES, ENCODERS, PUBLISHED, golden_size, our_size


@pytest.mark.parametrize("variant", ENCODERS)
@pytest.mark.parametrize("case", CASES)
def test_sizes_are_those_of_ticdc(case: str, variant: str) -> None:
    assert our_size(case, variant) == golden_size(case, variant)


@pytest.mark.parametrize(("case", "rows"), [("original_case0", 1), ("original_case1_2021", 4)])
def test_the_published_sizes_are_of_a_draft_that_took_a_byte_less_per_row(case: str, rows: int) -> None:
    craft, json, _, _ = PUBLISHED[case]
    assert our_size(case, "craft.floatfix") == craft + rows
    assert our_size(case, "open") == json
