"""Errors that end a task: from outside, or in its process."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.errors import EnvironmentFailure, ProducerError


class TaskInterrupted(EnvironmentFailure):
    """A task whose process was killed by the service."""


class TaskTimeout(TaskInterrupted):
    """A task that took longer than a task may."""

    def __init__(self) -> None:
        super().__init__("the run took too long", hint="make it smaller, or use ticdc-producer run")


class TaskCancelled(TaskInterrupted):
    """A task whose result nobody waits for any more."""

    def __init__(self) -> None:
        super().__init__("the run was cancelled, because the client that waited for it has disconnected")


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
