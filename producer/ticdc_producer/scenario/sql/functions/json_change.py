"""JSON functions that return a changed copy of a document.

Rules: tidb ``pkg/types/json_binary_functions.go`` (``Modify``, ``Remove``, ``ArrayInsert``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.json_document import JsonValue, json_of
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.eval_type import EvalType
from ticdc_producer.scenario.sql.functions.function import Function
from ticdc_producer.scenario.sql.functions.json_path import (
    Cells,
    Leg,
    MemberLeg,
    Path,
    require_single,
    values_at,
)
from ticdc_producer.scenario.sql.functions.json_search import cast_document, result, to_path

Change = Callable[[JsonValue, Path, JsonValue], JsonValue]


def _pairwise(change: Change) -> Function:
    """Make a function ``f(document, path, value, …)``.

    It gives NULL for a NULL document or path; a NULL value is a JSON null.
    """

    def run(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
        if any(argument is None for argument in (arguments[0], *arguments[1::2])):
            return None
        target = cast_document(arguments[0])
        for path, value in zip(arguments[1::2], arguments[2::2], strict=True):
            target = change(target, require_single(to_path(path)), json_of(value))
        return result(target)

    return Function(run, 3, -1, accepts_null=True, step=2, type=EvalType.JSON)


def _set(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    return replaced(target, path, value) if values_at(target, path) else _added(target, path, value)


def _insert(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    return target if values_at(target, path) else _added(target, path, value)


def replaced(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    """Return the document with another value at a path; unchanged if the path does not exist."""
    if not path:
        return value
    leg, rest = path[0], path[1:]
    if isinstance(leg, MemberLeg) and isinstance(target, dict) and leg.name in target:
        return {**target, str(leg.name): replaced(target[leg.name], rest, value)}
    if isinstance(leg, Cells):
        if not isinstance(target, list):  # a scalar is an array of itself
            return replaced(target, rest, value) if values_at(target, (leg,)) else target
        return [
            replaced(element, rest, value) if index in leg.of(len(target)) else element
            for index, element in enumerate(target)
        ]
    return target


def _added(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    """Return the document with a new member or element; unchanged if its parent does not exist.

    A scalar parent becomes an array.
    """
    parent, last = path[:-1], path[-1]
    matches = values_at(target, parent)
    if not matches:
        return target
    if isinstance(last, Cells):
        elements = matches[0] if isinstance(matches[0], list) else [matches[0]]
        return replaced(target, parent, [*elements, value])
    if isinstance(last, MemberLeg) and isinstance(matches[0], dict):
        return replaced(target, parent, {**matches[0], str(last.name): value})
    return target


def _remove(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    target = cast_document(arguments[0])
    for argument in arguments[1:]:
        path = require_single(to_path(argument))
        if not path:
            raise ScenarioError("The path expression '$' is not allowed in this context", value="$")
        target = _without(target, path[:-1], path[-1])
    return result(target)


def _without(target: JsonValue, parent: Path, last: Leg) -> JsonValue:
    matches = values_at(target, parent)
    if matches and isinstance(last, Cells) and isinstance(matches[0], list):
        elements = matches[0]
        removed = last.of(len(elements))
        return replaced(
            target, parent, [element for index, element in enumerate(elements) if index not in removed]
        )
    if matches and isinstance(last, MemberLeg) and isinstance(matches[0], dict):
        return replaced(target, parent, {k: v for k, v in matches[0].items() if k != last.name})
    return target


def _array_append(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    matches = values_at(target, path)
    if not matches:
        return target
    elements = matches[0] if isinstance(matches[0], list) else [matches[0]]
    return replaced(target, path, [*elements, value])


def _array_insert(target: JsonValue, path: Path, value: JsonValue) -> JsonValue:
    if not path or not isinstance(path[-1], Cells):
        raise ScenarioError("A path expression is not a path to a cell in an array")
    matches = values_at(target, path[:-1])
    if not matches or not isinstance(matches[0], list):
        return target
    elements, index = matches[0], path[-1].first
    index = max(index + len(elements), 0) if index < 0 else index
    return replaced(target, path[:-1], [*elements[:index], value, *elements[index:]])


FUNCTIONS = {
    "JSON_ARRAY_APPEND": _pairwise(_array_append),
    "JSON_ARRAY_INSERT": _pairwise(_array_insert),
    "JSON_INSERT": _pairwise(_insert),
    "JSON_REMOVE": Function(_remove, 2, -1, type=EvalType.JSON),
    "JSON_REPLACE": _pairwise(replaced),
    "JSON_SET": _pairwise(_set),
}
