"""The restart level: what it stops, what a consumer must survive, and what it reports."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import jsonschema
import msgspec
import pytest

from tests.conformance.restart.bugs import bug, python
from tests.conformance.testees import program
from ticdc_producer.cli import main
from ticdc_producer.conformance.process import Testee
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.restart.conversation import Restarter, RestartResult
from ticdc_producer.conformance.restart.plan import Life, Stop, TracedStep, plans
from ticdc_producer.conformance.restart.wire import RestartRows
from ticdc_producer.conformance.restart_case import RestartCaseSpec, build_restart_case, restart_case_specs
from ticdc_producer.conformance.wire_schema import wire_schema
from ticdc_producer.model.event import Kind

ROOT = Path(__file__).parents[3]
SAMPLE = shlex.join([sys.executable, str(ROOT / "examples" / "testee_python_restart.py")])


def case(name: str, protocol: str = "canal-json") -> RestartCase:
    (spec,) = [spec for spec in restart_case_specs() if (spec.name, spec.protocol) == (name, protocol)]
    return build_restart_case(spec)


def result(
    command: str, restart_case: RestartCase, *, reset: bool = True, seconds: float = 60
) -> RestartResult:
    async def run() -> RestartResult:
        restarter = Restarter(Testee(command, seconds), reset=reset)
        try:
            return await restarter.run(restart_case)
        finally:
            await restarter.close()

    return asyncio.run(run())


def test_every_written_case_has_a_topic_and_rows() -> None:
    cases = [build_restart_case(spec) for spec in restart_case_specs() if spec.protocol == "craft"]
    assert len(cases) == 9
    for restart_case in cases:
        steps = [*restart_case.steps(restart_case.partitions, {}, reached=0, at_resolved=True)]
        requests = [step.request for step in steps]
        requested = [part.resolved_ts for part in requests if isinstance(part, RestartRows)]
        assert requested[-1] is None
        assert sorted(filter(None, requested)) == requested[:-1] != []
        assert [part.step for part in requests] == [*range(1, len(steps) + 1)]


@pytest.mark.slow
@pytest.mark.parametrize("spec", restart_case_specs(), ids=lambda spec: spec.id)
def test_a_written_case_can_be_compared(spec: RestartCaseSpec) -> None:
    assert build_restart_case(spec).expected


@pytest.mark.parametrize("name", ["truncated", "several-messages-at-once"])
def test_the_sample_survives_a_stop_at_every_point(name: str) -> None:
    outcome = result(SAMPLE, case(name))
    assert (outcome.status, outcome.reasons) == ("passed", ())
    assert outcome.restarts >= 30


def test_a_process_is_killed_and_a_new_one_gets_the_directory(tmp_path: Path) -> None:
    """The sample writes its process id and the content of the directory at each start."""
    log = tmp_path / "starts"
    text = f"""
import os, sys
sys.path.insert(0, {str(ROOT / "examples")!r})
import testee_python_restart as testee

right = testee.start

def start(request):
    with open({str(log)!r}, "a") as log:
        log.write(f"{{os.getpid()}} {{len(os.listdir(request['directory']))}} {{request['committed']}}\\n")
    return right(request)

testee.start = start
testee.main()
"""
    lives = (Life(Stop(3, 1)), Life(Stop(1)))
    outcome = result(program(tmp_path, text), replace(case("changed-rows"), lives=lives), reset=False)
    assert (outcome.status, outcome.restarts) == ("passed", 2)
    starts = [line.split(" ", 2) for line in log.read_text().splitlines()]
    assert len({process for process, _, _ in starts}) == 3
    assert [files for _, files, _ in starts] == ["0", "1", "1"]
    assert [committed for _, _, committed in starts] == ["{}", "{'fuzz/0': 2}", "{'fuzz/0': 2}"]


@pytest.mark.parametrize(
    ("name", "topic", "protocol", "stop"),
    [
        ("commits the offsets of rows that wait", "several-partitions", "open-protocol", "after"),
        ("stores the resolved-ts before the rows", "changed-rows", "canal-json", "after effect 1"),
        ("a message is done after its first row", "changed-rows", "open-protocol", "after"),
    ],
)
def test_a_bug_is_found_at_its_point(name: str, topic: str, protocol: str, stop: str, tmp_path: Path) -> None:
    wrong = python(tmp_path, bug(name))
    failed = result(wrong, case(topic, protocol))
    assert failed.status == "failed"
    assert failed.case.lives
    assert len(failed.case.lives) == 1
    assert stop in failed.case.log[0]
    again = result(wrong, failed.case)
    assert (again.reasons, again.case.log) == (failed.reasons, failed.case.log)
    assert result(SAMPLE, failed.case).status == "passed"


TRACE = [
    TracedStep(step=0, points=()),
    TracedStep(step=1, points=(), kinds=frozenset({Kind.DDL})),
    TracedStep(step=2, points=("effect", "effect", "commit"), kinds=frozenset({Kind.ROW}), several=True),
]


def test_a_small_topic_is_stopped_everywhere_and_twice() -> None:
    drawn = [*plans(TRACE, ["t/0", "t/1"], Random(1))]
    singles = {plan[0].stop for plan in drawn if len(plan) == 1}
    assert singles == {Stop(0), Stop(1), Stop(2), Stop(2, 1), Stop(2, 2), Stop(2, 3)}
    second = [plan[1] for plan in drawn if len(plan) == 2]
    assert {life.assigned for life in second} == {(), ("t/0",), ("t/1",)}
    assert drawn == [*plans(TRACE, ["t/0", "t/1"], Random(1))]


def test_a_large_topic_is_stopped_where_consumers_fail() -> None:
    rows = [TracedStep(step=number, points=()) for number in range(3, 200)]
    singles = {plan[0].stop for plan in plans([*TRACE, *rows], ["t/0"], Random(1)) if len(plan) == 1}
    assert len(singles) == 24
    assert {Stop(1), Stop(2, 2)} <= singles


HOSTILE = """
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        print('{{"hello": 1}}', flush=True)
        continue
    head = {{"case": request["case"], "step": request["step"]}}
    if request["do"] == "start":
        print(json.dumps({{**head, "offsets": {offsets}}}), flush=True)
        continue
    {body}
