"""Refuses requests before the application sees them: of other web pages, without the token, too large.

The application parses JSON and validates it in the service's process, so the JSON of a request is measured
first. Each of 400,000 unknown keys, which 4 MiB can contain, would cost the time of an error.

A web page can send requests to a service on loopback: across origins, or after its own name was bound to
127.0.0.1 (DNS rebinding). Therefore ``Host`` and ``Origin`` are checked on loopback, too.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import urlsplit

from ticdc_producer.errors import EnvironmentFailure, ProducerError, RefusedRequest
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.static_page import PAGE_PATH, is_of_page
from ticdc_producer.serve.tasks.task_errors import ReportedError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

WITHOUT_TOKEN = frozenset({"/health", "/ready"})
"""Paths for probes of orchestrators; they answer nothing but a state."""
CONTENT_TYPES = frozenset({
    "application/json", "application/yaml", "application/sql", "application/x-ticdc-producer-command",
})  # fmt: skip
"""Not those of HTML forms, which pages of other origins can send."""
POSTED_STREAMS_PATH = "/v1/posted-streams"
"""A file is posted there, which is larger than other requests, and is not held in memory."""
_FILE_TYPES = frozenset({"application/octet-stream"})
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_CHECKED = ("host", "origin", "authorization", "content-length", "content-type")


class Guard:
    """An ASGI application that checks the requests to another application.

    :param app: gets the accepted requests.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            self._check(scope)
            if scope["path"] == POSTED_STREAMS_PATH:
                await self._app(scope, self._limited(receive), send)
                return
            body = await self._body(scope, receive)
            if _is_json(scope):
                _check_json(body, self._values(scope["path"]))
        except RefusedRequest as refusal:
            await refuse(send, refusal)
            return
        await self._app(scope, _replay(body, receive), send)

    def _check(self, scope: Scope) -> None:
        headers = _headers(scope)
        host = headers.get("host", "")
        accepted = self._settings.accepted_hosts
        if accepted and _host_name(host) not in accepted:
            hint = "start the service with --host-name NAME if this is its name"
            raise RefusedRequest(f"the service has no name {host[:80]!r}", status=403, hint=hint)
        _check_origin(headers, host, is_link=scope["path"] == PAGE_PATH and scope["method"] == "GET")
        if self._settings.token and scope["path"] not in WITHOUT_TOKEN and not is_of_page(scope["path"]):
            self._check_token(headers.get("authorization", ""))
        if scope["method"] in _WITH_BODY:
            self._check_content(headers, is_file=scope["path"] == POSTED_STREAMS_PATH)

    def _check_token(self, authorization: str) -> None:
        scheme, _, token = authorization.partition(" ")
        right = hmac.compare_digest(token.strip().encode(), self._settings.token.encode())
        if scheme.lower() != "bearer" or not right:
            hint = "send the header Authorization: Bearer TOKEN"
            raise RefusedRequest("the token is missing or wrong", status=401, hint=hint)

    def _check_content(self, headers: Mapping[str, str], *, is_file: bool) -> None:
        limits = self._settings.limits
        most, types = (limits.file_bytes, _FILE_TYPES) if is_file else (limits.body_bytes, CONTENT_TYPES)
        length = headers.get("content-length", "0")
        if length.isascii() and length.isdecimal() and int(length[:20]) > most:
            raise _too_large(most)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in types:
            hint = f"send one of {', '.join(sorted(types))}"
            raise RefusedRequest(f"the content type {kind[:80]!r} is not accepted", status=415, hint=hint)

    def _values(self, path: str) -> int | None:
        """Return the most values that the JSON of a request has; None: any number, for rows to compare."""
        return None if path.endswith("/comparison") else self._settings.limits.body_values

    def _limited(self, receive: Receive) -> Receive:
        """Return the function that receives a body in parts, up to the limits of a file."""
        limits, size, ended = self._settings.limits, 0, False

        async def limited() -> Message:
            nonlocal size, ended
            if ended:
                return await receive()
            try:
                async with asyncio.timeout(limits.body_seconds):
                    message = await receive()
            except TimeoutError:
                what = f"no part of the file has arrived for {limits.body_seconds:g} s"
                raise RefusedRequest(what, status=408) from None
            size += len(message.get("body", b""))
            if size > limits.file_bytes:
                raise _too_large(limits.file_bytes)
            ended = not message.get("more_body", False)
            return message

        return limited

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        if scope["method"] not in _WITH_BODY:
            return b""
        limits = self._settings.limits
        try:
            async with asyncio.timeout(limits.body_seconds):
                return await _read(receive, limits.body_bytes)
        except TimeoutError:
            what = f"the request did not arrive within {limits.body_seconds:g} s"
            raise RefusedRequest(what, status=408) from None


