"""What the process of a task sends is data: nothing else is read from it."""

from __future__ import annotations

import pickle

import pytest

from ticdc_producer.errors import (
    EnvironmentFailure,
    ProducerError,
    RefusedRequest,
    ScenarioError,
    TopicError,
)
from ticdc_producer.serve.guard import error_content, status_of
from ticdc_producer.serve.tasks.child_messages import (
    Message,
    ProgressEvent,
    Ready,
    Result,
    StepEvent,
    TaskFailure,
    TopicsEvent,
    failure_of,
    read_message,
    result_of_task,
    write_message,
)
from ticdc_producer.serve.tasks.task_errors import ReportedError


@pytest.mark.parametrize(
    "message",
    [
        Ready(),
        StepEvent("a step \ud800"),
        ProgressEvent(1, None, 1 << 62),
        TopicsEvent(("a", "b"), "k:9092"),
        Result(True, {"b": [1.5, None], "a": {"nested": "é"}}, ("1", "2", "3", "4")),
    ],
)
def test_a_message_arrives_as_it_was_sent(message: Message) -> None:
    assert read_message(write_message(message)) == message


def test_the_order_of_keys_remains() -> None:
    result = read_message(write_message(Result(True, {"b": 1, "a": 2}, ("", "", "", ""))))
    assert isinstance(result, Result)
    assert list(result.content) == ["b", "a"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"null",
        b'{"event": "result", "ok": true}',
        b'{"event": "result", "ok": true, "content": {}, "texts": []}',
        b'{"event": "topics", "topics": "t", "bootstrap": "k:9092"}',
        b'{"event": "nope"}',
        b"[" * 100_000,
        pickle.dumps(Ready()),
    ],
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(EnvironmentFailure, match="sent an invalid message"):
        read_message(data)


@pytest.mark.parametrize(
    "error",
    [
        ProducerError("a", where="b", hint="c").about("d"),
        ScenarioError("a", file="x.sql", line=3, hint="c", excerpt="WHERE"),
        RefusedRequest("a", status=403),
        EnvironmentFailure("a"),
        TopicError("a", topic="t"),
    ],
)
def test_an_error_arrives_as_it_was_raised(error: ProducerError) -> None:
    message = read_message(write_message(failure_of(error)))
    assert isinstance(message, TaskFailure)
    reported = ReportedError(message.error)
    for content in (
        error_content,
        status_of,
        str,
        lambda raised: raised.exit_code,
        lambda raised: raised.spelled(str.upper),
    ):
        assert content(reported) == content(error)


def test_a_text_is_printed_in_each_form() -> None:
    result = result_of_task(True, {}, lambda quiet, colours: f"{quiet} {colours}")
    forms = [(quiet, colours) for quiet in (False, True) for colours in (False, True)]
    assert [result.text(*form) for form in forms] == [f"{quiet} {colours}" for quiet, colours in forms]
