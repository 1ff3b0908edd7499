"""Options of a run that are of a broker, where the run has none or another."""

from __future__ import annotations

from ticdc_producer.config.sink_uri import SinkURI
from ticdc_producer.errors import ArgumentError


def check_broker_options(uri: SinkURI, *, to_folder: bool, dry_run: bool, append: bool, keep: bool) -> None:
    """Refuse what would have no effect.

    :param to_folder: a golden folder is written, and no topic unless the sink URI names brokers.
    :param append: write behind the messages that a topic holds.
    :param keep: leave the embedded broker running.
    :raises ArgumentError: for an option that this run has no use for.
    """
    for name, given in (("append", append), ("keep", keep)):
        if given and dry_run:
            raise _refused(name, "does not go with --dry-run", "which writes nothing")
        if given and to_folder and uri.embedded:
            hint = "without a host in the sink URI the folder is all that is written"
            raise _refused(name, "does not go with --out", hint)
    if append and uri.embedded:
        hint = "kafka://HOST:PORT/TOPIC; an embedded broker begins empty"
        raise _refused("append", "needs the broker that holds the topic", hint)
    if keep and not uri.embedded:
        hint = "the brokers of the sink URI stay as they are"
        raise _refused("keep", "is of the embedded broker, which this run does not start", hint)


def _refused(name: str, what: str, hint: str) -> ArgumentError:
    return ArgumentError(f"--{name} {what}", argument=name, hint=hint)
