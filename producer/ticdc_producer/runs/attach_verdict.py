"""Completes the report of a run by the verdict on the messages that were read from the target."""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.runs.preview import first_lines, first_messages
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.verification import Expected, verify_messages
from ticdc_producer.verifier.messages import Messages
from ticdc_producer.verifier.options import Strictness


def attach_verdict(
    expected: Expected, messages: Messages, report: RunReport, options: RunOptions, *, claims: str
) -> RunReport:
    """The report with the verdict and the first messages.

    :param expected: what the run's scenario requires.
    :param messages: those that were read from the target.
    :param claims: location of the claim-check objects, as URI or path.
    """
    options.on_status(f"reading {report.target} again and verifying it")
    changefeed = expected.job.changefeed
    # Whether these messages are all that was ever sent for the tables.
    whole = options.from_beginning and not options.append
    verdict = verify_messages(
        changefeed,
        messages,
        expected,
        strictness=Strictness(from_beginning=whole),
        claims=claims,
        on_verdict=options.on_verdict,
    )
    has_preview = changefeed.spec.log_lines is not None
    preview = first_lines(first_messages(messages.frame), changefeed) if has_preview else []
    return replace(report, verdict=verdict, preview=preview)
