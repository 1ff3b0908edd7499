"""Runs the service until a signal ends it. Its modules load while it already listens.

A client whose headers are slow is disconnected, as one whose body is.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TypeAlias

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ticdc_producer.errors import RefusedRequest
from ticdc_producer.installation import own_version
from ticdc_producer.serve.guard import WITHOUT_TOKEN, Guard, error_content, refuse
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.tasks.forkserver import started_forkserver

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ticdc_producer.serve.service import Service


class HeadersInTime(H11Protocol):
    """The protocol of uvicorn, which waits for ever for the headers of a request.

    :cvar seconds: time in which the headers of a request must arrive, from the first connection or from the
        end of the previous answer.
    """

    seconds = 30.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Expect the headers of the first request."""
        super().connection_made(transport)
        self._expect_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing more."""
        self._stop_timer()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle what has arrived."""
        super().handle_events()
        if self._is_answering():
            self._stop_timer()

    def on_response_complete(self) -> None:
        """Expect the headers of the next request."""
        super().on_response_complete()
        if not self.transport.is_closing() and not self._is_answering():
            self._expect_headers()

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect_headers(self) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(self.seconds, self._close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        if self.transport.is_closing() or self._is_answering():
            return
        if self.conn.our_state is h11.IDLE:
            self._answer(RefusedRequest(f"the headers did not arrive within {self.seconds:g} s", status=408))
        self.transport.close()

    def _answer(self, refusal: RefusedRequest) -> None:
        body = json.dumps({"error": error_content(refusal)}).encode()
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        start = h11.Response(status_code=refusal.status, headers=headers, reason=b"Request Timeout")
        for event in (start, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")


def with_timeout(seconds: float) -> type[HeadersInTime]:
    """Return the protocol with a time for headers."""
    return type("HeadersInTime", (HeadersInTime,), {"seconds": seconds})


class StartedService(Protocol):
    """A service that is started with the application and stopped with it."""

    def start(self) -> None:
        """Start, in the background."""

    def stop(self) -> None:
        """End, and wait for the end."""


class Exchange:
    """A request and its response, which end with the service: a stream of events would continue.

    :param ended: is set when the service ends; the application then sees a client that disconnects.
    """

    def __init__(self, ended: asyncio.Event, receive: Receive, send: Send) -> None:
        self._ended, self._receive, self._send = ended, receive, send
        self._started = self._completed = False

    async def receive(self) -> Message:
        """Return the next part of the request, or a disconnection at the end of the service."""
        part = asyncio.ensure_future(self._receive())
        end = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({part, end}, return_when=asyncio.FIRST_COMPLETED)
            return await part if part.done() else {"type": "http.disconnect"}
        finally:
            part.cancel()
            end.cancel()

    async def send(self, message: Message) -> None:
        """Send a part of the response."""
        self._started = True
        self._completed = message["type"] == "http.response.body" and not message.get("more_body")
        await self._send(message)

    async def complete(self) -> None:
        """End the response that the end of the service has cut."""
        if self._ended.is_set() and self._started and not self._completed:
            await self._send({"type": "http.response.body", "body": b""})


Load: TypeAlias = "Callable[[], tuple[StartedService, ASGIApp]]"
"""Loads the modules of the service: the service, which is not started yet, and its application."""


def health_content() -> dict[str, str]:
    """Return the answer to ``GET /health``."""
    return {"status": "ok", "version": own_version()}


def ready_answer(ready: bool, kafka: str) -> tuple[int, Mapping[str, object]]:
    """Return the status and the answer to ``GET /ready``."""
    return (200 if ready else 503), {"ready": ready, "kafka": kafka}


class Starting:
    """A service that loads in a thread, and then gets the requests. Requests other than probes wait for it.

    :param load: called in the thread.
    :param on_failure: called if ``load`` fails.
    :ivar failure: the exception of ``load``; None: it has not failed.
    """

    def __init__(
        self, settings: ServeSettings, load: Load, on_failure: Callable[[], None] = lambda: None
    ) -> None:
        self.failure: Exception | None = None
        self._kafka, self._load, self._on_failure = settings.kafka, load, on_failure
        self._probes = Guard(self._probe, settings)
        self._app: ASGIApp | None = None
        self._stopping = False
        self._ended = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or start and stop the service."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if self._app is None and scope["type"] == "http" and scope["path"] in WITHOUT_TOKEN:
            await self._probes(scope, receive, send)
            return
        await asyncio.shield(self._loaded)
        if self._app is None:
            await refuse(send, RefusedRequest("the service ends", status=503))
        else:
            exchange = Exchange(self._ended, receive, send)
            await self._app(scope, exchange.receive, exchange.send)
            await exchange.complete()

    def end_streams(self) -> None:
        """End the requests that wait for a run; called in the thread of the requests."""
        self._ended.set()

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self._loaded = self._load_in_thread()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self._stopping = True
        service = None
        with suppress(TimeoutError):
            service = await asyncio.wait_for(asyncio.shield(self._loaded), _LOAD_SECONDS)
        if service is not None:
            await asyncio.to_thread(service.stop)
        await send({"type": "lifespan.shutdown.complete"})

    def _load_in_thread(self) -> asyncio.Future[StartedService | None]:
        """Load in a thread that does not keep the program from ending: modules may take long to load."""
        loop = asyncio.get_running_loop()
        loaded: asyncio.Future[StartedService | None] = loop.create_future()

        def load() -> None:
            service = self._start()
            with suppress(RuntimeError):  # the program ends
                loop.call_soon_threadsafe(loaded.set_result, service)

        threading.Thread(target=load, name="load", daemon=True).start()
        return loaded

    def _start(self) -> StartedService | None:
        try:
            service, app = self._load()
        except Exception as error:  # raised again in the main thread, which prints it
            self.failure = error
            self._on_failure()
            return None
        if not self._stopping:
            service.start()
        self._app = app
        return service

    async def _probe(self, scope: Scope, _receive: Receive, send: Send) -> None:
        status, content = ready_answer(False, self._kafka)
        if scope["path"] == "/health":
            status, content = 200, health_content()
        body = json.dumps(content).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


_MAX_CONNECTIONS = 1000
_LOAD_SECONDS = 5.0
"""A service whose modules load when it ends gets this time; then it ends without them. They load in two to
three seconds."""
_GRACE_SECONDS = 2
"""A request in progress gets this time before its connection is closed."""


class _Server(uvicorn.Server):
    """The server of uvicorn, which waits for requests in progress when it ends.

    :ivar end_streams: ends those that wait for a run.
    """

    end_streams: Callable[[], None]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, after the requests in progress."""
        self.end_streams()
        await super().shutdown(sockets)


LoadService: TypeAlias = "Callable[[Callable[[], None]], tuple[Service, ASGIApp]]"
"""Loads the service and its application. The argument is for the service's ``on_failure``."""


def serve(settings: ServeSettings, load: LoadService, listener: socket.socket) -> None:
    """Serve requests until SIGINT or SIGTERM.

    :param load: called in a thread.
    :param listener: is closed at the end.
    :raises ProducerError: if a process or Kafka does not start.
    """
    started_forkserver()  # it takes as long as the modules of the service
    services: list[Service] = []

    def stop() -> None:
        server.should_exit = True

    def loaded() -> tuple[Service, ASGIApp]:
        service, app = load(stop)
        services.append(service)
        return service, app

    starting = Starting(settings, loaded, stop)
    server = _Server(
        uvicorn.Config(
            starting,
            lifespan="on",
            # h11 answers HTTP/1.0, which the command sends, without chunks.
            http=with_timeout(settings.limits.body_seconds),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )
    server.end_streams = starting.end_streams
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # uvicorn has ended the service and raises the signal again
    finally:
        listener.close()
    failures = [starting.failure, *(service.failure for service in services)]
    for failure in failures:
        if failure is not None:
            raise failure
