"""The errors of request bodies, in the words of the commands: what is wrong, and what to write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ticdc_producer.errors import RefusedRequest
from ticdc_producer.hints import nearest
from ticdc_producer.serve.submission import DecodeRequest, RunRequest, TablesRequest, VerifyRequest

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

_LONGEST_INPUT = 60
_BODIES: Mapping[str, type[BaseModel]] = {
    "/v1/runs": RunRequest, "/v1/verifications": VerifyRequest, "/v1/decoded": DecodeRequest,
}  # fmt: skip
_TABLES = '{"tables": {"test.orders": [{"id": 1, "item": "lamp"}]}}'
_FORMS = {
    "bool": ("true or false", ""),
    "string": ("a text", ""),
    "int": ("a whole number", ""),
    "float": ("a number", ""),
    "tuple": ("a list", ""),
    "list": ("a list", ""),
    "dict": ("an object", ""),
}
"""The form of a value by the first word of pydantic's type of error."""


def refusal_of(errors: Sequence[ErrorDetails], path: str = "") -> RefusedRequest:
    """Return the error for a body that is invalid: a misspelt key, or else the first error.

    :param errors: as pydantic lists them; a misspelt key that is required is also missing.
    :param path: the path of the request, which decides the keys of its body.
    """
    refusals = [_refusal(error, path) for error in errors]
    misspelt = (refusal for refusal in refusals if refusal.hint.startswith("did you mean"))
    return next(misspelt, refusals[0])


def _refusal(error: ErrorDetails, path: str) -> RefusedRequest:
    location = [str(part) for part in error["loc"] if part != "body"]
    where = ".".join(location)[:200]
    what, hint = _explained(error, location, path)
    return RefusedRequest(what, status=422, where=where, hint=hint)


def _explained(error: ErrorDetails, location: list[str], path: str) -> tuple[str, str]:
    kind, value = error["type"], error["input"]
    if kind == "extra_forbidden":
        keys = _BODIES.get(path, TablesRequest).model_fields
        return f"unknown key {location[-1][:80]!r}", nearest(location[-1][:80], keys)
    if kind == "missing":
        hint = f"such as {_TABLES}" if location == ["tables"] else ""
        return (f"{location[-1]!r} is missing" if location else "the request has no body"), hint
    if kind == "json_invalid":
        reason = error.get("ctx", {}).get("error", error["msg"])
        return f"the body is not JSON: {reason}", "keys and texts are in double quotes"
    word, _, ending = kind.partition("_")
    if word == "model":
        return f"the body of a request is a JSON object, not {_described(value)}", ""
    if word in _FORMS and ending in ("type", "parsing", "from_float"):
        form = "a row is an object of columns" if _is_row(location) else f"this is {_FORMS[word][0]}"
        return f"{form}, not {_described(value)}", _form_hint(word, location, value)
    return error["msg"].removeprefix("Value error, "), ""


def _is_row(location: list[str]) -> bool:
    return location[:1] == ["tables"] and location[-1].isdecimal()


def _form_hint(word: str, location: list[str], value: object) -> str:
    if location[:1] == ["tables"]:
        return f"such as {_TABLES}"
    if location == ["scenario"]:
        return 'such as "seed_t1": the name of a scenario; its steps are text under `sql` or `yaml`'
    if word == "bool" and str(value).lower() in ("true", "false"):
        return f"write {str(value).lower()} without quotes"
    if word == "tuple" and isinstance(value, str):
        return f"write {json.dumps([value[:_LONGEST_INPUT]])}"
    return ""


def _described(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {value[:_LONGEST_INPUT]!r}"
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return "an object" if isinstance(value, Mapping) else "a list"
