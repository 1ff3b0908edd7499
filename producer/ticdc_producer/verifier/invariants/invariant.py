"""An invariant: a rule that every legal stream satisfies, and the check for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ticdc_producer.verifier.finding import Severity
from ticdc_producer.verifier.invariants.preconditions import Preconditions, Unmet
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.passes.batch_groups import BatchGroups
from ticdc_producer.verifier.passes.partition_marks import MarkedEvents
from ticdc_producer.verifier.passes.row_history import KeyChecks
from ticdc_producer.verifier.stream_stats import StreamStats
from ticdc_producer.verifier.violations import Violations

EventCheck: TypeAlias = Callable[[MarkedEvents], Violations]
KeyCheck: TypeAlias = Callable[[KeyChecks], Violations]
BatchCheck: TypeAlias = Callable[[BatchGroups], Violations]


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """One rule that every legal stream satisfies.

    :param severity: the usual severity; a check may report a milder one.
    :param statement: what must hold, as a sentence.
    :param hint: usual cause of a violation.
    :param preconditions: yields the unmet ones, given the statistics of one pass over the stream.
    :param by_event: check of single events, in the order of their partition.
    :param by_key: check of the events of a row key or time.
    :param by_batch: check of the rows that TiCDC's batcher orders.
    :param enabled: whether the options enable it; a disabled invariant is not reported at all.
    :param without_row_commit_ts: it can be checked although rows carry no commit-ts.
    """

    id: str
    severity: Severity
    statement: str
    hint: str
    preconditions: Preconditions
    by_event: EventCheck | None = None
    by_key: KeyCheck | None = None
    by_batch: BatchCheck | None = None
    enabled: Callable[[VerifyOptions], bool] = lambda _options: True
    without_row_commit_ts: bool = False

    def unmet(self, stats: StreamStats) -> Iterator[Unmet]:
        """Yield the preconditions that this stream does not meet."""
        if not (self.without_row_commit_ts or stats.options.rows_have_commit_ts):
            yield Unmet("the rows carry no commit-ts")
        else:
            yield from self.preconditions(stats)

    def is_checked(self, stats: StreamStats) -> bool:
        """Return whether it is enabled and can be checked, at least for some rows."""
        return self.enabled(stats.options) and all(unmet.rows for unmet in self.unmet(stats))
