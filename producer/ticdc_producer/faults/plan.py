"""Plans on the driver which faults are injected where, from the history's clock and DDLs alone.

Each illegal fault gets consecutive segments of its own, in which no legal fault happens. What a verifier
finds there is therefore caused by this fault. Legal faults get the remaining segments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from ticdc_producer.errors import FaultError
from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.seeded_hash import seeded_integer
from ticdc_producer.faults.segments import Segments
from ticdc_producer.faults.trap_setting import TrapSetting
from ticdc_producer.model.clock import Clock

SEGMENT_FAULTS = ("replay-suffix", "replay-partial", "replay-one-table", "resolved-fallback", "resolved-lag")
"""Legal faults that concern a whole segment; a segment has at most one of them."""
WITHOUT_DDL = ("replay-partial", "resolved-lag")
"""Those of ``SEGMENT_FAULTS`` that need a segment without DDLs."""
_AT_DDL = ("missing-ddl", "ddl-before-its-rows")
_DEFAULT_RATE = 0.1
_EVERY_DDL = ("duplicate-ddl", "ddl-at-resolved-ts")
"""Faults that every DDL gets unless a rate is given: DDLs are few, and a share of them is easily none."""
_RESERVED, _RESERVED_AT_DDL = 8, 3
"""Most segments that an illegal fault reserves."""
_MAX_ILLEGAL = 1000
_RANDOM_TRIES, _MAX_TRIES = 64, 100_000


@dataclass(frozen=True, slots=True)
class IllegalFault:
    """One illegal fault.

    :param number: counts the faults of one trap from 0.
    :param segments: the segments that are reserved for it; one event in them is changed.
    """

    trap: str
    number: int
    segments: range


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """The faults of one run.

    :param rates: rates of legal faults, by trap id.
    :param fixed: trap ids of the legal faults that were requested by number, by segment.
    :param illegal: the illegal faults.
    :param ddl_ts: commit-ts of the DDLs that are sent.
    """

    seed: int
    segments: Segments
    rates: Mapping[str, float] = field(default_factory=dict)
    fixed: Mapping[int, str] = field(default_factory=dict)
    illegal: tuple[IllegalFault, ...] = ()
    ddl_ts: tuple[int, ...] = ()

    @property
    def ddl_segments(self) -> frozenset[int]:
        """Segments in which a DDL is sent."""
        return frozenset(map(self.segments.of, self.ddl_ts))

    @property
    def reserved(self) -> frozenset[int]:
        """Segments that are reserved for illegal faults."""
        return frozenset(number for one in self.illegal for number in one.segments)

    @property
    def moves_tables(self) -> bool:
        """Whether a table moves to another node in any segment (replay-one-table)."""
        return "replay-one-table" in {*self.rates, *self.fixed.values()}

    @property
    def repeats(self) -> bool:
        """Whether any segment may have events that are delivered again or later."""
        return bool(self.fixed or any(name in self.rates for name in SEGMENT_FAULTS))


_Settings: TypeAlias = Mapping[str, TrapSetting]


def plan_faults(
    settings: _Settings, *, seed: int, clock: Clock, commits: int, ddl_ts: Iterable[int]
) -> FaultPlan:
    """Plan the faults of a history.

    :param settings: by trap id; traps that the changefeed or the scenario's SQL produces are ignored.
    :param commits: number of commits in the history.
    :param ddl_ts: commit-ts of the DDLs that are sent.
    :raises FaultError: if the history is too short for the faults, or their rates add up to more than 1.
    """
    settings = {
        name: value for name, value in settings.items() if trap(name).mechanism in ("event", "message")
    }
    window = max((value.window or 0 for value in settings.values()), default=0)
    parts = max(4, 3 * sum(map(_requested_segments, settings, settings.values())))
    length = (window or min(max(commits // parts, 2), 64)) * clock.step
    segments = Segments.of_history(clock.ts(0), clock.ts(commits - 1), length)
    planner = _Planner(seed, segments, clock, commits, tuple(sorted(set(ddl_ts))))
    rates, illegal = _rates(settings), planner.illegal(settings)
    return FaultPlan(
        seed=seed,
        segments=segments,
        rates=rates,
        fixed=planner.fixed(settings),
        illegal=illegal,
        ddl_ts=planner.ddl_ts,
    )


def _requested_segments(name: str, setting: TrapSetting) -> int:
    """Number of segments that a trap needs if it is requested by number."""
    by_number = setting.rate is None and (name in SEGMENT_FAULTS or not trap(name).legal)
    return (setting.times or 1) if by_number else 0


def _rates(settings: _Settings) -> dict[str, float]:
    legal = {name: value for name, value in settings.items() if trap(name).legal}
    rates = {name: value.rate for name, value in legal.items() if value.rate is not None}
    for name, value in legal.items():
        if value.rate is None and name not in SEGMENT_FAULTS:
            if value.times is not None:
                what = f"{name} is set by rate, not by times"
                raise FaultError(what, trap=name, hint=f"such as {name}:rate={_DEFAULT_RATE}")
            rates[name] = 1.0 if name in _EVERY_DDL else _DEFAULT_RATE
    if sum(rates.get(name, 0) for name in SEGMENT_FAULTS) > 1:
        what = "a segment has at most one of these faults, and their rates add up to more than 1"
        raise FaultError(
            what, trap=next(name for name in SEGMENT_FAULTS if name in rates), hint=", ".join(SEGMENT_FAULTS)
        )
    return rates


@dataclass
class _Planner:
    """Assigns segments to faults; each segment belongs to at most one fault."""

    seed: int
    segments: Segments
    clock: Clock
    commits: int
    ddl_ts: tuple[int, ...]
    reserved: set[int] = field(default_factory=set)

    def illegal(self, settings: _Settings) -> tuple[IllegalFault, ...]:
        """Reserve segments for illegal faults, first for those at DDLs, which have the fewest candidates."""
        requested = [
            (name, number)
            for name, value in sorted(settings.items(), key=lambda item: (item[0] not in _AT_DDL, item[0]))
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
        at_ddl = name in _AT_DDL and bool(self.ddl_ts)
        for length in (min(longest, _RESERVED_AT_DDL) if at_ddl else longest, 1):
            for segment in self._candidates(name, number, self.ddl_ts if at_ddl else ()):
                start = segment - length + 1 if at_ddl else segment - length // 2
                start = max(0, min(start, self.segments.count - length))
                run = range(start, start + length)
                if self.reserved.isdisjoint(run):
                    self.reserved.update(run)
                    return run
        raise self._no_room(name)

    def fixed(self, settings: _Settings) -> dict[int, str]:
        """Assign segments to the legal faults that were requested by number."""
        fixed: dict[int, str] = {}
        for name in SEGMENT_FAULTS:
            if name not in settings or settings[name].rate is not None:
                continue
            excluded = frozenset(map(self.segments.of, self.ddl_ts)) if name in WITHOUT_DDL else frozenset()
            for number in range(settings[name].times or 1):
                unavailable = self.reserved | excluded
                candidates = self._candidates(name, number)
                segment = next((one for one in candidates if one not in unavailable), None)
                if segment is None:
                    raise self._no_room(name)
                fixed[segment] = name
                self.reserved.add(segment)
        return fixed

    def _candidates(self, name: str, number: int, ddl_ts: Sequence[int] = ()) -> Iterator[int]:
        """Segments with a commit or DDL, in the order in which a fault tries them."""
        count = len(ddl_ts) or self.commits
        purpose = f"{name}/{number}"
        tries = (seeded_integer(self.seed, purpose, attempt) % count for attempt in range(_RANDOM_TRIES))
        for one in chain(tries, range(min(count, _MAX_TRIES))):
            yield self.segments.of(ddl_ts[one] if ddl_ts else self.clock.ts(one))

    def _no_room(self, name: str) -> FaultError:
        what = f"no free segment of the history for {name}: it has {self.segments.count} segments"
        return FaultError(what, trap=name, hint="fewer faults, a smaller window, or a longer history")
