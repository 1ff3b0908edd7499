"""Plans of restarts: at which points of a topic a consumer is stopped, and which partitions it has then.

The points are known from a life without a stop. A small topic is stopped at every point; of a large one those
are chosen at which consumers are known to fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from random import Random
from typing import TypeAlias

import msgspec

from ticdc_producer.model.event import Kind

EFFECT, COMMIT = "effect", "commit"


class Stop(msgspec.Struct, frozen=True, order=True):
    """A point of a life at which the consumer is stopped.

    :param step: number of the step; 0 is the start.
    :param point: number of the point within the step, from 1; 0: after the answer to the step.
    """

    step: int
    point: int = 0


class Life(msgspec.Struct, frozen=True):
    """A life of a consumer, from its start to its stop. A plan does not list the last life, without a stop.

    :param stop: None: after all messages of its partitions.
    :param assigned: its partitions; empty: all.
    """

    stop: Stop | None = None
    assigned: tuple[str, ...] = ()


Plan: TypeAlias = tuple[Life, ...]


@dataclass(frozen=True, kw_only=True)
class TracedStep:
    """A step of a life without a stop.

    :param points: what the testee made durable.
    :param kinds: kinds of the events of its messages.
    :param several: whether one of its messages has several events.
    """

    step: int
    points: Sequence[str]
    kinds: frozenset[Kind] = frozenset()
    several: bool = False


MAX_STOPS = 64
"""A topic with at most this number of stops is stopped at each of them."""
_STEERED = 24
"""Stops of a larger topic."""
_TWICE, _OTHERS = 8, 8
"""Plans with a second stop while messages are read again, and plans with other partitions after a stop."""
_FEW_STEPS, _FEW_POINTS = 4, 3


def plans(trace: Sequence[TracedStep], partitions: Sequence[str], random: Random) -> Iterator[Plan]:
    """Yield plans, those with one stop first.

    :param trace: the steps of a life without a stop.
    :param partitions: all partitions.
    """
    stops = [Stop(traced.step, point) for traced in trace for point in range(len(traced.points) + 1)]
    if len(stops) > MAX_STOPS:
        stops = list(_in_turn(_by_interest(trace), _STEERED, random))
    yield from ((Life(stop),) for stop in stops)
    for _ in range(_TWICE):
        first = random.choice(stops)
        yield Life(first), Life(_early(random))
    for _ in range(_OTHERS if len(partitions) > 1 else 0):
        first = random.choice(stops)
        some = random.sample(partitions, random.randrange(1, len(partitions)))
        yield Life(first), Life(_early(random) if random.random() < 1 / 2 else None, tuple(sorted(some)))


def _early(random: Random) -> Stop:
    """Draw a stop among the first steps of a life, in which messages are read again."""
    return Stop(random.randrange(_FEW_STEPS), random.randrange(_FEW_POINTS))


def _by_interest(trace: Iterable[TracedStep]) -> Mapping[str, list[Stop]]:
    """Return the stops of a life by what makes them interesting. A stop may have several reasons."""
    stops: dict[str, list[Stop]] = {}
    for traced in trace:
        following = [*traced.points[1:], ""]
        for number, (label, after) in enumerate(zip(traced.points, following, strict=False), 1):
            stop = Stop(traced.step, number)
            if traced.several:
                stops.setdefault("inside of a message", []).append(stop)
            if label == EFFECT and after != EFFECT:
                stops.setdefault("between effect and commit", []).append(stop)
            if label == COMMIT and after:
                stops.setdefault("between commit and effect", []).append(stop)
            stops.setdefault("inside of a step", []).append(stop)
        between = Stop(traced.step)
        for kind in traced.kinds:
            stops.setdefault(f"at {kind.name}", []).append(between)
        stops.setdefault("between steps", []).append(between)
    return stops


def _in_turn(stops: Mapping[str, list[Stop]], limit: int, random: Random) -> list[Stop]:
    """Return different stops, of each reason in turn."""
    shuffled = [random.sample(some, len(some)) for some in stops.values()]
    mixed = chain.from_iterable(zip_longest(*shuffled))
    return [*dict.fromkeys(stop for stop in mixed if stop is not None)][:limit]


def without_lives(plan: Plan) -> Iterator[Plan]:
    """Yield the plans that have one life less, or all partitions in a life."""
    for index, life in enumerate(plan):
        yield plan[:index] + plan[index + 1 :]
        if life.assigned:
            yield (*plan[:index], Life(life.stop), *plan[index + 1 :])
