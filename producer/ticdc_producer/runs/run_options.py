"""The options of a run, whatever its input and its target, and its status lines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ticdc_producer.config import SinkKind
from ticdc_producer.engine import EngineOption
from ticdc_producer.runs.options.rule import BROKER, EMBEDDED, PULSAR, STORAGE
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.run_report import OnProgress
from ticdc_producer.runs.verification import OnVerdict, ignore_verdict
from ticdc_producer.simulate.job import Job

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


def check_sink_options(job: Job, options: RunOptions) -> None:
    """Reject options that would have no effect with the sink of a job.

    :raises ProducerError: for the first such option.
    """
    uri, given = job.changefeed.sink_uri, dict(vars(options))
    sink = EMBEDDED if uri.embedded else BROKER
    if uri.kind is SinkKind.STORAGE:
        sink = STORAGE
        given |= {"state_at": job.state_at, "inject": job.traps}
    elif uri.kind is SinkKind.PULSAR:
        sink = PULSAR
    check_options("run", given, sink)
