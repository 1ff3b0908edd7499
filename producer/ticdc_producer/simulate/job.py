"""Read and check a scenario and its changefeed, and plan the stream; without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Literal, TypeAlias

from ticdc_producer.config import Changefeed, ConfigSource, changefeed_content, resolve
from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.errors import EncodeError, ScenarioError
from ticdc_producer.faults.catalogue import trap
from ticdc_producer.faults.event_context import with_drifted
from ticdc_producer.faults.fault_plan import FaultPlan
from ticdc_producer.faults.message_faults import MessageFaults
from ticdc_producer.faults.plan import plan_faults
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.faults.trap import ChangefeedTrap, TrapSetting
from ticdc_producer.model import tso
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.pipeline.control_events import ResolvedPlan
from ticdc_producer.pipeline.event_filter import check_expressions
from ticdc_producer.pipeline.event_stream import StreamPlan, key_updates
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.avro.schemas import assign_ids
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.spec import Schema, SchemaIDs
from ticdc_producer.protocols.wire import WireDigests
from ticdc_producer.scenario.cached_flags import with_cached_flags
from ticdc_producer.scenario.commit_range import clock_of, commits_until, sent_part
from ticdc_producer.scenario.execute import check_commits, execute
from ticdc_producer.scenario.history import CheckSize, History, State
from ticdc_producer.scenario.load import ScenarioFile, ScenarioSource, load_scenario
from ticdc_producer.scenario.spec import read_tso
from ticdc_producer.scenario.sql.dml.statement_cache import StatementCache
from ticdc_producer.scenario.table_versions import rewrite_ddl_text, with_update_ts
from ticdc_producer.simulate.scenario_changefeed import check_protocol, locate_rule_errors, with_traps
from ticdc_producer.simulate.schemas import registered, schemas_of
from ticdc_producer.targets.encode import EncodePlan

_MAX_STABLE_UPDATES = 6
"""Six updates split into 12 rows, the most for which Go's sort is stable."""


Digests: TypeAlias = Literal["bytes", "canonical form"]
"""What the digests of events are computed of (``protocols.wire``)."""


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
    :param not_injected: why traps have no occurrence, by trap id, as far as it is known before the run.
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
        if not self.traps:
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
        return plan if plan.rates or plan.fixed or plan.illegal else None

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
                (clock.ts(seq), table) for seq, table in self.history.large_transactions(_MAX_STABLE_UPDATES)
            ),
        )

    @property
    def _without_resolved(self) -> tuple[tuple[int, int], ...]:
        """See ``ResolvedPlan.uncounted``."""
        start, end = self.first_commit, self.history.commits
        ranges = ((max(first, start), min(stop, end)) for first, stop in self.history.uncounted)
        return tuple((first, stop) for first, stop in ((0, start), *ranges) if first < stop)

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
        return assign_ids(self.schemas) if self.schema_ids is None else self.schema_ids

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


def prepare(
    scenario: ScenarioSource | ScenarioFile,
    *,
    sink_uri: str | None = None,
    config: ConfigSource | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    changefeed: Changefeed | None = None,
    start_ts: TimeStamp | None = None,
    target_ts: TimeStamp | None = None,
    state_at: Sequence[int] = (),
    inject: Sequence[str] = (),
    kafka_properties: Sequence[str] = (),
    statements: StatementCache | None = None,
    check_size: CheckSize | None = None,
) -> Job:
    """Read a scenario and its changefeed, run its SQL, plan its stream.

    :param scenario: a ``.yaml``, a ``.sql``, the name of a shipped scenario, one built in Python, or a loaded
        scenario.
    :param sink_uri: replaces the scenario's sink URI.
    :param config: a changefeed TOML, or its content as a mapping.
    :param overrides: ``path=value`` for any key of the scenario.
    :param seed: replaces the scenario's seed.
    :param changefeed: replaces the changefeed of URI, TOML and scenario.
    :param start_ts: replaces the scenario's start-ts.
    :param target_ts: replaces the scenario's target-ts.
    :param state_at: time stamps (TSO) of expected states, in addition to the state at the end.
    :param inject: traps in addition to the scenario's, as ``ID`` or ``ID:rate=…``.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param statements: a cache of parsed statements that calls of one thread share.
    :param check_size: called after each row change of SQL.
    :raises ProducerError: for any error in the input.
    """
    scenario_file = scenario if isinstance(scenario, ScenarioFile) else load_scenario(scenario, overrides)
    _check_numbers(seed, state_at)
    if seed is not None:
        scenario_file = replace(scenario_file, seed=seed)
    if start_ts is not None:
        scenario_file = replace(scenario_file, start_ts=_read_ts(start_ts, "start_ts"))
    if target_ts is not None:
        scenario_file = replace(scenario_file, target_ts=_read_ts(target_ts, "target_ts"))
    scenario_file, traps = with_traps(scenario_file, inject)
    if changefeed is None:
        changefeed = changefeed_of(
            sink_uri,
            config,
            scenario=scenario_file.changefeed,
            name=scenario_file.name,
            kafka_properties=kafka_properties,
        )
    history = execute(
        scenario_file,
        force_replicate=changefeed.force_replicate,
        profile=changefeed.profile,
        state_at=state_at,
        statements=statements,
        check_size=check_size,
    )
    return planned(scenario_file, changefeed, history, traps=traps, state_at=state_at, config=config)


