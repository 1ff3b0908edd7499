"""Checks of the run options that need a broker of a certain kind."""

from __future__ import annotations

from ticdc_producer.config.sink_uri import SinkURI
from ticdc_producer.errors import ArgumentError
from ticdc_producer.runs.run_options import RunOptions


def check_broker_options(uri: SinkURI, options: RunOptions) -> None:
    """Reject options that would have no effect.

    :raises ArgumentError: for an option that has no effect in this run.
    """
    given = [name for name in ("append", "replace", "resume") if getattr(options, name)]
    if len(given) > 1:
        name, other, *_ = given
        raise _refused(name, f"cannot be combined with `{other}`", "choose one of them")
    for name in ("append", "replace", "keep"):
        if getattr(options, name) and options.dry_run:
            raise _refused(name, "cannot be combined with `dry_run`", "a dry run writes nothing")
    if options.replace and options.out is None and uri.embedded:
        hint = "kafka://HOST:PORT/TOPIC; an embedded broker starts empty"
        raise _refused("replace", "requires `out`, or a sink URI with a broker", hint)
    if options.append and options.out is not None and uri.embedded:
        hint = "the sink URI names no host, so only the folder is written"
        raise _refused("append", "cannot be combined with `out`", hint)
    if options.append and uri.embedded:
        hint = "kafka://HOST:PORT/TOPIC; an embedded broker starts empty"
        raise _refused("append", "requires a sink URI with a broker", hint)
    if options.keep and not uri.embedded:
        hint = "the brokers of the sink URI keep running anyway"
        raise _refused("keep", "applies to the embedded broker, which this run does not start", hint)


def _refused(name: str, what: str, hint: str) -> ArgumentError:
    return ArgumentError(f"`{name}` {what}", argument=name, hint=hint).about(
        name, "dry_run", "out", "replace", "resume"
    )
