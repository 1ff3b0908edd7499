"""What updates add to a column whose specification has ``adds``."""

from __future__ import annotations

import numpy as np

from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.scenario.generate.amounts import evaluated, parsed
from ticdc_producer.scenario.generate.arrays import Longs
from ticdc_producer.scenario.generate.domain import DECIMAL_DIGITS
from ticdc_producer.scenario.generate.draw import draw
from ticdc_producer.scenario.generate.events import GeneratedEvents
from ticdc_producer.scenario.generate.plan import ColumnPlan, GeneratePlan


def added_units(plan: GeneratePlan, column: ColumnPlan, updates: GeneratedEvents) -> Longs:
    """What each of some updates adds, in units of the column's last digit, rounded half away from zero.

    The expression can use ``row``; ``transaction``, the number of the commit; ``place``, the position of the
    change in it; and ``draw``, a hash that all changes of a transaction share, in all tables. NULL adds
    nothing.

    :raises ScenarioError: for a condition that is not supported.
    """
    found = evaluated(
        parsed(column.adds),
        {
            "row": updates.row,
            "transaction": updates.commit,
            "place": updates.position,
            "draw": draw(plan.shared_salt("added"), updates.commit).view(np.int64),
        },
    ).at(added_scale(column))
    return np.where(found.null, 0, found.units).astype(np.int64)


def added_scale(column: ColumnPlan) -> int:
    """Number of fraction digits of sums."""
    if column.column.type in INTEGERS:
        return 0
    return min(max(column.column.decimal, 0), DECIMAL_DIGITS)
