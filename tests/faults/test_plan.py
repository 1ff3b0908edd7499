"""Faults get segments of their own, or the plan is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import FaultError
from ticdc_producer.faults.catalogue import traps_of
from ticdc_producer.faults.event_traps import SegmentTrap
from ticdc_producer.faults.fault_plan import FaultPlan
from ticdc_producer.faults.plan import plan_faults
from ticdc_producer.faults.trap import TrapSetting
from ticdc_producer.model.tso import CommitClock

ILLEGAL = ("lost-row", "missing-ddl", "early-resolved", "poison")
SEGMENT_FAULTS = {trap.id: trap for trap in traps_of(SegmentTrap)}
CLOCK = CommitClock(every_us=100_000)


def planned(settings: dict[str, TrapSetting], commits: int = 1000, ddls: tuple[int, ...] = ()) -> FaultPlan:
    return plan_faults(
        settings, seed=1, clock=CLOCK, commits=range(commits), ddl_ts=[CLOCK.ts(number) for number in ddls]
    )


@given(
    times=st.dictionaries(st.sampled_from([*ILLEGAL, *SEGMENT_FAULTS]), st.integers(1, 6), min_size=1),
    commits=st.integers(1500, 5000),
    ddls=st.sets(st.integers(0, 9), min_size=6),
    seed=st.integers(0, 9),
)
def test_no_two_faults_share_a_segment(
    times: dict[str, int], commits: int, ddls: set[int], seed: int
) -> None:
    settings = {name: TrapSetting(times=count, window=2) for name, count in times.items()}
    ddl_ts = [CLOCK.ts(20 * number) for number in ddls]  # a segment has two commits, a fault eight segments
    plan = plan_faults(settings, seed=seed, clock=CLOCK, commits=range(commits), ddl_ts=ddl_ts)
    owned = [number for fault in plan.illegal for number in fault.segments] + list(plan.fixed)
    assert len(owned) == len(set(owned))
    assert all(0 <= number < plan.segments.count for number in owned)
    assert len(plan.illegal) == sum(count for name, count in times.items() if name in ILLEGAL)
    for number, name in plan.fixed.items():
        assert not SEGMENT_FAULTS[name].without_ddl or number not in plan.ddl_segments


def test_a_missing_ddl_gets_segments_with_a_ddl() -> None:
    plan = planned({"missing-ddl": TrapSetting(times=2)}, ddls=(500, 800))
    assert all(plan.ddl_segments & set(fault.segments) for fault in plan.illegal)


def test_every_ddl_has_its_fault_unless_a_rate_is_given() -> None:
    settings = {"duplicate-ddl": TrapSetting(), "ddl-at-resolved-ts": TrapSetting(rate=0.5)}
    assert planned(settings, ddls=(5,)).rates == {"duplicate-ddl": 1.0, "ddl-at-resolved-ts": 0.5}


def test_the_plan_depends_on_the_seed_alone() -> None:
    settings = {"lost-row": TrapSetting(times=3), "replay-suffix": TrapSetting(times=2)}
    assert planned(settings) == planned(dict(reversed(settings.items())))


def test_faults_for_which_the_history_is_too_short_have_no_segments() -> None:
    plan = planned({"lost-row": TrapSetting(times=20), "resolved-lag": TrapSetting(times=5)}, commits=5)
    segments = [number for fault in plan.illegal for number in fault.segments]
    assert len(plan.illegal) == 20
    assert len(segments) == len(set(segments)) < 20
    assert len(plan.fixed) < 5


@pytest.mark.parametrize(
    ("settings", "commits", "message"),
    [
        ({"lost-row": TrapSetting(times=1001)}, 10_000, "at most 1000"),
        ({"replay-suffix": TrapSetting(rate=0.6), "resolved-lag": TrapSetting(rate=0.6)}, 100, "more than 1"),
        ({"duplicate-event": TrapSetting(times=2)}, 100, "by rate"),
        ({"lost-rows": TrapSetting()}, 100, "unknown trap"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    settings: dict[str, TrapSetting], commits: int, message: str
) -> None:
    with pytest.raises(FaultError, match=message):
        planned(settings, commits)
