"""Answers the command lines of ``--server``, which are parsed with the options of the commands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from pydantic import ValidationError

from ticdc_producer.cli.options import error_text, usage_text
from ticdc_producer.cli.remote.frames import frame
from ticdc_producer.cli.remote.server_calls import Call, CommandLine, call_of, read_command_line
from ticdc_producer.cli.report_text import next_steps
from ticdc_producer.cli.run_command import differences
from ticdc_producer.errors import ENVIRONMENT, USAGE, ProducerError, RefusedRequest
from ticdc_producer.runs.decode import folder_text
from ticdc_producer.serve.app import CommandAnswer
from ticdc_producer.serve.guard import status_of
from ticdc_producer.serve.responses import golden_of, refusal_of, result_of

if TYPE_CHECKING:
    from ticdc_producer.serve.service import Service
    from ticdc_producer.serve.tasks.task import Task


async def answer_command(service: Service, body: bytes) -> CommandAnswer:
    """Run the command line of a request; the answer has frames."""
    try:
        line = read_command_line(body)
        call = call_of(line.arguments)
        if not line.prepared and (call.reads or call.checks):
            return CommandAnswer(200, _each([*call.checks, *(frame("read", path) for path in call.reads)]))
        started = await asyncio.to_thread(call.start, line, service)
    except ProducerError as error:
        return CommandAnswer(status_of(error), _each(_failed(error)))
    except ValidationError as error:
        return CommandAnswer(422, _each(_failed(refusal_of(error.errors()))))
    except typer.TyperException as error:
        return CommandAnswer(422, _each([frame("err", usage_text(error)), frame("exit", str(USAGE))]))
    if isinstance(started, tuple):
        text, code = started
        return CommandAnswer(200, _each([frame("out", text), frame("exit", str(code))]))
    return CommandAnswer(200, _output(service, line, call, started), started)


async def _each(frames: list[bytes]) -> AsyncIterator[bytes]:
    for part in frames:
        yield part


def _failed(error: ProducerError) -> list[bytes]:
    code = ENVIRONMENT if status_of(error) >= 500 else error.exit_code
    return [frame("err", error_text(error)), frame("exit", str(code))]


async def _output(service: Service, line: CommandLine, call: Call, task: Task) -> AsyncIterator[bytes]:
    """Yield the frames of a task: its steps, its report and its files."""
    async for event in task.changes():
        if event is None:
            yield frame("alive")
        elif event["event"] == "step" and not call.quiet:
            text, golden = str(event["line"]), str(task.golden)
            if call.out or golden not in text:
                yield frame("step", text.replace(golden, call.out))
    if task.error is not None:
        if call.watch:
            yield frame("watch", "")
        for part in _failed(task.error):
            yield part
        return
    frames = await asyncio.to_thread(lambda: [*_results(service, line, call, task)])
    for part in frames:
        yield part


def _results(service: Service, line: CommandLine, call: Call, task: Task) -> Iterator[bytes]:
    result = result_of(task)
    try:
        if call.out and task.golden.is_dir():
            yield from _folder_frames(call.out, golden_of(task).folder)
        for kind, path in call.reports.items():
            yield frame("file", path, "", (task.folder / kind).read_bytes())
        if call.as_json:
            yield frame("out", json.dumps(result.content, ensure_ascii=False, indent=2) + "\n")
        else:
            changes = _changes(service, line, task) if call.watch and line.before else None
            yield frame("out", (changes or "") + result.text(call.quiet or changes is not None, line.colours))
    except ProducerError as error:
        yield from _failed(error)
        return
    if call.advises and result.ok:
        target, page = str(result.content["target"]), "html" in call.reports
        steps = next_steps(target, golden=bool(call.out), page=page)
        yield frame("err", "".join(f"{step}\n" for step in steps))
    if call.watch:
        yield frame("watch", task.id)
    yield frame("exit", str(int(not result.ok)))


def _folder_frames(path: str, folder: Path) -> Iterator[bytes]:
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            yield frame("file", path, file.relative_to(folder).as_posix(), file.read_bytes())


def _changes(service: Service, line: CommandLine, task: Task) -> str | None:
    """Return the changes since the run before the save; None if that run is gone."""
    try:
        before = folder_text(golden_of(service.worker.task(line.before)).folder)
    except RefusedRequest:
        return None
    lines = [*differences(before, folder_text(golden_of(task).folder))]
    return "".join(f"{changed}\n" for changed in lines or ["no event and no row changed"])
