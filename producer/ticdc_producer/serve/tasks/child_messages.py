"""The messages of a task's process to the service, as JSON: text that a client has posted stays data.

The service never unpickles messages of such a process, because a posted scenario may have changed it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from ticdc_producer.errors import EnvironmentFailure, ProducerError
from ticdc_producer.serve.guard import error_content, status_of
from ticdc_producer.serve.tasks.task_errors import ErrorReport


class Ready(msgspec.Struct, frozen=True, tag_field="event", tag="ready"):
    """The process has loaded the modules that tasks need, and waits for the first task."""


class StepEvent(msgspec.Struct, frozen=True, tag_field="event", tag="step"):
    """A step of the work begins."""

    line: str


class ProgressEvent(msgspec.Struct, frozen=True, tag_field="event", tag="progress"):
    """The number of written messages, as ``runs.run_report.Progress``."""

    messages: int
    total: int | None
    ts: int


class TopicsEvent(msgspec.Struct, frozen=True, tag_field="event", tag="topics"):
    """The topics that will be written.

    :param bootstrap: the brokers of their Kafka.
    """

    topics: tuple[str, ...]
    bootstrap: str


class Result(msgspec.Struct, frozen=True, tag_field="event", tag="result"):
    """The result of a task.

    :param ok: whether the verdict is as expected; the command's exit code is 0 then, else 1.
    :param content: the report or verdict as JSON.
    :param texts: the text that the command prints, for each of ``TEXT_FORMS``.
    """

    ok: bool
    content: dict[str, object]
    texts: tuple[str, str, str, str]

    def text(self, quiet: bool, colours: bool) -> str:
        """Return the result as the command prints it."""
        return self.texts[TEXT_FORMS.index((quiet, colours))]


class TaskFailure(msgspec.Struct, frozen=True, tag_field="event", tag="failure"):
    """The error that has ended a task."""

    error: ErrorReport


TaskEvent: TypeAlias = StepEvent | ProgressEvent | TopicsEvent
Message: TypeAlias = Ready | StepEvent | ProgressEvent | TopicsEvent | Result | TaskFailure
Tell: TypeAlias = Callable[[TaskEvent], None]
"""Sends an event of a task to the service; may be called in any thread."""

TEXT_FORMS = ((False, False), (False, True), (True, False), (True, True))
"""Whether a text is quiet, and whether it has colours."""


class NotAMessage(EnvironmentFailure):
    """The process of a task has sent invalid data."""

    def __init__(self) -> None:
        super().__init__("the process of the run sent an invalid message")


def result_of_task(ok: bool, content: dict[str, object], text: Callable[[bool, bool], str]) -> Result:
    """Build a result with its texts.

    :param text: prints it: (quiet, colours) → text.
    """
    plain, coloured, quiet, quiet_coloured = (text(*form) for form in TEXT_FORMS)
    return Result(ok, content, (plain, coloured, quiet, quiet_coloured))


def failure_of(error: ProducerError) -> TaskFailure:
    """Return an error as a message."""
    content = error_content(error)
    report = ErrorReport(
        type=content["type"],
        what=content["what"],
        where=content["where"],
        hint=content["hint"],
        arguments=tuple(content["arguments"]),
        text=str(error),
        exit_code=error.exit_code,
        status=status_of(error),
    )
    return TaskFailure(report)


def write_message(message: Message) -> bytes:
    """Encode a message."""
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:  # lone surrogates, which msgspec cannot escape
        return json.dumps(msgspec.to_builtins(message)).encode()


def read_message(data: bytes) -> Message:
    """Decode a message.

    :raises NotAMessage: for other data.
    """
    message: Message
    try:
        message = msgspec.json.decode(data, type=Message)
    except (ValueError, RecursionError):  # lone surrogates, or no message
        try:
            message = msgspec.convert(json.loads(data), Message)
        except (ValueError, RecursionError):
            raise NotAMessage from None
    return message
