"""The rates that a mix asks for, against a simulation of the rows one by one."""

from __future__ import annotations

import random

import pytest

from ticdc_producer.scenario.generate.rates import rates


def simulated(births: int, chance: float, rows: int, events: int) -> tuple[float, float]:
    """Shares of inserts and deletes when births are spread evenly and rows are picked alike."""
    chances = random.Random(7)
    there = [True] * rows
    inserts = deletes = 0
    for event in range(events):
        if -(-(event + 1) * births // events) > -(-event * births // events):
            there.append(True)
            inserts += 1
            continue
        row = chances.randrange(len(there))
        gone = there[row] and chances.random() < chance
        deletes += gone
        inserts += not there[row]
        there[row] = not gone
    return inserts / events, deletes / events


@pytest.mark.parametrize("rows", [0, 100, 10_000])
@pytest.mark.parametrize(("insert", "delete"), [(0.2, 0.1), (0.3, 0.3), (0.6, 0.4), (0.5, 0), (1, 0)])
def test_the_mix_comes_out(insert: float, delete: float, rows: int) -> None:
    if rows == 0 and insert == delete:
        return  # refused: no rows to begin with
    events = 20_000
    found = rates(insert, delete, rows, events)
    assert simulated(found.births, found.delete, rows, events) == pytest.approx((insert, delete), abs=0.03)


def test_without_deletes_births_are_exact() -> None:
    assert rates(0.25, 0, 0, 1000).births == 250
    assert rates(1, 0, 0, 1000).births == 1000
