"""Runs the service until a signal ends it. Its modules load while it already listens."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import uvicorn

from ticdc_producer.serve.forkserver import started_forkserver
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.starting import Starting

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from ticdc_producer.serve.service import Service

_MAX_CONNECTIONS = 1000
_GRACE_SECONDS = 5

LoadService: TypeAlias = "Callable[[Callable[[], None]], tuple[Service, ASGIApp]]"
"""Loads the service and its application. What it is given is for the service's ``on_failure``."""


def serve(settings: ServeSettings, load: LoadService, listener: socket.socket) -> None:
    """Serve requests until SIGINT or SIGTERM.

    :param load: called in a thread.
    :param listener: is closed at the end.
    :raises ProducerError: if a process or Kafka does not start.
    """
    started_forkserver()  # it takes as long as the modules of the service
    services: list[Service] = []

    def stop() -> None:
        server.should_exit = True

    def loaded() -> tuple[Service, ASGIApp]:
        service, app = load(stop)
        services.append(service)
        return service, app

    starting = Starting(settings, loaded, stop)
    server = uvicorn.Server(
        uvicorn.Config(
            starting,
            lifespan="on",
            http="h11",  # it answers HTTP/1.0, which the command sends, without chunks
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MAX_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
    )
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # uvicorn has ended the service and raises the signal again
    finally:
        listener.close()
    failures = [starting.failure, *(service.failure for service in services)]
    for failure in failures:
        if failure is not None:
            raise failure
