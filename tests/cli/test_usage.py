"""Commands, options and arguments that are spelled wrong: one line that names them, and exit code 2."""

from __future__ import annotations

import pytest

from ticdc_producer.cli import main

USAGE = [
    (["run"], "Missing argument 'SCENARIO' (ticdc-producer run --help)"),
    (["run", "bank", "--seed", "abc"], "Invalid value for '--seed': "),
    (["run", "bank", "--only", "rows"], "Invalid value for '--only': 'rows' is not one of 'messages' ("),
    (["run", "bank", "--nonsense"], "No such option: --nonsense"),
    (["verify", "--in", "x", "--examples", "0"], "Invalid value for '--examples': "),
    (
        ["verify", "state", "--expected", "x"],
        "Missing option '--actual' (ticdc-producer verify state --help)",
    ),
    (["golden", "diff", "x"], "Missing argument 'B'"),
    (["verify", "a" * 300], "No such command"),
    (["verify", "docs"], "a folder is given as --in docs"),
    (["coverage", "docs"], "a folder is given as --in docs"),
    (["coverage", "kafka://h:1/t"], "a topic is given as --sink-uri URI"),
    (["verify", "kafka://u:s@h/t"], "a topic is given as --sink-uri URI"),
    (
        ["run", "bank", "--protocol", "avro"],
        "No such option: --protocol; it is in the sink URI: --sink-uri 'kafka:",
    ),
    (["verify", "--topik", "t"], "No such option: --topik; it is in the sink URI: --sink-uri 'kafka:"),
    (["conformance", "--topic", "t"], "No such option: --topic ("),
    (["traps", "lst"], "No such command 'lst'. Did you mean 'list'?"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE)
def test_usage(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"ticdc-producer: {message}")
    assert len(err.splitlines()) == 1
    assert "Value error" not in err


@pytest.mark.parametrize("group", [[], ["scenario"], ["traps"], ["bench"]])
def test_a_group_of_commands_alone_shows_its_help_and_nothing_else(
    capsys: pytest.CaptureFixture[str], group: list[str]
) -> None:
    assert main(group) == 2
    out, err = capsys.readouterr()
    assert "Usage:" in out
    assert err == ""


MISPLACED = [
    (["verify", "--in", "x", "--set", "seed=1"], "--set requires --scenario"),
    (["verify", "--in", "x", "--inject", "lost-row"], "--inject requires --scenario"),
    (["decode", "--in", "x", "--config", "y"], "--config cannot be combined with --in"),
    (["run", "bank", "--only", "messages", "--dry-run"], "--only messages cannot be combined with --dry-run"),
    (["run", "bank", "--state-at", "5"], "--state-at requires --out"),
    (["run", "bank", "--out", "x", "--state-at", "-5"], "--state-at: -5 is not a time stamp (TSO): 1 to "),
    (["run", "bank", "--seed", "-1"], "--seed: -1 is not a seed: 0 to 9223372036854775807"),
    (["run", "bank", "--sink-uri", ""], "sink URI: it is empty"),
    (["run", "./bank"], "./bank: a scenario is a .yaml or a .sql file"),
    (
        ["run", "bank", "--inject", "lost-row:rate=5"],
        "rate: input should be less than or equal to 1, not 5.0",
    ),
    (["run", "bank", "--inject", "nosuch"], "ticdc-producer traps list prints the "),
]


@pytest.mark.parametrize(("arguments", "message"), MISPLACED)
def test_options_that_have_no_effect_or_no_meaning_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1
