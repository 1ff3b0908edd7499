"""What a page of docs/extending lists is enough: the program with a toy of its kind works.

Each test changes the listed modules in a copy of the program.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ticdc_producer

SOURCE = Path(ticdc_producer.__file__).parent


class Copy:
    """A copy of the program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(SOURCE, folder / SOURCE.name, ignore=shutil.ignore_patterns("__pycache__"))

    def change(self, module: str, before: str, after: str) -> None:
        path = self.folder / SOURCE.name / module
        text = path.read_text("utf-8")
        assert text.count(before) == 1
        path.write_text(text.replace(before, after), "utf-8")

    def run(self, *arguments: str) -> str:
        command = [sys.executable, "-m", SOURCE.name, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def run_sql(self, sql: str) -> str:
        """Run statements into the golden folder ``golden``."""
        (self.folder / "try.sql").write_text(sql)
        return self.run("run", "try.sql", "--out", "golden", "--engine", "local")


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.slow
def test_an_sql_function_is_a_function_and_a_line(copy: Copy) -> None:
    """docs/extending/sql-function.md."""
    copy.change(
        "scenario/sql/functions/text.py",
        "FUNCTIONS = {\n",
        'FUNCTIONS = {\n    "SHOUT": value_function(lambda value: f"{value}!", 1, type=E.TEXT),\n',
    )
    copy.run_sql("CREATE TABLE t (id INT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, SHOUT('ah'));")
    assert "ah!" in copy.run("decode", "--in", "golden")


@pytest.mark.slow
def test_a_section_of_the_reports_is_a_field_of_the_verdict(copy: Copy) -> None:
    """docs/extending/report-section.md."""
    copy.change(
        "verifier/verdict.py",
        "    engine: EngineChoice | None = None\n",
        "    engine: EngineChoice | None = None\n    planets: int = 0\n",
    )
    copy.change(
        "verifier/verdict.py",
        '            "ok": self.ok,\n',
        '            "ok": self.ok, "planets": self.planets,\n',
    )
    copy.change(
        "runs/verification.py", "        kinds=kinds,\n", "        kinds=kinds,\n        planets=9,\n"
    )
    copy.change(
        "cli/report_text.py",
        "        _checked(console, verdict)\n",
        '        _checked(console, verdict)\n        console.print(f"{verdict.planets} planets")\n',
    )
    assert "9 planets" in copy.run_sql("CREATE TABLE t (id INT PRIMARY KEY);")
    report = json.loads(copy.run("verify", "--in", "golden", "--engine", "local", "--json"))
    assert report["planets"] == 9
