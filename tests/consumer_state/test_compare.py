"""Rows that are missing, extra and different, against what a plain loop over random rows finds."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TypeAlias

from pyspark.sql import SparkSession

from ticdc_producer.verifier.consumer_state.compare import compare_rows
from ticdc_producer.verifier.consumer_state.rows import ROWS

Line: TypeAlias = tuple[int, tuple[bytes | None, ...], tuple[bytes | None, ...]]
TABLES = range(6)


def lines(random: Random, number: int) -> list[Line]:
    """Few keys and values, so that some rows come twice."""
    values = (b"a", b"", None)
    return [
        (number, (random.choice(values), b"%d" % random.randrange(2)), (random.choice(values),))
        for _ in range(random.randrange(12))
    ]


def told(expected: list[Line], actual: list[Line]) -> tuple[int, int, int]:
    """Missing, extra and different rows: equal ones pair first, then those of one key."""
    wanted, there = Counter(expected) - Counter(actual), Counter(actual) - Counter(expected)
    lacking, surplus = (Counter(line[1] for line in side.elements()) for side in (wanted, there))
    different = sum((lacking & surplus).values())
    return sum(lacking.values()) - different, sum(surplus.values()) - different, different


def test_counts_are_those_of_a_plain_loop(spark: SparkSession) -> None:
    random = Random(7)
    expected = {number: lines(random, number) for number in TABLES}
    actual = {number: [*lines(random, number), *expected[number][3:]] for number in TABLES}
    actual[0] = expected[0][::-1]
    sides = [
        spark.createDataFrame([line for rows in side.values() for line in rows], ROWS)
        for side in (expected, actual)
    ]
    found = compare_rows(*sides, tables=TABLES, shown=100)
    for number, tally in found.items():
        assert (tally.expected, tally.actual) == (len(expected[number]), len(actual[number]))
        counts = tally.missing, tally.extra, tally.different
        assert counts == told(expected[number], actual[number])
        assert len(tally.examples) == sum(counts)
    assert found[0].examples == []
    assert sum(tally.different for tally in found.values()) > 0
    assert all(sum(len(rows) != len(set(rows)) for rows in side.values()) for side in (expected, actual))
