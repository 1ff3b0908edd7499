"""Execute a prepared job: encode its events once, write them to its targets, read them again and verify."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from ticdc_producer.runs.change_log import RunChangeLog
from ticdc_producer.runs.counts import Counts, discarded, skipped_events
from ticdc_producer.runs.encoded import Encoded, encode_once
from ticdc_producer.runs.fault_frames import (
    events_of_a_correct_stream,
    fault_occurrences,
    sent_events,
    summarized,
)
from ticdc_producer.runs.prepare import Job
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.target import MessageTarget, Target
from ticdc_producer.runs.verification import Expected
from ticdc_producer.spark.background_jobs import materialized
from ticdc_producer.targets.encoding.ordered_events import EventFrame, OrderedEvents


def execute(job: Job, committed: RunChangeLog, targets: Sequence[Target], options: RunOptions) -> RunReport:
    """Run a prepared job on a change log.

    :param targets: as returned by ``checked_targets``.
    """
    faults = job.event_faults()
    again = faults is not None and committed.shuffles(faults)
    with committed.materialize_rows(job.stream) if again else nullcontext(committed) as committed:
        run = _Run(job, committed, targets, options, targets[0].events(committed))
        return run.only_messages() if options.messages_only else run.execute()


@dataclass
class _Run:
    """A run.

    :param faulted_events: the event stream, including the events that faults removed.
    """

    job: Job
    committed: RunChangeLog
    targets: Sequence[Target]
    options: RunOptions
    faulted_events: OrderedEvents

    def execute(self) -> RunReport:
        with ExitStack() as stack:
            if self._encodes_again and isinstance(self.faulted_events, EventFrame):
                events = materialized(self.faulted_events.frame, in_order=True)
                self.faulted_events = EventFrame(stack.enter_context(events))
            encoded = stack.enter_context(self._encoded())
            report = self._report_of(encoded)
            if self.options.dry_run:
                return report
            correct = stack.enter_context(self._correct(encoded))
            for target in self.targets:
                with target.opened():
                    report = self._written(target, encoded, correct, report)
            return report

    @property
    def _encodes_again(self) -> bool:
        """Whether the events are encoded in another way, too: without faults, or with registered schemas."""
        again = self.job.faults is not None or any(target.encodes_again for target in self.targets)
        return again and not self.options.dry_run

    def _encoded(self) -> AbstractContextManager[Encoded]:
        written = not self.options.dry_run
        compared = self.options.verify_output and self.job.faults is None
        return encode_once(
            self.job,
            self.faulted_events,
            messages=written and not all(target.encodes_again for target in self.targets),
            carried=written and (compared or any(target.holds_expected_events for target in self.targets)),
        )

    def _correct(self, encoded: Encoded) -> AbstractContextManager[Encoded]:
        """The stream with which the messages are compared: with legal faults, without illegal ones."""
        if self.job.faults is None or not self.options.verify_output:
            return nullcontext(encoded)
        events = events_of_a_correct_stream(self.job, self.committed, self.faulted_events)
        return encode_once(self.job, events, carried=True, faults=False)

    def _report_of(self, encoded: Encoded) -> RunReport:
        counts = encoded.counts
        skipped = skipped_events(self.job, encoded.entries, counts.rejected)
        self.options.on_status(f"encoded {sum(counts.events.values())} events into {counts.total} messages")
        for target in self.targets:
            target.check_encoded(encoded)
        report = self._report(counts, skipped)
        if self.job.faults is None:
            return report
        return replace(report, faults=summarized(self.job, fault_occurrences(encoded.entries)))

    def _written(self, target: Target, encoded: Encoded, correct: Encoded, report: RunReport) -> RunReport:
        """Write an open target and verify it."""
        steps = self.committed.steps
        report = target.write(encoded, steps, report)
        report = replace(report, target=target.name, broker_pid=target.broker_pid)
        if not self.options.verify_output:
            return report
        expected = Expected(target.job, steps, correct, encoded.skipped_tables)
        return target.verified(expected, report)

    def only_messages(self) -> RunReport:
        """Write the messages of the first target in one pass, without verifying them."""
        target = next(target for target in self.targets if isinstance(target, MessageTarget))
        with target.opened():
            counts, skipped = target.write_in_one_pass(sent_events(self.job, self.faulted_events))
            report = self._report(counts, skipped)
            return replace(report, target=target.name, broker_pid=target.broker_pid)

    def _report(self, counts: Counts, skipped: list[dict[str, Any]]) -> RunReport:
        return RunReport(
            scenario=self.job.scenario.name,
            target="",
            dry_run=self.options.dry_run,
            counts=counts,
            discarded=discarded(self.job),
            skipped=skipped,
            warnings=self.targets[0].warnings,
        )
