"""The package shares no name with a user's modules: most Kafka projects have a ``producer.py``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
THEIR_TEST = """
import producer
import pytest


@pytest.mark.ticdc(scenario="seed_t1")
def test_it(ticdc_protocol):
    assert producer.NAME == "theirs"
"""
LOADS_EVERYTHING = """
import collections, pkgutil, sys
import ticdc_producer
for module in pkgutil.walk_packages(ticdc_producer.__path__, "ticdc_producer."):
    if not module.name.endswith(("__main__", ".supervisor")):
        __import__(module.name)
files = collections.Counter(getattr(module, "__file__", None) for module in set(sys.modules.values()))
print(*(file for file, times in files.items() if times > 1 and file and "ticdc_producer" in file))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder of a user's with a ``producer.py``, and a test that takes a fixture of our plugin."""
    (tmp_path / "producer.py").write_text('NAME = "theirs"\n')
    (tmp_path / "test_theirs.py").write_text(THEIR_TEST)
    return tmp_path


def _output(folder: Path, *command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_users_producer_py_is_imported_beside_ours(project: Path) -> None:
    code = "import producer, ticdc_producer; print(producer.NAME, ticdc_producer.run.__module__)"
    assert _output(project, sys.executable, "-c", code).split() == ["theirs", "ticdc_producer.runs.run"]


@pytest.mark.parametrize(
    "command",
    [(BIN / "pytest",), pytest.param((sys.executable, "-m", "pytest"), marks=pytest.mark.slow)],
)
def test_a_users_tests_run_beside_the_plugin(project: Path, command: tuple[str | Path, ...]) -> None:
    assert "1 passed" in _output(project, *command, "-p", "no:cacheprovider")


def test_the_command_works_with_the_users_folder_on_the_path(project: Path) -> None:
    assert "seed_t1" in _output(project, BIN / "ticdc-producer", "scenario", "list", PYTHONPATH=".")


@pytest.mark.slow
def test_no_module_loads_under_two_names_from_the_repository_root() -> None:
    assert _output(ROOT, sys.executable, "-c", LOADS_EVERYTHING, PYTHONPATH=str(ROOT)).strip() == ""


def test_the_source_root_is_no_package() -> None:
    code = "import producer.ticdc_producer"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "import ticdc_producer, not producer.ticdc_producer" in done.stderr
