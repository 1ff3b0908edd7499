"""The command ``ticdc-producer``: thin; the work is done by ``ticdc_producer.api``, or by a service."""

from __future__ import annotations

_NEW_OBJECTS = 100_000
"""Threshold of garbage collection. The default, 700, would run it often while modules load, in vain."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; errors become a message on stderr and an exit code.

    A command that addresses a service (``--server``) is sent there before any module is loaded that it does
    not need: Typer, rich and pydantic cost thirty times as much as such a command may cost.

    :param arguments: command line without the program's name; None: that of this process.
    :return: 0 ok, 1 violations found, 2 bad input, 3 the environment failed, 130 interrupted.
    """
    import sys

    from ticdc_producer.cli.remote.server_client import run_on_server, server_of

    given = sys.argv[1:] if arguments is None else arguments
    url = server_of(given)
    if url is not None:
        return run_on_server(url, given)
    import gc

    gc.set_threshold(_NEW_OBJECTS)
    from ticdc_producer.cli.app import main as run_here

    return run_here(arguments)
