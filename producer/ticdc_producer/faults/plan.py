"""Plans the faults and their positions on the driver, from the history's clock and DDLs alone.

Each illegal fault gets consecutive segments of its own, in which no legal fault happens. All violations that
a verifier reports there are therefore caused by this fault. Legal faults get the remaining segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from ticdc_producer.errors import FaultError
from ticdc_producer.faults.catalogue import trap, traps_of
from ticdc_producer.faults.event_traps import SegmentTrap
from ticdc_producer.faults.fault_plan import FaultPlan, IllegalFault, Segments, seeded_integer
from ticdc_producer.faults.illegal_event import IllegalEventTrap
from ticdc_producer.faults.trap import TrapSetting
from ticdc_producer.model.tso import CommitClock

_DEFAULT_RATE = 0.1
_RESERVED, _RESERVED_AT_DDL = 8, 3
"""Most segments that an illegal fault reserves."""
_MAX_ILLEGAL = 1000
_RANDOM_TRIES, _MAX_TRIES = 64, 100_000
_NOWHERE = range(0)
"""The segments of an illegal fault for which the history has none."""


_Settings: TypeAlias = Mapping[str, TrapSetting]


def plan_faults(
    settings: _Settings, *, seed: int, clock: CommitClock, commits: range, ddl_ts: Iterable[int]
) -> FaultPlan:
    """Plan the faults of a history.

    :param settings: by trap id; traps that the changefeed or the scenario's SQL produces are ignored.
    :param commits: numbers of the commits that are sent.
    :param ddl_ts: commit-ts of the DDLs that are sent.
    :return: faults for which the history is too short have no segments, and thus no effect.
    :raises FaultError: if the rates add up to more than 1, or a trap cannot be set in this way.
    """
    settings = {
        name: value for name, value in settings.items() if trap(name).mechanism in ("event", "message")
    }
    window = max((value.window or 0 for value in settings.values()), default=0)
    parts = max(4, 3 * sum(map(_requested_segments, settings, settings.values())))
    length = (window or min(max(len(commits) // parts, 2), 64)) * clock.step
    segments = Segments.of_history(clock.ts(commits.start), clock.ts(commits.stop - 1), length)
    planner = _Planner(seed, segments, clock, commits, tuple(sorted(set(ddl_ts))))
    rates, illegal = _rates(settings), planner.illegal(settings)
    return FaultPlan(
        seed=seed,
        segments=segments,
        rates={name: rate for name, rate in rates.items() if not _spans_segment(name)},
        segment_rates={name: rate for name, rate in rates.items() if _spans_segment(name)},
        fixed=planner.fixed(settings),
        illegal=illegal,
        ddl_ts=planner.ddl_ts,
    )


def _requested_segments(name: str, setting: TrapSetting) -> int:
    """Return the number of segments that a trap needs if it is requested by number."""
    by_number = setting.rate is None and (_spans_segment(name) or not trap(name).legal)
    return (setting.times or 1) if by_number else 0


def _spans_segment(name: str) -> bool:
    return isinstance(trap(name), SegmentTrap)


def _at_ddl(name: str) -> bool:
    requested = trap(name)
    return isinstance(requested, IllegalEventTrap) and requested.at_ddl


def _rates(settings: _Settings) -> dict[str, float]:
    legal = {name: value for name, value in settings.items() if trap(name).legal}
    rates = {name: value.rate for name, value in legal.items() if value.rate is not None}
    for name, value in legal.items():
        if value.rate is None and not _spans_segment(name):
            if value.times is not None:
                what = f"{name} is set by rate, not by times"
                raise FaultError(what, trap=name, hint=f"such as {name}:rate={_DEFAULT_RATE}")
            rates[name] = trap(name).default_rate or _DEFAULT_RATE
    of_segments = [name for name in rates if _spans_segment(name)]
    if sum(rates[name] for name in of_segments) > 1:
        what = "a segment has at most one of these faults, and their rates add up to more than 1"
        hint = ", ".join(of_segment.id for of_segment in traps_of(SegmentTrap))
        raise FaultError(what, trap=of_segments[0], hint=hint)
    return rates


@dataclass
class _Planner:
    """An assignment of segments to faults; each segment belongs to at most one fault."""

    seed: int
    segments: Segments
    clock: CommitClock
    commits: range
    ddl_ts: tuple[int, ...]
    reserved: set[int] = field(default_factory=set)

    def illegal(self, settings: _Settings) -> tuple[IllegalFault, ...]:
        """Reserve segments for illegal faults, first for those at DDLs, which have the fewest candidates."""
        requested = [
            (name, number)
            for name, value in sorted(settings.items(), key=lambda item: (not _at_ddl(item[0]), item[0]))
            if not trap(name).legal
            for number in range(self._times(value))
        ]
        if len(requested) > _MAX_ILLEGAL:
            what = f"{len(requested)} illegal faults; a run has at most {_MAX_ILLEGAL}"
            raise FaultError(what, trap=requested[-1][0], hint="fewer times")
        others = sum(map(_requested_segments, settings, settings.values())) - len(requested)
        room = max(1, (self.segments.count - 2 * others) // max(len(requested), 1))
        longest = min(_RESERVED, room)
        return tuple(
            IllegalFault(name, number, self._reserve(name, number, longest)) for name, number in requested
        )

    def _times(self, value: TrapSetting) -> int:
        if value.rate is not None:
            return max(1, round(value.rate * self.segments.count))
        return value.times or 1

    def _reserve(self, name: str, number: int, longest: int) -> range:
        """Reserve free segments for an illegal fault, and return them."""
        at_ddl = _at_ddl(name) and bool(self.ddl_ts)
        for length in (min(longest, _RESERVED_AT_DDL) if at_ddl else longest, 1):
            for segment in self._candidates(name, number, self.ddl_ts if at_ddl else ()):
                start = segment - length + 1 if at_ddl else segment - length // 2
                start = max(0, min(start, self.segments.count - length))
                run = range(start, start + length)
                if self.reserved.isdisjoint(run):
                    self.reserved.update(run)
                    return run
        return _NOWHERE

    def fixed(self, settings: _Settings) -> dict[int, str]:
        """Assign segments to the legal faults that were requested by number."""
        fixed: dict[int, str] = {}
        for segment_trap in traps_of(SegmentTrap):
            name = segment_trap.id
            if name not in settings or settings[name].rate is not None:
                continue
            with_ddl = frozenset(map(self.segments.of, self.ddl_ts))
            excluded = with_ddl if segment_trap.without_ddl else frozenset()
            for number in range(settings[name].times or 1):
                unavailable = self.reserved | excluded
                candidates = self._candidates(name, number)
                segment = next((number for number in candidates if number not in unavailable), None)
                if segment is not None:
                    fixed[segment] = name
                    self.reserved.add(segment)
        return fixed

    def _candidates(self, name: str, number: int, ddl_ts: Sequence[int] = ()) -> Iterator[int]:
        """Yield segments with a commit or DDL, in the order in which they are tried."""
        count = len(ddl_ts) or len(self.commits)
        purpose = f"{name}/{number}"
        tries = (seeded_integer(self.seed, purpose, attempt) % count for attempt in range(_RANDOM_TRIES))
        for position in chain(tries, range(min(count, _MAX_TRIES))):
            yield self.segments.of(ddl_ts[position] if ddl_ts else self.clock.ts(self.commits[position]))
