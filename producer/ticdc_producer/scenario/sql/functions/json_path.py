"""JSON paths: ``$.a."b c"[0][*][last-1][1 to 2].**``.

Grammar and matching: tidb ``pkg/types/json_path_expr.go``, ``json_binary_functions.go`` (``extractTo``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.json_document import JsonValue, members, quoted


@dataclass(frozen=True, slots=True)
class MemberLeg:
    """``.name``; None for ``.*``."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Cells:
    """``[first to last]``; negative indexes count from the end, -1 is the last; ``[*]`` is 0 to -1.

    :param kind: ``index``, ``range`` or ``all``.
    """

    first: int
    last: int
    kind: str

    def of(self, count: int) -> range:
        """Return the indexes that this leg selects in an array of that length.

        >>> list(Cells(-2, -1, "range").of(5))
        [3, 4]
        """
        first = self.first + count if self.first < 0 else self.first
        last = self.last + count if self.last < 0 else self.last
        return range(first, min(last, count - 1) + 1) if first >= 0 else range(0)


@dataclass(frozen=True, slots=True)
class Anywhere:
    """``**``: the value itself and all below it."""


Leg = MemberLeg | Cells | Anywhere
Path = tuple[Leg, ...]

_SPACE = r"[\t\n\v\f\r \x85\xa0]*"
_INDEX = rf"(\d{{1,10}}|last(?:{_SPACE}-{_SPACE}(\d{{1,10}}))?)"
_NAME = r'"((?:[^"\\]|\\.)*)"|([^\s.\[*]+)'
_LEG = re.compile(
    rf"{_SPACE}(?:(\*\*)(?!\*)|\.{_SPACE}(?:(\*)|{_NAME})"
    rf"|\[{_SPACE}(?:(\*)|{_INDEX}(?:\s+to\s+{_INDEX})?){_SPACE}\])",
    re.ASCII | re.DOTALL,
)


@cache
def _identifier() -> re.Pattern[str]:
    """Return the pattern of a name without quotes; to compile it takes 8 ms, and few scenarios need it."""
    return re.compile(r"[A-Za-z_$\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*")


@lru_cache(maxsize=1024)
def parse_path(text: str) -> Path:
    """Parse a path into its legs.

    :raises ScenarioError: if the text is not a JSON path.
    """
    rest = text.strip()
    legs: list[Leg] = []
    offset = 1
    while rest[:1] == "$" and offset < len(rest):
        match = _LEG.match(rest, offset)
        leg = None if match is None else _leg(match)
        if match is None or leg is None:
            break
        legs.append(leg)
        offset = match.end()
    if rest[:1] != "$" or offset < len(rest) or (legs and isinstance(legs[-1], Anywhere)):
        raise ScenarioError(f"Invalid JSON path expression: {text!r}", value=text)
    return tuple(legs)


def path_text(path: Path) -> str:
    """Return the path as ``JSON_SEARCH`` prints it: names that are not identifiers are quoted."""
    return "$" + "".join(_leg_text(leg) for leg in path)


def is_single(path: Path) -> bool:
    """Return whether the path can match one value at most."""
    return all(
        (isinstance(leg, MemberLeg) and leg.name is not None)
        or (isinstance(leg, Cells) and leg.kind == "index")
        for leg in path
    )


def require_single(path: Path) -> Path:
    """Require a path that matches one value at most; return the path.

    :raises ScenarioError: if the path can match several values.
    """
    if not is_single(path):
        raise ScenarioError("In this situation, path expressions may not contain the *, ** tokens or a range")
    return path


def values_at(document: JsonValue, path: Path) -> list[JsonValue]:
    """Return all values that a path matches, in TiDB's order; a value that matches twice comes once.

    >>> values_at([1, [2, 3]], parse_path("$[last][*]"))
    [2, 3]
    """
    return list(dict(matches(document, path)).values())


def matches(
    document: JsonValue, path: Path, reached_by: Path = (), *, wrap: bool = True
) -> Iterator[tuple[Path, JsonValue]]:
    """Yield the exact path and the value of each match; a match may come twice.

    :param reached_by: the exact path of ``document`` itself.
    :param wrap: whether a value that is not an array is treated as an array of one element.
    """
    if not path:
        yield reached_by, document
        return
    leg, rest = path[0], path[1:]
    if isinstance(leg, Anywhere):
        yield from matches(document, rest, reached_by, wrap=wrap)
    elif isinstance(leg, Cells) and not isinstance(document, list):
        if wrap and _matches_scalar(leg):
            yield from matches(document, rest, reached_by, wrap=wrap)
        return
    for step, child in children_at(document):
        if isinstance(leg, Anywhere):
            yield from matches(child, path, (*reached_by, step), wrap=wrap)
        elif _selects(leg, step, document):
            yield from matches(child, rest, (*reached_by, step), wrap=wrap)


def children_at(document: JsonValue) -> list[tuple[Leg, JsonValue]]:
    """Return the members or elements of a value, each with its leg."""
    if isinstance(document, dict):
        return [(MemberLeg(name), child) for name, child in members(document)]
    if isinstance(document, list):
        return [(Cells(offset, offset, "index"), child) for offset, child in enumerate(document)]
    return []


def extract(document: JsonValue, paths: list[Path]) -> tuple[bool, JsonValue]:
    """Return the result of ``JSON_EXTRACT``: one value, or an array if the paths can match several.

    :return: whether any path matched, and the result.
    """
    values = [value for path in paths for value in values_at(document, path)]
    if len(paths) == 1 and is_single(paths[0]):
        return bool(values), values[0] if values else None
    return bool(values), values


def _selects(leg: MemberLeg | Cells, step: Leg, parent: JsonValue) -> bool:
    if isinstance(leg, Cells):
        return isinstance(parent, list) and isinstance(step, Cells) and step.first in leg.of(len(parent))
    return isinstance(step, MemberLeg) and leg.name in (None, step.name)


def _matches_scalar(leg: Cells) -> bool:
    """Return whether a leg selects a value that is not an array, like an array of one; ``[*]`` does not."""
    if leg.kind == "index":
        return leg.first in (0, -1)
    return leg.kind == "range" and leg.first == 0 and leg.last >= -1


def _leg(match: re.Match[str]) -> Leg | None:
    anywhere, any_name, in_quotes, bare, any_cell, first, from_end, last, last_from_end = match.groups()
    if anywhere:
        return Anywhere()
    if any_name:
        return MemberLeg(None)
    if in_quotes is not None or bare is not None:
        return _member(in_quotes, bare)
    if any_cell:
        return Cells(0, -1, "all")
    start = _cell_index(first, from_end)
    if last is None:
        return Cells(start, start, "index")
    end = _cell_index(last, last_from_end)
    return Cells(start, end, "range") if (start < 0) != (end < 0) or start <= end else None


def _member(in_quotes: str | None, bare: str | None) -> MemberLeg | None:
    try:
        name = json.loads('"' + str(bare if in_quotes is None else in_quotes) + '"')
    except ValueError:
        return None
    return MemberLeg(name) if in_quotes is not None or _identifier().fullmatch(name) else None


def _cell_index(word: str, from_end: str | None) -> int:
    return -1 - int(from_end or 0) if word.startswith("last") else int(word)


def _leg_text(leg: Leg) -> str:
    if isinstance(leg, MemberLeg):
        name = leg.name or ""
        return "." + (name if _identifier().fullmatch(name) else quoted(name))
    return f"[{leg.first}]" if isinstance(leg, Cells) else "**"
