"""The events and rows that a scenario requires of its stream."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ticdc_producer.engine.dataset import Dataset, Engine, united
from ticdc_producer.model.shapes import STATE
from ticdc_producer.oracle.comparable_tables import uncomparable_tables, unverifiable_tables
from ticdc_producer.oracle.decoded_state import decoded_batches, decoded_sql_state, visible_table
from ticdc_producer.oracle.oracle import Oracle
from ticdc_producer.simulate.change_log import UpstreamLog
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.state import commits_at
from ticdc_producer.verifier.expected import ExpectedState, ExpectedStream
from ticdc_producer.verifier.stream_facts import StreamFacts
from ticdc_producer.verifier.table_state import Tables


@dataclass(frozen=True)
class ScenarioOracle(Oracle):
    """What a scenario requires of a stream.

    :param engine: that of all datasets.
    :param log: its change log, of which the rows are made.
    :param expected: the events, without illegal faults.
    """

    job: Job
    engine: Engine
    log: UpstreamLog
    expected: ExpectedStream
    skipped: frozenset[str] = frozenset()

    def events(self) -> ExpectedStream:
        return self.expected

    def states(self, facts: StreamFacts) -> list[ExpectedState]:
        """Return the rows at the end, and at the job's ``state_at`` after all events up to that commit-ts."""
        reasons = unverifiable_tables(self.job)
        return [self._state(uncomparable_tables(reasons, facts, ts), ts) for ts in (None, *self.job.state_at)]

    def _state(self, unverifiable: dict[str, str], ts: int | None) -> ExpectedState:
        left_out, job, engine = {*unverifiable, *self.skipped}, self.job, self.engine
        of_sql = decoded_sql_state(job, left_out, ts)
        tables = set(zip(*(of_sql.column(name).to_pylist() for name in ("schema", "table")), strict=True))
        parts: list[tuple[tuple[str, str], Dataset]] = []
        for source in self.log.sources:
            for table, rows in source.rows(engine, job, commits_at(job, ts)):
                if table.qualified_name not in left_out:
                    decoded = rows.map(partial(decoded_batches, job, table), STATE)
                    parts.append((visible_table(job, table), decoded))
        tables |= {name for name, _ in parts}

        def of_tables(chosen: Tables) -> Dataset:
            sql = engine.of_batches(of_sql.to_batches(), STATE)
            return united([sql, *(rows for name, rows in parts if name in chosen)])

        return ExpectedState(of_tables, tables, unverifiable, ts)
