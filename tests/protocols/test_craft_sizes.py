"""The sizes of Craft messages equal those of TiCDC's own size comparison."""

from __future__ import annotations

import pytest

from tests.docs.craft_sizes import CASES, ENCODERS, PUBLISHED, golden_size, our_size


@pytest.mark.parametrize("variant", ENCODERS)
@pytest.mark.parametrize("case", CASES)
def test_sizes_equal_those_of_ticdc(case: str, variant: str) -> None:
    assert our_size(case, variant) == golden_size(case, variant)


@pytest.mark.parametrize(("case", "rows"), [("original_case0", 1), ("original_case1_2021", 4)])
def test_the_published_sizes_are_one_byte_per_row_smaller(case: str, rows: int) -> None:
    craft, json, _, _ = PUBLISHED[case]
    assert our_size(case, "craft.floatfix") == craft + rows
    assert our_size(case, "open") == json
