"""Which faults are injected where: the plan that all stages share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ticdc_producer.faults.segments import Segments


@dataclass(frozen=True, slots=True)
class IllegalFault:
    """One illegal fault.

    :param number: counts the faults of one trap from 0.
    :param segments: the segments that are reserved for it; one event in them is changed.
    """

    trap: str
    number: int
    segments: range


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultPlan:
    """The faults of one run.

    :param rates: rates of the legal faults of single events and messages, by trap id.
    :param segment_rates: rates of the legal faults that concern a whole segment, by trap id.
    :param fixed: trap ids of such faults that were requested by number, by segment.
    :param illegal: the illegal faults.
    :param ddl_ts: commit-ts of the DDLs that are sent.
    """

    seed: int
    segments: Segments
    rates: Mapping[str, float] = field(default_factory=dict)
    segment_rates: Mapping[str, float] = field(default_factory=dict)
    fixed: Mapping[int, str] = field(default_factory=dict)
    illegal: tuple[IllegalFault, ...] = ()
    ddl_ts: tuple[int, ...] = ()

    @property
    def ddl_segments(self) -> frozenset[int]:
        """Segments in which a DDL is sent."""
        return frozenset(map(self.segments.of, self.ddl_ts))

    @property
    def reserved(self) -> frozenset[int]:
        """Segments that are reserved for illegal faults."""
        return frozenset(number for one in self.illegal for number in one.segments)

    @property
    def segment_faults(self) -> frozenset[str]:
        """The traps that whole segments may have."""
        return frozenset((*self.segment_rates, *self.fixed.values()))

    @property
    def repeats(self) -> bool:
        """Whether any segment may have events that are delivered again or later."""
        return bool(self.segment_faults)
