"""Errors that end a task: from outside, or in its process."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import EnvironmentFailure, ProducerError


class TaskInterrupted(EnvironmentFailure):
    """A task whose process was killed by the service."""


class TaskTimeout(TaskInterrupted):
    """A task that took longer than a task may."""

    def __init__(self, seconds: float) -> None:
        hint = "make it smaller, start the service with a larger --max-seconds, or use ticdc-producer run"
        super().__init__(f"the run took longer than {seconds:g} s", hint=hint)


class TaskOutOfMemory(TaskInterrupted):
    """A task that used more memory than a task may."""

    def __init__(self, nbytes: int) -> None:
        hint = "make it smaller, start the service with a larger --max-memory, or use ticdc-producer run"
        super().__init__(f"the run used more than {nbytes >> 20} MiB of memory", hint=hint)


class TaskCancelled(TaskInterrupted):
    """A task whose result nobody waits for any more."""

    def __init__(self) -> None:
        super().__init__("the run was cancelled, because the client that waited for it has disconnected")


class TaskGaveWay(TaskInterrupted):
    """A task whose process another request needs."""

    def __init__(self) -> None:
        super().__init__("the run was ended, because another request needs its process")


class TaskDeleted(TaskInterrupted):
    """A task that a client has deleted while it ran."""

    def __init__(self) -> None:
        super().__init__("the run was deleted")


class ServiceEnds(TaskInterrupted):
    """A task that runs when the service ends."""

    def __init__(self) -> None:
        super().__init__("the service ends", hint="start it again, and then the run")


@dataclass(frozen=True, kw_only=True)
class ErrorReport:
    """The report of an error of another process.

    :param type: name of its class.
    :param text: the result of ``str``.
    :param status: HTTP status with which a request fails that has caused it.
    """

    type: str
    what: str
    where: str
    hint: str
    arguments: tuple[str, ...]
    text: str
    exit_code: int
    status: int


class ReportedError(ProducerError):
    """An error of another process, rebuilt from its report."""

    def __init__(self, report: ErrorReport) -> None:
        super().__init__(report.what, where=report.where, hint=report.hint)
        self.about(*report.arguments)
        self.report = report
        self.exit_code = report.exit_code

    def __str__(self) -> str:
        return self.report.text
