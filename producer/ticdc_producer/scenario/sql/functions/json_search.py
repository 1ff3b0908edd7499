"""JSON functions that search a document, and the arguments of all JSON functions.

Rules: tidb ``pkg/types/json_binary_functions.go`` (``Extract``, ``ContainsBinaryJSON``, ``Search``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Unpack

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_text
from ticdc_producer.model.values.json_document import (
    JsonScalar,
    JsonValue,
    check_depth,
    compare_json,
    json_of,
    parse_json,
    to_json_text,
)
from ticdc_producer.model.values.sql_value import JsonText, SQLMode, SQLValue, display_value
from ticdc_producer.scenario.sql.expression.compare import like
from ticdc_producer.scenario.sql.expression.eval_type import E
from ticdc_producer.scenario.sql.functions.function import Function, Properties, value_function
from ticdc_producer.scenario.sql.functions.json_path import (
    Path,
    children_at,
    extract,
    matches,
    parse_path,
    path_text,
    require_single,
    values_at,
)


def to_document(value: SQLValue) -> JsonValue:
    """Convert an argument to a JSON document; text is parsed.

    Source: tidb ``verifyJSONArgsType``.

    :raises ScenarioError: for invalid JSON text, a binary string, a number and a date.
    """
    if isinstance(value, bytes):
        raise ScenarioError("Cannot create a JSON value from a string with CHARACTER SET 'binary'")
    if isinstance(value, JsonText):
        return json_of(value)
    if not isinstance(value, str):
        what = "Invalid data type for JSON data; a JSON string or JSON type is required"
        raise ScenarioError(what, value=display_value(value))
    try:
        return check_depth(parse_json(value))
    except ValueError as error:
        raise ScenarioError(f"Invalid JSON text ({error})", value=display_value(value)) from error


def cast_document(value: SQLValue) -> JsonValue:
    """Convert an argument of any type to a JSON document; text is parsed.

    Source: tidb ``WrapWithCastAsJSON``, without ``verifyJSONArgsType``.
    """
    return to_document(value) if isinstance(value, str) else json_of(value)


def result(value: JsonValue) -> SQLValue:
    """Convert a document to the SQL value that a function returns.

    :raises ScenarioError: if it is nested too deeply.
    """
    try:
        return to_json_text(value)
    except ValueError as error:
        raise ScenarioError(f"The JSON document exceeds the maximum depth ({error})") from error


def to_path(value: SQLValue) -> Path:
    """Convert an argument to a JSON path.

    :raises ScenarioError: if it is not a valid path.
    """
    return parse_path(to_text(value))


def is_all(value: SQLValue) -> bool:
    """Return whether the argument ``'one'`` or ``'all'`` is ``'all'``.

    :raises ScenarioError: if it is neither.
    """
    word = to_text(value).lower()
    if word not in ("one", "all"):
        raise ScenarioError("The oneOrAll argument may take these values: 'one' or 'all'", value=word)
    return word == "all"


def document_function(
    run: Callable[..., SQLValue],
    min_arguments: int,
    max_arguments: int | None = None,
    *,
    read: Callable[[SQLValue], JsonValue] = to_document,
    **properties: Unpack[Properties],
) -> Function:
    """Make a function whose first argument is a document; NULL if one of its arguments is NULL.

    :param max_arguments: -1 for no limit; the default is ``min_arguments``.
    :param read: converts the document.
    :param properties: other fields of ``Function``.
    """

    def call(source: SQLValue, *others: SQLValue) -> SQLValue:
        return run(read(source), *others)

    properties["reads"] = (lambda value, _: read(value),)
    return value_function(call, min_arguments, max_arguments, **properties)


def _extract(source: SQLValue, *paths: SQLValue) -> SQLValue:
    exists, value = extract(to_document(source), [to_path(path) for path in paths])
    return result(value) if exists else None


def _contains(source: SQLValue, target: SQLValue, path: SQLValue = "$") -> SQLValue:
    values = values_at(to_document(source), require_single(to_path(path)))
    return contains(values[0], to_document(target)) if values else None


def contains(source: JsonValue, target: JsonValue) -> bool:
    """Return whether a document contains all members or elements of another, or an equal scalar."""
    if isinstance(source, dict):
        return isinstance(target, dict) and all(
            name in source and contains(source[name], value) for name, value in target.items()
        )
    if isinstance(source, list):
        if isinstance(target, list):
            return all(contains(source, element) for element in target)
        return any(contains(element, target) for element in source)
    return compare_json(source, target) == 0


def _contains_path(source: SQLValue, one_or_all: SQLValue, *paths: SQLValue) -> SQLValue:
    root, wants_all = to_document(source), is_all(one_or_all)
    hits = (bool(values_at(root, to_path(path))) for path in paths)  # the first one that decides ends it
    return all(hits) if wants_all else any(hits)


def _overlaps(source: SQLValue, target: SQLValue) -> SQLValue:
    left, right = to_document(source), to_document(target)
    if isinstance(right, list) and not isinstance(left, list):
        left, right = right, left
    if isinstance(left, list):
        others = right if isinstance(right, list) else [right]
        return any(compare_json(element, other) == 0 for element in left for other in others)
    if isinstance(left, dict) and isinstance(right, dict):
        return any(name in left and compare_json(left[name], value) == 0 for name, value in right.items())
    return compare_json(left, right) == 0


def _member_of(target: SQLValue, source: SQLValue) -> SQLValue:
    value, array = json_of(target), to_document(source)
    elements = array if isinstance(array, list) else [array]
    return any(compare_json(element, value) == 0 for element in elements)


def _search(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
    """Return ``JSON_SEARCH(document, one_or_all, pattern[, escape[, path, …]])``."""
    source, one_or_all, pattern, *rest = arguments
    escape = to_text(rest[0]) if rest and rest[0] is not None else "\\"
    if len(escape) > 1:
        raise ScenarioError("Incorrect arguments to ESCAPE", value=escape)
    if source is None or one_or_all is None or pattern is None or None in rest[1:]:
        return None
    root, wants_all = to_document(source), is_all(one_or_all)
    hits: dict[str, None] = {}
    for path in [to_path(path) for path in rest[1:]] or [()]:
        for start, value in matches(root, path, wrap=False):
            hits |= dict.fromkeys(_matching(value, start, pattern, escape or "\\"))
    paths: list[JsonValue] = list(hits)
    if not paths:
        return None
    return result(paths if wants_all and len(paths) > 1 else paths[0])


def _matching(value: JsonValue, at: Path, pattern: SQLValue, escape: str) -> Iterator[str]:
    """Yield the paths of all matching strings in a value.

    :param at: the path of the value.
    """
    is_text = isinstance(value, str) and not isinstance(value, JsonScalar)
    if is_text and like(str(value), pattern, "utf8mb4_bin", escape):
        yield path_text(at)
    for leg, child in children_at(value):
        yield from _matching(child, (*at, leg), pattern, escape)


_DOCUMENT = (lambda value, _: to_document(value),)
FUNCTIONS = {
    "JSON_CONTAINS": value_function(
        _contains, 2, 3, type=E.INTEGER, documents=(0, 1), reads=_DOCUMENT, indexed=True
    ),
    "JSON_CONTAINS_PATH": value_function(
        _contains_path, 3, -1, type=E.INTEGER, documents=(0,), reads=_DOCUMENT, indexed=True
    ),
    "JSON_EXTRACT": value_function(
        _extract,
        2,
        -1,
        type=E.JSON,
        documents=(0,),
        reads=_DOCUMENT,
        syntax={exp.JSONExtract: ("this", "expression")},
    ),
    "JSON_OVERLAPS": value_function(_overlaps, 2, type=E.INTEGER, documents=(0, 1), reads=_DOCUMENT),
    "JSON_SEARCH": Function(_search, 3, -1, accepts_null=True, documents=(0,), type=E.JSON),
    "MEMBER OF": value_function(
        _member_of, 2, type=E.INTEGER, documents=(1,), syntax={exp.JSONArrayContains: ("this", "expression")}
    ),
}
