"""Compares expected events of any number with delivered ones; equal ones are brought together."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Part, Sides, Tagged
from ticdc_producer.model.whole_groups import whole_groups
from ticdc_producer.verifier.comparison import (
    MATCHED,
    WINDOW,
    ComparedEvents,
    Comparison,
    DeliveryOrder,
    Differences,
    match,
)
from ticdc_producer.verifier.event_lookup import events_at
from ticdc_producer.verifier.expected import ExpectedStream, compared_events
from ticdc_producer.verifier.options import VerifyOptions

_MATCH = "matched"


def compare_events(engine: Engine, expected: ExpectedStream, decoded: Dataset) -> Comparison:
    """Compare expected events with decoded ones, without any other check.

    :param decoded: shape ``DECODED``; messages that do not decode are ignored.
    """
    options = VerifyOptions()

    def matches(sides: Iterator[Sides]) -> Generator[Tagged, None, Differences]:
        total = Differences()
        for groups in sides:
            differences, matched = match(
                ComparedEvents.joined([ComparedEvents.of(side) for side in groups.values()])
            )
            total.merge([differences])
            yield _MATCH, matched
        return total

    sides = {
        "delivered": compared_events(decoded, options, expected=False),
        "expected": expected.compared(options),
    }
    with engine.grouped(sides, "key").stored(matches, {_MATCH: MATCHED}) as grouped:
        differences = Differences()
        differences.merge(grouped.results)
        add_out_of_order(differences, grouped[_MATCH])
    return differences.comparison(
        expected.at(differences.expected_examples), events_at(decoded, differences.delivered_examples)
    )


def add_out_of_order(differences: Differences, matched: Dataset) -> None:
    """Add the events that were delivered before one that they were expected after.

    :param matched: ``comparison.MATCHED``.
    """

    def order(_part: Part, batches: Batches) -> Differences:
        total, delivery = Differences(), DeliveryOrder()
        for batch in whole_groups(batches, WINDOW):
            total.merge([delivery.add(batch)])
        return total

    differences.merge(matched.shuffle(WINDOW[:2], Order(WINDOW)).results(order))
