"""The connections of clients: one whose headers are slow is closed, as one whose body is."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ticdc_producer.errors import RefusedRequest
from ticdc_producer.serve.guard import error_content


class HeadersInTime(H11Protocol):
    """uvicorn's protocol, which waits for ever for the headers of a request.

    :cvar seconds: time in which the headers of a request must arrive, from the first connection or from the
        end of the previous answer.
    """

    seconds = 30.0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._timer: asyncio.TimerHandle | None = None

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
