"""Errors of the Python functions name arguments; the command line spells the same errors with its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ticdc_producer
from ticdc_producer.cli import main
from ticdc_producer.errors import ProducerError

WRONG = [
    ({"state_at": [5]}, ["--state-at", "5"], "`state_at` requires `out`", "--state-at requires --out"),
    (
        {"messages_only": True, "dry_run": True},
        ["--only", "messages", "--dry-run"],
        "`messages_only` cannot be combined with `dry_run`",
        "--only messages cannot be combined with --dry-run",
    ),
    ({"append": True}, ["--append"], "`append` requires a sink URI", "--append requires a sink URI"),
    ({"resume": True}, ["--resume"], "`resume` requires a sink URI", "--resume requires a sink URI"),
    ({"seed": -1}, ["--seed", "-1"], "`seed`: -1 is not a seed", "--seed: -1 is not a seed"),
    ({"inject": ["none"]}, ["--inject", "none"], "`inject` none: ", "--inject none: "),
    ({"overrides": ["nope"]}, ["--set", "nope"], "`overrides` nope: write", "--set nope: write"),
]


@pytest.mark.parametrize(("arguments", "options", "in_python", "in_shell"), WRONG)
def test_each_interface_has_its_words(
    arguments: dict[str, Any],
    options: list[str],
    in_python: str,
    in_shell: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ProducerError) as caught:
        ticdc_producer.run("bank", **arguments)
    assert in_python in str(caught.value)
    assert "--" not in str(caught.value)
    assert main(["run", "bank", *options]) == 2
    assert in_shell in capsys.readouterr().err


def test_names_of_the_users_are_not_spelled_as_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "seed.sql"
    script.write_text("INSERT INTO `seed` VALUES (1);")
    assert main(["run", str(script), "--seed", "1", "--dry-run"]) == 2
    assert "--seed" not in capsys.readouterr().err
