"""The results of a run: what ``scoreboard.json`` holds. It has no time and no path: equal runs are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

Status: TypeAlias = Literal["passed", "failed", "skipped"]
RESULTS = Path(__file__).with_name("results.json")
"""The results that docs/consumers.md has."""
CELLS = ("decode", "apply", "restart", "traps", "random")


class MessageText(msgspec.Struct, frozen=True, kw_only=True):
    """A message as text.

    :param at: ``topic/partition@offset``; empty for a single message.
    """

    at: str
    key: str | None
    value: str | None


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The shrunk history of a failure.

    :param name: example or trap that revealed the failure.
    :param others: traps at which the consumer stops with the same error.
    :param settings: protocol, partitions, options, traps, and where the consumer was stopped.
    :param reasons: what is wrong.
    :param messages: the whole topic.
    """

    name: str
    statements: list[str]
    settings: list[str]
    reasons: list[str]
    messages: list[MessageText]
    others: list[str] = []


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Cases of the corpus that fail in the same way.

    :param case: the first of them, with its reasons and its message.
    :param others: the other ones.
    """

    case: str
    description: str
    reasons: list[str]
    messages: list[MessageText]
    others: list[str] = []


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a consumer in one column.

    :param passed: number of cases, traps or examples; so are the other numbers.
    :param note: why everything was skipped.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    note: str = ""
    causes: list[Cause] = []
    histories: list[History] = []

    @property
    def status(self) -> Status:
        if self.failed:
            return "failed"
        return "passed" if self.passed else "skipped"


class ConsumerResult(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a consumer.

    :param needs: what it needs to run; the reason if it did not.
    :param ran: whether it ran.
    """

    name: str
    software: str
    protocols: list[str]
    ran: bool
    needs: str
    cells: dict[str, Cell] = {}


class Scoreboard(msgspec.Struct, frozen=True, kw_only=True):
    """The results of a run.

    :param seed: of the random histories.
    :param examples: number of random histories of each consumer.
    """

    seed: int
    examples: int
    consumers: list[ConsumerResult]


def read_results(path: Path = RESULTS) -> Scoreboard:
    """Return stored results."""
    return msgspec.json.decode(path.read_bytes(), type=Scoreboard)


def write_results(path: Path, results: Scoreboard) -> None:
    """Store results."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def merged(earlier: Scoreboard | None, later: Scoreboard) -> Scoreboard:
    """Return earlier results, with those of the consumers that ran later in their stead.

    A consumer that did not run later keeps its earlier results.

    :param earlier: with the seed and the number of examples of the later ones.
    """
    results = {} if earlier is None else {result.name: result for result in earlier.consumers}
    for result in later.consumers:
        if result.ran or not (result.name in results and results[result.name].ran):
            results[result.name] = result
    return msgspec.structs.replace(later, consumers=[*results.values()])
