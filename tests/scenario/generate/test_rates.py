"""The rates of a mix, compared with a simulation of single rows."""

from __future__ import annotations

import random

import pytest

from ticdc_producer.scenario.generate.table_schedule import operation_rates


def simulated(new_rows: int, chance: float, rows: int, events: int) -> tuple[float, float]:
    """Shares of inserts and deletes if new rows are evenly distributed and rows are picked uniformly."""
    chances = random.Random(7)
    exists = [True] * rows
    inserts = deletes = 0
    for event in range(events):
        if -(-(event + 1) * new_rows // events) > -(-event * new_rows // events):
            exists.append(True)
            inserts += 1
            continue
        row = chances.randrange(len(exists))
        gone = exists[row] and chances.random() < chance
        deletes += gone
        inserts += not exists[row]
        exists[row] = not gone
    return inserts / events, deletes / events


@pytest.mark.parametrize("rows", [0, 100, 10_000])
@pytest.mark.parametrize(("insert", "delete"), [(0.2, 0.1), (0.3, 0.3), (0.6, 0.4), (0.5, 0), (1, 0)])
def test_the_mix_comes_out(insert: float, delete: float, rows: int) -> None:
    if rows == 0 and insert == delete:
        return  # rejected: no rows at the start
    events = 20_000
    rates = operation_rates(insert, delete, rows, events)
    assert simulated(rates.new_rows, rates.delete, rows, events) == pytest.approx((insert, delete), abs=0.03)


def test_without_deletes_the_number_of_new_rows_is_exact() -> None:
    assert operation_rates(0.25, 0, 0, 1000).new_rows == 250
    assert operation_rates(1, 0, 0, 1000).new_rows == 1000
