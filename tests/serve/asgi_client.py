"""Calls an ASGI application without a network. The headers are exactly those that the test gives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import unquote

HOST = "127.0.0.1:8642"
Leaves: TypeAlias = Callable[[], Awaitable[object]]


@dataclass(frozen=True)
class Answer:
    """The answer to a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def what(self) -> str:
        """The sentence of an error."""
        return str(self.json["error"]["what"])


def request(
    app: Any,
    method: str,
    path: str,
    *,
    content: object = None,
    chunks: Iterable[bytes] = (),
    headers: Sequence[tuple[str, str]] = (),
    host: str = HOST,
    leaves: Leaves | None = None,
) -> Answer:
    """One request, in an event loop of its own; parameters as in ``async_request``."""
    return asyncio.run(
        async_request(
            app, method, path, content=content, chunks=chunks, headers=headers, host=host, leaves=leaves
        )
    )


async def async_request(
    app: Any,
    method: str,
    path: str,
    *,
    content: object = None,
    chunks: Iterable[bytes] = (),
    headers: Sequence[tuple[str, str]] = (),
    host: str = HOST,
    leaves: Leaves | None = None,
) -> Answer:
    """One request.

    :param content: is sent as JSON; bytes as they are.
    :param chunks: parts of a body, instead of ``content``.
    :param headers: besides Host and, for ``content``, Content-Type and Content-Length.
    :param leaves: waits until the client disconnects; None: it stays.
    """
    parts, given = list(chunks), [("Host", host), *headers]
    if content is not None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        parts = [body]
        names = {name.lower() for name, _ in headers}
        given += [("Content-Length", str(len(body)))] if "content-length" not in names else []
        given += [("Content-Type", "application/json")] if "content-type" not in names else []
    return await _request(app, method, path, parts, given, leaves)


async def _request(
    app: Any,
    method: str,
    path: str,
    parts: list[bytes],
    headers: list[tuple[str, str]],
    leaves: Leaves | None,
) -> Answer:
    sent: list[dict[str, Any]] = []
    unread = parts or [b""]
    over = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if not unread:
            await (over.wait() if leaves is None else leaves())
            return {"type": "http.disconnect"}
        part = unread.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(unread)}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            over.set()

    bare, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(bare),
        "raw_path": bare.encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8642),
    }
    await app(scope, receive, send)
    start, *rest = sent
    received = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
    return Answer(start["status"], received, b"".join(part.get("body", b"") for part in rest))
