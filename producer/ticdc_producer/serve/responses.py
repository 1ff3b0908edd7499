"""The content of answers: results of tasks, and the errors of request bodies in the words of the commands."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence, Sized
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import msgspec

from ticdc_producer.conformance.case import build_decode_case
from ticdc_producer.conformance.case_spec import DecodeCase, decode_cases
from ticdc_producer.errors import RefusedRequest
from ticdc_producer.hints import SUGGESTION, nearest
from ticdc_producer.model.event_line import from_json
from ticdc_producer.runs.decode import decode
from ticdc_producer.serve.request_process import decoded_lines
from ticdc_producer.serve.settings import Limits
from ticdc_producer.serve.submission import (
    DecodeRequest,
    PreviewRequest,
    RunRequest,
    ScenarioOf,
    TablesRequest,
    VerifyRequest,
)
from ticdc_producer.serve.tasks.child_messages import Result
from ticdc_producer.serve.tasks.task import Task
from ticdc_producer.testing.state_diff import Rows, cell, state_diff
from ticdc_producer.testing.topic import Golden

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails


def result_of(task: Task) -> Result:
    """Return the result of a task.

    :raises RefusedRequest: if it has none.
    """
    if task.result is None:
        what = "the run has failed" if task.over else "the run has not ended"
        raise RefusedRequest(what, status=409, where=task.id, hint="its error is in GET /v1/runs/ID")
    return task.result


def golden_of(task: Task) -> Golden:
    """Return the golden folder of a run.

    :raises RefusedRequest: if there is none.
    """
    result_of(task)
    if not task.golden.is_dir():
        raise RefusedRequest("the run has written no folder", status=404, where=task.id)
    return Golden(task.golden)


def archive_of(task: Task) -> Path:
    """Return a zip file with the golden folder, which the first call writes."""
    folder = golden_of(task).folder
    path = task.folder / "golden.zip"
    if not path.exists():
        partial = task.folder / f"partial-{token_hex(4)}"  # another request may make it, too
        archive = shutil.make_archive(str(partial), "zip", folder)
        Path(archive).replace(path)
    return path


def state_of(task: Task) -> dict[str, list[dict[str, object]]]:
    """Return the expected rows by table, as in the files of the golden folder."""
    return _as_tables(golden_of(task).state)


def snapshot_of(task: Task) -> dict[str, list[dict[str, object]]]:
    """Return the rows by table with which a consumer starts, as in the files of the golden folder."""
    return _as_tables(golden_of(task).snapshot)


def _as_tables(tables: Mapping[str, Rows]) -> dict[str, list[dict[str, object]]]:
    return {
        name: [{column: _as_json(value) for column, value in row.items()} for row in rows]
        for name, rows in tables.items()
    }


def _as_json(value: str | bytes | None) -> object:
    from ticdc_producer.model.event_line import to_json

    return value if value is None or isinstance(value, str) else to_json(value)


def comparison_of(task: Task, tables: dict[str, list[dict[str, object]]]) -> dict[str, object]:
    """Return the differences between a consumer's rows and the expected ones.

    :raises RefusedRequest: for a table without its schema.
    """
    golden = golden_of(task)
    for name in tables:
        if "." not in name:
            hint = nearest(name, golden.state) if golden.state else ""
            same = [other for other in golden.state if other.rpartition(".")[2] == name]
            hint = f"did you mean {same[0]!r}?" if len(same) == 1 else hint
            what = f"there is no table {name[:80]!r}: the names of tables are SCHEMA.TABLE"
            raise RefusedRequest(what, status=422, where="tables", hint=hint)
    actual = {name: [*_read_rows(name, rows, golden.state.get(name, []))] for name, rows in tables.items()}
    differences = state_diff(golden.state, actual, golden.keys, spell=_spelled)
    printable = differences.encode("utf-8", "backslashreplace").decode()  # JSON may have half of a character
    return {"ok": not differences, "differences": printable.splitlines()}


def _read_rows(
    table: str, rows: Sequence[Mapping[str, object]], expected: Sequence[Mapping[str, object]]
) -> Iterator[dict[str, object]]:
    """Read the rows of a table; their columns are those of the expected rows in any case."""
    names = {name.lower(): name for row in expected[:1] for name in row}
    for number, row in enumerate(rows):
        distinct = len({*map(str.lower, row)}) == len(row)
        yield {
            names.get(name.lower(), name) if distinct else name: _read_value(value, table, number, name)
            for name, value in row.items()
        }


def _read_value(value: object, table: str, number: int, column: str) -> object:
    """Read a value. ``{"b64": …}`` is bytes.

    :param number: of its row.
    :raises RefusedRequest: for text that is not Base64.
    """
    if isinstance(value, dict) and set(value) == {"b64"} and isinstance(value["b64"], str):
        try:
            return cell(from_json(value))
        except ValueError:
            where = f"tables.{table}.{number}.{column}"[:200]
            raise RefusedRequest("the text of b64 is not Base64", status=422, where=where) from None
    return value


def _spelled(value: object) -> str:
    """Return a value as the request spells it; texts as in other reports."""
    return repr(value) if isinstance(value, str | bytes) else json.dumps(value, ensure_ascii=False)


def decoded_of(task: Task, limits: Limits) -> tuple[list[str], bool]:
    """Return the events of a run's messages as lines of ``events.jsonl``, and whether one does not decode."""
    return decoded_lines(decode(folder=golden_of(task).folder), limits, text=False)


