"""The options of a run, whatever its input and its target, and its status lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ticdc_producer.config.sink_uri import SinkURI
from ticdc_producer.engine import EngineOption
from ticdc_producer.errors import ArgumentError
from ticdc_producer.runs.run_report import OnProgress
from ticdc_producer.runs.verification import OnVerdict, ignore_verdict

OnStatus: TypeAlias = Callable[[str], None]
"""Called with a line of text for each step of the work."""


def ignore_status(_line: str) -> None:
    """Do nothing: the default ``on_status``."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of a run.

    :param out: the golden folder to write; None: none.
    :param append: write after the messages that a topic already holds.
    :param replace: delete the topics and the golden folder that exist, when everything is encoded.
    :param resume: continue an earlier run of the same scenario that did not finish.
    :param dry_run: count and encode, write nothing.
    :param keep: leave the embedded broker running.
    :param messages_only: write the messages in one pass, without expected events, state or verification.
    :param from_beginning: the change log holds the whole history of each row. True for a scenario without
        ``data`` steps, whose tables may have had rows before.
    :param verify_output: read the written messages again and verify them.
    :param engine: the engine that is requested; ``auto``: the faster one.
    :param on_status: called with a line of text for each step of the work.
    :param on_progress: called every second with the progress of writing, and at its end.
    :param on_verdict: called with the decoded stream and the verdict, for reports.
    """

    out: Path | None = None
    append: bool = False
    replace: bool = False
    resume: bool = False
    dry_run: bool = False
    keep: bool = False
    messages_only: bool = False
    from_beginning: bool = False
    verify_output: bool = True
    engine: EngineOption = "auto"
    on_status: OnStatus = ignore_status
    on_progress: OnProgress | None = None
    on_verdict: OnVerdict = ignore_verdict


def check_broker_options(uri: SinkURI, options: RunOptions) -> None:
    """Reject options that would have no effect.

    :raises ArgumentError: for an option that has no effect in this run.
    """
    for name in ("append", "resume"):
        if getattr(options, name) and options.replace:
            raise _rejected(name, "cannot be combined with `replace`", "choose one of them")
    for name in ("append", "replace", "keep"):
        if getattr(options, name) and options.dry_run:
            raise _rejected(name, "cannot be combined with `dry_run`", "a dry run writes nothing")
    if options.replace and options.out is None and uri.embedded:
        hint = "kafka://HOST:PORT/TOPIC; an embedded broker starts empty"
        raise _rejected("replace", "requires `out`, or a sink URI with a broker", hint)
    if options.append and options.out is not None and uri.embedded:
        hint = "the sink URI names no host, so only the folder is written"
        raise _rejected("append", "cannot be combined with `out`", hint)
    if options.append and uri.embedded:
        hint = "kafka://HOST:PORT/TOPIC; an embedded broker starts empty"
        raise _rejected("append", "requires a sink URI with a broker", hint)
    if options.keep and not uri.embedded:
        hint = "the brokers of the sink URI keep running anyway"
        raise _rejected("keep", "applies to the embedded broker, which this run does not start", hint)


def _rejected(name: str, what: str, hint: str) -> ArgumentError:
    return ArgumentError(f"`{name}` {what}", argument=name, hint=hint).about(
        name, "dry_run", "out", "replace", "resume"
    )
