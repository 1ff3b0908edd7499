"""Tasks run in processes that the service can end, whatever they do; the next task runs."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.serve import service_killed, works
from tests.serve.service_app import no_text
from ticdc_producer.errors import EnvironmentFailure, ProducerError
from ticdc_producer.serve.settings import Limits
from ticdc_producer.serve.tasks.child_process import Children
from ticdc_producer.serve.tasks.task import Task
from ticdc_producer.serve.tasks.task_errors import TaskCancelled, TaskTimeout
from ticdc_producer.serve.tasks.work import Texts, Work
from ticdc_producer.serve.tasks.worker import Worker

SECONDS = 60
StartWorker = Callable[[float], Worker]


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Children]:
    """The processes of all tests: a process takes half a second to start."""
    folder = tmp_path_factory.mktemp("processes")
    children = Children(folder, Texts(no_text, no_text))
    yield children
    children.stop(SECONDS)
    assert [*folder.iterdir()] == []


@pytest.fixture
def start_worker(children: Children, tmp_path: Path) -> Iterator[StartWorker]:
    """Starts a worker whose tasks may take some seconds; it ends with the test."""
    workers: list[Worker] = []

    def start(seconds: float = SECONDS) -> Worker:
        worker = Worker(tmp_path, Limits(seconds=seconds), children)
        workers.append(worker)
        worker.start(lambda: children.take() and None)
        return worker

    yield start
    for worker in workers:
        worker.stop(1)


@pytest.fixture
def worker(start_worker: StartWorker) -> Worker:
    return start_worker(SECONDS)


def _submitted(worker: Worker, work: Work) -> Task:
    return worker.submit("run", "a run", works.of(work))


def _over(task: Task) -> Task:
    asyncio.run(task.ended_within(SECONDS))
    assert task.over
    return task


def _error(worker: Worker, work: Work) -> ProducerError:
    error = _over(_submitted(worker, work)).error
    assert error is not None
    return error


def _process(worker: Worker) -> psutil.Process:
    """The process of the next task, which succeeds."""
    task = _over(_submitted(worker, works.name_process))
    assert task.result is not None, task.error
    return psutil.Process(task.result.content["pid"])


def _first_step(task: Task) -> str:
    async def step() -> str:
        async for change in task.changes():
            if change is not None and change["event"] == "step":
                return str(change["line"])
        raise AssertionError(task.error)

    return asyncio.run(step())


def _running(numbers: Iterable[int]) -> Iterator[psutil.Process]:
    for number in numbers:
        with suppress(psutil.NoSuchProcess):
            yield psutil.Process(number)


def _assert_ended(*processes: psutil.Process) -> None:
    _, alive = psutil.wait_procs(processes, timeout=SECONDS)
    assert [process for process in alive if process.status() != psutil.STATUS_ZOMBIE] == []


def test_a_task_that_ignores_everything_ends_at_the_limit(start_worker: StartWorker) -> None:
    worker = start_worker(0.5)
    process = _process(worker)
    slow = _submitted(worker, works.ignore_everything)
    after = _process(worker)
    assert isinstance(slow.error, TaskTimeout)
    assert (slow.status, slow.to_json()["exit_code"]) == ("failed", 3)
    assert _first_step(slow) == str(process.pid)
    assert after != process
    _assert_ended(process)


def test_tasks_share_a_process_until_one_is_cancelled(worker: Worker) -> None:
    process = _process(worker)
    assert _process(worker) == process
    slow = _submitted(worker, works.ignore_everything)
    waits, after = (_submitted(worker, works.name_process) for _ in range(2))
    _first_step(slow)
    for task in (waits, slow, slow):
        worker.cancel(task)
    assert _over(after).error is None
    worker.cancel(after)
    assert [type(task.error) for task in (slow, waits, after)] == [TaskCancelled, TaskCancelled, type(None)]
    _assert_ended(process)


def test_a_process_that_floods_the_service_is_killed(start_worker: StartWorker) -> None:
    worker = start_worker(0.5)
    flooding = _submitted(worker, works.send_forever)
    assert isinstance(_over(flooding).error, TaskTimeout)
    assert len(flooding.events) < 3000
    _process(worker)


def test_a_mistake_ends_the_task_alone(worker: Worker) -> None:
    process = _process(worker)
    error = _error(worker, works.make_mistake)
    assert str(error) == "the run failed: ZeroDivisionError: a mistake"
    assert (error.exit_code, _process(worker)) == (3, process)


@pytest.mark.parametrize(
    ("work", "what"),
    [
        (works.crash, "the process of the run was ended by signal 11: Segmentation fault"),
        pytest.param(
            works.exit_early, "the process of the run has ended with status 7", marks=pytest.mark.slow
        ),
        (works.leave_child, "the process of the run was ended by signal 6: Aborted"),
    ],
)
def test_a_process_that_ends_by_itself_is_reported(worker: Worker, work: Work, what: str) -> None:
    before = _process(worker)
    task = _over(_submitted(worker, work))
    assert isinstance(task.error, EnvironmentFailure)
    assert (task.error.what, task.to_json()["exit_code"]) == (what, 3)
    _assert_ended(before)
    if work is works.leave_child:
        _assert_ended(*_running([int(_first_step(task))]))
    assert _process(worker) != before


def test_a_process_that_the_kernel_kills_is_replaced(worker: Worker) -> None:
    """While it runs a task, and while it waits for one; also a spare one that waits."""
    slow = _submitted(worker, works.ignore_everything)
    psutil.Process(int(_first_step(slow))).kill()
    error = _over(slow).error
    assert error is not None
    assert error.what == "the process of the run was ended by signal 9: Killed"
    assert "memory" in error.hint
    process, killed = _process(worker), set[psutil.Process]()
    forkserver = process.parent()
    assert forkserver is not None
    while len(killed) < 2:
        for child in forkserver.children():
            child.kill()
            killed.add(child)
    assert process in killed
    _assert_ended(*killed)
    assert _process(worker) not in killed


def test_a_killed_process_has_ended_before_the_forkserver_knows_it(
    worker: Worker, children: Children
) -> None:
    process = _process(worker)
    child, forkserver = children.take(), process.parent()
    assert forkserver is not None
    assert not child.ended
    forkserver.suspend()
    try:
        process.kill()
        with suppress(psutil.NoSuchProcess):
            while process.status() != psutil.STATUS_ZOMBIE:
                pass
        assert child.ended
    finally:
        forkserver.resume()
    assert _process(worker) != process


@pytest.mark.parametrize(
    "work", [pytest.param(works.name_process, marks=pytest.mark.slow), works.ignore_everything]
)
def test_no_process_is_left_after_the_end(tmp_path: Path, work: Work) -> None:
    children = Children(tmp_path, Texts(no_text, no_text))
    worker = Worker(tmp_path, Limits(), children)
    worker.start(lambda: None)
    process = _process(worker)
    task = _submitted(worker, work)
    session = {child.pid for child in psutil.process_iter() if os.getsid(child.pid) == process.pid}
    worker.stop(0.5)
    children.stop(SECONDS)
    assert task.over
    assert session == {process.pid}
    assert not process.is_running()
    assert list(tmp_path.glob("process-*")) == []


def test_a_service_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", service_killed.__name__, str(tmp_path)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=False)
    assert done.returncode == -signal.SIGKILL
    numbers = [int(number) for number in done.stdout.split()]
    assert len(numbers) >= 3
    _assert_ended(*_running(numbers))


@pytest.mark.parametrize(
    "work", [works.start_process, pytest.param(works.start_spark, marks=pytest.mark.slow)]
)
def test_the_processes_of_a_cancelled_task_end_with_it(worker: Worker, work: Work) -> None:
    task = _submitted(worker, work)
    started = psutil.Process(int(_first_step(task)))
    worker.cancel(task)
    assert isinstance(_over(task).error, TaskCancelled)
    _assert_ended(started)
    _process(worker)
