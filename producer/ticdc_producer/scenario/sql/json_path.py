"""JSON paths: ``$.a."b c"[0][*][last-1][1 to 2].**``.

Grammar and matching: tidb ``pkg/types/json_path_expr.go``, ``json_binary_functions.go`` (``extractTo``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.json_text import JsonValue, members, quoted


@dataclass(frozen=True, slots=True)
class Member:
    """``.name``; None for ``.*``."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Cells:
    """``[first to last]``; below zero they count from the end, -1 is the last; ``[*]`` is 0 to -1.

    :param kind: ``index``, ``range`` or ``all``.
    """

    first: int
    last: int
    kind: str

    def of(self, count: int) -> range:
        """The places in an array of that length."""
        first = self.first + count if self.first < 0 else self.first
        last = self.last + count if self.last < 0 else self.last
        return range(first, min(last, count - 1) + 1) if first >= 0 else range(0)


@dataclass(frozen=True, slots=True)
class Anywhere:
    """``**``: the value itself and all below it."""


Leg = Member | Cells | Anywhere
Path = tuple[Leg, ...]

_SPACE = r"[\t\n\v\f\r \x85\xa0]*"
_INDEX = rf"(\d{{1,10}}|last(?:{_SPACE}-{_SPACE}(\d{{1,10}}))?)"
_NAME = r'"((?:[^"\\]|\\.)*)"|([^\s.\[*]+)'
_LEG = re.compile(
    rf"{_SPACE}(?:(\*\*)(?!\*)|\.{_SPACE}(?:(\*)|{_NAME})"
    rf"|\[{_SPACE}(?:(\*)|{_INDEX}(?:\s+to\s+{_INDEX})?){_SPACE}\])",
    re.ASCII | re.DOTALL,
)
_IDENTIFIER = re.compile(r"[A-Za-z_$\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*")


@lru_cache(maxsize=1024)
def parse_path(text: str) -> Path:
    """A path as its legs.

    :raises ScenarioError: if it is none.
    """
    rest = text.strip()
    legs: list[Leg] = []
    place = 1
    while rest[:1] == "$" and place < len(rest):
        match = _LEG.match(rest, place)
        leg = None if match is None else _leg(match)
        if match is None or leg is None:
            break
        legs.append(leg)
        place = match.end()
    if rest[:1] != "$" or place < len(rest) or (legs and isinstance(legs[-1], Anywhere)):
        raise ScenarioError(f"Invalid JSON path expression: {text!r}", value=text)
    return tuple(legs)


def path_text(path: Path) -> str:
    """The path as ``JSON_SEARCH`` shows it: names that are no identifiers stand in quotes."""
    return "$" + "".join(_leg_text(leg) for leg in path)


def is_single(path: Path) -> bool:
    """Whether it can lead to one value only."""
    return all(
        (isinstance(leg, Member) and leg.name is not None) or (isinstance(leg, Cells) and leg.kind == "index")
        for leg in path
    )


def single(path: Path) -> Path:
    """The same path.

    :raises ScenarioError: if it may lead to several values.
    """
    if not is_single(path):
        raise ScenarioError("In this situation, path expressions may not contain the *, ** tokens or a range")
    return path


def found(document: JsonValue, path: Path) -> list[JsonValue]:
    """All values that a path leads to, each place once, in TiDB's order."""
    return list(dict(places(document, path)).values())


def places(
    document: JsonValue, path: Path, at: Path = (), *, wrap: bool = True
) -> Iterator[tuple[Path, JsonValue]]:
    """Where a path leads and what is there; a place may come twice.

    :param at: how the document itself was reached.
    :param wrap: whether what is no array counts as an array of one.
    """
    if not path:
        yield at, document
        return
    leg, rest = path[0], path[1:]
    if isinstance(leg, Anywhere):
        yield from places(document, rest, at, wrap=wrap)
    elif isinstance(leg, Cells) and not isinstance(document, list):
        if wrap and _matches_scalar(leg):
            yield from places(document, rest, at, wrap=wrap)
        return
    for step, child in children_at(document):
        if isinstance(leg, Anywhere):
            yield from places(child, path, (*at, step), wrap=wrap)
        elif _selects(leg, step, document):
            yield from places(child, rest, (*at, step), wrap=wrap)


def children_at(document: JsonValue) -> list[tuple[Leg, JsonValue]]:
    """The values right below, each with the leg that leads there."""
    if isinstance(document, dict):
        return [(Member(name), child) for name, child in members(document)]
    if isinstance(document, list):
        return [(Cells(place, place, "index"), child) for place, child in enumerate(document)]
    return []


def extract(document: JsonValue, paths: list[Path]) -> tuple[bool, JsonValue]:
    """What ``JSON_EXTRACT`` gives: one value, or an array of all where there may be several.

    :return: whether anything was found, and what.
    """
    values = [value for path in paths for value in found(document, path)]
    if len(paths) == 1 and is_single(paths[0]):
        return bool(values), values[0] if values else None
    return bool(values), values


def _selects(leg: Member | Cells, step: Leg, parent: JsonValue) -> bool:
    if isinstance(leg, Cells):
        return isinstance(parent, list) and isinstance(step, Cells) and step.first in leg.of(len(parent))
    return isinstance(step, Member) and leg.name in (None, step.name)


def _matches_scalar(leg: Cells) -> bool:
    """A value that is no array counts as an array of one, except for ``[*]``."""
    if leg.kind == "index":
        return leg.first in (0, -1)
    return leg.kind == "range" and leg.first == 0 and leg.last >= -1


def _leg(match: re.Match[str]) -> Leg | None:
    anywhere, any_name, in_quotes, bare, any_cell, first, back, last, last_back = match.groups()
    if anywhere:
        return Anywhere()
    if any_name:
        return Member(None)
    if in_quotes is not None or bare is not None:
        return _member(in_quotes, bare)
    if any_cell:
        return Cells(0, -1, "all")
    start = _place(first, back)
    if last is None:
        return Cells(start, start, "index")
    end = _place(last, last_back)
    return Cells(start, end, "range") if (start < 0) != (end < 0) or start <= end else None


def _member(in_quotes: str | None, bare: str | None) -> Member | None:
    try:
        name = json.loads('"' + str(bare if in_quotes is None else in_quotes) + '"')
    except ValueError:
        return None
    return Member(name) if in_quotes is not None or _IDENTIFIER.fullmatch(name) else None


def _place(word: str, back: str | None) -> int:
    return -1 - int(back or 0) if word.startswith("last") else int(word)


def _leg_text(leg: Leg) -> str:
    if isinstance(leg, Member):
        name = leg.name or ""
        return "." + (name if _IDENTIFIER.fullmatch(name) else quoted(name))
    return f"[{leg.first}]" if isinstance(leg, Cells) else "**"
