"""The page of a service that runs in this process, and a large file of messages for it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from tests.serve.service_app import application
from ticdc_producer.serve.settings import ServeSettings

COUNT = 100_000
"""Messages of the file."""


def write_dump(path: Path) -> None:
    """Write what kcat -J prints of a topic of Canal-JSON: a row per message, which is inserted or updated."""
    with path.open("w") as file:
        for number in range(COUNT):
            row, time = number % 30_000, 1_600_000_000_000 + number
            is_first = number < 30_000
            value = {
                "id": 0, "database": "shop", "table": "orders", "pkNames": ["id"], "isDdl": False,
                "type": "INSERT" if is_first else "UPDATE", "es": time, "ts": time, "sql": "",
                "sqlType": {"id": 4, "v": 4}, "mysqlType": {"id": "int", "v": "int"},
                "old": None if is_first else [{"id": str(row), "v": str(number - 30_000)}],
                "data": [{"id": str(row), "v": str(number)}], "_tidb": {"commitTs": time << 18},
            }  # fmt: skip
            line = {"topic": "orders", "partition": row % 3, "offset": number // 3, "ts": time, "key": None}
            file.write(json.dumps({**line, "payload": json.dumps(value)}) + "\n")


@contextmanager
def served(settings: ServeSettings | None = None) -> Iterator[str]:
    """Serve requests on a free port; yields the address."""
    with application(settings) as app, socket.socket() as listener:
        server = uvicorn.Server(uvicorn.Config(app.asgi, log_config=None, access_log=False))
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # a client that comes before the server's loop begins waits
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)
