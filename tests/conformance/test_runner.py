"""If a testee crashes, only that case fails; if it does not start, the environment is wrong."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.conformance.testees import answering, program
from ticdc_producer.conformance.case_spec import decode_cases
from ticdc_producer.conformance.catalog import FailureList
from ticdc_producer.conformance.runner import CaseOutcome, run
from ticdc_producer.errors import ConformanceError, TesteeStartError

DAMAGED = "required.open-protocol.damaged.garbage"
CASES = [
    case
    for case in decode_cases()
    if case.id in ("required.open-protocol.rows.insert", "required.open-protocol.rows.update", DAMAGED)
]
INSERT, UPDATE, _ = (case.id for case in CASES)
SECONDS = 5.0
ROOT = Path(__file__).parents[2]


def run_cases(
    command: str, failures: tuple[str, ...] = (), seconds: float = SECONDS
) -> dict[str, CaseOutcome]:
    outcomes = run(CASES, command, timeout=seconds, failures=FailureList(failures))
    assert [outcome.case.id for outcome in outcomes] == [INSERT, UPDATE, DAMAGED]
    return {outcome.case.id: outcome for outcome in outcomes}


def crashing_at_first(folder: Path, how: str) -> dict[str, CaseOutcome]:
    """Outcomes of a testee that does something wrong with the first case and refuses the others."""
    return run_cases(
        answering(folder, f"if case == {INSERT!r}:\n    {how}\nanswer(case=case, error='refused')")
    )


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("print('out of cheese', file=sys.stderr); sys.exit(7)", "it ended with status 7\nout of cheese"),
        ("os.close(1); os._exit(0)", "it ended with status 0"),
        ("print('starting up', flush=True)", "does not have the published format"),
        ("answer(case=case)", "one of events, error and skipped"),
        ("answer(case=case, error='x', events=[])", "one of events, error and skipped"),
        ("answer(case='another', error='x')", "belongs to another case, 'another'"),
        ("answer(case=case, events=[{'kind': 'row'}])", "does not have the published format"),
        ("print('[' * 100000, flush=True)", "does not have the published format"),
        (
            "sys.stdout.buffer.write(bytes([255, 10])); sys.stdout.flush()",
            "does not have the published format",
        ),
    ],
)
def test_a_crash_in_one_case_does_not_affect_the_others(tmp_path: Path, how: str, reason: str) -> None:
    outcomes = crashing_at_first(tmp_path, how)
    assert outcomes[INSERT].status == "failed"
    assert reason in outcomes[INSERT].reasons[0]
    assert outcomes[UPDATE].reasons == ("an error, expected events: refused",)
    assert outcomes[DAMAGED].status == "passed"


def test_a_case_that_hangs_does_not_affect_the_others(tmp_path: Path) -> None:
    """The other cases are answered by a new process."""
    hangs = f"if case == {INSERT!r}:\n    time.sleep(1000)\nanswer(case=case, error='refused')"
    outcomes = run_cases(answering(tmp_path, hangs), seconds=2)
    assert outcomes[INSERT].reasons == ("no answer within 2 s",)
    assert outcomes[UPDATE].reasons == ("an error, expected events: refused",)


def test_a_skipped_case_is_always_expected_and_has_a_reason(tmp_path: Path) -> None:
    outcomes = run_cases(answering(tmp_path, "answer(case=case, skipped='later')"), (INSERT,))
    assert {outcome.label for outcome in outcomes.values()} == {"skipped"}
    assert outcomes[INSERT].reasons == ("later",)
    assert all(outcome.expected for outcome in outcomes.values())


def test_events_of_a_damaged_message_are_wrong(tmp_path: Path) -> None:
    outcomes = run_cases(answering(tmp_path, "answer(case=case, events=[])"))
    assert outcomes[DAMAGED].reasons == ("events of a damaged message, expected an error",)
    assert outcomes[UPDATE].reasons == ("0 events, expected 1",)


def test_a_listed_failure_is_expected_and_a_listed_success_is_not(tmp_path: Path) -> None:
    outcomes = run_cases(
        answering(tmp_path, "answer(case=case, error='x')"), ("required.open-protocol.rows.*", DAMAGED)
    )
    assert [outcome.label for outcome in outcomes.values()] == [
        "expected failure", "expected failure", "unexpected success",
    ]  # fmt: skip
    assert [outcome.expected for outcome in outcomes.values()] == [True, True, False]


def test_a_large_request_reaches_a_testee_that_reads_late(tmp_path: Path) -> None:
    large = [case for case in decode_cases() if case.name == "large.long-text"]
    command = answering(tmp_path, "answer(case=case, skipped=str(len(line) > 65536))")
    outcomes = run(large, command, timeout=SECONDS, failures=FailureList())
    assert {outcome.reasons for outcome in outcomes} == {("True",)}


def test_a_testee_may_end_by_itself(tmp_path: Path) -> None:
    last = tmp_path / "last"
    run_cases(answering(tmp_path, "answer(case=case, error='x')", last=f"open({str(last)!r}, 'w').close()"))
    assert last.exists()


def test_an_interrupted_run_leaves_no_process(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    asleep = f"open({str(pipe)!r}, 'w').write(str(os.getpid())); time.sleep(1000)"
    options = ["conformance", "--timeout", "1h", "--testee", answering(tmp_path, asleep)]
    command = subprocess.Popen([sys.executable, "-m", "ticdc_producer", *options], cwd=ROOT)
    number = int(_written(pipe))  # waits until the testee has received a request
    command.send_signal(signal.SIGTERM)
    assert command.wait() == 130
    assert not psutil.pid_exists(number)


def _written(pipe: Path) -> bytes:
    """The content of a pipe; empty after a minute without content."""
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    select.select([end], [], [], 60)
    try:
        return os.read(end, 100)
    finally:
        os.close(end)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import sys; sys.exit('no such jar')", "no such jar"),
        ("print('Hello', flush=True); input(); input()", "answers the greeting with"),
    ],
)
def test_a_program_that_does_not_greet_does_not_start(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(TesteeStartError, match=reason) as caught:
        run_cases(program(tmp_path, text))
    assert caught.value.exit_code == 3


def test_a_program_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(TesteeStartError, match="No such file"):
        run_cases(str(tmp_path / "nothing"))


@pytest.mark.parametrize("command", ["", "'open"])
def test_an_invalid_command(command: str) -> None:
    with pytest.raises(ConformanceError):
        run_cases(command)
