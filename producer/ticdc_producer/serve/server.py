"""Runs the service until a signal ends it."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn

from ticdc_producer.errors import EnvironmentFailure
from ticdc_producer.serve.app import AnswerCommand, create_app
from ticdc_producer.serve.service import Service, Texts
from ticdc_producer.serve.settings import ServeSettings

_MAX_CONNECTIONS = 1000
_GRACE_SECONDS = 5


def serve(
    settings: ServeSettings,
    texts: Texts,
    answer_command: AnswerCommand,
    on_listening: Callable[[str], None],
) -> None:
    """Serve requests until SIGINT or SIGTERM.

    :param on_listening: called with the service's URL when connections are accepted.
    :raises ProducerError: if the address is taken, or Spark or Kafka does not start.
    """
    listener = _listener(settings)
    config = uvicorn.Config(
        _not_yet,
        lifespan="on",
        http="h11",  # it answers HTTP/1.0, which the command sends, without chunks
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_MAX_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = uvicorn.Server(config)

    def stop() -> None:
        server.should_exit = True

    service = Service(settings, texts, on_failure=stop)
    config.app = create_app(service, answer_command)
    on_listening(url_of(settings, listener.getsockname()[1]))
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # uvicorn has ended the service and raises the signal again
    finally:
        listener.close()
    if service.failure is not None:
        raise service.failure


async def _not_yet(*_arguments: object) -> None:
    raise AssertionError("replaced before the server starts")


def _listener(settings: ServeSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen()  # clients may connect from now on, and wait
    except OSError as error:
        listener.close()
        what = f"cannot listen on {settings.host}:{settings.port}: {error.strerror}"
        raise EnvironmentFailure(what, hint="choose another --port") from None
    listener.set_inheritable(False)
    return listener


def url_of(settings: ServeSettings, port: int) -> str:
    """The URL of the service."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{port}"
