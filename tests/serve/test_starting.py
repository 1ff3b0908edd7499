"""The service answers probes before its modules are loaded; other requests wait for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.serve.asgi_client import Answer, async_request
from tests.serve.service_app import no_text
from ticdc_producer.cli.remote.command_service import answer_command
from ticdc_producer.serve.app import create_app
from ticdc_producer.serve.server import Exchange, Starting
from ticdc_producer.serve.service import Service, Texts
from ticdc_producer.serve.settings import ServeSettings


class Loading:
    """A service whose modules load until ``may_end`` is set; it needs no Kafka."""

    def __init__(self, error: Exception | None = None) -> None:
        self.may_end, self.events = threading.Event(), list[str]()
        self._error = error

    def __call__(self) -> tuple[Any, Any]:
        assert self.may_end.wait(60)
        self.events.append("loaded")
        if self._error is not None:
            raise self._error
        service = Service(ServeSettings(), Texts(no_text, no_text))
        return self, create_app(service, answer_command)

    def start(self) -> None:
        self.events.append("started")

    def stop(self) -> None:
        self.events.append("stopped")


@asynccontextmanager
async def _served(app: Starting) -> AsyncIterator[Callable[..., Any]]:
    incoming: asyncio.Queue[Any] = asyncio.Queue()
    sent: asyncio.Queue[Any] = asyncio.Queue()
    lifespan = asyncio.ensure_future(app({"type": "lifespan"}, incoming.get, sent.put))
    await incoming.put({"type": "lifespan.startup"})
    assert (await sent.get())["type"] == "lifespan.startup.complete"

    async def get(path: str, **parts: Any) -> Answer:
        return await async_request(app, "GET", path, **parts)

    yield get
    await incoming.put({"type": "lifespan.shutdown"})
    assert (await sent.get())["type"] == "lifespan.shutdown.complete"
    await lifespan


def test_probes_are_answered_before_the_modules_are_loaded() -> None:
    loading = Loading()

    async def probe() -> None:
        async with _served(Starting(ServeSettings(kafka="k:1"), loading)) as get:
            before = await get("/health"), await get("/ready")
            waiting = asyncio.ensure_future(get("/v1/scenarios"))
            foreign = await get("/health", host="evil.example")
            assert loading.events == []
            assert not waiting.done()
            loading.may_end.set()
            assert "seed_t1" in {scenario["name"] for scenario in (await waiting).json}
            after = await get("/health"), await get("/ready")
        assert [answer.status for answer in before] == [200, 503]
        assert before[1].json == {"ready": False, "kafka": "k:1"}
        assert (after[0].status, after[0].json) == (200, before[0].json)
        assert foreign.status == 403

    asyncio.run(probe())
    assert loading.events == ["loaded", "started", "stopped"]


def test_modules_that_do_not_load_end_the_service() -> None:
    error = ModuleNotFoundError("No module named 'pyspark'", name="pyspark")
    loading, failed = Loading(error), threading.Event()
    app = Starting(ServeSettings(), loading, failed.set)

    async def wait() -> None:
        async with _served(app) as get:
            waiting = asyncio.ensure_future(get("/v1/scenarios"))
            loading.may_end.set()
            assert (await waiting).status == 503

    asyncio.run(wait())
    assert failed.is_set()
    assert app.failure is error
    assert loading.events == ["loaded"]


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_a_service_that_ends_while_it_loads_is_not_started(path: str) -> None:
    loading = Loading()

    async def end() -> None:
        async with _served(Starting(ServeSettings(), loading)) as get:
            assert (await get(path)).status in (200, 503)
            asyncio.get_running_loop().call_soon(loading.may_end.set)

    asyncio.run(end())
    assert loading.events[-1] == "stopped"


def test_the_end_of_the_service_ends_a_stream() -> None:
    """The application sees a client that disconnects, and the response is whole for the client."""
    sent: list[Any] = []

    async def stream() -> None:
        ended, never = asyncio.Event(), asyncio.Event()

        async def receive() -> Any:
            await never.wait()

        async def send(message: Any) -> None:
            sent.append(message)

        exchange = Exchange(ended, receive, send)
        await exchange.send({"type": "http.response.start", "status": 200, "headers": []})
        await exchange.send({"type": "http.response.body", "body": b"event: step", "more_body": True})
        waiting = asyncio.ensure_future(exchange.receive())
        await asyncio.sleep(0)  # it waits for the client now
        ended.set()
        assert await asyncio.wait_for(waiting, 10) == {"type": "http.disconnect"}
        await exchange.complete()

    asyncio.run(stream())
    assert sent[-1] == {"type": "http.response.body", "body": b""}
