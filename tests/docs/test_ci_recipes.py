"""The CI recipes have the form that the CI systems publish, and run the commands of the consumer's page."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from tests.docs.consumer_page import ROOT, commands
from ticdc_producer.cli import main
from ticdc_producer.serve.settings import ServeSettings

FILES = ROOT / "examples" / "ci"
JOBS = {"github-actions.yml": "vendor.github-workflows", "gitlab-ci.yml": "vendor.gitlab-ci"}
SCHEMAS = {**JOBS, "compose.yml": "vendor.compose-spec"}


def recipe(name: str) -> Any:
    return yaml.safe_load((FILES / name).read_text("utf-8"))


def lines(name: str) -> list[str]:
    """The commands of a recipe's job."""
    if name.startswith("gitlab"):
        job = recipe(name)["state"]
        return [*job["before_script"], *job["script"]]
    return [step["run"] for step in recipe(name)["jobs"]["state"]["steps"] if "run" in step]


def plain(line: str) -> list[str]:
    """A command's words, with the address of the page's broker and without the report."""
    words = shlex.split(line.replace("//kafka:", "//localhost:").replace(" kafka:", " localhost:"))
    return words[: words.index("--junit-xml")] if "--junit-xml" in words else words


def test_every_recipe_is_known() -> None:
    assert sorted(path.name for path in FILES.iterdir()) == sorted(SCHEMAS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_recipe_has_the_published_form(name: str) -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[name], str(FILES / name)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_form_is_strict(name: str, tmp_path: Path) -> None:
    wrong = tmp_path / name
    wrong.write_text((FILES / name).read_text("utf-8").replace("services:", "servces:"), "utf-8")
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[name], str(wrong)]
    assert subprocess.run(check, capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize("name", JOBS)
def test_a_recipe_runs_the_commands_of_the_page(name: str) -> None:
    install, *others = lines(name)
    assert install == 'pip install "ticdc-producer[spark,state] @ $TICDC_PRODUCER"'
    page = [shlex.split(line) for line in commands()]
    run, consume, compare = page[1:4]
    assert [plain(line) for line in others] == [run, consume, compare]


@pytest.mark.parametrize("name", JOBS)
def test_the_stored_report_is_the_written_one(name: str) -> None:
    words = shlex.split(lines(name)[-1])
    written = words[words.index("--junit-xml") + 1]
    if name.startswith("gitlab"):
        stored = recipe(name)["state"]["artifacts"]["reports"]["junit"]
    else:
        stored = recipe(name)["jobs"]["state"]["steps"][-1]["with"]["path"]
    assert stored == written


def test_the_service_of_compose_is_reached_by_the_names_of_its_networks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    services = recipe("compose.yml")["services"]
    command, environment = services["ticdc"]["command"], services["tests"]["environment"]
    addresses = [
        word for word, before in zip(command[1:], command, strict=False) if before == "--kafka-address"
    ]
    settings = ServeSettings(host="0.0.0.0", token="t" * 16, kafka_addresses=tuple(addresses))
    name = urlsplit(environment["TICDC_PRODUCER_SERVER"]).hostname
    assert name in services
    assert settings.kafka_for(str(name)) == "ticdc:9093"
    assert settings.kafka_for("localhost") == "localhost:9092"
    published = {port.split(":")[-1] for port in services["ticdc"]["ports"]}
    assert published == {"8642", "9092"}
    monkeypatch.delenv("TICDC_PRODUCER_TOKEN", raising=False)
    assert main(command) == 2  # the options are right, and the token of the recipe is missing
    assert "requires a token" in capsys.readouterr().err
