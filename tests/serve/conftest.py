"""A service on a port of this machine, for the clients of the tests."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn

from ticdc_producer.cli.remote.command_service import answer_command
from ticdc_producer.cli.serve_command import run_text, verdict_text
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.serve.app import create_app
from ticdc_producer.serve.server import Starting
from ticdc_producer.serve.service import Service, Texts
from ticdc_producer.serve.settings import ServeSettings


@pytest.fixture(scope="module")
def url(kafka: EmbeddedKafka) -> Iterator[str]:
    with served(ServeSettings(kafka=kafka.bootstrap)) as address:
        yield address


@contextmanager
def served(settings: ServeSettings) -> Iterator[str]:
    """Start a service; yields its URL."""
    service = Service(settings, Texts(run_text, verdict_text))
    app = Starting(service.settings, lambda: (service, create_app(service, answer_command)))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        assert service.ready.wait(60)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        thread.join(60)
