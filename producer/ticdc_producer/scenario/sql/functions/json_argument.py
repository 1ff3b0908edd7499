"""Arguments of the JSON functions: documents, values and paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.coerce_text import to_text
from ticdc_producer.model.json_document import check_depth, json_of, to_json_text
from ticdc_producer.model.json_text import JsonValue, parse_json
from ticdc_producer.model.sql_mode import SQLMode, shown_value
from ticdc_producer.model.sql_value import JsonText, SQLValue
from ticdc_producer.scenario.sql.functions.function import Function
from ticdc_producer.scenario.sql.json_path import Path, parse_path


def document(value: SQLValue) -> JsonValue:
    """An argument that is a document: text is parsed.

    :raises ScenarioError: for text that is not JSON, and for binary data.
    """
    if isinstance(value, bytes):
        raise ScenarioError("Cannot create a JSON value from a string with CHARACTER SET 'binary'")
    if not isinstance(value, str) or isinstance(value, JsonText):
        return json_of(value)
    try:
        return check_depth(parse_json(value))
    except ValueError as error:
        raise ScenarioError(f"Invalid JSON text ({error})", value=shown_value(value)) from error


def result(value: JsonValue) -> SQLValue:
    """A document as the result of a function.

    :raises ScenarioError: if it is nested too deeply.
    """
    try:
        return to_json_text(value)
    except ValueError as error:
        raise ScenarioError(f"The JSON document exceeds the maximum depth ({error})") from error


def path_of(value: SQLValue) -> Path:
    """An argument that is a path.

    :raises ScenarioError: if it is none.
    """
    return parse_path(to_text(value))


def is_all(value: SQLValue) -> bool:
    """The argument ``'one'`` or ``'all'``.

    :raises ScenarioError: if it is neither.
    """
    word = to_text(value).lower()
    if word not in ("one", "all"):
        raise ScenarioError("The oneOrAll argument may take these values: 'one' or 'all'", value=word)
    return word == "all"


def on_documents(run: Callable[..., SQLValue], least: int, most: int | None = None) -> Function:
    """A function whose first argument is a document; NULL if any argument is."""

    def call(arguments: Sequence[SQLValue], _: SQLMode) -> SQLValue:
        return run(document(arguments[0]), *arguments[1:])

    return Function(call, least, least if most is None else most)
