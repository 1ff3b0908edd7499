"""A schema registry in this process: it registers schemas, and returns them by id, as Confluent's does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any


class _Registry(ThreadingHTTPServer):
    """The registry.

    :ivar ids: by subject and schema; equal schemas of several subjects have one id.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.lock, self.ids = Lock(), dict[str, int]()


class _Requests(BaseHTTPRequestHandler):
    """Registers schemas (POST), and returns them by id (GET)."""

    server: _Registry

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            number = self.server.ids.setdefault(request["schema"], len(self.server.ids) + 1)
        self._answer(200, {"id": number})

    def do_GET(self) -> None:
        number = self.path.partition("/schemas/ids/")[2].partition("?")[0]
        with self.server.lock:
            schemas = {str(number): schema for schema, number in self.server.ids.items()}
        if number in schemas:
            self._answer(200, {"schema": schemas[number]})
        else:
            self._answer(404, {"error_code": 40403, "message": "Schema not found"})

    def _answer(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Write no log."""


@contextmanager
def schema_registry() -> Iterator[str]:
    """Start a registry that processes of Spark can reach, and yield its URL."""
    with _Registry() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
