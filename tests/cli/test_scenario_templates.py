"""``scenario new`` and ``scenario show``: shipped scenarios as texts, and as beginnings of own ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.cli import main
from ticdc_producer.cli.scenario_command import shipped_text, write_from_template
from ticdc_producer.scenario.load import load_scenario, shipped


@pytest.mark.parametrize("template", sorted(shipped()))
def test_every_shipped_scenario_is_a_template(tmp_path: Path, template: str) -> None:
    path = write_from_template("2024", template, tmp_path)
    scenario, original = load_scenario(path), load_scenario(template)
    assert (scenario.name, scenario.steps != ()) == ("2024", True)
    assert str(scenario.changefeed["sink-uri"]) == str(original.changefeed["sink-uri"]).replace(
        template, "2024", 1
    )
    assert "$schema" not in path.read_text("utf-8"), "the path of the schema is another one here"


def test_the_command_writes_into_the_current_folder_and_never_over_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["scenario", "new", "mine.yaml", "--from", "bank"]) == 0
    assert capsys.readouterr().out == "wrote mine.yaml\n"
    assert main(["scenario", "validate", "mine.yaml"]) == 0
    (tmp_path / "mine.yaml").write_text("mine")
    assert main(["scenario", "new", "mine", "--from", "orders"]) == 2
    assert "mine.yaml: the file exists" in capsys.readouterr().err
    assert (tmp_path / "mine.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "template", "what"),
    [
        ("a/b", "bank", "this cannot be the name of a scenario and of its topic"),
        ("..", "bank", "this cannot be the name"),
        ("a.sql", "bank", "a template is YAML (name it a)"),
        ("a", "bnk", "there is no shipped scenario 'bnk' (did you mean 'bank'?)"),
    ],
)
def test_wrong_names_write_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    template: str,
    what: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["scenario", "new", name, "--from", template]) == 2
    assert what in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_show_prints_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "show", "bank"]) == 0
    assert capsys.readouterr().out == shipped_text("bank")
    assert main(["scenario", "show", "nothing"]) == 2
