"""The commands of the program. The module of a command loads when the command is called."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS = {
    "run": "Run a scenario, write its messages, read them again and verify them.",
    "decode": (
        "Print the events of a topic, storage, golden folder or file. Exit code 1 if one did not decode."
    ),
    "serve": "Serve runs and verifications over HTTP, with a warm Spark session and a Kafka, until Ctrl-C.",
    "coverage": "Show which traps of the catalogue a topic or folder exercises, and which it misses.",
    "conformance": (
        "Test how your consumer decodes messages. Exit code 1 if a case does not have the expected outcome."
    ),
    "verify": (
        "Verify a topic or folder against TiCDC's guarantees, and against a scenario if one is given."
    ),
    "scenario": "Check scenario files, list the shipped ones, print their JSON Schema.",
    "golden": "Write the conformance corpus as files, and compare two of them.",
    "traps": "List the events that break consumers of TiCDC's topics: legal and illegal ones.",
    "broker": "A Kafka on this machine, without Docker: it runs until `broker stop`.",
    "bench": "Measure the tool on this machine.",
}
"""The first paragraph of each command's help, which the help of the program lists."""


class Commands(TyperGroup):
    """All commands: those that were not called have a name and a help, and nothing else."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Load the command that the arguments begin with."""
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = load_command(args[0])
        return super().resolve_command(ctx, args)


def load_command(name: str) -> Any:
    """A command with its options and subcommands: the module's ``app``, or its function of this name."""
    module = import_module(f"ticdc_producer.cli.{name}_command")
    if hasattr(module, "app"):
        command: Any = typer.main.get_group(module.app)
    else:
        app = typer.Typer(add_completion=False)
        app.command(name)(getattr(module, name))
        command = typer.main.get_command(app)
    command.name = name
    return command
