"""The expected contents of a stream: the events and rows of a scenario, or those of a golden folder."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ticdc_producer.simulate.job import Job
from ticdc_producer.verifier.comparison import Comparison
from ticdc_producer.verifier.match import ExpectedState, ExpectedStream
from ticdc_producer.verifier.snapshot import Snapshot
from ticdc_producer.verifier.stream_stats import StreamStats


class Oracle(ABC):
    """The expectations that a stream is compared with.

    :ivar job: the prepared scenario; None if only its results are known.
    :ivar rejected_tables: ``schema.table`` of tables with rejected rows; their state is not compared.
    """

    job: Job | None
    rejected_tables: frozenset[str]

    @abstractmethod
    def events(self) -> ExpectedStream | None:
        """Return the expected events; None if they are unknown."""

    @abstractmethod
    def states(self, stats: StreamStats) -> list[ExpectedState]:
        """Return the expected rows at the end, and at other times; empty if they are unknown.

        :param stats: the statistics of one pass over the stream.
        """

    def snapshot(self) -> Snapshot | None:
        """Return the tables and rows with which a consumer starts; None if the stream begins without any."""
        return None

    def complete(self, comparison: Comparison | None) -> Comparison | None:
        """Return the comparison of events with what is known without reading the stream."""
        return comparison