def _is_json(scope: Scope) -> bool:
    return scope["method"] in _WITH_BODY and _headers(scope)["content-type"].startswith("application/json")


_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_MOST_DEPTH, _MOST_DIGITS = 100, 1000
_LONG_NUMBER = re.compile(rb"[^\s\[\]{},:]{%d}" % (_MOST_DIGITS + 1))
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


def _check_json(body: bytes, most_values: int | None) -> None:
    """Check what JSON costs to parse and to validate, in a time that depends on its size alone.

    :raises RefusedRequest: for too many values, too many digits, or too many objects in each other.
    """
    bare = _TEXT.sub(b"", body)
    if most_values is not None and sum(map(bare.count, (b",", b"[", b"{"))) > most_values:
        raise RefusedRequest(f"the request has more than {most_values} values", status=413)
    if _LONG_NUMBER.search(bare):
        raise RefusedRequest(f"a number of the request has more than {_MOST_DIGITS} digits", status=413)
    brackets = bare.translate(None, _NO_BRACKETS)
    depths = accumulate(1 if bracket in b"[{" else -1 for bracket in brackets)
    if any(depth > _MOST_DEPTH for depth in depths):
        raise RefusedRequest(f"objects and lists of the request are {_MOST_DEPTH} deep", status=413)


def _check_origin(headers: Mapping[str, str], host: str, *, is_link: bool) -> None:
    """Check which page has sent a request.

    :param is_link: whether the request is for the page itself, to which other pages may link.
    """
    origin = headers.get("origin")
    other = origin is not None and urlsplit(origin).netloc.lower() != host.lower()
    if is_link and not other and headers.get("sec-fetch-mode") == "navigate":
        return
    if other or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        raise RefusedRequest("requests of web pages of other origins are not served", status=403)


async def _read(receive: Receive, most: int) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise RefusedRequest("the client has disconnected", status=400)
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Replay the body as one message, then pass on messages of the server, such as a disconnect."""
    unread = [body]

    async def again() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return again


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers by name in lower case.

    :raises RefusedRequest: if one that is checked occurs twice, since others could read the other one.
    """
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1").lower()
        if name in headers and name in _CHECKED:
            raise RefusedRequest(f"the header {name} occurs twice", status=400)
        headers[name] = value.decode("latin-1")
    return headers


def _host_name(host: str) -> str:
    """Return the name in a ``Host`` header, without the port."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


def _too_large(most: int) -> RefusedRequest:
    return RefusedRequest(f"the request is larger than {most >> 10} KiB", status=413)


class ErrorContent(TypedDict):
    """The fields of an error in an answer."""

    type: str
    what: str
    where: str
    hint: str
    arguments: list[str]


def error_content(error: ProducerError) -> ErrorContent:
    """Return an error with its fields as keys."""
    return {
        "type": error.report.type if isinstance(error, ReportedError) else type(error).__name__,
        "what": error.what,
        "where": error.where,
        "hint": error.hint,
        "arguments": list(error.arguments),
    }


def status_of(error: ProducerError) -> int:
    """Return the HTTP status with which a request fails that has caused an error."""
    if isinstance(error, RefusedRequest):
        return error.status
    if isinstance(error, ReportedError):
        return error.report.status
    return 502 if isinstance(error, EnvironmentFailure) else 422


async def refuse(send: Send, refusal: RefusedRequest) -> None:
    """Answer a request with an error."""
    body = json.dumps({"error": error_content(refusal)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers.append((b"connection", b"close"))  # the rest of the request is not read
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
