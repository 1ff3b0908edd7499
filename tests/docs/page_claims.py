"""Checks of what the pages claim about the effects of their commands."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from tests.docs.command_run import Outcome
from tests.docs.command_tables import replaced
from tests.docs.page_commands import ROOT, Command, blocks
from tests.docs.page_workspace import PageWorkspace
from ticdc_producer.scenario.load import shipped

_VERDICT = re.compile(r"ticdc-producer (run|verify)\b")
_FILES = ("--out", "--junit-xml", "--html")


class Claim(NamedTuple):
    """A check to run after the commands of a page whose text contains ``part``."""

    page: str
    part: str
    holds: Callable[[PageWorkspace, Outcome], None]


def check(command: Command, workspace: PageWorkspace, outcome: Outcome) -> None:
    """Check the exit code, the verdict, the requested files, and the page's further claims."""
    assert outcome.exit_code == command.exit_code, f"{command.text}\n{outcome.out}\n{outcome.err}"
    words = shlex.split(replaced(command.text, workspace.known), comments=True)
    ran = outcome.exit_code in (0, 1)
    for option, value in pairwise(words):
        assert option not in _FILES or (workspace.folder / value).exists() == ran, value
    if ran and _VERDICT.search(command.text) and "--only" not in words:
        _check_verdict(outcome, as_json="--json" in words)
    for claim in CLAIMS:
        if claim.page == command.page and claim.part in command.text:
            claim.holds(workspace, outcome)


def _check_verdict(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        assert json.loads(outcome.out)["ok"] == (outcome.exit_code == 0)
    elif outcome.exit_code == 0:
        assert re.search("^(verified|as requested: every illegal fault)", outcome.out, re.MULTILINE), (
            outcome.out
        )
    else:
        assert outcome.out.splitlines()[-1].startswith(("VIOLATED: ", "FAILED: ")), outcome.out


def _every_shipped_scenario(_: PageWorkspace, outcome: Outcome) -> None:
    assert [line.split()[0] for line in outcome.out.splitlines()] == sorted(shipped())


def _the_schema_in_the_repository(workspace: PageWorkspace, _: Outcome) -> None:
    written = (workspace.folder / "scenario.schema.json").read_text("utf-8")
    assert json.loads(written) == json.loads((ROOT / "schemas/scenario.schema.json").read_text("utf-8"))


def _a_line_of_the_sample(_: PageWorkspace, outcome: Outcome) -> None:
    (line,) = blocks("documentation-sample.md", "")
    assert line.strip() in outcome.out


def _the_numbers_of_the_table(_: PageWorkspace, outcome: Outcome) -> None:
    page = (ROOT / "docs/conformance.md").read_text("utf-8")
    number = r"([\d,]+)"
    row = re.search(
        rf"^\| testee_python\.py \| decode \| {number} \| {number} \| {number} \|$", page, re.MULTILINE
    )
    assert row is not None
    passed, failed, skipped = (group.replace(",", "") for group in row.groups())
    assert outcome.out.splitlines()[-1] == f"passed {passed}, skipped {skipped}, expected failure {failed}"


def _nothing_changed(_: PageWorkspace, outcome: Outcome) -> None:
    assert "0 added, 0 removed, 0 changed" in outcome.out


def _the_fault_is_named(_: PageWorkspace, outcome: Outcome) -> None:
    assert re.search(r"^error +INV-RESOLVED ", outcome.out, re.MULTILINE)


def _parquet(workspace: PageWorkspace, outcome: Outcome) -> None:
    folder = workspace.folder / outcome.out.splitlines()[0].partition(" into ")[2]
    assert list(folder.glob("messages.parquet/**/*.parquet"))


def _tree(workspace: PageWorkspace, _: Outcome) -> None:
    written = {
        path.relative_to(workspace.folder / "tmp/orders")
        for path in workspace.folder.glob("tmp/orders/**/*.*")
    }
    (tree,) = blocks("storage.md", "")
    wanted = {_shape(line.split()[0].replace("/t1/", "/orders/")) for line in tree.splitlines()[1:]}
    assert {_shape(str(path)) for path in written} == wanted


def _shape(path: str) -> str:
    return re.sub(r"\d", "0", path)


def _every_event(_: PageWorkspace, outcome: Outcome) -> None:
    inserted = [line for line in outcome.out.splitlines() if " insert test.orders " in line]
    assert len(inserted) == 3


def _the_lines_of_the_folder(workspace: PageWorkspace, outcome: Outcome) -> None:
    expected = (workspace.folder / "golden/orders/events.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in outcome.out.splitlines()] == [json.loads(line) for line in expected]


def _a_trap_with_its_position(_: PageWorkspace, outcome: Outcome) -> None:
    assert re.search(r"^idle-partition +exercised +2 +orders/\d@\d+\[\d\] *$", outcome.out, re.MULTILINE)


CLAIMS = (
    Claim("README.md", " decode ", _every_event),
    Claim("conformance.md", "examples/testee_python.py", _the_numbers_of_the_table),
    Claim("conformance.md", "golden diff", _nothing_changed),
    Claim("faults.md", "verify --in bank-broken", _the_fault_is_named),
    Claim("generate.md", "--out big", _parquet),
    Claim("open-protocol.md", "--sink-uri", _every_event),
    Claim("open-protocol.md", "--format jsonl", _the_lines_of_the_folder),
    Claim("performance.md", "--out", _parquet),
    Claim("scenarios.md", "scenario list", _every_shipped_scenario),
    Claim("scenarios.md", "scenario schema", _the_schema_in_the_repository),
    Claim("documentation-sample.md", "legacy-no-flag", _a_line_of_the_sample),
    Claim("storage.md", "run orders.sql", _tree),
    Claim("storage.md", "decode", _every_event),
    Claim("traps.md", "coverage --in", _a_trap_with_its_position),
    Claim("verifying.md", "decode --in", _every_event),
    Claim("verifying.md", "--format jsonl", _the_lines_of_the_folder),
    Claim("verifying.md", "decode -", _every_event),
)
