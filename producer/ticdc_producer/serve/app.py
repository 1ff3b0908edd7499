"""The HTTP API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import msgspec
from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from ticdc_producer.errors import ProducerError, RefusedRequest
from ticdc_producer.hints import closest, nearest
from ticdc_producer.installation import own_version
from ticdc_producer.page.page_files import page_files
from ticdc_producer.serve import responses as results
from ticdc_producer.serve.choices import choices_content
from ticdc_producer.serve.disconnect import abandonable, disconnected
from ticdc_producer.serve.guard import Guard, error_content, status_of
from ticdc_producer.serve.responses import case_content, listed_cases, refusal_of
from ticdc_producer.serve.server import health_content, ready_answer
from ticdc_producer.serve.static_page import FILES_PATH, HEADERS, PAGE_PATH
from ticdc_producer.serve.stream_routes import add_streams
from ticdc_producer.serve.submission import (
    DecodeRequest,
    PreviewRequest,
    RunRequest,
    TablesRequest,
    VerifyRequest,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ticdc_producer.serve.service import Service
    from ticdc_producer.serve.settings import Limits
    from ticdc_producer.serve.tasks.task import Task

_MOST_SECONDS = 600
Wait = Annotated[
    float, Query(ge=0, le=_MOST_SECONDS, description="Seconds to wait for the end before the answer.")
]


@dataclass(frozen=True)
class CommandAnswer:
    """The answer to a command line.

    :param task: the task whose result the client waits for.
    """

    status: int
    parts: AsyncIterator[bytes]
    task: Task | None = None


AnswerCommand: TypeAlias = "Callable[[Service, bytes], Awaitable[CommandAnswer]]"
"""Runs the command line of a request."""
FindTask: TypeAlias = "Callable[[str], Task]"
"""Returns the task of a number in a path."""


def create_app(service: Service, answer_command: AnswerCommand) -> ASGIApp:
    """Create the application inside its guard.

    :param service: the caller starts and stops it.
    :param answer_command: for the command lines of ``--server``.
    """

    # The pages of FastAPI's documentation load scripts from other servers.
    app = FastAPI(
        title="ticdc-producer",
        description="Runs scenarios into topics as TiCDC would, and verifies them.",
        version=own_version(),
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(_check_parameters)],
    )
    _add_errors(app)
    _add_page(app)
    _add_states(app, service)
    _add_scenarios(app, service)
    _add_runs(app, service)
    _add_results(app, service)
    _add_previews(app, service)
    add_streams(app, service)
    _add_reading(app, service)
    _add_commands(app, service, answer_command)
    return Guard(app, service.settings)


async def _check_parameters(request: Request) -> None:
    """Check that a request has no parameter that its path does not have.

    :raises RefusedRequest: for the first one.
    """
    known = {parameter.alias for parameter in request.scope["route"].dependant.query_params}
    for name in request.query_params:
        if name not in known:
            hint = nearest(name[:80], known)
            raise RefusedRequest(f"unknown parameter {name[:80]!r}", status=422, hint=hint)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(ProducerError)
    async def own(_request: Request, error: ProducerError) -> JSONResponse:
        status = status_of(error)
        content = {"error": error_content(error)}
        headers = {"Retry-After": "1"} if status in (429, 503) else None
        return JSONResponse(content, status, headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        refusal = refusal_of(error.errors(), request.url.path)
        return JSONResponse({"error": error_content(refusal)}, refusal.status)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        close = closest(request.url.path[:200], app.openapi()["paths"]) if error.status_code == 404 else ""
        hint = close or "GET /openapi.json lists all paths"
        refusal = RefusedRequest(str(error.detail), status=error.status_code, hint=hint)
        return JSONResponse({"error": error_content(refusal)}, refusal.status, error.headers)


def _add_states(app: FastAPI, service: Service) -> None:
    @app.get("/health")
    async def health() -> dict[str, str]:
        """Answer while the process runs."""
        return health_content()

    @app.get("/ready")
    async def ready(connection: Request) -> JSONResponse:
        """Tell whether Kafka answers and a process waits for runs; else 503."""
        kafka = service.settings.kafka_for(_host(connection))
        status, content = ready_answer(await service.is_ready(), kafka)
        return JSONResponse(content, status)


def _add_scenarios(app: FastAPI, service: Service) -> None:
    @app.get("/v1/scenarios")
    def scenarios() -> list[dict[str, str]]:
        """List the shipped and the uploaded scenarios."""
        return service.uploads.listed()

    @app.get("/v1/scenarios/{name}", response_class=PlainTextResponse)
    def scenario(name: str) -> Response:
        """Return the content of a scenario."""
        return PlainTextResponse(service.uploads.text(name))

    @app.put("/v1/scenarios/{name}", status_code=204)
    async def upload(name: str, request: Request) -> None:
        """Upload a scenario; its name ends with .sql or .yaml."""
        text = await request.body()
        await run_in_threadpool(service.upload, name, text)

    @app.delete("/v1/scenarios/{name}", status_code=204)
    def remove(name: str) -> None:
        """Remove an uploaded scenario."""
        service.uploads.delete(name)


def _add_runs(app: FastAPI, service: Service) -> None:
    @app.post("/v1/runs", status_code=202)
    async def run(connection: Request, request: RunRequest, wait: Wait = 0) -> dict[str, Any]:
        """Queue a run into a topic of the service's Kafka; a client that waits and disconnects cancels it."""
        task = await run_in_threadpool(service.run, request)
        return await _own(task, wait, connection, service)

    @app.post("/v1/verifications", status_code=202)
    async def verify(connection: Request, request: VerifyRequest, wait: Wait = 0) -> dict[str, Any]:
        """Queue the verification of a topic; its result is that of a run, and so is the wait."""
        task = await run_in_threadpool(service.verify, request)
        return await _own(task, wait, connection, service)

    @app.get("/v1/runs")
    def runs(connection: Request) -> list[dict[str, Any]]:
        """List all runs and verifications, the oldest first."""
        return [service.state_of(task, _host(connection)) for task in service.worker.tasks]

    @app.get("/v1/runs/{number}")
    async def run_state(connection: Request, number: str, wait: Wait = 0) -> dict[str, Any]:
        """Return the state of a run."""
        task = service.worker.task(number)
        await _stays(task, wait, connection)
        return service.state_of(task, _host(connection))

    @app.delete("/v1/runs/{number}", status_code=204)
    def remove(number: str) -> None:
        """End a run if it runs, and remove it with its folder and its topics."""
        service.worker.delete(number)

    @app.get("/v1/runs/{number}/progress", response_class=StreamingResponse)
    async def progress(number: str) -> StreamingResponse:
        """Stream the events of a run as server-sent events: step, progress, status."""
        return StreamingResponse(_events(service.worker.task(number)), media_type="text/event-stream")


