"""Which traps are set where: planned on the driver, from the history's clock and DDLs alone.

Illegal faults are single: each has a run of stretches of its own, in which no legal fault happens, so that a
verifier that finds something there has found just this. Legal ones are a share of what is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

from ticdc_producer.errors import FaultError
from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.chance import drawn_number
from ticdc_producer.faults.segments import Stretches
from ticdc_producer.faults.trap_setting import TrapSetting
from ticdc_producer.model.clock import Clock

AGAIN = ("replay-suffix", "replay-partial", "replay-one-table", "resolved-fallback", "resolved-lag")
"""Legal faults of a whole stretch; it has one at most."""
WITHOUT_DDL = ("replay-partial", "resolved-lag")
_AT_DDL = ("missing-ddl", "ddl-before-its-rows")
_SOMETIMES = 0.1
_ALWAYS = ("duplicate-ddl", "ddl-at-resolved-ts")
"""What each DDL gets unless a rate is given: DDLs are few, and a share of them is easily none."""
_RUN, _RUN_AT_DDL = 8, 3
_MOST_SINGLE = 1000
_TRIES, _MOST_TRIED = 64, 100_000


@dataclass(frozen=True, slots=True)
class Single:
    """One illegal fault, and the stretches in which its event is looked for."""

    trap: str
    number: int
    stretches: range


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """:param rates: of legal faults, by trap.
    :param chosen: legal faults of single stretches.
    :param ddl_stretches: stretches in which a DDL is sent; ``ddl_ts`` their time stamps.
    """

    seed: int
    stretches: Stretches
    rates: Mapping[str, float] = field(default_factory=dict)
    chosen: Mapping[int, str] = field(default_factory=dict)
    single: tuple[Single, ...] = ()
    ddl_ts: tuple[int, ...] = ()

    @property
    def ddl_stretches(self) -> frozenset[int]:
        """Stretches in which a DDL is sent."""
        return frozenset(map(self.stretches.of, self.ddl_ts))

    @property
    def taken(self) -> frozenset[int]:
        """Stretches that illegal faults have for themselves."""
        return frozenset(number for one in self.single for number in one.stretches)

    @property
    def repeats(self) -> bool:
        """Whether something is delivered again, or later, by stretches."""
        return bool(self.chosen or any(name in self.rates for name in AGAIN))


_Settings: TypeAlias = Mapping[str, TrapSetting]


def plan_faults(
    settings: _Settings, *, seed: int, clock: Clock, commits: int, ddl_ts: Iterable[int]
) -> FaultPlan:
    """Plan the faults of a history.

    :param settings: by trap id; those that a changefeed or the scenario's SQL sets off are left out.
    :param commits: how many there are.
    :param ddl_ts: time stamps of the DDLs that are sent.
    :raises FaultError: if the history is too short for them, or their rates come to more than everything.
    """
    settings = {name: value for name, value in settings.items() if trap(name).means in ("event", "message")}
    window = max((value.window or 0 for value in settings.values()), default=0)
    parts = max(4, 3 * sum(map(_wanted_stretches, settings, settings.values())))
    length = (window or min(max(commits // parts, 2), 64)) * clock.step
    stretches = Stretches.of_history(clock.ts(0), clock.ts(commits - 1), length)
    planner = _Planner(seed, stretches, clock, commits, tuple(sorted(set(ddl_ts))))
    rates, single = _rates(settings), planner.singles(settings)
    return FaultPlan(
        seed=seed,
        stretches=stretches,
        rates=rates,
        chosen=planner.chosen(settings),
        single=single,
        ddl_ts=planner.ddl_ts,
    )


def _wanted_stretches(name: str, setting: TrapSetting) -> int:
    """How many stretches a trap asks for by number."""
    by_number = setting.rate is None and (name in AGAIN or not trap(name).legal)
    return (setting.times or 1) if by_number else 0


def _rates(settings: _Settings) -> dict[str, float]:
    legal = {name: value for name, value in settings.items() if trap(name).legal}
    rates = {name: value.rate for name, value in legal.items() if value.rate is not None}
    for name, value in legal.items():
        if value.rate is None and name not in AGAIN:
            if value.times is not None:
                what = f"{name} is set by rate, not by times"
                raise FaultError(what, trap=name, hint=f"such as {name}:rate={_SOMETIMES}")
            rates[name] = 1.0 if name in _ALWAYS else _SOMETIMES
    if sum(rates.get(name, 0) for name in AGAIN) > 1:
        what = "a stretch of the history has one of these faults, and their rates come to more than 1"
        raise FaultError(what, trap=next(name for name in AGAIN if name in rates), hint=", ".join(AGAIN))
    return rates


@dataclass
class _Planner:
    """Gives stretches to faults; each belongs to one."""

    seed: int
    stretches: Stretches
    clock: Clock
    commits: int
    ddl_ts: tuple[int, ...]
    taken: set[int] = field(default_factory=set)

    def singles(self, settings: _Settings) -> tuple[Single, ...]:
        """Runs of stretches for illegal faults; those at DDLs first, which have the least choice."""
        wanted = [
            (name, number)
            for name, value in sorted(settings.items(), key=lambda item: (item[0] not in _AT_DDL, item[0]))
            if not trap(name).legal
            for number in range(self._times(value))
        ]
        if len(wanted) > _MOST_SINGLE:
            what = f"{len(wanted)} illegal faults; a run has at most {_MOST_SINGLE}"
            raise FaultError(what, trap=wanted[-1][0], hint="fewer times")
        others = sum(map(_wanted_stretches, settings, settings.values())) - len(wanted)
        room = max(1, (self.stretches.count - 2 * others) // max(len(wanted), 1))
        longest = min(_RUN, room)
        return tuple(Single(name, number, self._run(name, number, longest)) for name, number in wanted)

    def _times(self, value: TrapSetting) -> int:
        if value.rate is not None:
            return max(1, round(value.rate * self.stretches.count))
        return value.times or 1

    def _run(self, name: str, number: int, longest: int) -> range:
        at_ddl = name in _AT_DDL and bool(self.ddl_ts)
        for length in (min(longest, _RUN_AT_DDL) if at_ddl else longest, 1):
            for place in self._places(name, number, self.ddl_ts if at_ddl else ()):
                start = place - length + 1 if at_ddl else place - length // 2
                start = max(0, min(start, self.stretches.count - length))
                run = range(start, start + length)
                if self.taken.isdisjoint(run):
                    self.taken.update(run)
                    return run
        raise self._no_room(name)

    def chosen(self, settings: _Settings) -> dict[int, str]:
        """Stretches for legal faults that were asked for by number."""
        chosen: dict[int, str] = {}
        for name in AGAIN:
            if name not in settings or settings[name].rate is not None:
                continue
            barred = frozenset(map(self.stretches.of, self.ddl_ts)) if name in WITHOUT_DDL else frozenset()
            for number in range(settings[name].times or 1):
                place = next(
                    (one for one in self._places(name, number) if one not in self.taken | barred), None
                )
                if place is None:
                    raise self._no_room(name)
                chosen[place] = name
                self.taken.add(place)
        return chosen

    def _places(self, name: str, number: int, ddl_ts: Sequence[int] = ()) -> Iterator[int]:
        """Stretches in the order in which a fault tries them, each with a commit or DDL in it."""
        count = len(ddl_ts) or self.commits
        tries = (drawn_number(self.seed, f"{name}/{number}", attempt) % count for attempt in range(_TRIES))
        for one in chain(tries, range(min(count, _MOST_TRIED))):
            yield self.stretches.of(ddl_ts[one] if ddl_ts else self.clock.ts(one))

    def _no_room(self, name: str) -> FaultError:
        what = f"no stretch of the history is left for {name}: it has {self.stretches.count}"
        return FaultError(what, trap=name, hint="fewer faults, a smaller window, or a longer history")
