"""``GET /ready`` is true: its status is 200 while a process waits for runs and Kafka answers."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.serve.asgi_client import request
from tests.serve.service_app import no_text
from ticdc_producer.cli.remote.command_service import answer_command
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.serve.app import create_app
from ticdc_producer.serve.kafka_answer import KafkaAnswer
from ticdc_producer.serve.service import Service, Texts
from ticdc_producer.serve.settings import ServeSettings


@contextmanager
def _app_with(kafka: str) -> Iterator[tuple[Any, list[str]]]:
    """A service that has started with a Kafka, and the lines that it printed."""
    lines, has_started = list[str](), threading.Event()

    def on_status(line: str) -> None:
        lines.append(line)
        if line == "ready":
            has_started.set()

    service = Service(ServeSettings(kafka=kafka), Texts(no_text, no_text), on_status=on_status)
    service.start()
    try:
        assert has_started.wait(60)
        yield create_app(service, answer_command), lines
    finally:
        service.stop()


def test_a_service_is_ready_if_its_kafka_answers(kafka: EmbeddedKafka) -> None:
    with _app_with(kafka.bootstrap) as (app, lines):
        answer = request(app, "GET", "/ready")
        assert (answer.status, answer.json) == (200, {"ready": True, "kafka": kafka.bootstrap})
        assert lines == ["a process waits for runs", "ready"]


def test_a_service_is_not_ready_if_its_kafka_does_not_answer() -> None:
    with socket.socket() as closed:  # bound and not listening: connections are refused
        closed.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        with _app_with(address) as (app, lines):
            answer = request(app, "GET", "/ready")
            assert (answer.status, answer.json) == (503, {"ready": False, "kafka": address})
            assert request(app, "GET", "/health").status == 200
            assert f"no Kafka answers at {address}: runs fail until one does" in lines


def test_requests_that_arrive_together_share_a_question_and_a_thread() -> None:
    with socket.socket() as silent:  # accepts connections and answers nothing
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        questions: list[str] = []

        def cluster() -> str:
            questions.append(threading.current_thread().name)
            return f"127.0.0.1:{silent.getsockname()[1]}"

        answer = KafkaAnswer(cluster)

        async def ask() -> list[bool]:
            return await asyncio.gather(*(answer.comes() for _ in range(200)))

        assert asyncio.run(ask()) == [False] * 200
        assert questions == ["kafka-answer_0"]


def test_a_question_that_does_not_end_is_answered_no() -> None:
    """So is one whose client waits for a resolver of names."""
    goes_on = threading.Event()

    def cluster() -> None:
        goes_on.wait()

    answer = KafkaAnswer(cluster)
    try:
        assert not answer.has_come()
        assert not asyncio.run(answer.comes())
    finally:
        goes_on.set()
