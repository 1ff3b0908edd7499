"""A service that is made, and whose application does not load."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

from tests.serve.service_app import no_text
from ticdc_producer.serve.server import serve
from ticdc_producer.serve.service import Service, Texts
from ticdc_producer.serve.settings import ServeSettings


def _load(_on_failure: Callable[[], None]) -> tuple[Any, Any]:
    service = Service(ServeSettings(), Texts(no_text, no_text))
    print("made", flush=True)
    threading.Event().wait()
    return service, None


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # as the command unwinds its stack
    serve(ServeSettings(), _load, socket.create_server(("127.0.0.1", 0)))
