"""An application whose service is not started: it needs no Kafka; its tasks stay queued."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.serve.asgi_client import Answer, request
from ticdc_producer.cli.remote.command_service import answer_command
from ticdc_producer.serve.app import create_app
from ticdc_producer.serve.service import Service, Texts
from ticdc_producer.serve.settings import ServeSettings


def no_text(*_arguments: object) -> str:
    return "a report"


@dataclass(frozen=True)
class App:
    service: Service
    asgi: Any

    def __call__(self, method: str, path: str, **parts: Any) -> Answer:
        return request(self.asgi, method, path, **parts)


@contextmanager
def application(settings: ServeSettings | None = None) -> Iterator[App]:
    service = Service(settings or ServeSettings(), Texts(no_text, no_text))
    try:
        yield App(service, create_app(service, answer_command))
    finally:
        service.stop()
