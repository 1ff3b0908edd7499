"""The help of the program needs no module of a command, and says what the commands say."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ticdc_producer.cli.app import COMMANDS, MODULES, load_command


def _loaded(*arguments: str) -> set[str]:
    """The modules that a command line loads, in a process of its own."""
    code = (
        "import sys; from ticdc_producer.cli import main; status = main(sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_the_help_of_the_program_loads_no_command() -> None:
    loaded = _loaded("--help")
    assert "ticdc_producer.cli.app" in loaded
    assert not {
        name
        for name in loaded
        if name.startswith("ticdc_producer.") and name.endswith(("_command", "_commands"))
    }
    parts = {name.split(".")[1] for name in loaded if name.startswith("ticdc_producer.")}
    small = {"errors", "hints", "installation", "local_path", "masking"}
    assert parts <= {*small, "cli", "engine", "model", "runs"}
    assert {name for name in loaded if name.startswith("ticdc_producer.runs.")} <= {
        "ticdc_producer.runs.options",
        "ticdc_producer.runs.options.commands",
        "ticdc_producer.runs.options.conformance",
        "ticdc_producer.runs.options.option",
        "ticdc_producer.runs.options.rule",
    }
    assert not {"pydantic", "numpy", "sqlglot"} & loaded


def test_a_command_loads_no_other_command(tmp_path: object) -> None:
    scenario = f"{tmp_path}/orders.sql"
    with open(scenario, "w") as file:  # noqa: PTH123 - a text is enough
        file.write("CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n")
    loaded = _loaded("scenario", "validate", scenario)
    commands = {
        name
        for name in loaded
        if name.startswith("ticdc_producer.cli.") and name.endswith(("_command", "_commands"))
    }
    assert commands == {"ticdc_producer.cli.scenario_command"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_has_the_help_of_each(name: str) -> None:
    command = load_command(name)
    assert command.name == name
    assert (command.help or "").split("\n\n")[0] == COMMANDS[name]


def test_every_command_is_in_the_list() -> None:
    from pathlib import Path

    import ticdc_producer.cli

    folder = Path(ticdc_producer.cli.__file__).parent
    modules = {file.stem for file in folder.glob("*_command*.py")}
    assert modules == {MODULES.get(name, f"{name}_command") for name in COMMANDS}
