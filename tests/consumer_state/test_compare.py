"""Missing, extra and different rows, compared with the result of a plain loop over random rows."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TypeAlias

from pyspark.sql import SparkSession

from ticdc_producer.verifier.consumer_state.compare import COMPARABLE_ROWS, compare_rows

ComparableRow: TypeAlias = tuple[int, tuple[bytes | None, ...], tuple[bytes | None, ...]]
TABLES = range(6)


def random_rows(random: Random, number: int) -> list[ComparableRow]:
    """Rows with few keys and values, so that some occur twice."""
    values = (b"a", b"", None)
    return [
        (number, (random.choice(values), b"%d" % random.randrange(2)), (random.choice(values),))
        for _ in range(random.randrange(12))
    ]


def expected_counts(expected: list[ComparableRow], actual: list[ComparableRow]) -> tuple[int, int, int]:
    """Missing, extra and different rows: equal ones pair first, then those of one key."""
    missing, extra = Counter(expected) - Counter(actual), Counter(actual) - Counter(expected)
    lacking, surplus = (Counter(row[1] for row in side.elements()) for side in (missing, extra))
    different = sum((lacking & surplus).values())
    return sum(lacking.values()) - different, sum(surplus.values()) - different, different


def test_counts_are_those_of_a_plain_loop(spark: SparkSession) -> None:
    random = Random(7)
    expected = {number: random_rows(random, number) for number in TABLES}
    actual = {number: [*random_rows(random, number), *expected[number][3:]] for number in TABLES}
    actual[0] = expected[0][::-1]
    sides = [
        spark.createDataFrame([row for rows in side.values() for row in rows], COMPARABLE_ROWS)
        for side in (expected, actual)
    ]
    compared = compare_rows(*sides, tables=TABLES, max_examples=100)
    for number, count in compared.items():
        assert (count.expected, count.actual) == (len(expected[number]), len(actual[number]))
        counts = count.missing, count.extra, count.different
        assert counts == expected_counts(expected[number], actual[number])
        assert len(count.examples) == sum(counts)
    assert compared[0].examples == []
    assert sum(count.different for count in compared.values()) > 0
    assert all(sum(len(rows) != len(set(rows)) for rows in side.values()) for side in (expected, actual))
