"""The command as a process: its output, its exit code, and that no process of it remains."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.docs import readme_session
from tests.golden_events import GOLDEN
from ticdc_producer.targets.golden.folder import MANIFEST

COMMAND = [sys.executable, "-m", "ticdc_producer"]


def _ours(mark: str) -> list[psutil.Process]:
    """Processes with a mark in their environment: all that a command started."""
    processes = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("TICDC_PRODUCER_TEST") == mark:
                processes.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess, OSError):
            continue
    return processes


def _nothing_left(mark: str) -> bool:
    _, alive = psutil.wait_procs(_ours(mark), timeout=30)
    return not alive


def _marked(mark: str, base: dict[str, str] | None = None) -> dict[str, str]:
    return {**(base or dict(os.environ)), "TICDC_PRODUCER_TEST": mark}


def _without_java(folder: Path) -> dict[str, str]:
    """An environment with every program of the PATH except Java."""
    for part in os.environ["PATH"].split(os.pathsep):
        for program in Path(part).glob("[!j]*"):
            link = folder / program.name
            if not link.is_symlink():
                link.symlink_to(program)
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    return {**environment, "PATH": str(folder)}


@pytest.mark.parametrize("java", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_main_job_without_a_broker(tmp_path_factory: pytest.TempPathFactory, java: bool) -> None:
    """With the machine's Java, and without it."""
    tmp_path, programs = tmp_path_factory.mktemp("main-job"), tmp_path_factory.mktemp("programs")
    mark = tmp_path.name
    done = subprocess.run(
        [*COMMAND, *readme_session.COMMAND],
        env=_marked(mark, None if java else _without_java(programs)),
        capture_output=True,
        text=True,
        timeout=600,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert readme_session.with_fixed_port(done.stdout) == readme_session.documented_output()
    assert "WARN" not in done.stderr
    assert _nothing_left(mark)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_golden_file_into_a_folder_with_json(tmp_path: Path) -> None:
    script = GOLDEN / "visible" / "canal_tp_int.sql"
    done = subprocess.run(
        [*COMMAND, "run", str(script), "--out", str(tmp_path / "out"), "--json"],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    report = json.loads(done.stdout)
    assert report["verdict"]["ok"] is True
    assert (tmp_path / "out" / MANIFEST).exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("at", ["encoded", "starting Spark"])
def test_interrupted_while_a_jvm_starts_or_runs(tmp_path: Path, number: int, at: str) -> None:
    mark = f"{tmp_path.name}-{number}"
    process = subprocess.Popen(
        [*COMMAND, "run", "seed_t1", "--engine", "spark", "--out", str(tmp_path / "out")],
        env=_marked(mark),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(at):
            break
    process.send_signal(number)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert errors.endswith("interrupted\n")
    assert "Traceback" not in errors
    assert out == ""
    assert _nothing_left(mark)
