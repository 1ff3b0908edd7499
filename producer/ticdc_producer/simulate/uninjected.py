"""Why a trap has no occurrence in a stream."""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.fault_plan import FaultPlan
from ticdc_producer.simulate.fault_positions import FaultPositions, injected_rows
from ticdc_producer.simulate.job import Job


def requirement(name: str) -> str:
    """Return what a stream must contain for a trap."""
    return trap(name).requires or "a row event"


def reason_of(name: str, plan: FaultPlan, positions: FaultPositions) -> str:
    """Return why a trap of a small stream has no occurrence.

    :param plan: the plan of the run.
    """
    job, units = positions.job, _units(trap(name).occurrence)
    if name in plan.rates or name in plan.segment_rates:
        if count := _most_occurrences(name, job, plan):
            rate = plan.rates.get(name) or plan.segment_rates[name]
            return f"the rate {rate:g} drew none of the {count:,} {units}"
        without = _most_occurrences(name, job, replace(plan, illegal=(), fixed={}))
    else:
        without = positions.number_of(name)
    if without:
        return f"{without:,} {units} fit, but the other faults leave it no segment of its own"
    return f"the stream lacks what it requires: {requirement(name)}"


def _most_occurrences(name: str, job: Job, plan: FaultPlan) -> int:
    """Return the number of occurrences that a trap has with the rate 1."""
    if name in plan.rates:
        certain = replace(plan, rates={name: 1.0}, segment_rates={})
    else:
        certain = replace(plan, rates={}, segment_rates={name: 1.0})
    rows = [row for row in injected_rows(job, certain) if row["trap"] == name]
    return len(rows) if name in plan.rates else len({plan.segments.of(row["commit_ts"]) for row in rows})


def _units(occurrence: str) -> str:
    """Return the unit that a trap counts, in plural.

    :param occurrence: the unit as the trap describes it.

    >>> _units("a segment of the history"), _units("an event")
    ('segments', 'events')
    """
    return f"{occurrence.split(' ')[1].strip(':,')}s"
