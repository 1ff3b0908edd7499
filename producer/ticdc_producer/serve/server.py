"""Runs the service until a signal ends it."""

from __future__ import annotations

import socket

import uvicorn

from ticdc_producer.serve.app import AnswerCommand, create_app
from ticdc_producer.serve.kafka_start import KafkaStart
from ticdc_producer.serve.service import Service, Texts
from ticdc_producer.serve.settings import ServeSettings

_MAX_CONNECTIONS = 1000
_GRACE_SECONDS = 5


def serve(
    settings: ServeSettings,
    texts: Texts,
    answer_command: AnswerCommand,
    listener: socket.socket,
    kafka: KafkaStart | None,
) -> None:
    """Serve requests until SIGINT or SIGTERM.

    :param listener: is closed at the end.
    :param kafka: the embedded Kafka; None: that of the settings is used.
    :raises ProducerError: if Spark or Kafka does not start.
    """
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

    service = Service(settings, texts, kafka, on_failure=stop)
    config.app = create_app(service, answer_command)
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
