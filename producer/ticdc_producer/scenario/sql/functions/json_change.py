"""JSON functions that change a document; the one they are given stays as it is.

Rules: tidb ``pkg/types/json_binary_functions.go`` (``Modify``, ``Remove``, ``ArrayInsert``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.json_document import json_of
from ticdc_producer.model.json_text import JsonValue
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.scenario.sql.functions.function import Function
from ticdc_producer.scenario.sql.functions.json_argument import document, path_of, result
from ticdc_producer.scenario.sql.json_path import Cells, Leg, Member, Path, found, single

Change = Callable[[JsonValue, Path, JsonValue], JsonValue]


def _pairwise(change: Change) -> Function:
    """``f(document, path, value, …)``: NULL documents and paths give NULL, a NULL value is null."""

    def run(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
        if any(argument is None for argument in (arguments[0], *arguments[1::2])):
            return None
        target = document(arguments[0])
        for path, value in zip(arguments[1::2], arguments[2::2], strict=True):
            target = change(target, single(path_of(path)), json_of(value))
        return result(target)

    return Function(run, 3, -1, takes_null=True, step=2)


def _set(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    return replaced(target, path, value) if found(target, path) else _added(target, path, value)


def _insert(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    return target if found(target, path) else _added(target, path, value)


def replaced(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    """The document with another value where the path leads; the same if it leads nowhere."""
    if not path:
        return value
    leg, rest = path[0], path[1:]
    if isinstance(leg, Member) and isinstance(target, dict) and leg.name in target:
        return {**target, str(leg.name): replaced(target[leg.name], rest, value)}
    if isinstance(leg, Cells):
        if not isinstance(target, list):  # a scalar is an array of itself
            return replaced(target, rest, value) if found(target, (leg,)) else target
        return [
            replaced(element, rest, value) if place in leg.of(len(target)) else element
            for place, element in enumerate(target)
        ]
    return target


def _added(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    """A new member or element of the parent, which must exist; a scalar becomes an array to take it."""
    parent, last = path[:-1], path[-1]
    there = found(target, parent)
    if not there:
        return target
    if isinstance(last, Cells):
        elements = there[0] if isinstance(there[0], list) else [there[0]]
        return replaced(target, parent, [*elements, value])
    if isinstance(last, Member) and isinstance(there[0], dict):
        return replaced(target, parent, {**there[0], str(last.name): value})
    return target


def _remove(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    target = document(arguments[0])
    for argument in arguments[1:]:
        path = single(path_of(argument))
        if not path:
            raise ScenarioError("The path expression '$' is not allowed in this context", value="$")
        target = _without(target, path[:-1], path[-1])
    return result(target)


def _without(target: JsonValue, parent: Path, last: Leg) -> JsonValue:
    there = found(target, parent)
    if there and isinstance(last, Cells) and isinstance(there[0], list):
        elements = there[0]
        gone = last.of(len(elements))
        return replaced(target, parent, [one for place, one in enumerate(elements) if place not in gone])
    if there and isinstance(last, Member) and isinstance(there[0], dict):
        return replaced(target, parent, {k: v for k, v in there[0].items() if k != last.name})
    return target


def _array_append(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    there = found(target, path)
    if not there:
        return target
    elements = there[0] if isinstance(there[0], list) else [there[0]]
    return replaced(target, path, [*elements, value])


def _array_insert(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    if not path or not isinstance(path[-1], Cells):
        raise ScenarioError("A path expression is not a path to a cell in an array")
    there = found(target, path[:-1])
    if not there or not isinstance(there[0], list):
        return target
    elements, place = there[0], path[-1].first
    place = max(place + len(elements), 0) if place < 0 else place
    return replaced(target, path[:-1], [*elements[:place], value, *elements[place:]])


FUNCTIONS = {
    "JSON_ARRAY_APPEND": _pairwise(_array_append),
    "JSON_ARRAY_INSERT": _pairwise(_array_insert),
    "JSON_INSERT": _pairwise(_insert),
    "JSON_REMOVE": Function(_remove, 2, -1),
    "JSON_REPLACE": _pairwise(replaced),
    "JSON_SET": _pairwise(_set),
}