"""


@pytest.mark.parametrize(
    ("body", "offsets", "reason"),
    [
        ("time.sleep(1000)", {}, "no answer within 2 s"),
        ("print('{', flush=True)", {}, "does not have the published format"),
        ("print(json.dumps({**head, 'step': 77}), flush=True)", {}, "belongs to step 77"),
        ("print(json.dumps(head), flush=True)", {"fuzz/0": 99}, "fuzz/0 has no offset 99"),
        ("print(json.dumps(head), flush=True)", {"x/0": 0}, "x/0 has no offset 0"),
        ("print(json.dumps(head), flush=True)", {}, "an answer to rows has tables, error or skipped"),
        ("print(json.dumps({**head, 'skipped': 'no'}), flush=True)", {}, "messages cannot be skipped: no"),
        ("print(json.dumps({**head, 'error': 'disk'}), flush=True)", {}, "an error: disk"),
        ("sys.exit(7)", {}, "it ended with status 7"),
        ("\n    while True: print('{}')", {}, "does not have the published format"),
        ("print(json.dumps(head) * 2, flush=True)", {}, "does not have the published format"),
    ],
)
def test_a_hostile_testee_ends_in_one_line(
    body: str, offsets: dict[str, int], reason: str, tmp_path: Path
) -> None:
    command = program(tmp_path, HOSTILE.format(body=body, offsets=offsets))
    outcome = result(command, case("changed-rows"), seconds=2)
    assert outcome.status == "failed"
    assert len(outcome.reasons) == 1
    assert reason in outcome.reasons[0]
    assert "\n" not in outcome.reasons[0]


def test_rows_of_a_resolved_ts_may_be_skipped_but_not_those_at_the_end(tmp_path: Path) -> None:
    body = """reply = {}
    if request["do"] == "rows":
        reply = {"skipped": "as they arrive"} if request["resolved_ts"] else {"tables": {"test.t": []}}
    print(json.dumps({**head, **reply}), flush=True)"""
    outcome = result(program(tmp_path, HOSTILE.format(body=body, offsets={})), case("changed-rows"))
    assert outcome.reasons[0] == "table test.t: 2 missing"


def test_every_line_follows_the_schema() -> None:
    restart_case, schema = case("several-partitions"), wire_schema()
    validator = jsonschema.validators.validator_for(schema)(schema)
    validator.check_schema(schema)
    for line in (
        restart_case.start("/directory", ["fuzz/0"], {"fuzz/0": 1}),
        *(
            step.request
            for step in restart_case.steps(restart_case.partitions, {}, reached=0, at_resolved=True)
        ),
    ):
        validator.validate(json.loads(msgspec.json.encode(line)))
    answer = {
        "case": restart_case.id,
        "step": 1,
        "points": ["effect"],
        "committed": {"fuzz/0": 1},
        "stopped": True,
    }
    validator.validate(answer)


def conformance(*options: str | Path) -> int:
    return main(["conformance", *map(str, options)])


def test_a_failure_is_saved_and_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = python(tmp_path / "wrong", bug("stores the resolved-ts before the rows"))
    only = ("--level", "restart", "--filter", "required.canal-json.restart.changed-rows", "--reset")
    assert conformance(*only, "--testee", wrong, "--save", tmp_path / "saved") == 1
    assert "is stopped in fuzz/0@" in capsys.readouterr().out
    folder = tmp_path / "saved" / "required.canal-json.restart.changed-rows"
    replay = json.loads((folder / "outcome.json").read_text())["replay"]
    assert main(shlex.split(replay)[1:]) == 1
    assert "is stopped in fuzz/0@" in capsys.readouterr().out
    assert conformance("--replay", folder, "--testee", SAMPLE) == 0


def test_a_random_history_is_shrunk_to_two_statements_and_a_stop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = python(tmp_path / "wrong", bug("stores the resolved-ts before the rows"))
    options = ("--level", "restart", "--reset", "--protocol", "canal-json", "--examples", "20", "--json")
    assert conformance("--fuzz", "--testee", wrong, *options, "--save", tmp_path / "saved") == 1
    failure = json.loads(capsys.readouterr().out)["failure"]
    assert failure["statements"] == 2
    assert len(failure["smallest"]["lives"]) == 1
    assert conformance("--replay", failure["folder"], "--testee", wrong, "--reset") == 1
    assert conformance("--replay", failure["folder"], "--testee", SAMPLE, "--reset") == 0


def test_no_files_are_written_of_conversations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["golden", "--level", "restart", "--out", str(tmp_path / "corpus")]) == 2
    assert "is a conversation" in capsys.readouterr().err
