"""A client whose headers are slow is answered and closed, and takes no connection from others."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import uvicorn

from ticdc_producer.serve.server import with_timeout

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def _app(scope: dict[str, Any], _receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        headers = [(b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    config = uvicorn.Config(_app, lifespan="off", http=with_timeout(0.3), log_config=None)
    server = uvicorn.Server(config)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield listener.getsockname()
        server.should_exit = True
        thread.join(60)


def _received(address: tuple[str, int], sent: bytes) -> bytes:
    """What the server answers until it closes the connection."""
    with closing(socket.create_connection(address, 60)) as client:
        client.sendall(sent)
        parts = list(iter(lambda: client.recv(1 << 16), b""))
    return b"".join(parts)


@pytest.mark.parametrize("sent", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_slow_headers_are_closed(address: tuple[str, int], sent: bytes) -> None:
    answer = _received(address, sent)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"the headers did not arrive within 0.3 s" in answer


def test_the_headers_of_a_second_request_are_closed_too(address: tuple[str, int]) -> None:
    answer = _received(address, GET + b"GET / HT")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in answer


def test_whole_requests_are_answered(address: tuple[str, int]) -> None:
    with closing(socket.create_connection(address, 60)) as client:
        for _ in range(3):
            client.sendall(GET)
            received = b""
            while not received.endswith(b"ok"):
                part = client.recv(1 << 16)
                assert part, "the connection was closed"
                received += part
            assert received.startswith(b"HTTP/1.1 200 ")
