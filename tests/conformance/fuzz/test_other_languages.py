"""The example testees in Node and Go, and bugs in them that only random histories find."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ticdc_producer.cli import main

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[3] / "examples"
CANAL = ("--protocol", "canal-json", "--timeout", "60s")


@dataclass(frozen=True)
class InsertedBug:
    """A text of a testee's source, and the wrong text."""

    name: str
    right: str
    wrong: str


NODE = (
    InsertedBug(
        "forgets a partition that is read again",
        "events.length = Math.min(events.length, offset)",
        "if (offset < events.length) events.length = 0",
    ),
    InsertedBug("the rows before a time stamp, not up to it", "event.ts > until", "event.ts >= until"),
)
GO = (
    InsertedBug(
        "a dropped table has its rows when it is created again",
        'found.clears = *from.Type == "ERASE" || *from.Type == "TRUNCATE"',
        'found.clears = *from.Type == "TRUNCATE"',
    ),
)


def node(folder: Path, bug: InsertedBug | None) -> str:
    """The command of the testee in Node."""
    if shutil.which("node") is None:
        pytest.skip("not run: node is not on the PATH")
    source = _copied(folder, EXAMPLES / "testee_node", "testee.mjs", bug)
    return shlex.join(["node", str(source)])


def go(folder: Path, bug: InsertedBug | None) -> str:
    """The command of the testee in Go."""
    if shutil.which("go") is None:
        pytest.skip("not run: go is not on the PATH")
    source = _copied(folder, EXAMPLES / "testee_go", "main.go", bug)
    subprocess.run(["go", "build", "-o", "testee", "."], cwd=source.parent, check=True)
    return str(source.parent / "testee")


def _copied(folder: Path, project: Path, name: str, bug: InsertedBug | None) -> Path:
    target = folder / "project"
    shutil.copytree(project, target)
    text = (target / name).read_text("utf-8")
    if bug is not None:
        assert text.count(bug.right) == 1
        (target / name).write_text(text.replace(bug.right, bug.wrong), "utf-8")
    return target / name


def written(command: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """The written cases of both levels that a testee fails."""
    main(["conformance", "--testee", command, *CANAL, "--level", "decode", "--level", "apply", "--json"])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {case["case"] for case in report["cases"] if case["outcome"] == "failed"}


Make = Callable[[Path, InsertedBug | None], str]
TESTEES = pytest.mark.parametrize("make", [node, go], ids=["node", "go"])


@TESTEES
def test_the_testee_survives(make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = make(tmp_path, None)
    of_text = {f"recommended.canal-json.damaged.number-{damage}" for damage in ("out-of-range", "is-text")}
    assert written(command, capsys) == of_text
    options = ("--seed", "1", "--examples", "300", "--save", str(tmp_path / "failures"))
    assert main(["conformance", "--fuzz", "--testee", command, *CANAL, *options]) == 0


@pytest.mark.parametrize(
    ("make", "bug"),
    [
        pytest.param(make, bug, id=f"{make.__name__}: {bug.name}")
        for make, bugs in ((node, NODE), (go, GO))
        for bug in bugs
    ],
)
def test_only_random_histories_find_the_bug(
    make: Make, bug: InsertedBug, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong = make(tmp_path / "right", None), make(tmp_path / "wrong", bug)
    assert written(wrong, capsys) == written(right, capsys)
    options = ("--seed", "1", "--examples", "600", "--save", str(tmp_path / "failures"), "--json")
    assert main(["conformance", "--fuzz", "--testee", wrong, *CANAL, *options]) == 1
    failure = json.loads(capsys.readouterr().out)["failure"]
    assert failure["statements"] <= 6
