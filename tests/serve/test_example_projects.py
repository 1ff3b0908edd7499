"""The example projects for Java, Go and Node: their tests fail for a consumer that forgets deletes."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.peers.software import NotRun, maven

EXAMPLES = Path(__file__).parents[2] / "examples"
SECONDS = 300
_NOT_FETCHED = ("dial tcp", "lookup ", "ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT", "proxyconnect")


@dataclass(frozen=True)
class Project:
    """An example project.

    :param program: the toolchain's command.
    :param fetch: downloads what the project needs; empty for Maven.
    :param source: the consumer, with the line that removes a row.
    """

    name: str
    program: str
    fetch: tuple[str, ...]
    test: tuple[str, ...]
    source: str
    removal: str
    nothing: str


PROJECTS = (
    Project(
        "java", "mvn", (), ("mvn", "-B", "-q", "test"),
        "src/main/java/orders/Consumer.java", "rows.remove(key);", "",
    ),
    Project(
        "go", "go", ("go", "mod", "download"), ("go", "test", "-count=1", "."),
        "consumer.go", "delete(tables[name], key)", "_ = key",
    ),
    Project(
        "node", "npm", ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock"), ("npm", "test"),
        "consumer.js", "rows.delete(key)", "void key",
    ),
)  # fmt: skip


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_the_mutated_line_exists(project: Project) -> None:
    assert (EXAMPLES / project.name / project.source).read_text("utf-8").count(project.removal) == 1


@pytest.mark.slow
@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_a_consumer_with_a_bug_fails_and_the_right_one_passes(
    project: Project, url: str, tmp_path: Path
) -> None:
    folder = tmp_path / project.name
    ignored = shutil.ignore_patterns("target", "node_modules", "package-lock.json")
    shutil.copytree(EXAMPLES / project.name, folder, ignore=ignored)
    fetch(project, folder)
    source = folder / project.source
    right = source.read_text("utf-8")
    source.write_text(right.replace(project.removal, project.nothing), "utf-8")
    failed = run_in_project(project.test, folder, url)
    output = failed.stdout + failed.stderr
    assert failed.returncode != 0
    assert "the rows differ from the expected ones" in output
    assert "table test.orders: 2 extra" in output
    source.write_text(right, "utf-8")
    passed = run_in_project(project.test, folder, url)
    assert passed.returncode == 0, passed.stdout + passed.stderr


def fetch(project: Project, folder: Path) -> None:
    """Download what the project needs; the test is reported as not run where that is impossible."""
    if shutil.which(project.program) is None:
        pytest.skip(f"not run: there is no {project.program} on this machine")
    try:
        if project.program == "mvn":
            maven(folder, "test-compile")
            return
    except NotRun as reason:
        pytest.skip(f"not run: {reason}")
    done = run_in_project(project.fetch, folder, "")
    if done.returncode and any(part in done.stderr for part in _NOT_FETCHED):
        pytest.skip(f"not run: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


def run_in_project(command: tuple[str, ...], folder: Path, url: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TICDC_PRODUCER_SERVER": url}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
