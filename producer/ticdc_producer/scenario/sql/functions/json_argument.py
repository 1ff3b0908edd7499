"""Converts arguments of the JSON functions: documents, values and paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.json_document import check_depth, json_of, to_json_text
from ticdc_producer.model.json_text import JsonValue, parse_json
from ticdc_producer.model.sql_mode import SQLMode, display_value
from ticdc_producer.model.sql_value import JsonText, SQLValue
from ticdc_producer.scenario.sql.functions.function import Function
from ticdc_producer.scenario.sql.json_path import Path, parse_path


def to_document(value: SQLValue) -> JsonValue:
    """An argument as a JSON document; text is parsed.

    :raises ScenarioError: for invalid JSON text and for a binary string.
    """
    if isinstance(value, bytes):
        raise ScenarioError("Cannot create a JSON value from a string with CHARACTER SET 'binary'")
    if not isinstance(value, str) or isinstance(value, JsonText):
        return json_of(value)
    try:
        return check_depth(parse_json(value))
    except ValueError as error:
        raise ScenarioError(f"Invalid JSON text ({error})", value=display_value(value)) from error


def result(value: JsonValue) -> SQLValue:
    """A document as the SQL value that a function returns.

    :raises ScenarioError: if it is nested too deeply.
    """
    try:
        return to_json_text(value)
    except ValueError as error:
        raise ScenarioError(f"The JSON document exceeds the maximum depth ({error})") from error


def to_path(value: SQLValue) -> Path:
    """An argument as a JSON path.

    :raises ScenarioError: if it is not a valid path.
    """
    return parse_path(to_text(value))


def is_all(value: SQLValue) -> bool:
    """Whether the argument ``'one'`` or ``'all'`` is ``'all'``.

    :raises ScenarioError: if it is neither.
    """
    word = to_text(value).lower()
    if word not in ("one", "all"):
        raise ScenarioError("The oneOrAll argument may take these values: 'one' or 'all'", value=word)
    return word == "all"


def document_function(
    run: Callable[..., SQLValue], min_arguments: int, max_arguments: int | None = None
) -> Function:
    """A function whose first argument is a document; NULL if one of its arguments is NULL.

    :param max_arguments: -1 for no limit; the default is ``min_arguments``.
    """

    def call(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
        return run(to_document(arguments[0]), *arguments[1:])

    return Function(call, min_arguments, min_arguments if max_arguments is None else max_arguments)
