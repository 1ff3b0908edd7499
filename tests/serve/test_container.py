"""The Dockerfile: its steps run in a bare environment, and what they install serves a run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "Dockerfile"
SECONDS = 1200
TOKEN = "0123456789abcdef0123456789abcdef"
OF_THE_IMAGE = {"useradd"}
"""Commands that change the accounts of the image."""


def _steps() -> list[tuple[str, str]]:
    lines = [line for line in DOCKERFILE.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines if line]


def _commands() -> list[list[str]]:
    runs = [text for instruction, text in _steps() if instruction == "RUN"]
    return [shlex.split(command) for text in runs for command in text.split(" && ")]


def test_the_steps_are_those_that_the_slow_test_runs() -> None:
    steps = ["FROM", "COPY", "RUN", "USER", "WORKDIR", "RUN", "EXPOSE", "ENTRYPOINT"]
    assert [step for step, _ in _steps()] == steps
    assert {command[0] for command in _commands()} == {"pip", "rm", "ticdc-producer", *OF_THE_IMAGE}
    assert dict(_steps())["COPY"] == ". /src"
    assert json.loads(dict(_steps())["ENTRYPOINT"]) == ["ticdc-producer"]


def test_what_is_copied_is_what_is_installed() -> None:
    """The image gets the files of .dockerignore alone; the build of the package needs no others."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    copied = {line[1:] for line in lines if line[:1] == "!"}
    assert [name for name in copied if not (ROOT / name).exists()] == []
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = metadata["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {name.partition("/")[0] for name in included} <= copied
    assert {"producer", "pyproject.toml", "constraints.txt", "README.md"} <= copied


def _environment(**variables: str) -> dict[str, str]:
    """The machine's variables, among them those of its network, without the packages of the tests."""
    return {**{name: value for name, value in os.environ.items() if name != "PYTHONPATH"}, **variables}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The folder of the commands that the steps have installed."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    binaries, source = tmp_path / "venv" / "bin", tmp_path / "src"
    source.mkdir()
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        path = ROOT / line[1:]
        if line.startswith("!") and path.is_dir():
            shutil.copytree(path, source / line[1:], ignore=shutil.ignore_patterns("__pycache__"))
        elif line.startswith("!"):
            shutil.copy(path, source)
    for command in _commands():
        if command[0] not in OF_THE_IMAGE:
            words = [word.replace("/src", str(source)) for word in command]
            installs = words[0] in ("pip", "ticdc-producer")
            program = str(binaries / words[0]) if installs else words[0]
            done = subprocess.run(
                [program, *words[1:]],
                capture_output=True,
                text=True,
                timeout=SECONDS,
                env=_environment(HOME=str(tmp_path)),
                check=False,
            )
            if "Could not find a version" in done.stderr or "Connection" in done.stderr:
                pytest.skip("not run: the package index does not answer")
            assert done.returncode == 0, done.stderr[-2000:]
    assert not source.exists()
    assert [*(tmp_path / ".cache" / "ticdc-producer" / "jars").glob("kafka*.jar")]
    return binaries


@pytest.mark.slow
def test_the_steps_make_a_command_that_serves(installed: Path, tmp_path: Path) -> None:
    environment = _environment(HOME=str(tmp_path), TICDC_PRODUCER_TOKEN=TOKEN)
    command = str(installed / "ticdc-producer")
    output = subprocess.run(
        [command, "serve", "--help"],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=True,
    )
    assert "--max-memory" in output.stdout
    serve = [command, "serve", "--host", "0.0.0.0", "--port", "0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().removeprefix("listening on ").strip()
            request = urllib.request.Request(
                f"{url.replace('0.0.0.0', '127.0.0.1')}/v1/runs?wait=300",
                json.dumps({"scenario": "seed_t1"}).encode(),
                {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"},
            )
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                assert json.load(answer)["ok"] is True
        finally:
            process.terminate()
            assert process.wait(60) == 0


@pytest.mark.slow
def test_the_image_serves() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True, check=False).returncode:
        pytest.skip("not run: no Docker engine runs on this machine")
    build = [docker, "build", "-q", "-t", "ticdc-producer-test", str(ROOT)]
    subprocess.run(build, check=True, timeout=SECONDS)
    output = subprocess.run(
        [docker, "run", "--rm", "ticdc-producer-test", "serve", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--max-memory" in output.stdout
