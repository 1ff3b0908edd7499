"""Fits the faults of a small stream to its events, and explains why a trap has no occurrence.

A plan draws the segments of faults from the clock and the DDLs alone. In a small stream the drawn segments
may have no event that fits. Such faults move to segments that have one; all others stay where they were
drawn. The result depends on the scenario and the seed alone, so ``verify`` fits the same faults.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ticdc_producer.engine import SMALL_BYTES, SMALL_EVENTS
from ticdc_producer.errors import FaultError
from ticdc_producer.faults.catalogue import trap, traps_of
from ticdc_producer.faults.event_traps import SegmentTrap
from ticdc_producer.faults.fault_plan import FaultPlan, IllegalFault, seeded_integer
from ticdc_producer.faults.illegal_event import IllegalEventTrap
from ticdc_producer.simulate.fault_positions import FaultPositions, injected_rows
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import estimate_of
from ticdc_producer.targets.encode_partition import FaultRow


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


def with_fitted_faults(job: Job) -> Job:
    """Return the job with its faults at positions that its stream has.

    A large job, and one that only Spark can simulate, is returned as it is.

    :raises FaultError: for a trap with ``times`` that cannot be injected so often.
    """
    plan = job.faults
    if plan is None or not job.traps or not is_fitted(job):
        return job
    fit = _Fit(job, replace(plan, recorded=None))
    fit.move_faults()
    fit.raise_rates()
    fit.check_times()
    missing = [name for name, count in fit.counts().items() if not count]
    reasons = {name: reason_of(name, fit.plan, fit.positions) for name in missing}
    return replace(job, fitted=replace(fit.plan, recorded=plan.recorded), not_injected=reasons)


def is_fitted(job: Job) -> bool:
    """Return whether the stream of a job is so small that its faults are compared with its events."""
    estimate = estimate_of(job)
    small = estimate.events <= SMALL_EVENTS and estimate.nbytes <= SMALL_BYTES
    return small and not estimate.requires_spark


def check_times(job: Job, counts: Mapping[str, int]) -> None:
    """Check that each trap with ``times`` has exactly as many faults, before anything is written.

    :param counts: the numbers of faults that can be injected, by trap.
    :raises FaultError: for a trap with fewer.
    """
    for name, setting in job.traps.items():
        count, of_stream = counts.get(name, 0), trap(name).mechanism in ("event", "message")
        if of_stream and setting.times is not None and count < setting.times:
            what = f"{name}:times={setting.times}: the stream has positions for {count or 'no'} such faults"
            required = f"it requires {requirement(name)}"
            hint = f"times={count}; each has commits of its own" if count else required
            raise FaultError(what, trap=name, hint=hint)


def check_times_are_known(job: Job) -> None:
    """Check that no trap has ``times`` if the positions of a stream are not counted.

    :raises FaultError: for the first trap with ``times``.
    """
    numbered = [name for name, setting in job.traps.items() if setting.times is not None]
    if numbered and not is_fitted(job):
        what = f"`messages_only` cannot be combined with `times` of {numbered[0]} in a stream of this size"
        hint = "the positions of its faults are not counted: leave out one of them"
        raise FaultError(what, trap=numbered[0], hint=hint).about("messages_only")


@dataclass
class _Fit:
    """The faults of a plan, moved to segments that fit.

    :ivar plan: the plan so far.
    :ivar rows: the occurrences of its faults; None: only faults whose effect the events show are in it.
    """

    job: Job
    plan: FaultPlan
    positions: FaultPositions = field(init=False)
    rows: list[FaultRow] | None = field(default=None, init=False)
    _effects: dict[IllegalFault, bool] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.positions = FaultPositions(self.job, self.plan)
        self._encode()

    def _encode(self) -> None:
        if self.plan.rates or self.plan.segment_rates or not all(map(_of_events, self.plan.illegal)):
            self.rows = injected_rows(self.job, self.plan)

    def _rows_of(self, name: str) -> list[FaultRow]:
        return [row for row in self.rows or () if row["trap"] == name]

    def _has_effect(self, fault: IllegalFault) -> bool:
        if _of_events(fault):
            if fault not in self._effects:
                self._effects[fault] = self.positions.takes_illegal(fault)
            return self._effects[fault]
        segments = (self.plan.segments.of(row["commit_ts"]) for row in self._rows_of(fault.trap))
        return any(segment in fault.segments for segment in segments)

    def counts(self) -> dict[str, int]:
        """Return the number of faults that have an effect, or of occurrences, by trap."""
        counts = Counter(fault.trap for fault in self.plan.illegal if self._has_effect(fault))
        fixed = self.plan.fixed.items()
        counts.update(name for segment, name in fixed if self.positions.takes_legal(name, segment))
        counts.update(row["trap"] for row in self.rows or () if _has_rate(row["trap"], self.plan))
        return {name: counts[name] for name in self.job.traps if trap(name).mechanism in ("event", "message")}

    def move_faults(self) -> None:
        """Move the faults without an effect; if that is not enough, all."""
        illegal = [fault for fault in self.plan.illegal if self._has_effect(fault)]
        fixed = {
            segment: name
            for segment, name in self.plan.fixed.items()
            if self.positions.takes_legal(name, segment)
        }
        moved = self._moved(illegal, fixed)
        if moved == self.plan:
            return
        if not self._is_complete(moved):
            # The others may reserve more segments than they need.
            moved = max(moved, self._moved([], {}), key=lambda plan: len(plan.illegal) + len(plan.fixed))
        self.plan = moved
        self._encode()

    def _is_complete(self, plan: FaultPlan) -> bool:
        return len(plan.illegal) == len(self.plan.illegal) and len(plan.fixed) == len(self._fixed_traps())

    def _fixed_traps(self) -> list[str]:
        """Return the traps of segments that are requested by number, each as often as it is requested."""
        settings = self.job.traps
        names = [entry.id for entry in traps_of(SegmentTrap) if entry.id in settings]
        by_number = (name for name in names if settings[name].rate is None)
        return [name for name in by_number for _ in range(settings[name].times or 1)]

    def _moved(self, illegal: list[IllegalFault], fixed: dict[int, str]) -> FaultPlan:
        """Return a plan that moves all faults except the given ones; without a free segment it drops them."""
        illegal, fixed = [*illegal], {**fixed}
        occupied = {*fixed, *(segment for fault in illegal for segment in fault.segments)}
        settled = {(fault.trap, fault.number) for fault in illegal}
        for fault in self.plan.illegal:
            if (fault.trap, fault.number) not in settled:
                options = self._event_options if _of_events(fault) else self._message_options
                moved = next(options(fault, occupied), None)
                illegal += [] if moved is None else [moved]
                occupied.update(() if moved is None else moved.segments)
        missing = Counter(self._fixed_traps()) - Counter(fixed.values())
        for name in missing.elements():
            segment = next(self._legal_options(name, occupied), None)
            if segment is not None:
                fixed[segment] = name
                occupied.add(segment)
        in_order = {(fault.trap, fault.number): number for number, fault in enumerate(self.plan.illegal)}
        illegal.sort(key=lambda fault: in_order[fault.trap, fault.number])
        return replace(self.plan, illegal=tuple(illegal), fixed=fixed)

    def _event_options(self, fault: IllegalFault, occupied: set[int]) -> Iterator[IllegalFault]:
        """Yield an illegal fault of events at positions where it has an effect, in few segments first."""
        segments = {*self.positions.fitting_segments(fault.trap)} - occupied
        tried: set[range] = set()
        length, in_order = 1, self._in_drawn_order(fault.trap, fault.number, segments)
        while segments and length < 2 * self.plan.segments.count:
            for segment in in_order:
                run = _free_run(segment, length, self.plan.segments.count, occupied)
                if run not in tried and self.positions.takes_illegal(replace(fault, segments=run)):
                    yield replace(fault, segments=run)
                tried.add(run)
            length *= 2

    def _message_options(self, fault: IllegalFault, occupied: set[int]) -> Iterator[IllegalFault]:
        segments = {*self.positions.segments} - occupied
        in_order = self._in_drawn_order(fault.trap, fault.number, segments)
        for segment, partition_index in self.positions.message_positions(fault.trap, in_order):
            yield replace(fault, segments=range(segment, segment + 1), partition_index=partition_index)

    def _legal_options(self, name: str, occupied: set[int]) -> Iterator[int]:
        for segment in self._in_drawn_order(name, 0, {*self.positions.segments} - occupied):
            if self.positions.takes_legal(name, segment):
                yield segment

    def _in_drawn_order(self, name: str, number: int, segments: Iterable[int]) -> list[int]:
        purpose = f"moved/{name}/{number}"
        return sorted(segments, key=lambda segment: seeded_integer(self.plan.seed, purpose, segment))

    def raise_rates(self) -> None:
        """Raise the default rate of each trap that has no occurrence, until it has one."""
        counts = self.counts()
        defaults = [name for name in self.plan.rates if self.job.traps[name].rate is None]
        while few := [name for name in defaults if not counts[name] and self.plan.rates[name] < 1]:
            rates = {name: min(1.0, 2 * self.plan.rates[name]) for name in few}
            self.plan = replace(self.plan, rates={**self.plan.rates, **rates})
            self._encode()
            counts = self.counts()

    def check_times(self) -> None:
        """Check that traps with ``times`` have as many faults.

        :raises FaultError: for a trap with fewer.
        """
        check_times(self.job, self.counts())


def _of_events(fault: IllegalFault) -> bool:
    return isinstance(trap(fault.trap), IllegalEventTrap)


def _has_rate(name: str, plan: FaultPlan) -> bool:
    return name in plan.rates or name in plan.segment_rates


def _free_run(segment: int, length: int, count: int, occupied: set[int]) -> range:
    """Return the free segments around a free one, up to half of ``length`` on each side.

    >>> _free_run(5, 4, 9, {3, 8})
    range(4, 8)
    """
    start, stop = segment, segment + 1
    for _ in range(length // 2):
        start -= start > 0 and start - 1 not in occupied
        stop += stop < count and stop not in occupied
    return range(start, stop)
