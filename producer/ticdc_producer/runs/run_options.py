"""The options of a run, whatever its input and its target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ticdc_producer.runs.progress import OnProgress
from ticdc_producer.runs.run_report import OnStatus, ignore_status
from ticdc_producer.runs.verification import OnVerdict, ignore_verdict


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
    on_status: OnStatus = ignore_status
    on_progress: OnProgress | None = None
    on_verdict: OnVerdict = ignore_verdict
