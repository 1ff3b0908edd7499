"""The prepared input of a run: what is simulated, and how its events are encoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Literal, TypeAlias

from ticdc_producer.config import Changefeed
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.event_context import with_drifted
from ticdc_producer.faults.fault_plan import FaultPlan, RecordedFaults
from ticdc_producer.faults.message_faults import MessageFaults
from ticdc_producer.faults.plan import plan_faults
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.faults.trap import ChangefeedTrap, TrapSetting
from ticdc_producer.model import tso
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.parameter import SinkKind
from ticdc_producer.pipeline.control_events import ResolvedPlan
from ticdc_producer.pipeline.event_stream import StreamPlan, key_updates
from ticdc_producer.pipeline.mutations import split_columns
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.avro.schemas import assign_ids, assign_uuids
from ticdc_producer.protocols.base import Encoder, Schema, SchemaIDs
from ticdc_producer.protocols.spec import Options
from ticdc_producer.protocols.wire_digests import WireDigests
from ticdc_producer.scenario.commit_times import clock_of, commits_until
from ticdc_producer.scenario.history import History, State
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.targets.encode import EncodePlan
from ticdc_producer.targets.kafka.schema_registry import registered

MOST_UPDATES_IN_ORDER = 6
"""Six updates split into 12 rows, the most for which Go's sort is stable."""


Digests: TypeAlias = Literal["bytes", "canonical form"]
"""What the digests of events are computed of (``protocols.wire``)."""


_OF_TOPOLOGY = (
    "protocol", "profile", "partition_num", "topic_partitions", "dispatchers", "filter", "column_selectors",
    "force_replicate", "case_sensitive", "enable_tidb_extension", "output_raw_change_event", "output_ddl",
    "only_output_updated_columns", "encoding_format",
)  # fmt: skip
"""The options that decide which events a partition has, and their order."""


def _topology(changefeed: Changefeed) -> dict[str, object]:
    return {name: getattr(changefeed, name) for name in _OF_TOPOLOGY}


