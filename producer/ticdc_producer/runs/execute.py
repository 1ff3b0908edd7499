"""Execute a prepared job: encode its events once, write them to its targets, read them again and verify."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from ticdc_producer.oracle.scenario import ScenarioOracle
from ticdc_producer.runs.progress import final_progress
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.runs.run_report import RunReport, report_of
from ticdc_producer.runs.target import Target
from ticdc_producer.simulate.counts import Counts
from ticdc_producer.simulate.encode import EncodedStream, encoded
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.verifier.expected import ExpectedStream


def execute(simulation: Simulation, targets: Sequence[Target], options: RunOptions) -> RunReport:
    """Run a prepared job.

    :param targets: as returned by ``checked_targets``.
    """
    with ExitStack() as stack:
        simulation.events = targets[0].events(simulation, stack)
        run = _Run(simulation, targets, options, stack)
        return run.only_messages() if options.messages_only else run.execute()


@dataclass
class _Run:
    """A run."""

    simulation: Simulation
    targets: Sequence[Target]
    options: RunOptions
    stack: ExitStack

    def execute(self) -> RunReport:
        if self._encodes_again:
            events = self.simulation.events.cached(in_order=True)
            self.simulation.events = self.stack.enter_context(events)
        self.simulation.encoded = self._encoded()
        report = self._report_of(self.simulation.encoded)
        if self.options.dry_run:
            return report
        self.simulation.correct = self._correct()
        for target in self.targets:
            with target.opened():
                report = self._written(target, report)
        reported = any(target.measures_progress for target in self.targets)
        if self.options.on_progress is not None and not reported:
            self.options.on_progress(final_progress(self.simulation.job, report.counts.total))
        return report

    @property
    def _encodes_again(self) -> bool:
        """Whether the events are encoded in another way, too: without faults, or with registered schemas."""
        again = self.simulation.job.faults is not None
        again = again or any(target.encodes_again for target in self.targets)
        return again and not self.options.dry_run and not self.simulation.is_divided

    def _encoded(self) -> EncodedStream:
        job, written = self.simulation.job, not self.options.dry_run
        compared = self.options.verify_output and job.faults is None
        stream = encoded(
            job,
            self.simulation.events,
            messages=written and not all(target.encodes_again for target in self.targets),
            carried=written and (compared or any(target.holds_expected_events for target in self.targets)),
        )
        return self.stack.enter_context(stream)

    def _correct(self) -> EncodedStream:
        """Return the stream with which the messages are compared: with legal faults, without illegal ones."""
        job = self.simulation.job
        if job.faults is None or not self.options.verify_output:
            return self.simulation.encoded
        events = self.simulation.correct_events(self.simulation.events, self.stack)
        return self.stack.enter_context(encoded(job, events, carried=True, faults=False))

    def _report_of(self, stream: EncodedStream) -> RunReport:
        counts = stream.counts
        skipped = stream.skipped_events()
        self.options.on_status(f"encoded {sum(counts.events.values())} events into {counts.total} messages")
        for target in self.targets:
            target.check_encoded(self.simulation)
        return replace(self._report(stream.counts, skipped), faults=stream.fault_summary)

    def _written(self, target: Target, report: RunReport) -> RunReport:
        """Write an open target and verify it."""
        report = target.write(self.simulation, report)
        report = replace(report, target=target.name, broker_pid=target.broker_pid)
        if not self.options.verify_output:
            return report
        expected = ExpectedStream(self.simulation.correct.expected_events)
        skipped = self.simulation.encoded.skipped_tables
        oracle = ScenarioOracle(target.job, self.simulation.engine, self.simulation.log, expected, skipped)
        return target.verified(self.simulation, oracle, report)

    def only_messages(self) -> RunReport:
        """Write the messages of the first target in one pass, without verifying them."""
        target = self.targets[0]
        with target.opened():
            counts, skipped = target.write_in_one_pass(self.simulation)
            report = self._report(counts, skipped)
            return replace(report, target=target.name, broker_pid=target.broker_pid)

    def _report(self, counts: Counts, skipped: list[dict[str, Any]]) -> RunReport:
        return report_of(
            self.simulation, counts, skipped, self.targets[0].warnings, dry_run=self.options.dry_run
        )