async def _own(task: Task, seconds: float, connection: Request, service: Service) -> dict[str, Any]:
    """Return the state of a task after its client has waited. Cancel the task if the client disconnects.

    A client that does not wait will ask for the state later, in another connection.
    """
    if not await _stays(task, seconds, connection):
        await run_in_threadpool(service.worker.cancel, task)
    return service.state_of(task, _host(connection))


def _host(connection: Request) -> str:
    """Return the name or address by which a client reaches the service."""
    return connection.url.hostname or ""


async def _stays(task: Task, seconds: float, connection: Request) -> bool:
    """Wait until the task ends or the client disconnects; return whether it is still connected."""
    if not seconds:
        return True
    gone = asyncio.ensure_future(disconnected(connection))
    ended = asyncio.ensure_future(task.ended_within(seconds))
    try:
        await asyncio.wait({gone, ended}, return_when=asyncio.FIRST_COMPLETED)
        return ended.done()
    finally:
        gone.cancel()
        ended.cancel()


class _TaskResponse(StreamingResponse):
    """The frames of a command; a client that disconnects cancels its task."""

    def __init__(self, answer: CommandAnswer, service: Service) -> None:
        media_type = "application/x-ticdc-producer-command"
        super().__init__(answer.parts, answer.status, media_type=media_type)
        self._task, self._worker = answer.task, service.worker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self._task is not None and not self._task.over:
                asyncio.get_running_loop().run_in_executor(None, self._worker.cancel, self._task)


async def _events(task: Task) -> AsyncIterator[str]:
    async for event in task.changes():
        if event is None:
            yield ": the run continues\n\n"
        else:
            content = {name: value for name, value in event.items() if name != "event"}
            yield f"event: {event['event']}\ndata: {json.dumps(content)}\n\n"


def _add_results(app: FastAPI, service: Service) -> None:
    _add_reports(app, service.worker.task)
    _add_contents(app, service.worker.task, service.settings.limits)
    _add_expected(app, service.worker.task)


def _add_reports(app: FastAPI, task: FindTask) -> None:
    @app.get("/v1/runs/{number}/report")
    def report(number: str) -> dict[str, Any]:
        """Return the report of a run, or the verdict of a verification, as --json prints it."""
        return results.result_of(task(number)).content

    @app.get("/v1/runs/{number}/text", response_class=PlainTextResponse)
    def text(number: str, quiet: bool = False, colours: bool = False) -> Response:
        """Return the report as the command prints it."""
        return PlainTextResponse(results.result_of(task(number)).text(quiet, colours))

    @app.get("/v1/runs/{number}/verdict")
    def verdict(number: str) -> dict[str, Any] | None:
        """Return the verdict with its findings; null if the run was not verified."""
        content = results.result_of(task(number)).content
        of_run: Any = content.get("verdict")
        return content if task(number).kind == "verification" else of_run