def _joined(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the numbers of some ranges as ranges that do not overlap, in order.

    >>> _joined([(0, 0), (5, 9), (2, 6), (12, 13)])
    ((2, 9), (12, 13))
    """
    joined: list[tuple[int, int]] = []
    for first, stop in sorted((first, stop) for first, stop in ranges if first < stop):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((first, stop))
    return tuple(joined)


def _large_tables(history: History) -> frozenset[int]:
    """Return the physical ids of the tables of large DataFrames of which TiCDC may split updates.

    Tables whose rows lack their hidden row ids are left out: the order before the sort is that of these ids.
    """
    if not history.data:
        return frozenset()
    from ticdc_producer.scenario.frames.frame_plan import FramePlan  # most scenarios have no such step

    plans = (plan for plan in history.data if isinstance(plan, FramePlan))
    tables = (
        table
        for plan in plans
        for table in plan.versions.tables
        if table.table_id in plan.table_ids
        and (table.clustered_key is not None or table.table_id in plan.row_ids)
    )
    return frozenset(
        number
        for table in tables
        if split_columns(table)
        for number in ([part.id for part in table.partitions] or [table.table_id])
    )


@dataclass(frozen=True, kw_only=True)
class Job:
    """The prepared input of a run or a comparison; lives on the driver.

    :param scenario: the scenario as it was read.
    :param history: the commits of its SQL, and the plans of its other steps.
    :param state_at: time stamps (TSO) of expected states, in addition to the state at the end.
    :param sent: number of commits that a run has written which ended early, or at a target-ts; None: all.
    :param traps: settings of the traps to inject, by trap id.
    :param schema_ids: ids that a registry assigned to ``schemas``; None: they are numbered from 1.
    :param fitted: the plan of the faults whose positions were compared with the stream; None: it is drawn.
    :param not_injected: why traps have no occurrence, by trap id, if it is known before the run.
    """

    scenario: ScenarioFile
    history: History
    changefeed: Changefeed
    state_at: tuple[int, ...] = ()
    sent: int | None = None
    traps: Mapping[str, TrapSetting] = field(default_factory=dict)
    schema_ids: SchemaIDs | None = None
    fitted: FaultPlan | None = None
    not_injected: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def faults(self) -> FaultPlan | None:
        """The plan of the faults of events and messages; None without faults."""
        if not self.traps and self.recorded_faults is None:
            return None
        if self.fitted is not None:
            return self.fitted
        clock, commits = self.stream.resolved.clock, range(self.first_commit, self.history.commits)
        if clock.by_ts:  # nobody knows how many commits there are: segments divide their time
            first = clock.ts(commits.start)
            span = clock.ts(commits.stop - 1) - first
            clock, commits = (
                replace(clock, start=first, pinned={}, by_ts=()),
                range(span // clock.step + 2),
            )
        plan = plan_faults(
            self.traps,
            seed=self.scenario.seed,
            clock=clock,
            commits=commits,
            ddl_ts=[route.commit_ts for route in self.stream.ddls],
        )
        plan = replace(plan, recorded=self.recorded_faults)
        requested = plan.rates, plan.segment_faults, plan.illegal, plan.recorded
        return plan if any(requested) else None

    @property
    def recorded_faults(self) -> RecordedFaults | None:
        """The faults of the recording that is replayed; None: it has none, or they are not wanted.

        A storage gets each event once.
        """
        scenario = self.scenario
        if scenario.recorded_faults is None or self.changefeed.in_files:
            return None
        return RecordedFaults(
            location=scenario.recorded_faults, file=scenario.file, same_topology=self._has_recorded_topology
        )

    @property
    def _has_recorded_topology(self) -> bool:
        """Whether recorded events have the partitions and offsets that they had."""
        recorded = self.scenario.recorded_changefeed
        if recorded is None:
            return False
        own = changefeed_of(None, None, scenario=recorded, name=self.scenario.name)
        return _topology(self.changefeed) == _topology(own)

    def event_faults(self, *, illegal: bool = True) -> EventFaults | None:
        """Return the stage that injects faults into the event stream.

        :param illegal: whether to inject illegal faults, which TiCDC would not produce.
        """
        if self.faults is None:
            return None
        return EventFaults(self.faults, self.history.catalog, self.stream.topic_partitions, illegal)

    def message_faults(self) -> MessageFaults | None:
        """Return the stage that injects faults into the messages."""
        if self.faults is None:
            return None
        return MessageFaults(
            plan=self.faults,
            partitions=self.stream.topic_partitions,
            protocol=self.changefeed.protocol,
            options={**self.options, **({"schemas": self.known_schemas} if self.schemas else {})},
        )

    @property
    def first_commit(self) -> int:
        """Number of commits before the changefeed starts."""
        return 0 if self.history.sent is None else self.history.sent.first

    @property
    def start_ts(self) -> int | None:
        """TSO from which the changefeed sends; None: from the first commit."""
        return self.history.sent.start_ts or None if self.history.sent is not None else None

    @property
    def target_ts(self) -> int | None:
        """TSO up to which the changefeed sends; None: to the last commit."""
        return None if self.history.sent is None else self.history.sent.target_ts

    @cached_property
    def catalog(self) -> Catalog:
        """The tables of the events with their selected columns; faults add versions that no DDL created."""
        catalog = self.stream.selection.apply(self.history.catalog)
        return catalog if self.faults is None else with_drifted(catalog)

    @cached_property
    def stream(self) -> StreamPlan:
        clock = clock_of(self.scenario, self.history)
        every = self.scenario.resolved_every
        explicit = tuple(
            (ts, max(ts, clock.ts(commits - 1)) if commits else ts) for commits, ts in self.history.resolved
        )
        resolved = ResolvedPlan(
            clock=clock,
            commits=self.history.commits,
            after_transaction=every is None,
            every_ms=0 if every is None else round(every.total_seconds() * 1000),
            explicit=explicit,
            sent=self.encoder.fidelity.resolved,
            uncounted=self._without_resolved,
            start_ts=self.start_ts or 0,
        )
        return StreamPlan(
            catalog=self.history.catalog,
            changefeed=self.changefeed,
            resolved=resolved,
            target_ts=self.target_ts,
            ended=self.history.ended,
            large_transactions=frozenset(
                (clock.ts(seq), table)
                for seq, table in self.history.large_transactions(MOST_UPDATES_IN_ORDER)
            ),
            large_tables=_large_tables(self.history),
        )

    @property
    def _without_resolved(self) -> tuple[tuple[int, int], ...]:
        """See ``ResolvedPlan.uncounted``."""
        start, end = self.first_commit, self.history.commits
        ranges = (*self.history.uncounted, *self.history.with_resolved)
        clipped = ((max(first, start), min(stop, end)) for first, stop in ranges)
        return _joined([(0, start), *clipped])

    def state_until(self, ts: int) -> State:
        """Return the expected state at one of ``state_at``, without generated rows."""
        return self.history.state_at[self.commits_until(ts)]

    def commits_until(self, ts: int) -> int:
        """Return the number of commits with a commit-ts up to ``ts``."""
        return commits_until(self.scenario, self.history, ts)

    @cached_property
    def options(self) -> dict[str, object]:
        """The changefeed's options and the build time as plain values, for the codec."""
        return self.changefeed.codec_options(build_ts_ms=_milliseconds(self.scenario.build_time))

    @cached_property
    def encoder(self) -> Encoder:
        return registry.encoder(self.changefeed.protocol, self.options)

    @cached_property
    def schemas(self) -> Sequence[Schema]:
        """The schemas that must be registered before messages are read; only Avro has any."""
        return schemas_of(self.changefeed, self.stream, self.options)

    @property
    def known_schemas(self) -> dict[int, str]:
        """The schemas by their ids in messages."""
        return {number: schema for (_, schema), number in self._ids.items()}

    @property
    def _ids(self) -> SchemaIDs:
        if self.schema_ids is not None:
            return self.schema_ids
        return (assign_uuids if self.changefeed.glue_registry else assign_ids)(self.schemas)

    @property
    def _id_option(self) -> dict[str, object]:
        return {"schema_ids": self._ids} if self.schemas else {}

    def encode_plan(
        self, *, skip_rejected: bool, faults: bool = True, digests: Digests | None = None
    ) -> EncodePlan:
        """Return the plan by which the tasks of an engine encode.

        :param skip_rejected: skip events that TiCDC's encoder rejects.
        :param faults: whether to inject the faults of messages.
        :param digests: what the digests of the events are computed of; None: they are not needed.
        """
        return EncodePlan(
            protocol=self.changefeed.protocol,
            options={**self.options, **self._id_option},
            catalog=self.catalog,
            skip_rejected=skip_rejected,
            faults=self.message_faults() if faults else None,
            wire=None if digests is None else self.wire_digests(digests),
            partition_keys=self.changefeed.sink_uri.kind is SinkKind.PULSAR,
            key_updates=partial(key_updates, self.catalog.tables) if self._counts_key_updates else None,
        )

    @property
    def _counts_key_updates(self) -> bool:
        settings = (trap(name) for name in self.traps)
        return any(isinstance(entry, ChangefeedTrap) and entry.effect == "key updates" for entry in settings)

    def wire_digests(self, digests: Digests) -> WireDigests | None:
        """Return what computes the digests of the messages; None if their bytes are not compared."""
        inputs = {**self.options, **({"schemas": self.known_schemas} if self.schemas else {})}
        canonical = digests == "canonical form"
        changefeed = self.changefeed
        return registry.wire_digests(
            changefeed.protocol, inputs, canonical=canonical, in_files=changefeed.in_files
        )


def with_registered_schemas(job: Job) -> Job:
    """Return the job with the ids of the changefeed's schema registry; unchanged without a registry.

    :raises RegistryError: for a registry that does not answer or rejects a schema.
    """
    ids = registered(job.changefeed, job.schemas) if job.schemas else None
    return job if ids is None else replace(job, schema_ids=ids)


def _milliseconds(moment: datetime | Literal["now"] | None) -> int | None:
    if moment is None:
        return None
    exact = datetime.now(UTC) if moment == "now" else moment
    return tso.physical(tso.from_datetime(exact))


def schemas_of(changefeed: Changefeed, stream: StreamPlan, options: Options) -> Sequence[Schema]:
    """Return the schemas of the tables of a stream; empty for protocols that need no schema registry."""
    if changefeed.spec.schemas is None:
        return ()
    tables = [stream.selection.of(table) for table in stream.replicated if not table.is_view]
    return changefeed.spec.schemas.of_tables(
        tables, lambda table: stream.router.route(table).topic, changefeed.spec.typed(options)
    )
