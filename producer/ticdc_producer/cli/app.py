"""Runs a command, and turns errors into messages and exit codes."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import Annotated

import typer

from ticdc_producer.cli.commands import Commands
from ticdc_producer.cli.log import log_to_stderr
from ticdc_producer.cli.options import fail, fail_usage
from ticdc_producer.cli.worker_failure import worker_failure
from ticdc_producer.errors import ProducerError

INTERRUPTED = 130
_NEW_OBJECTS = 100_000
"""Threshold of garbage collection. The default, 700, would run it often while modules load, in vain."""

app = typer.Typer(
    name="ticdc-producer",
    cls=Commands,
    help="Simulates the sink side of TiCDC: SQL scenarios become Kafka topics, and topics are verified.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"ticdc-producer {version('ticdc-producer')}")
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
    gc.set_threshold(_NEW_OBJECTS)
    log_to_stderr()
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
    except BrokenPipeError:  # `| head` closed our output
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
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


def _interrupted() -> int:
    typer.echo("interrupted", err=True)
    return INTERRUPTED


def _caused_by_interrupt(error: BaseException) -> bool:
    """Whether an error occurred while an interrupt was being handled.

    An interrupt breaks the Spark driver's connection to its JVM, so that cleanup may fail in many ways.
    """
    above = error.__context__
    return above is not None and (isinstance(above, KeyboardInterrupt) or _caused_by_interrupt(above))


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt
