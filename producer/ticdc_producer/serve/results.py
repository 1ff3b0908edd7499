"""The files and reports of a finished run, and the conformance cases, as JSON."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from secrets import token_hex

import msgspec

from ticdc_producer.conformance.case import build_decode_case
from ticdc_producer.conformance.case_spec import DecodeCase, decode_cases
from ticdc_producer.errors import RefusedRequest
from ticdc_producer.hints import nearest
from ticdc_producer.model.event_line import from_json
from ticdc_producer.runs.decode import decode
from ticdc_producer.serve.checks import decoded_lines
from ticdc_producer.serve.settings import Limits
from ticdc_producer.serve.tasks.child_messages import Result
from ticdc_producer.serve.tasks.task import Task
from ticdc_producer.testing.state_diff import cell, state_diff
from ticdc_producer.testing.topic import Golden


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
    return {
        name: [{column: _as_json(value) for column, value in row.items()} for row in rows]
        for name, rows in golden_of(task).state.items()
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
    actual = {name: [_read_row(row) for row in rows] for name, rows in tables.items()}
    differences = state_diff(golden.state, actual, golden.keys)
    return {"ok": not differences, "differences": differences.splitlines()}


def _read_row(row: dict[str, object]) -> dict[str, object]:
    return {name: _read_value(value) for name, value in row.items()}


def _read_value(value: object) -> object:
    """Read a value. ``{"b64": …}`` is bytes."""
    if isinstance(value, dict) and set(value) == {"b64"} and isinstance(value["b64"], str):
        try:
            return cell(from_json(value))
        except ValueError:
            return value
    return value


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
