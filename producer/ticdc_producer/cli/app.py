"""The program: its commands, which load when they are called, and errors as messages and exit codes."""

from __future__ import annotations

import logging
import re
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from ticdc_producer import errors
from ticdc_producer.cli.options import fail, fail_usage
from ticdc_producer.cli.terminal.standard_output import guard_standard_streams
from ticdc_producer.errors import ProducerError
from ticdc_producer.installation import allocate_by_jemalloc, postpone_pandas
from ticdc_producer.local_path import local_path

if TYPE_CHECKING:
    from typer._click.core import Command, Context

COMMANDS = {
    "run": "Run a scenario, write its messages, read them again and verify them.",
    "record": "Record a topic, a golden folder or a file of messages as a scenario, which `run` replays.",
    "transcode": "Write a topic, a golden folder or a file of messages in another protocol or topology.",
    "mask": "Mask an SQL dump by the rules of `record --mask`, or propose rules.",
    "decode": (
        "Print the events of a topic, storage, golden folder or file. Exit code 1 if one did not decode."
    ),
    "serve": "Serve runs and verifications over HTTP, with a Kafka, until Ctrl-C.",
    "coverage": "Show which traps of the catalogue a topic or folder exercises, and which it misses.",
    "diff": "Compare two topics, folders or dumps as histories, whatever their protocols.",
    "conformance": (
        "Test how your consumer decodes messages. Exit code 1 if a case does not have the expected outcome."
    ),
    "verify": (
        "Verify a topic or folder against TiCDC's guarantees, and against a scenario if one is given."
    ),
    "scenario": (
        "Check scenario files, start new ones, list and print the shipped ones, print their JSON Schema."
    ),
    "golden": "Write the conformance corpus as files, and compare two of them.",
    "traps": "List the events that break consumers of TiCDC's topics: legal and illegal ones.",
    "broker": "A Kafka on this machine, without Docker: it runs until `broker stop`.",
    "bench": "Measure the tool on this machine.",
}
"""The first paragraph of each command's help, which the help of the program lists."""
MODULES = {
    **dict.fromkeys(("decode", "record", "transcode", "diff"), "topic_commands"),
    "coverage": "traps_command",
    "golden": "conformance_command",
}
"""The modules of commands that share one."""


class Commands(TyperGroup):
    """All commands: those that were not called have a name and a help, and nothing else."""

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Load the command that the arguments begin with."""
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = load_command(args[0])
        return super().resolve_command(ctx, args)


def load_command(name: str) -> Command:
    """Load a command with its subcommands: ``NAME_app`` of its module, or its function ``NAME``."""
    module = import_module(f"ticdc_producer.cli.{MODULES.get(name, f'{name}_command')}")
    group = getattr(module, f"{name}_app", None)
    if group is not None:
        command: Command = typer.main.get_group(group)
    else:
        app = typer.Typer(add_completion=False)
        app.command(name)(getattr(module, name))
        command = typer.main.get_command(app)
    command.name = name
    _refuse_uris(command)
    return command


def _refuse_uris(command: Command) -> None:
    """Let the options and arguments that are paths refuse URIs, before anything is read or written."""
    for option in command.params:
        option.callback = option.callback or _refuse_uri
    for subcommand in getattr(command, "commands", {}).values():
        _refuse_uris(subcommand)


def _refuse_uri(_context: Context, _option: object, value: object) -> object:
    return local_path(value) if isinstance(value, Path) else value


INTERRUPTED = 130
_ON_ARROW = {"run", "verify", "record", "mask", "transcode", "decode", "coverage", "diff"}
"""The commands whose work is done on Arrow columns."""
_HELP = {"-h", "--help"}

app = typer.Typer(
    name="ticdc-producer",
    cls=Commands,
    help="Simulates the sink side of TiCDC: SQL scenarios become Kafka topics, and topics are verified.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


for _name, _text in COMMANDS.items():
    app.command(_name, help=_text)(lambda: None)


def _version(requested: bool) -> None:
    if requested:
        from ticdc_producer.installation import own_version

        typer.echo(f"ticdc-producer {own_version()}")
        raise typer.Exit


@app.callback()
def _root(
    _show: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


def main(arguments: list[str] | None = None) -> int:
    """Run a command; errors become a message on stderr and an exit code.

    :param arguments: command line without the program's name; None: that of this process.
    :return: 0 ok, 1 violations found, 2 bad input, 3 the environment failed, 130 interrupted.
    """
    if arguments is None:
        guard_standard_streams()
    log_to_stderr()
    if undecoded := [text for text in arguments or sys.argv[1:] if _UNDECODED.search(text)]:
        return fail(_not_utf8(undecoded[0]))
    if arguments is None and sys.argv[1:2] and sys.argv[1] in _ON_ARROW and not _HELP.intersection(sys.argv):
        postpone_pandas()
        allocate_by_jemalloc()
    # SIGTERM unwinds the stack like Ctrl-C, so that brokers are stopped and incomplete folders removed.
    if sys.platform != "win32":
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        result = app(args=arguments, prog_name="ticdc-producer", standalone_mode=False)
    except typer.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except ProducerError as error:
        return _interrupted() if _caused_by_interrupt(error) else fail(error)
    except typer.TyperException as error:  # an unknown command or option
        return fail_usage(error)
    except ModuleNotFoundError as error:
        from ticdc_producer.installation import missing_part

        missing = missing_part(error)
        if missing is None:
            raise
        return fail(missing)
    except Exception as error:
        if _caused_by_interrupt(error):
            return _interrupted()
        own_error = worker_failure(error)
        if own_error is None:
            raise
        return fail(own_error)
    if result == INTERRUPTED:  # Typer turns an interrupt inside a command into this result
        return _interrupted()
    return result if isinstance(result, int) else 0


_UNDECODED = re.compile("[\udc80-\udcff]")
"""What Python puts in place of a byte of an argument that has no character in the locale's encoding."""


def _not_utf8(argument: str) -> ProducerError:
    printable = argument.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    what = f"the argument {printable} is not text in the encoding of the locale"
    error = ProducerError(what, hint="rename the file; or set PYTHONUTF8=1 if its name is UTF-8")
    error.exit_code = 2
    return error


def _interrupted() -> int:
    typer.echo("interrupted", err=True)
    return INTERRUPTED


def _caused_by_interrupt(error: BaseException) -> bool:
    """Return whether an error occurred while an interrupt was being handled.

    An interrupt breaks the Spark driver's connection to its JVM, so that cleanup may fail in many ways.
    """
    above = error.__context__
    return above is not None and (isinstance(above, KeyboardInterrupt) or _caused_by_interrupt(above))


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def log_to_stderr() -> None:
    """Send warnings and errors of libraries to stderr, unless logging is already configured."""
    root = logging.getLogger()
    if root.handlers:
        return
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(_not_py4j)
    root.addHandler(handler)


def _not_py4j(record: logging.LogRecord) -> bool:
    """Drop the messages of Py4J: it logs each interrupted JVM call with two traces and raises the error.

    Py4J logs to the root logger, so the path of its code identifies it.
    """
    return "py4j" not in Path(record.pathname).parts


_RAISED = re.compile(r"^ticdc_producer\.errors\.(\w+): (.+)$", re.MULTILINE)


def worker_failure(error: BaseException) -> ProducerError | None:
    """Return the error of this package in the text of a Spark exception; None if the text has none.

    :param error: its text ends with the worker's trace.
    """
    raised = _RAISED.search(str(error))
    if raised is None:
        return None
    name, text = raised.groups()
    failure = ProducerError(text)
    failure.exit_code = getattr(errors, name, ProducerError).exit_code
    return failure
