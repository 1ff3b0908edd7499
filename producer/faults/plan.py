"""Which traps are set where: planned on the driver, from the history's clock and DDLs alone.

Illegal faults are single: each has a run of stretches of its own, in which no legal fault happens, so that a
verifier that finds something there has found just this. Legal ones are a share of what is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from producer.errors import FaultError
from producer.faults.catalogue import trap
from producer.faults.chance import drawn_number
from producer.faults.stretches import Stretches

AGAIN = ("replay-suffix", "replay-partial", "replay-one-table", "resolved-fallback", "resolved-lag")
"""Legal faults of a whole stretch; it has one at most."""
_WITHOUT_DDL = ("replay-partial", "resolved-lag")
_AT_DDL = ("missing-ddl", "ddl-before-its-rows")
_SOMETIMES = 0.1
_RUN = 8
_MOST_SINGLE = 1000
_TRIES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapSetting:
    """How often a trap is set; without either number its default.

    :param rate: share of the places where it can be.
    :param times: how many times.
    :param window: commits of a stretch.
    """

    rate: float | None = None
    times: int | None = None
    window: int | None = None


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

    def named(self, means: str, *, legal: bool) -> tuple[str, ...]:
        """The traps of the plan by what they work on."""
        names = sorted({*self.rates, *self.chosen.values(), *(one.trap for one in self.single)})
        return tuple(name for name in names if trap(name).means == means and trap(name).legal == legal)


_Settings: TypeAlias = Mapping[str, TrapSetting]


def plan_faults(
    settings: _Settings, *, seed: int, first: int, last: int, step: int, ddl_ts: Iterable[int]
) -> FaultPlan:
    """Plan the faults of a history.

    :param settings: by trap id; those that a changefeed or the scenario's SQL sets off are left out.
    :param first: commit-ts of the first commit, ``last`` of the last; ``step`` between two.
    :param ddl_ts: time stamps of the DDLs that are sent.
    :raises FaultError: if the history is too short for them, or their rates come to more than everything.
    """
    settings = {name: value for name, value in settings.items() if trap(name).means in ("event", "message")}
    commits = (last - first) // step + 1
    widest = max((value.window or 0 for value in settings.values()), default=0)
    stretches = Stretches.of_history(first, last, (widest or min(max(commits // 4, 2), 64)) * step)
    ddls = tuple(sorted(set(ddl_ts)))
    single = _singles(settings, seed, stretches, ddls)
    plan = FaultPlan(seed=seed, stretches=stretches, single=single, ddl_ts=ddls)
    return FaultPlan(
        seed=seed,
        stretches=stretches,
        rates=_rates(settings),
        chosen=_chosen(settings, plan),
        single=single,
        ddl_ts=ddls,
    )


def _rates(settings: _Settings) -> dict[str, float]:
    legal = {name: value for name, value in settings.items() if trap(name).legal}
    rates = {name: value.rate for name, value in legal.items() if value.rate is not None}
    for name, value in legal.items():
        if value.rate is None and name not in AGAIN:
            if value.times is not None:
                what = f"{name} is set by rate, not by times"
                raise FaultError(what, trap=name, hint=f"such as {name}:rate={_SOMETIMES}")
            rates[name] = _SOMETIMES
    if sum(rates.get(name, 0) for name in AGAIN) > 1:
        what = "a stretch of the history has one of these faults, and their rates come to more than 1"
        raise FaultError(what, trap=next(name for name in AGAIN if name in rates), hint=", ".join(AGAIN))
    return rates


def _chosen(settings: _Settings, plan: FaultPlan) -> dict[int, str]:
    """Stretches for legal faults that were asked for by number."""
    chosen: dict[int, str] = {}
    for name in AGAIN:
        if name not in settings or settings[name].rate is not None:
            continue
        barred = plan.taken | (plan.ddl_stretches if name in _WITHOUT_DDL else frozenset())
        for number in range(settings[name].times or 1):
            place = _first_free(plan, name, number, barred | chosen.keys())
            if place is None:
                raise _no_room(name, plan.stretches)
            chosen[place] = name
    return chosen


def _first_free(plan: FaultPlan, name: str, number: int, barred: Iterable[int]) -> int | None:
    there = set(barred)
    for place in _places(plan.seed, name, number, plan.stretches.count):
        if place not in there:
            return place
    return None


def _places(seed: int, name: str, number: int, count: int) -> Iterable[int]:
    """Stretches in the order in which a fault tries them: some at random, then one after another."""
    yield from (
        drawn_number(seed, f"{name}/{number}", attempt) % count for attempt in range(_TRIES) if count > 1
    )
    yield from range(count)


def _singles(
    settings: _Settings, seed: int, stretches: Stretches, ddl_ts: tuple[int, ...]
) -> tuple[Single, ...]:
    wanted = [
        (name, number)
        for name, value in sorted(settings.items(), key=lambda item: (item[0] not in _AT_DDL, item[0]))
        if not trap(name).legal
        for number in range(_times(name, value, stretches))
    ]
    if len(wanted) > _MOST_SINGLE:
        what = f"{len(wanted)} illegal faults; a run has at most {_MOST_SINGLE}"
        raise FaultError(what, trap=wanted[-1][0], hint="fewer times")
    if not wanted:
        return ()
    longest = min(_RUN, max(1, stretches.count // len(wanted)))
    found: list[Single] = []
    taken: set[int] = set()
    for name, number in wanted:
        run = _free_run(name, number, seed, stretches, ddl_ts, taken, longest)
        found.append(Single(name, number, run))
        taken.update(run)
    return tuple(found)


def _times(name: str, value: TrapSetting, stretches: Stretches) -> int:
    if value.rate is not None:
        return max(1, round(value.rate * stretches.count))
    return value.times or 1


def _free_run(
    name: str,
    number: int,
    seed: int,
    stretches: Stretches,
    ddl_ts: tuple[int, ...],
    taken: set[int],
    longest: int,
) -> range:
    at_ddl = [stretches.of(ts) for ts in ddl_ts] if name in _AT_DDL else []
    for length in (longest, 1):
        for place in _places(seed, name, number, len(at_ddl) or stretches.count):
            end = at_ddl[place] + 1 if at_ddl else place + length
            run = range(max(0, end - length), min(end, stretches.count))
            if taken.isdisjoint(run):
                return run
    raise _no_room(name, stretches)


def _no_room(name: str, stretches: Stretches) -> FaultError:
    what = f"the history has {stretches.count} stretches, and none is left for {name}"
    return FaultError(what, trap=name, hint="fewer faults, a smaller window, or a longer history")
