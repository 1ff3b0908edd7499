"""A client that disconnects ends the run that it waited for, and no other one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.serve.service_app import App, application
from ticdc_producer.cli.frames import CONTENT_TYPE, PATH, frame
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.serve.service import Service, Texts
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.task import Result, Task
from ticdc_producer.serve.worker import TaskCancelled, Worker

SECONDS = 60
RUN = {"sql": "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1);"}
COMMAND = b"".join([frame("argument", "run"), frame("argument", "seed_t1")])


@pytest.fixture
def app() -> Iterator[App]:
    with application(ServeSettings(kafka="k:1")) as found:
        yield found


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
    states = [app("GET", f"/v1/runs/{one['id']}").json["status"] for one in (started, waited)]
    assert states == ["queued", "queued"]


def test_a_cancelled_run_leaves_a_worker_that_goes_on(tmp_path: Any) -> None:
    settled = threading.Event()
    worker = Worker(
        tmp_path, ServeSettings().limits, cancel=lambda: None, settle=settled.set, remove=lambda _task: None
    )
    worker.start(lambda: None)
    running = threading.Event()

    def forever(_task: Task) -> Result:
        running.set()
        while True:
            sum(range(1000))

    slow = worker.submit("run", "slow", forever)
    waits = worker.submit("run", "waits", forever)
    after = worker.submit("run", "after", lambda _task: Result(settled.is_set(), {}, lambda *_: ""))
    assert running.wait(SECONDS)
    worker.cancel(waits)
    worker.cancel(slow)
    worker.cancel(slow)
    result = _over(after).result
    worker.cancel(after)
    worker.stop(SECONDS)
    assert [type(one.error) for one in (slow, waits, after)] == [TaskCancelled, TaskCancelled, type(None)]
    assert result is not None
    assert result.ok


def _endless(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        threading.Event().wait()
        yield batch


def test_the_spark_jobs_of_a_cancelled_run_end_before_the_next_run(
    spark: SparkSession, kafka: EmbeddedKafka
) -> None:
    service = Service(ServeSettings(kafka=kafka.bootstrap), Texts(lambda *_: "", lambda *_: ""))
    service.start()
    try:
        assert service.ready.wait(SECONDS)
        tracker = spark.sparkContext.statusTracker()
        infos = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos

        def endless(_task: Task) -> Result:
            spark.range(2).mapInArrow(_endless, "id long").collect()
            raise AssertionError("the job has ended")

        def running(_task: Task) -> Result:
            return Result(sum(one.numRunningTasks() for one in infos()) == 0, {}, lambda *_: "")

        slow = service.worker.submit("run", "slow", endless)
        after = service.worker.submit("run", "after", running)
        while not sum(one.numRunningTasks() for one in infos()):
            assert not slow.over
        service.worker.cancel(slow)
        result = _over(after).result
        assert isinstance(slow.error, TaskCancelled)
        assert result is not None
        assert result.ok
        assert tracker.getActiveJobsIds() == []
    finally:
        service.stop()
