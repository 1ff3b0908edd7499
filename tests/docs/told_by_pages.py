"""What the pages say that a command brings about, beside its exit code."""

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
from tests.docs.page_place import PagePlace
from ticdc_producer.scenario.library import shipped

_VERDICT = re.compile(r"ticdc-producer (run|verify)\b")
_FILES = ("--out", "--junit-xml", "--html")


class Told(NamedTuple):
    """What holds behind the command of a page that has a part in it."""

    page: str
    part: str
    holds: Callable[[PagePlace, Outcome], None]


def check(command: Command, place: PagePlace, outcome: Outcome) -> None:
    """The exit code, the verdict, the files that were asked for, and what the page says besides."""
    assert outcome.exit_code == command.exit_code, f"{command.text}\n{outcome.out}\n{outcome.err}"
    words = shlex.split(replaced(command.text, place.known), comments=True)
    for option, value in pairwise(words):
        assert option not in _FILES or (place.folder / value).exists(), value
    if _VERDICT.search(command.text) and "--only" not in words:
        _check_verdict(outcome, as_json="--json" in words)
    for told in TOLD:
        if told.page == command.page and told.part in command.text:
            told.holds(place, outcome)


def _check_verdict(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        assert json.loads(outcome.out)["ok"] == (outcome.exit_code == 0)
    elif outcome.exit_code == 0:
        assert re.search("^(verified|wrong just as asked for)", outcome.out, re.MULTILINE), outcome.out
    else:
        assert outcome.out.splitlines()[-1].startswith("VIOLATED: "), outcome.out


def _every_shipped_scenario(_: PagePlace, outcome: Outcome) -> None:
    assert [line.split()[0] for line in outcome.out.splitlines()] == sorted(shipped())


def _the_schema_that_stands_in_the_repository(place: PagePlace, _: Outcome) -> None:
    written = (place.folder / "scenario.schema.json").read_text("utf-8")
    assert json.loads(written) == json.loads((ROOT / "schemas/scenario.schema.json").read_text("utf-8"))


def _a_line_of_the_seed(_: PagePlace, outcome: Outcome) -> None:
    (shown,) = blocks("seed-log.md", "")
    assert shown.strip() in outcome.out


def _the_numbers_of_the_table(_: PagePlace, outcome: Outcome) -> None:
    page = (ROOT / "docs/conformance.md").read_text("utf-8")
    row = re.search(r"^\| testee_python\.py \| decode \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    assert row is not None
    passed, failed, skipped = row.groups()
    assert outcome.out.splitlines()[-1] == f"passed {passed}, skipped {skipped}, expected failure {failed}"


def _nothing_changed(_: PagePlace, outcome: Outcome) -> None:
    assert "0 added, 0 removed, 0 changed" in outcome.out


def _the_fault_is_named(_: PagePlace, outcome: Outcome) -> None:
    assert re.search(r"^error +INV-RESOLVED ", outcome.out, re.MULTILINE)


def _parquet(place: PagePlace, outcome: Outcome) -> None:
    folder = place.folder / outcome.out.splitlines()[0].partition(" into ")[2]
    assert list(folder.glob("messages.parquet/**/*.parquet"))


def _tree(place: PagePlace, _: Outcome) -> None:
    written = {
        path.relative_to(place.folder / "tmp/orders") for path in place.folder.glob("tmp/orders/**/*.*")
    }
    (shown,) = blocks("storage.md", "")
    wanted = {_shape(line.split()[0].replace("/t1/", "/orders/")) for line in shown.splitlines()[1:]}
    assert {_shape(str(path)) for path in written} == wanted


def _shape(path: str) -> str:
    return re.sub(r"\d", "0", path)


def _every_event(_: PagePlace, outcome: Outcome) -> None:
    inserted = [line for line in outcome.out.splitlines() if " insert test.orders " in line]
    assert len(inserted) == 3


def _the_lines_of_the_folder(place: PagePlace, outcome: Outcome) -> None:
    expected = (place.folder / "golden/orders/events.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in outcome.out.splitlines()] == [json.loads(line) for line in expected]


def _a_trap_with_its_place(_: PagePlace, outcome: Outcome) -> None:
    assert re.search(r"^idle-partition +exercised +2 +orders/\d@\d+\[\d\] *$", outcome.out, re.MULTILINE)


TOLD = (
    Told("README.md", " decode ", _every_event),
    Told("conformance.md", "examples/testee_python.py", _the_numbers_of_the_table),
    Told("conformance.md", "golden diff", _nothing_changed),
    Told("faults.md", "verify --in bank-broken", _the_fault_is_named),
    Told("generate.md", "--out big", _parquet),
    Told("open-protocol.md", "--sink-uri", _every_event),
    Told("open-protocol.md", "--format jsonl", _the_lines_of_the_folder),
    Told("performance.md", "--out", _parquet),
    Told("scenarios.md", "scenario list", _every_shipped_scenario),
    Told("scenarios.md", "scenario schema", _the_schema_that_stands_in_the_repository),
    Told("seed-log.md", "legacy-no-flag", _a_line_of_the_seed),
    Told("storage.md", "run orders.sql", _tree),
    Told("storage.md", "decode", _every_event),
    Told("traps.md", "coverage --in", _a_trap_with_its_place),
    Told("verifying.md", "decode --in", _every_event),
    Told("verifying.md", "--format jsonl", _the_lines_of_the_folder),
    Told("verifying.md", "decode -", _every_event),
)
