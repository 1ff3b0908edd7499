"""Go's ``sort.Sort`` on ranks with ties, as a program of real Go 1.26 printed it.

``go_sort_vectors.txt``: per line the ranks, a semicolon, the indexes in sorted order.
"""

from __future__ import annotations

from pathlib import Path

from ticdc_producer.pipeline.go_sort import go_sorted

VECTORS = Path(__file__).with_name("go_sort_vectors.txt")


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def test_ties_are_ordered_as_in_go() -> None:
    lines = VECTORS.read_text().splitlines()
    cases = [tuple(map(numbers, line.split(";"))) for line in lines]
    assert len(cases) == 240
    for ranks, indexes in cases:
        assert go_sorted(ranks) == indexes


def test_up_to_twelve_elements_the_order_is_stable() -> None:
    assert go_sorted([2, 0, 1, 0, 2, 0, 1, 1, 0, 2, 1, 0]) == [1, 3, 5, 8, 11, 2, 6, 7, 10, 0, 4, 9]
