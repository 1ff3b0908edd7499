"""The stream of random examples: drawn, and built before their turn in further processes.

An example depends on the seed and on the traps that the consumer had survived some histories before. It does
not depend on how many processes build examples, nor on how fast the consumer answers.
"""

from __future__ import annotations

import asyncio
import gc
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from random import Random

from ticdc_producer.conformance.case_spec import LEVELS_OF_HISTORIES, Level
from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.random_example import new_history, possible_traps, random_example
from ticdc_producer.conformance.fuzz.steering import Steering
from ticdc_producer.conformance.fuzz.testee import FuzzCase
from ticdc_producer.conformance.fuzz.topic import build_topic
from ticdc_producer.conformance.wire import ProtocolName
from ticdc_producer.errors import EnvironmentFailure, ProducerError

VARIATIONS = 4
"""Examples of one history, with protocols, options, traps and deliveries of their own: running the statements
takes a third of the time of an example."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of the draw.

    :param follows_ddl: whether tables that a DDL altered are requested, too.
    """

    seed: int
    protocols: Sequence[ProtocolName]
    levels: tuple[Level, ...] = LEVELS_OF_HISTORIES
    follows_ddl: bool = False


class Examples:
    """Random examples.

    :param steering: the traps that the consumer has survived; it decides which traps are drawn next.
    :ivar protocols: the protocols of further examples.
    """

    def __init__(self, settings: Settings, steering: Steering) -> None:
        self._settings, self._steering = settings, steering
        self._random = Random(settings.seed)
        self.protocols = list(settings.protocols)

    def draw(self) -> list[FuzzExample]:
        """Draw the examples of a new history. Nearly all of them are valid."""
        protocol = self._random.choice(self.protocols)
        focus = self._steering.focus(self._random, protocol)
        history = new_history(self._random, focus)
        possible, examples = possible_traps(history), list[FuzzExample]()
        for _ in range(VARIATIONS):
            if examples:  # the first one has the traps for which the history was drawn
                protocol = self._random.choice(self.protocols)
                focus = self._steering.focus(self._random, protocol, possible)
            examples.append(
                random_example(
                    self._random,
                    protocol,
                    history=history,
                    focus=focus,
                    levels=self._settings.levels,
                    follows_ddl=self._settings.follows_ddl,
                )
            )
        return examples


AHEAD = 8
"""Histories whose examples are drawn before the consumer has answered those of the first of them. More
processes than that would have nothing to do."""
_MAX_REJECTED = 50
"""Consecutive examples without a valid topic; nearly all examples have one."""


@dataclass(frozen=True, slots=True)
class NumberedExample:
    """An example with its position in the stream.

    :param number: position, from 1.
    """

    number: int
    example: FuzzExample


@dataclass(frozen=True, slots=True)
class BuiltExample:
    """An example with its requests.

    :param cases: the requests with the expected answers.
    :param traps: the traps of the catalogue that its topic has.
    :param rejection: why it has no topic; empty if it has one.
    """

    number: int
    example: FuzzExample
    cases: tuple[FuzzCase, ...] = ()
    traps: frozenset[str] = frozenset()
    rejection: str = ""


def built(numbered: NumberedExample) -> BuiltExample:
    """Run the statements of an example, and make its requests."""
    example = numbered.example
    try:
        topic = build_topic(example)
    except ProducerError as error:
        return BuiltExample(numbered.number, example, rejection=str(error))
    cases = tuple(topic.cases(f"fuzz.{example.protocol}.{numbered.number}"))
    return BuiltExample(numbered.number, example, cases, topic.traps)


def built_all(examples: Sequence[NumberedExample]) -> list[BuiltExample]:
    """Build the examples of a history: in one process, because they share the executed history."""
    return [built(example) for example in examples]


class ExampleStream:
    """Random examples in their order.

    :param processes: number of processes that build examples; 0: this process builds each at its turn.
    :param examples: number of examples that will be requested, so that no further ones are built; None: not
        known.
    :ivar rejected: number of drawn examples that had no valid topic.
    """

    def __init__(self, settings: Settings, *, processes: int = 0, examples: int | None = None) -> None:
        self._steering = Steering(settings.protocols)
        self._examples = Examples(settings, self._steering)
        self._pool = _pool(min(processes, AHEAD)) if processes else None
        self._limit = examples
        self._last_number = 0
        self._histories: deque[_History] = deque()
        self._current: Iterator[BuiltExample] = iter(())
        self._survived: deque[BuiltExample] = deque()
        self.rejected = 0

    @property
    def protocols(self) -> Sequence[ProtocolName]:
        """The protocols of further examples."""
        return self._examples.protocols

    def leave_out(self, protocol: ProtocolName) -> None:
        """Draw no further examples of a protocol."""
        self._examples.protocols.remove(protocol)

    def survived(self, example: BuiltExample) -> None:
        """Count an example that the consumer answered rightly."""
        self._survived.append(example)

    async def next(self) -> BuiltExample | None:
        """Return the next example that has a topic; None if no protocol remains.

        :raises EnvironmentFailure: if a process that builds examples has ended.
        :raises ProducerError: if no valid example is drawn, which the tests rule out.
        """
        rejected = 0
        while self._examples.protocols:
            candidate = next(self._current, None)
            if candidate is None:
                self._current = await self._next_history()
            elif candidate.rejection:
                self.rejected, rejected = self.rejected + 1, rejected + 1
                if rejected == _MAX_REJECTED:
                    raise ProducerError(candidate.rejection)
            elif candidate.example.protocol in self._examples.protocols:
                return candidate
        return None

    async def _next_history(self) -> Iterator[BuiltExample]:
        while len(self._histories) < AHEAD:
            self._histories.append(self._draw())
        if self._pool is None:
            return map(built, self._histories.popleft().examples)
        try:
            for history in self._histories:
                if self._limit is None or history.examples[0].number <= self._limit:
                    history.start(self._pool)
            examples = await asyncio.wrap_future(self._histories.popleft().start(self._pool))
        except BrokenProcessPool:
            what, hint = (
                "a process that builds examples has ended",
                "`processes` 0 builds them in this process",
            )
            raise EnvironmentFailure(what, hint=hint).about("processes") from None
        return iter(examples)

    def _draw(self) -> _History:
        """Draw the examples of a history; the answers to the latest examples have no influence."""
        until = self._last_number - AHEAD * VARIATIONS
        while self._survived and self._survived[0].number <= until:
            survivor = self._survived.popleft()
            self._steering.record(survivor.example, survivor.traps)
        examples = self._examples.draw()
        numbers = range(self._last_number + 1, self._last_number + 1 + len(examples))
        self._last_number += len(examples)
        return _History(
            [NumberedExample(number, example) for number, example in zip(numbers, examples, strict=True)]
        )

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


@dataclass
class _History:
    """The examples of one history.

    :param building: their requests, once a process builds them.
    """

    examples: Sequence[NumberedExample]
    building: Future[list[BuiltExample]] | None = None

    def start(self, pool: ProcessPoolExecutor) -> Future[list[BuiltExample]]:
        if self.building is None:
            self.building = pool.submit(built_all, self.examples)
        return self.building


def _pool(processes: int) -> ProcessPoolExecutor:
    # A forked process would have the locks of Arrow's threads, but not the threads.
    return ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_start_process)


def _start_process() -> None:
    # Ctrl+C reaches all processes of a terminal; the first process ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The modules stay, so the collector need not visit their objects again and again.
    gc.freeze()
