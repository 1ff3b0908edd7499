"""The service ends what exceeds its limits of time and memory, and what a client deletes."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import EXHAUSTIVE
from tests.serve import works
from tests.serve.test_task_processes import (
    _assert_ended,
    _first_step,
    _over,
    _process,
    _running,
    _submitted,
)
from ticdc_producer.errors import RefusedRequest
from ticdc_producer.serve.request_process import RequestProcess
from ticdc_producer.serve.settings import Limits
from ticdc_producer.serve.tasks.child_process import Children
from ticdc_producer.serve.tasks.task import Task
from ticdc_producer.serve.tasks.task_errors import TaskDeleted, TaskOutOfMemory, TaskTimeout
from ticdc_producer.serve.tasks.work import Work
from ticdc_producer.serve.tasks.worker import Worker

MANY = 1000 if EXHAUSTIVE else 60
MEMORY = 400 << 20
LATE_SECONDS = 2.0
"""From the limit to the end of what exceeds it."""
StartWorker = Callable[[Limits], Worker]


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Children]:
    """The processes of all tests, which are ready at once."""
    children = Children(tmp_path_factory.mktemp("processes"), None)
    yield children
    children.stop(60)


@pytest.fixture
def start_worker(children: Children, tmp_path: Path) -> Iterator[StartWorker]:
    """Starts a worker; it ends with the test."""
    workers: list[Worker] = []

    def start(limits: Limits) -> Worker:
        worker = Worker(tmp_path, limits, children)
        workers.append(worker)
        worker.start(lambda: children.take() and None)
        return worker

    yield start
    for worker in workers:
        worker.stop(1)


def _seconds(task: Task) -> tuple[float, float]:
    assert task.started is not None
    assert task.ended is not None
    return task.started, task.ended


@pytest.mark.parametrize("runs", [2, pytest.param(MANY, marks=pytest.mark.slow)])
def test_runs_over_the_limit_of_time(start_worker: StartWorker, runs: int) -> None:
    limit = 0.5
    worker = start_worker(Limits(seconds=limit, runs=5, queued=5))
    for _ in range(runs // 2):
        first, second = (_submitted(worker, works.ignore_everything) for _ in range(2))
        for task in (first, second):
            started, ended = _seconds(_over(task))
            assert isinstance(task.error, TaskTimeout)
            assert ended - started < limit + LATE_SECONDS
        _process(worker)
    if runs > 6:
        assert len(worker.tasks) <= 6  # older ones are forgotten


@pytest.mark.parametrize("runs", [2, pytest.param(MANY, marks=pytest.mark.slow)])
def test_runs_over_the_limit_of_memory(start_worker: StartWorker, runs: int) -> None:
    worker = start_worker(Limits(memory_bytes=MEMORY, runs=5, queued=5))
    for _ in range(runs // 2):
        first, second = (_submitted(worker, works.use_memory) for _ in range(2))
        for task in (first, second):
            assert isinstance(_over(task).error, TaskOutOfMemory)
            above = [float(str(event["line"])) for event in task.events if event["event"] == "step"]
            # It may have ended between two of its allocations, before it says that it is above.
            assert all(_seconds(task)[1] - moment < LATE_SECONDS for moment in above)
        _process(worker)


def test_the_error_names_the_limit(start_worker: StartWorker) -> None:
    worker = start_worker(Limits(memory_bytes=MEMORY))
    error = _over(_submitted(worker, works.use_memory)).error
    assert error is not None
    assert error.what == "the run used more than 400 MiB of memory"
    assert "--max-memory" in error.hint


def test_the_memory_of_processes_that_a_run_starts_counts(start_worker: StartWorker) -> None:
    worker = start_worker(Limits(memory_bytes=MEMORY))
    task = _submitted(worker, works.use_memory_of_others)
    assert isinstance(_over(task).error, TaskOutOfMemory)
    _assert_ended(*_running([int(_first_step(task))]))


def test_a_run_that_is_deleted_ends(start_worker: StartWorker) -> None:
    worker = start_worker(Limits())
    task = _submitted(worker, works.ignore_everything)
    waits = _submitted(worker, works.name_process)
    number = int(_first_step(task))
    worker.delete(waits.id)
    worker.delete(task.id)
    assert (type(_over(waits).error), type(_over(task).error)) == (TaskDeleted, TaskDeleted)
    assert worker.tasks == []
    assert not task.folder.exists()
    assert _process(worker).pid != number


@pytest.mark.parametrize(
    ("seconds", "work", "what"),
    [
        (0.5, works.ignore_everything, "reading it took longer than 0.5 s"),
        (60, works.use_memory, "reading it used more than 400 MiB of memory"),
    ],
)
def test_a_request_over_a_limit_is_refused_and_the_next_is_read(
    tmp_path: Path, seconds: float, work: Work, what: str
) -> None:
    requests = RequestProcess(tmp_path, seconds, MEMORY, "reading it")
    before = requests.do(works.name_process).content["pid"]
    assert requests.do(works.name_process).content["pid"] == before
    with pytest.raises(RefusedRequest, match=what) as refusal:
        requests.do(work)
    assert refusal.value.status == 422
    assert requests.do(works.name_process).content["pid"] not in (before, os.getpid())
    requests.stop()
    assert list(tmp_path.iterdir()) == []


def test_work_that_nobody_waits_for_any_more_does_not_start(tmp_path: Path) -> None:
    process = RequestProcess(tmp_path, 60, MEMORY, "reading it")

    def ignore_everything() -> None:
        with pytest.raises(RefusedRequest):
            process.do(works.ignore_everything)

    endless = threading.Thread(target=ignore_everything)
    endless.start()
    with pytest.raises(RefusedRequest, match="the client has disconnected"):
        process.do(works.name_process, lambda: True)
    assert endless.is_alive()
    process.stop()
    endless.join()


def test_few_requests_wait_at_the_same_time(tmp_path: Path) -> None:
    process = RequestProcess(tmp_path, 60, MEMORY, "reading it")
    statuses: list[int] = []

    def ask() -> None:
        try:
            process.do(works.ignore_everything)
        except RefusedRequest as refusal:
            statuses.append(refusal.status)

    clients = [threading.Thread(target=ask) for _ in range(22)]
    for client in clients:
        client.start()
    asyncio.run(_until(lambda: len(statuses) == 10))
    assert statuses == [429] * 10
    process.stop()
    for client in clients:
        client.join()
    assert sorted(statuses) == [429] * 10 + [503] * 12


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0)
