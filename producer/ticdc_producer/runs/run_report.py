"""The report of a run: its counts, its illegal faults with the verdict on them, and its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ticdc_producer.engine.choose import EngineChoice
from ticdc_producer.errors import ArgumentError
from ticdc_producer.faults.catalogue import EXPECTED_EVENTS, trap
from ticdc_producer.model.fidelity import has_commit_ts
from ticdc_producer.model.html_table import html_table
from ticdc_producer.runs.targets.first_messages import FirstEvents
from ticdc_producer.simulate.counts import Counts, discarded
from ticdc_producer.simulate.fault_counts import FaultCount, FaultSummary
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.targets.encode import Rejection
from ticdc_producer.verifier.verdict import RequestedFaults, Verdict

if TYPE_CHECKING:
    import pyarrow as pa

    from ticdc_producer.rows.origin import Origin
    from ticdc_producer.rows.table_rows import Rows


def reporting_invariants(name: str, verdict: Verdict) -> tuple[str, ...]:
    """Return the invariants by which a verdict reports an illegal trap; empty if the trap went unnoticed.

    :param name: id of the trap.
    """
    violated = {finding.id for finding in verdict.of_severity("error", "warning")}
    if verdict.comparison is not None and not verdict.comparison.ok:
        violated.add(EXPECTED_EVENTS)
    invariants = trap(name).violates
    unchecked = {finding.id for finding in verdict.of_severity("not checked")}
    if all(invariant in unchecked for invariant in invariants):
        invariants = (EXPECTED_EVENTS,)  # the protocol does not carry what the trap changes
    return tuple(invariant for invariant in invariants if invariant in violated)


def _not_injected(faults: Iterable[FaultCount]) -> dict[str, str]:
    """Return the traps without an occurrence, with the reasons.

    :param faults: the counts of a ``FaultSummary``.
    """
    return {fault["trap"]: fault["reason"] for fault in faults if not fault["places"]}


def requested_faults(verdict: Verdict, faults: Iterable[FaultCount]) -> RequestedFaults:
    """Return which illegal faults of a run its verdict reports.

    :param faults: the counts of a ``FaultSummary``.
    """
    faults = [*faults]
    injected = [fault["trap"] for fault in faults if fault["places"] and not fault["legal"]]
    return RequestedFaults(
        reported_by={name: reporting_invariants(name, verdict) for name in injected},
        may_cause={name: (*trap(name).violates, *trap(name).may_report) for name in injected},
        not_injected=_not_injected(faults),
    )


def faults_detected(verdict: Verdict, faults: Iterable[FaultCount]) -> bool:
    """Return whether a run's verdict is as requested: ok, or violated exactly by the injected illegal faults.

    :param faults: the counts of a ``FaultSummary``.
    """
    return requested_faults(verdict, faults).detected(verdict)


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """The result of a run.

    :param target: ``kafka://HOST:PORT/TOPIC`` or the folder or storage; empty for a dry run.
    :param counts: messages, events and bytes by topic, partition and kind.
    :param discarded: DDLs and rows that TiCDC never passes to its sink, with reasons.
    :param skipped: events that TiCDC's encoder rejects, skipped with ``on-error: skip``.
    :param preview: the first messages in the form of docs/documentation-sample.md; empty for protocols that
        have no such form.
    :param first_events: the first events, as ``decode`` prints them.
    :param verdict: None for a dry run.
    :param row_changes: row changes of the scenario; 0: unknown.
    :param broker_pid: process id of an embedded broker that was left running, else 0.
    :param embedded: whether the topics are those of an embedded broker.
    :param faults: the injected faults.
    :param traps: the traps that the run injects.
    :param engine: the engine that ran, and why; None: it is not known.
    :param origin: returns the run's messages; None: they do not exist any more.
    """

    scenario: str
    target: str
    dry_run: bool
    counts: Counts
    discarded: list[dict[str, object]]
    skipped: list[Rejection]
    preview: list[str] = field(default_factory=list)
    first_events: FirstEvents = field(default_factory=FirstEvents)
    warnings: tuple[str, ...] = ()
    verdict: Verdict | None = None
    broker_pid: int = 0
    embedded: bool = False
    faults: FaultSummary = field(default_factory=FaultSummary)
    row_changes: int = 0
    traps: tuple[str, ...] = ()
    engine: EngineChoice | None = None
    origin: Callable[[], Origin] | None = field(default=None, repr=False, compare=False)

    def messages(self) -> Rows:
        """Return the run's messages (shape ``MESSAGES``).

        :raises ArgumentError: if the run kept no messages.
        :raises ProducerError: if its target cannot be read.
        """
        from ticdc_producer.rows.table_rows import message_rows

        return message_rows(self._origin(), self.target)

    def events(self) -> Rows:
        """Return the events of the run's messages (shape ``DECODED``), as ``decode`` yields them.

        :raises ArgumentError: if the run kept no messages.
        :raises ProducerError: if its target cannot be read.
        """
        from ticdc_producer.rows.table_rows import event_rows

        return event_rows(self._origin(), self.target)

    def state(self, table: str, at: int | None = None, *, schema: pa.Schema | None = None) -> Rows:
        """Return the rows of a table, as the run's messages leave them.

        :param table: ``SCHEMA.TABLE``.
        :param at: TSO of the state; None: the end.
        :param schema: columns with other types; by default those of the data source of Spark.
        :raises ArgumentError: if the run kept no messages, and for a table that they do not have.
        :raises ProducerError: if its target cannot be read.
        """
        from ticdc_producer.rows.table_rows import state_rows

        return state_rows(self._origin(), self.target, table, at, schema)

    def _origin(self) -> Origin:
        if self.origin is None:
            what = "the messages of this run were not kept"
            hint = "run it with `out=` for a folder, or with `keep=True`"
            raise ArgumentError(what, argument="out", hint=hint)
        return self.origin()

    @property
    def ok(self) -> bool:
        """Whether the stream is correct; with injected illegal faults: whether exactly these are reported.

        A trap without an occurrence is a failure, also in a run without a verdict.
        """
        if self.verdict is None:
            return not self.not_injected
        return faults_detected(self.verdict, self.faults.counts)

    @property
    def not_injected(self) -> dict[str, str]:
        """The traps without an occurrence, with the reasons."""
        return _not_injected(self.faults.counts)

    @property
    def requested_faults(self) -> RequestedFaults | None:
        """The injected illegal faults with the findings that report them, and the traps that were not
        injected; None without a verdict.
        """
        return None if self.verdict is None else requested_faults(self.verdict, self.faults.counts)

    def to_json(self) -> dict[str, object]:
        """Return the report with stable keys."""
        return {
            "ok": self.ok,
            "scenario": self.scenario,
            "target": self.target,
            "dry_run": self.dry_run,
            "engine": None if self.engine is None else self.engine.to_json(),
            "kinds": self.counts.by_kind(),
            "partitions": self.counts.by_partition(),
            "discarded": self.discarded,
            "skipped": self.skipped,
            "warnings": list(self.warnings),
            "broker_pid": self.broker_pid,
            "faults": list(self.faults.counts),
            "fault_places": list(self.faults.occurrences),
            **({"unmet_faults": self.faults.unmet.to_json()} if self.faults.unmet.count else {}),
            "verdict": None if self.verdict is None else self.verdict.to_json(),
        }

    def _repr_html_(self) -> str:
        """Return the counts and the verdict as a table of a notebook."""
        kinds = self.counts.by_kind().items()
        rows = [
            ("target", self.target or "none: a dry run"),
            ("engine", str(self.engine)),
            *(
                (kind, f"{count['events']:,} events in {count['messages']:,} messages")
                for kind, count in kinds
            ),
            *(("warning", warning) for warning in self.warnings),
            *([] if self.verdict is None else self.verdict.html_rows),
        ]
        title = f"Run of {self.scenario}: {'ok' if self.ok else 'failed'}"
        return html_table(title, ("", ""), rows)


def report_of(
    simulation: Simulation,
    counts: Counts,
    skipped: list[Rejection],
    warnings: tuple[str, ...],
    *,
    dry_run: bool = False,
) -> RunReport:
    """Return the report of a run whose target and verdict are not known yet."""
    return RunReport(
        scenario=simulation.job.scenario.name,
        target="",
        dry_run=dry_run,
        counts=counts,
        discarded=discarded(simulation.job),
        skipped=skipped,
        warnings=warnings,
    )


@dataclass(frozen=True)
class Progress:
    """The progress of writing a run.

    :param messages: number of messages written.
    :param total: total messages; extrapolated from progress if not counted; None until that is possible.
    :param ts: TSO up to which every partition is written; 0 while a partition is empty, and for protocols
        without commit-ts.
    """

    messages: int
    total: int | None
    ts: int = 0


OnProgress: TypeAlias = Callable[[Progress], None]


def final_progress(job: Job, messages: int) -> Progress:
    """Return the progress of a run that is written, without measuring it.

    :param messages: number of messages of the run.
    """
    commits = job.history.commits
    known = commits and has_commit_ts(job.encoder.fidelity.commit_ts)
    return Progress(messages, messages, job.stream.resolved.clock.ts(commits - 1) if known else 0)
