"""Which request has which of the two processes of previews. The processes of this test do nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ticdc_producer.errors import RefusedRequest
from ticdc_producer.serve.previews.preview import Preview
from ticdc_producer.serve.previews.processes import PreviewProcesses
from ticdc_producer.serve.request_process import MOST_REQUESTS, RequestProcess
from ticdc_producer.serve.settings import ServeSettings
from ticdc_producer.serve.submission import PreviewRequest
from ticdc_producer.serve.tasks.child_messages import Result
from ticdc_producer.serve.tasks.task_errors import TaskGaveWay
from ticdc_producer.serve.tasks.work import Work
from ticdc_producer.serve.uploads import PostedScenario

SECONDS = 60
"""How long the test waits for what must happen."""


class Process(RequestProcess):
    """A process whose previews end when they may.

    :ivar has_work: is set by a preview.
    :ivar may_end: lets it end.
    """

    def __init__(self, name: str, *, is_ready: bool = True) -> None:
        super().__init__(Path(), 1, 1, name)
        self._ready = is_ready
        self.has_work, self.may_end, self.started = threading.Event(), threading.Event(), threading.Event()
        self.previews: list[tuple[str, ...]] = []

    @property
    def is_ready(self) -> bool:
        return self._ready

    def start(self) -> None:
        self.started.set()

    def do(
        self,
        work: Work,
        is_abandoned: Callable[[], bool] = lambda: False,
        gives_way: Callable[[], bool] = lambda: False,
    ) -> Result:
        assert isinstance(work, Preview)
        protocols = work.request.protocols
        self.previews.append(protocols)
        self.has_work.set()
        while not self.may_end.wait(0.001):
            if gives_way():
                self.may_end.set()
                raise TaskGaveWay
        content = {"previews": [{"protocol": name} for name in protocols], "seconds": 0.0}
        return Result(True, content, ("", "", "", ""))


def preview_of(*protocols: str) -> Preview:
    return Preview(
        request=PreviewRequest(sql="SELECT 1", protocols=protocols),
        scenario=PostedScenario(file="scenario.sql", text=b"SELECT 1"),
        settings=ServeSettings(),
    )


class Client(threading.Thread):
    """A client that requests a preview."""

    def __init__(
        self, processes: PreviewProcesses, *protocols: str, is_abandoned: Callable[[], bool] = lambda: False
    ) -> None:
        super().__init__(daemon=True)
        self._processes, self._work, self._is_abandoned = processes, preview_of(*protocols), is_abandoned
        self.error: RefusedRequest | None = None
        self.protocols: list[str] = []
        self.start()

    def run(self) -> None:
        try:
            content = self._processes.content(self._work, self._is_abandoned)
        except RefusedRequest as error:
            self.error = error
        else:
            previews = content["previews"]
            assert isinstance(previews, list)
            self.protocols = [preview["protocol"] for preview in previews]

    def result(self) -> list[str]:
        self.join(SECONDS)
        assert not self.is_alive()
        return self.protocols


def test_two_processes_share_the_protocols_of_one_request() -> None:
    first, second = Process("first"), Process("second")
    client = Client(PreviewProcesses(first, second), "avro", "craft", "simple")
    assert first.has_work.wait(SECONDS)
    assert second.has_work.wait(SECONDS)
    first.may_end.set()
    second.may_end.set()
    assert client.result() == ["avro", "craft", "simple"]
    assert (first.previews, second.previews) == ([("avro", "simple")], [("craft",)])


def test_help_ends_when_another_request_waits_and_the_request_gets_its_process() -> None:
    first, second = Process("first"), Process("second")
    processes = PreviewProcesses(first, second, help_seconds=0)
    large = Client(processes, "avro", "craft")
    assert first.has_work.wait(SECONDS)
    assert second.has_work.wait(SECONDS)
    assert Client(processes, "simple").result() == ["simple"]
    assert second.previews == [("craft",), ("simple",)]
    assert large.is_alive()
    first.may_end.set()
    assert large.result() == ["avro", "craft"]
    assert first.previews == [("avro",), ("craft",)]


def test_a_request_has_no_help_while_another_one_has_a_process() -> None:
    first, second = Process("first"), Process("second")
    processes = PreviewProcesses(first, second, help_seconds=0)
    small = Client(processes, "simple")
    assert first.has_work.wait(SECONDS)
    large = Client(processes, "avro", "craft")
    assert second.has_work.wait(SECONDS)
    third = Client(processes, "simple")
    first.may_end.set()
    assert (small.result(), third.result()) == (["simple"], ["simple"])
    assert large.is_alive()  # it does not give way
    second.may_end.set()
    assert large.result() == ["avro", "craft"]
    assert second.previews == [("avro", "craft")]


def test_a_process_that_is_not_ready_does_not_help_and_starts() -> None:
    first, second = Process("first"), Process("second", is_ready=False)
    first.may_end.set()
    assert Client(PreviewProcesses(first, second), "avro", "craft").result() == ["avro", "craft"]
    assert (first.previews, second.previews) == ([("avro", "craft")], [])
    assert second.started.wait(SECONDS)


def test_the_number_of_requests_is_bounded_and_abandoned_ones_end() -> None:
    first, second = Process("first"), Process("second")
    processes = PreviewProcesses(first, second)
    left = threading.Event()
    clients = [Client(processes, "avro") for _ in range(2)]
    assert first.has_work.wait(SECONDS)
    assert second.has_work.wait(SECONDS)
    waiting = [Client(processes, "avro", is_abandoned=left.is_set) for _ in range(MOST_REQUESTS)]
    while not any(client.error for client in waiting):
        pass
    with pytest.raises(RefusedRequest, match=f"{MOST_REQUESTS} requests wait already"):
        processes.content(preview_of("avro"))
    left.set()
    for client in waiting:
        client.join(SECONDS)
        assert client.error is not None
    first.may_end.set()
    second.may_end.set()
    assert [client.result() for client in clients] == [["avro"], ["avro"]]