def planned(
    scenario_file: ScenarioFile,
    changefeed: Changefeed,
    history: History,
    *,
    traps: Mapping[str, TrapSetting],
    state_at: Sequence[int] = (),
    config: ConfigSource | None = None,
) -> Job:
    """Plan the stream of an executed scenario.

    :param history: the result of ``execute`` for the scenario, with the changefeed's ``force-replicate`` and
        profile; its catalog and its changes are replaced by those that the changefeed sends.
    :param traps: settings of the traps to inject, by trap id.
    :param state_at: time stamps (TSO) whose states the history has.
    :param config: a changefeed TOML, or its content as a mapping, for the places of errors.
    :raises ProducerError: for traps that do not exist, and rules and DDLs that TiCDC rejects.
    """
    with locate_rule_errors(scenario_file, config):
        names = TableFilter(changefeed)
        history.catalog = names.mark_ddls(history.catalog, clock_of(scenario_file, history).ts)
    history.catalog = rewrite_ddl_text(
        history.catalog,
        scenario_file.file,
        profile=changefeed.profile,
        text=changefeed.ddl_text,
        on_typed=lambda job, reason: history.passed_over.note_typed(job.line, reason.what),
    )
    history.catalog = with_update_ts(history.catalog, clock_of(scenario_file, history), changefeed.profile)
    history = sent_part(history)
    check_protocol(traps, changefeed)
    state_ts = tuple(sorted(set(state_at)))
    ends_early = history.sent is not None and history.sent.target_ts is not None
    job = Job(
        scenario=scenario_file,
        history=history,
        changefeed=changefeed,
        state_at=state_ts,
        sent=history.commits if ends_early else None,
        traps=traps,
    )
    _check_state_times(job)
    history.catalog = without_omitted(history.catalog, job.encoder.fidelity)
    if job.encoder.fidelity.caches_flags:
        history.catalog, history.changes = with_cached_flags(history.catalog, history.changes)
    _check_ddls(job)
    check_commits(scenario_file, history)
    with locate_rule_errors(scenario_file, config):
        # Computes every route, so that a rule that names a missing column is rejected here.
        _ = job.stream.topic_partitions
        for table in job.stream.replicated:
            check_expressions(table, changefeed)
    _ = job.faults  # rejects faults that find no event or message
    return job


def _check_numbers(seed: int | None, state_at: Sequence[int]) -> None:
    """Check the range of the numbers, as for those in scenarios: TSO and seed are non-negative signed longs.

    :raises ScenarioError: for a number that is out of range.
    """
    if seed is not None and not 0 <= seed <= tso.MAX_TS:
        raise ScenarioError(f"{seed} is not a seed: 0 to {tso.MAX_TS}", file="`seed`").about("seed")
    for ts in state_at:
        if not 1 <= ts <= tso.MAX_TS:
            what = f"{ts} is not a time stamp (TSO): 1 to {tso.MAX_TS}"
            raise ScenarioError(what, file="`state_at`").about("state_at")


TimeStamp: TypeAlias = int | str | datetime
"""A TSO, or a time."""


def _read_ts(value: TimeStamp, option: str) -> int:
    """Return the TSO of an option.

    :raises ScenarioError: for a value that is neither a TSO nor a time.
    """
    digits = isinstance(value, str) and value.strip().isdecimal()
    try:
        return read_tso(int(value) if digits and isinstance(value, str) else value)
    except ValueError as error:
        raise ScenarioError(str(error), file=f"`{option}`").about(option) from None


def _check_state_times(job: Job) -> None:
    """Check that the changefeed has started at the times of expected states.

    :raises ScenarioError: for a time before its start-ts.
    """
    for ts in job.state_at:
        if job.start_ts is not None and ts < job.start_ts:
            what = f"{ts} is before start-ts {job.start_ts}: the changefeed sends nothing up to then"
            raise ScenarioError(what, file="`state_at`").about("state_at")


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


def without_omitted(catalog: Catalog, fidelity: Fidelity) -> Catalog:
    """Return the catalog in which DDLs without a message in the protocol are marked as not sent."""
    ddls = tuple(
        replace(job, sent=False, reason=fidelity.ddl_skip_reason(job.ddl_type))
        if job.sent and fidelity.ddl_skip_reason(job.ddl_type)
        else job
        for job in catalog.ddls
    )
    return replace(catalog, ddls=ddls)


def _check_ddls(job: Job) -> None:
    """Check that every DDL can be encoded, with any ``on-error``: its table is unreadable without it.

    :raises EncodeError: for the first DDL that TiCDC's encoder rejects.
    """
    if not job.changefeed.output_ddl:
        return
    catalog, clock = job.history.catalog, clock_of(job.scenario, job.history)
    for ddl in (ddl for ddl in catalog.ddls if ddl.sent):
        try:
            job.encoder.ddl(ddl.event(clock.ts(ddl.commit_seq)), *catalog.tables_of(ddl))
        except EncodeError as error:
            location = f"{job.scenario.file}:{ddl.line}"
            raise EncodeError(
                f"{error.what.removeprefix(error.code + ': ')}, in the DDL message of {location}",
                code=error.code,
                table=error.table,
                commit_ts=error.commit_ts,
                hint="TiCDC's changefeed would stop here; raise max-message-bytes",
            ) from None


def changefeed_of(
    sink_uri: str | None,
    config: ConfigSource | None,
    *,
    scenario: Mapping[str, object] | None = None,
    name: str = "scenario",
    kafka_properties: Sequence[str] = (),
) -> Changefeed:
    """Return the changefeed that results from a command's options and the scenario's section."""
    content = None if config is None else changefeed_content(config)
    return resolve(sink_uri, content, scenario=scenario, name=name, kafka_properties=kafka_properties)
