"""Mutations of a topic, drawn by path, and those that the verifier does not find."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.verifier.wire.forms import other_values, spelled
from tests.verifier.wire.topic import Row, Wire
from tests.verifier.wire.tree import Node, Path, changes_at, nodes


@dataclass(frozen=True)
class Mutant:
    """A topic with one change.

    :param path: of the change in its message.
    :param change: the kind of the change.
    :param message: the index of the message.
    """

    path: str
    change: str
    message: int
    messages: Sequence[Row] = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.path}: {self.change} (message {self.message})"


@dataclass
class Results:
    """The mutants that were tried, by path, and those that were not found."""

    tried: Counter[str] = field(default_factory=Counter)
    survivors: list[Mutant] = field(default_factory=list)

    @property
    def reported(self) -> int:
        return self.tried.total() - len(self.survivors)

    def __str__(self) -> str:
        return f"{self.tried.total()} | {self.reported} | {len(self.survivors)}"


def tried(wire: Wire, mutants: Iterator[Mutant]) -> Results:
    """Verify every mutant."""
    results = Results()
    for mutant in mutants:
        results.tried[mutant.path] += 1
        if wire.verdict(mutant.messages).ok:
            results.survivors.append(mutant)
    return results


def mutants(wire: Wire, seed: int, sites: int, changes: int | None = None) -> Iterator[Mutant]:
    """Yield mutants of every path.

    :param sites: for each path, the number of nodes that are changed.
    :param changes: for each node, the number of changes that are drawn; None: all changes.
    """
    random = Random(seed)
    for path, index, node_path, node in _drawn(wire, random, sites):
        root = wire.form.parsed(wire.messages[index]["key"], wire.messages[index]["value"])
        kinds = changes_at(root, node_path, other_values(node))
        names = sorted(kinds)
        for kind in names if changes is None else random.sample(names, min(changes, len(names))):
            if (messages := _changed(wire, index, root, kinds[kind])) is not None:
                yield Mutant(path, kind, index, messages)


def stream_mutants(wire: Wire, seed: int, sites: int) -> Iterator[Mutant]:
    """Yield topics whose messages are lost, repeated, or elsewhere; ``path`` is the kind of the message."""
    random = Random(seed)
    by_kind: dict[str, list[int]] = defaultdict(list)
    for index, message in enumerate(wire.messages):
        by_kind[message["type"]].append(index)
    for kind, indexes in sorted(by_kind.items()):
        for index in random.sample(indexes, min(sites, len(indexes))):
            for change, messages in _stream_changes(wire.messages, index).items():
                if wire.delivered(messages) != wire.messages:
                    yield Mutant(kind, change, index, messages)
    backwards = [*reversed(wire.messages)]
    exchanged = [{**row, "partition": 1 - row["partition"]} for row in wire.messages]
    in_one = [{**row, "partition": 0} for row in wire.messages]
    for change, rows in {"backwards": backwards, "partitions exchanged": exchanged, "in one": in_one}.items():
        if wire.delivered(rows) != wire.messages:
            yield Mutant("topic", change, 0, rows)


def _stream_changes(messages: Sequence[Row], index: int) -> dict[str, list[Row]]:
    """Return the changes of one message's position, by their kind."""
    message, before, after = messages[index], [*messages[:index]], [*messages[index + 1 :]]
    elsewhere = {**message, "partition": 1 - message["partition"]}
    siblings = [row for row in messages if row["partition"] == message["partition"]]
    following = siblings[siblings.index(message) + 1 :][:1]
    rest = [row for row in after if row not in following]
    return {
        "lost": before + after,
        "twice": [*before, message, message, *after],
        "again at the end": [*messages, message],
        "swapped with the next": [*before, *following, message, *rest],
        "last": [*before, *after, message],
        "first": [message, *before, *after],
        "in another partition": [*before, elsewhere, *after],
        "also in another partition": [*before, message, elsewhere, *after],
        "without value": [*before, {**message, "value": None}, *after],
        "empty value": [*before, {**message, "value": b""}, *after],
        "without key": [*before, {**message, "key": None}, *after],
        "empty key": [*before, {**message, "key": b""}, *after],
    }


def _drawn(wire: Wire, random: Random, sites: int) -> Iterator[tuple[str, int, Path, Node]]:
    """Yield nodes of each path: its name, the index of the message, the node's path, and the node."""
    by_path: dict[str, list[tuple[int, Path, Node]]] = defaultdict(list)
    for index, message in enumerate(wire.messages):
        for names, path, node in nodes(wire.form.parsed(message["key"], message["value"])):
            by_path[spelled(names)].append((index, path, node))
    for name, occurrences in sorted(by_path.items()):
        for occurrence in random.sample(occurrences, min(sites, len(occurrences))):
            yield name, *occurrence


def _changed(wire: Wire, index: int, root: Node, change: Callable[[Node], Node]) -> list[Row] | None:
    """Return the messages with a changed one; None if a reader gets the same."""
    key, value = wire.form.written(change(root))
    messages = [*wire.messages]
    messages[index] = {**messages[index], "key": key, "value": value}
    return messages if wire.delivered(messages) != wire.messages else None
