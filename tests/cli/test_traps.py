"""``traps list`` and ``traps show``: what the catalogue says, for people and for machines."""

from __future__ import annotations

import json

import pytest

from ticdc_producer.cli import main
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.faults.trap import TrapEntry


def _listed(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert main(["traps", "list", "--json", *options]) == 0
    return [trap["id"] for trap in json.loads(capsys.readouterr().out)]


def test_the_list_has_every_trap_once_and_either_half_alone(capsys: pytest.CaptureFixture[str]) -> None:
    legal, illegal = _listed(capsys, "--legal"), _listed(capsys, "--illegal")
    assert "duplicate-message" in legal
    assert "lost-message" in illegal
    assert sorted(legal + illegal) == sorted(_listed(capsys)) == sorted(catalogue())


def test_the_table_names_every_trap_in_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["traps", "list", "--illegal"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    rows = {words[0]: words[1:3] for words in lines if words and words[0] in catalogue()}
    assert rows == {name: ["illegal", trap.mechanism] for name, trap in catalogue().items() if not trap.legal}


def test_show_prints_every_field_of_one_trap(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["traps", "show", "resolved-fallback"]) == 0
    out = capsys.readouterr().out
    trap = catalogue()["resolved-fallback"]
    assert "pingcap/tiflow#4730" in out
    assert "INV-RESOLVED-MONO" in out
    assert " ".join(trap.consumer_action.split()[:4]) in out
    assert main(["traps", "show", "resolved-fallback", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == TrapEntry.of(trap).model_dump(mode="json")


def test_an_unknown_trap_is_refused_with_the_nearest_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["traps", "show", "lost-mesage"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "did you mean 'lost-message'?" in err
    assert "Traceback" not in err