def listed_cases(protocol: str | None) -> list[dict[str, str]]:
    """List id, protocol and description of each case.

    :param protocol: only cases of this one.
    """
    return [
        {"id": case.id, "protocol": case.protocol, "description": case.description}
        for case in _cases().values()
        if protocol in (None, case.protocol)
    ]


def case_content(name: str) -> dict[str, object]:
    """Return the request and the expected events of a case.

    :param name: its id.
    :raises RefusedRequest: if there is none.
    """
    spec = _cases().get(name)
    if spec is None:
        raise RefusedRequest("there is no such case", status=404, where=name[:200])
    built = build_decode_case(spec)
    return {
        "id": built.id,
        "description": built.description,
        "request": msgspec.to_builtins(built.request),
        "expected": msgspec.to_builtins(built.expected),
    }


@cache
def _cases() -> dict[str, DecodeCase]:
    return {case.id: case for case in decode_cases()}


_LONGEST_INPUT = 60
_BODIES: Mapping[str, type[BaseModel]] = {
    "/v1/runs": RunRequest, "/v1/previews": PreviewRequest, "/v1/verifications": VerifyRequest,
    "/v1/decoded": DecodeRequest,
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


_RANGES = {
    "greater_than_equal": "{value} is too small: the smallest value is {ge:g}",
    "less_than_equal": "{value} is too large: the largest value is {le:g}",
    "less_than": "{value} is too large: values are below {lt}",
    "int_parsing_size": "{value}… is too large",
    "finite_number": "{value} is not a number",
    "string_too_long": "the text is too long: it may have {max_length} characters",
    "too_long": "there are {size} entries: {max_length} are allowed",
}
"""The text of an error of a limit, by pydantic's type of error and with its names of the limits."""
_NOT_NAMES = frozenset({"body", "query", "constrained-int", "constrained-str"})
"""Parts of pydantic's location that the request does not have."""
_WITH_SCENARIO = frozenset(path for path, body in _BODIES.items() if issubclass(body, ScenarioOf))
_OF_SCENARIOS = frozenset({"steps", "changefeed", "faults", "resolved", "start", "every", "clock"})
"""Keys of a scenario that no request has."""
_SCENARIO_TEXT = 'a scenario is a text, also if it is JSON: {"yaml": "steps: …"} or {"sql": "CREATE TABLE …"}'


def refusal_of(errors: Sequence[ErrorDetails], path: str = "") -> RefusedRequest:
    """Return the error for a body that is invalid: a misspelt key, or else the first error.

    :param errors: as pydantic lists them; a misspelt key that is required is also missing.
    :param path: the path of the request, which decides the keys of its body.
    """
    refusals = [_refusal(error, path) for error in errors]
    misspelt = (refusal for refusal in refusals if refusal.hint.startswith(SUGGESTION))
    return next(misspelt, refusals[0])


def _refusal(error: ErrorDetails, path: str) -> RefusedRequest:
    location = [str(part) for part in error["loc"] if part not in _NOT_NAMES]
    where = ".".join(location)[:200]
    what, hint = _explained(error, location, path)
    return RefusedRequest(what, status=422, where=where, hint=hint)


def _explained(error: ErrorDetails, location: list[str], path: str) -> tuple[str, str]:
    kind, value = error["type"], error["input"]
    if kind == "extra_forbidden":
        keys = _BODIES.get(path, TablesRequest).model_fields
        name = location[-1][:80]
        if len(location) == 1 and name in _OF_SCENARIOS and path in _WITH_SCENARIO:
            return f"unknown key {name!r}", _SCENARIO_TEXT
        return f"unknown key {name!r}", nearest(name, keys)
    if kind == "missing":
        hint = f"such as {_TABLES}" if location == ["tables"] else ""
        return (f"{location[-1]!r} is missing" if location else "the request has no body"), hint
    if kind == "json_invalid":
        reason = error.get("ctx", {}).get("error", error["msg"])
        return f"the body is not JSON: {reason}", _body_hint("keys and texts are in double quotes", path)
    word, _, ending = kind.partition("_")
    if word == "model" and isinstance(value, bytes):
        hint = _body_hint("send Content-Type: application/json", path)
        return "the body of a request is a JSON object", hint
    if word == "model":
        return f"the body of a request is a JSON object, not {_described(value)}", ""
    if word in _FORMS and ending in ("type", "parsing", "from_float"):
        form = "a row is an object of columns" if _is_row(location) else f"this is {_FORMS[word][0]}"
        return f"{form}, not {_described(value)}", _form_hint(word, location, value)
    if kind in _RANGES:
        size = len(value) if isinstance(value, Sized) else 0
        return _RANGES[kind].format(**error.get("ctx", {}), value=str(value)[:_LONGEST_INPUT], size=size), ""
    return error["msg"].removeprefix("Value error, "), ""


def _body_hint(hint: str, path: str) -> str:
    return f"{hint}; {_SCENARIO_TEXT}" if path in _WITH_SCENARIO else hint


def _is_row(location: list[str]) -> bool:
    return location[:1] == ["tables"] and location[-1].isdecimal()


def _form_hint(word: str, location: list[str], value: object) -> str:
    if location[:1] == ["tables"]:
        return f"such as {_TABLES}"
    if location == ["scenario"]:
        return 'such as "seed_t1": the name of a scenario; its steps are text under `sql` or `yaml`'
    if location == ["yaml"] or location == ["sql"]:
        return _SCENARIO_TEXT
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
