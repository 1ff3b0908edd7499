"""Runs the page on verifying a consumer from its first command to its last."""

from __future__ import annotations

import runpy
import shlex
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.docs.consumer_page import EXAMPLE, ROOT, blocks, commands, fixed
from ticdc_producer.cli import main
from ticdc_producer.kafka.embedded import EmbeddedKafka

BROKER = "localhost:9092"


def event(kind: str, ts: int, number: int) -> dict[str, Any]:
    row = {"id": str(number), "email": "ann@example.com", "name": "Ann", "credit": "1.00"}
    return {"type": kind, "_tidb": {"commitTs": ts}, "data": [row]}


def resolved(ts: int) -> dict[str, Any]:
    return {"type": "TIDB_WATERMARK", "_tidb": {"watermarkTs": ts}}


# A customer's number changes from 1 to 101.
PARTITIONS = (
    [resolved(1), event("INSERT", 2, 101), resolved(2)],
    [event("INSERT", 1, 1), resolved(1), event("DELETE", 2, 1), resolved(2)],
)


@pytest.mark.parametrize(("fix", "rows"), [(False, []), (True, [(101,)])])
def test_the_fix_saves_the_row(fix: bool, rows: list[tuple[int]], tmp_path: Path) -> None:
    source = EXAMPLE.read_text("utf-8")
    script = tmp_path / "consumer.py"
    script.write_text(fixed(source) if fix else source, "utf-8")
    module = runpy.run_path(str(script))
    database = sqlite3.connect(":memory:")
    database.execute(module["TABLE"])
    table = module["Table"](database, [0, 1])
    for partition, events in enumerate(PARTITIONS):
        for event in events:
            table.take(partition, event)
    assert database.execute("SELECT id FROM customers").fetchall() == rows


def test_the_code_on_the_page_is_that_of_the_example() -> None:
    (excerpt,) = blocks("python")
    assert textwrap.indent(excerpt, "    ") in EXAMPLE.read_text("utf-8")


def test_the_page_describes_the_traps_as_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted, described = blocks("text")[2:4]
    sink = "kafka:///t?protocol=canal-json&enable-tidb-extension=true"
    assert main(["run", "seed_t1", "--sink-uri", sink, "--out", str(tmp_path / "golden"), "--quiet"]) == 0
    assert main(["coverage", "--in", str(tmp_path / "golden")]) == 0
    lines = capsys.readouterr().out.splitlines()
    (key_update,) = [line for line in lines if line.startswith("key-update ")]
    assert key_update.index("not_exercised") == counted.index("exercised")
    assert lines[-1].partition(" of ")[2] == counted.rstrip().rpartition(" of ")[2]
    assert main(["traps", "show", "key-update"]) == 0
    assert _plain(capsys.readouterr().out.splitlines()) == _plain(described.splitlines())


@pytest.mark.slow
def test_the_whole_page(
    spark: SparkSession,
    kafka: EmbeddedKafka,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "examples" / EXAMPLE.name
    outputs: list[str] = []
    codes: list[int] = []
    for line in commands():
        if line.startswith("docker"):
            continue  # the tests have their own broker
        if line.startswith("rm "):
            script.write_text(fixed(script.read_text("utf-8")), "utf-8")
        command, _, pattern = line.replace(BROKER, kafka.bootstrap).partition(" | grep ")
        codes.append(_run(command))
        pattern = shlex.split(pattern)[0] if pattern else ""
        printed = capsys.readouterr().out.splitlines(keepends=True)
        outputs.append("".join(text for text in printed if pattern in text))
    assert codes == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    _, _, wrong, events, covered, trap, _, _, right = outputs
    documented = blocks("text")
    # Which three rows are lost depends on the partition that comes first.
    assert [len(line.split()) for line in wrong.splitlines()] == [
        len(line.split()) for line in documented[0].splitlines()
    ]
    assert wrong.splitlines()[0] == documented[0].splitlines()[0]
    assert [_plain(text.splitlines()) for text in (events, covered, trap, right)] == [
        _plain(text.splitlines()) for text in documented[1:]
    ]


def _plain(lines: Sequence[str]) -> list[str]:
    return [line.rstrip() for line in lines]


def _run(line: str) -> int:
    """Run a line as a shell would; ``ticdc-producer`` runs in this process, which has a Spark session."""
    program, *arguments = shlex.split(line)
    if program == "ticdc-producer":
        return main(arguments)
    programs = {"python": sys.executable}
    done = subprocess.run(
        [programs.get(program, program), *arguments], capture_output=True, text=True, check=False
    )
    print(done.stdout, end="")
    return done.returncode