def _add_contents(app: FastAPI, task: FindTask, limits: Limits) -> None:
    @app.get("/v1/runs/{number}/messages", response_class=PlainTextResponse)
    def messages(number: str) -> Response:
        """Return the messages, as JSON lines."""
        return _lines(results.golden_of(task(number)).folder / "messages.jsonl")

    @app.get("/v1/runs/{number}/decoded", response_class=PlainTextResponse)
    def decoded(number: str) -> Response:
        """Return the events that the messages decode to, as JSON lines."""
        lines, _ = results.decoded_of(task(number), limits)
        return _joined(lines)

    @app.get("/v1/runs/{number}/archive", response_class=FileResponse)
    def archive(number: str) -> Response:
        """Return the golden folder as a zip file."""
        return FileResponse(
            results.archive_of(task(number)), media_type="application/zip", filename="golden.zip"
        )


def _add_expected(app: FastAPI, task: FindTask) -> None:
    @app.get("/v1/runs/{number}/events", response_class=PlainTextResponse)
    def events(number: str) -> Response:
        """Return the expected events, as JSON lines."""
        return _lines(results.golden_of(task(number)).folder / "events.jsonl")

    @app.get("/v1/runs/{number}/state")
    def state(number: str) -> dict[str, list[dict[str, Any]]]:
        """Return the expected rows of each table."""
        return results.state_of(task(number))

    @app.get("/v1/runs/{number}/snapshot")
    def snapshot(number: str) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of each table with which a consumer starts; empty without a start-ts."""
        return results.snapshot_of(task(number))

    @app.post("/v1/runs/{number}/comparison")
    def comparison(number: str, request: TablesRequest) -> dict[str, Any]:
        """Compare the rows of a consumer with the expected ones."""
        return results.comparison_of(task(number), request.tables)


def _add_page(app: FastAPI) -> None:
    @app.get(PAGE_PATH, include_in_schema=False)
    def page() -> Response:
        """Return the page."""
        return _file("index.html")

    @app.get(FILES_PATH + "{name}", include_in_schema=False)
    def file(name: str) -> Response:
        """Return a file of the page."""
        return _file(name)


def _file(name: str) -> Response:
    if name not in page_files():
        raise RefusedRequest("the page has no such file", status=404, where=name[:100])
    content, media_type = page_files()[name]
    return Response(content, headers=HEADERS, media_type=media_type)


def _add_previews(app: FastAPI, service: Service) -> None:
    @app.get("/v1/choices")
    def choices() -> dict[str, Any]:
        """List the protocols with their parameters, the partition rules and the traps."""
        return choices_content()

    @app.post("/v1/previews")
    async def preview(connection: Request, request: PreviewRequest) -> Response:
        """Return the messages of a small scenario in several protocols, which no Kafka gets."""

        # A page that is typed in asks again.
        def answer(is_abandoned: Callable[[], bool]) -> Response:
            content = msgspec.json.encode(service.preview(request, is_abandoned))
            return Response(content, media_type="application/json")

        return await abandonable(connection, answer)


def _add_reading(app: FastAPI, service: Service) -> None:
    @app.post("/v1/decoded", response_class=PlainTextResponse)
    def decoded(request: DecodeRequest, text: bool = False) -> Response:
        """Decode a topic: lines as `decode` prints them."""
        lines, damaged = service.decoded(request, text=text)
        return _joined(lines, {"ticdc-damaged": str(damaged).lower()})

    @app.get("/v1/conformance/cases")
    def cases(protocol: str | None = None) -> list[dict[str, str]]:
        """List the conformance cases of single messages."""
        return listed_cases(protocol)

    @app.get("/v1/conformance/cases/{name:path}")
    def case(name: str) -> dict[str, Any]:
        """Return a case: the request to a consumer, and the expected events; null for a damaged message."""
        return case_content(name)


def _add_commands(app: FastAPI, service: Service, answer_command: AnswerCommand) -> None:
    @app.post("/v1/commands", include_in_schema=False)
    async def command(request: Request) -> StreamingResponse:
        """Run a command line of --server. Its form may change with each version of this tool."""
        return _TaskResponse(await answer_command(service, await request.body()), service)


def _lines(path: Path) -> Response:
    return FileResponse(path, media_type="application/x-ndjson")


def _joined(lines: list[str], headers: dict[str, str] | None = None) -> Response:
    text = "".join(f"{line}\n" for line in lines)
    return Response(text, headers=headers, media_type="application/x-ndjson")
