"""A client that disconnects ends the run that it waited for, and no other one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.serve.service_app import App, application
from tests.serve.works import ENDLESS_RUN
from ticdc_producer.cli.remote.frames import CONTENT_TYPE, PATH, frame
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.serve.service import Service
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.tasks.task import Task
from ticdc_producer.serve.tasks.task_errors import TaskCancelled
from ticdc_producer.targets.kafka.topics import Topics

SECONDS = 60
RUN = {"sql": "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1);"}
COMMAND = b"".join([frame("argument", "run"), frame("argument", "seed_t1")])


@pytest.fixture
def app() -> Iterator[App]:
    with application(ServeSettings(kafka="k:1")) as served:
        yield served


def _queued(service: Service, count: int) -> Callable[[], Any]:
    """Disconnects when this number of tasks is queued."""

    async def wait() -> None:
        while len(service.worker.tasks) < count:
            await asyncio.sleep(0)

    return wait


def _over(task: Task) -> Task:
    asyncio.run(task.ended_within(SECONDS))
    return task


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/runs?wait=60", RUN),
        ("/v1/verifications?wait=60", {"sink_uri": "kafka:///t?protocol=canal-json"}),
    ],
)
def test_a_waiting_request_that_disconnects_cancels_its_run(app: App, path: str, body: object) -> None:
    app("POST", path, content=body, leaves=_queued(app.service, 1))
    (task,) = app.service.worker.tasks
    assert isinstance(_over(task).error, TaskCancelled)


def test_a_command_that_disconnects_cancels_its_run(app: App) -> None:
    async def send(_message: object) -> None: ...

    async def call() -> None:
        body = [{"type": "http.request", "body": COMMAND}]
        leaves = _queued(app.service, 1)

        async def receive() -> dict[str, Any]:
            if body:
                return body.pop()
            await leaves()
            return {"type": "http.disconnect"}

        headers = [(b"host", b"127.0.0.1"), (b"content-type", CONTENT_TYPE.encode())]
        scope = {"type": "http", "method": "POST", "path": PATH, "headers": headers, "query_string": b""}
        await app.asgi(scope, receive, send)

    asyncio.run(call())
    (task,) = app.service.worker.tasks
    assert isinstance(_over(task).error, TaskCancelled)


def test_runs_whose_state_is_requested_go_on(app: App) -> None:
    started = app("POST", "/v1/runs", content=RUN).json
    app("GET", f"/v1/runs/{started['id']}?wait=60", leaves=_queued(app.service, 1))
    app("GET", f"/v1/runs/{started['id']}/progress", leaves=_queued(app.service, 1))
    waited = app("POST", "/v1/runs?wait=0.01", content=RUN).json
    states = [app("GET", f"/v1/runs/{run['id']}").json["status"] for run in (started, waited)]
    assert states == ["queued", "queued"]


def _running(service: Service) -> Callable[[], Any]:
    """Disconnects when a task runs."""

    async def wait() -> None:
        while not any(task.status == "running" for task in service.worker.tasks):
            await asyncio.sleep(0)

    return wait


@pytest.fixture
def served(kafka: EmbeddedKafka) -> Iterator[App]:
    with application(ServeSettings(kafka=kafka.bootstrap)) as app:
        app.service.start()
        assert app.service.ready.wait(SECONDS)
        yield app


def _is_well(app: App) -> bool:
    return bool(app("POST", "/v1/runs?wait=60", content={"scenario": "seed_t1"}).json["ok"])


def test_the_service_is_well_after_an_endless_run(served: App) -> None:
    served("POST", "/v1/runs?wait=60", content=ENDLESS_RUN, leaves=_running(served.service))
    (cancelled,) = served.service.worker.tasks
    assert isinstance(_over(cancelled).error, TaskCancelled)
    assert _is_well(served)


def test_the_topics_of_a_cancelled_run_are_removed_with_it(served: App, kafka: EmbeddedKafka) -> None:
    topics = Topics(kafka.bootstrap)
    run = {"scenario": "orders", "protocol": "canal-json"}

    async def written() -> None:
        while not any(
            topic in topics.existing() for task in served.service.worker.tasks for topic in task.topics
        ):
            await asyncio.sleep(0)

    served("POST", "/v1/runs?wait=60", content=run, leaves=written)
    (task,) = served.service.worker.tasks
    assert _over(task).topics[0] in topics.existing()
    assert served("DELETE", f"/v1/runs/{task.id}").status == 204
    assert task.topics[0] not in topics.existing()
    assert _is_well(served)
