"""A scenario and a changefeed, checked and planned. No Spark yet: bad input ends here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from ticdc_producer.config import Changefeed, load_changefeed_toml, resolve
from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.errors import EncodeError, ScenarioError
from ticdc_producer.faults.message_faults import MessageFaults
from ticdc_producer.faults.plan import FaultPlan, plan_faults
from ticdc_producer.faults.stage import EventFaults
from ticdc_producer.faults.table_facts import with_drifted
from ticdc_producer.faults.trap_setting import TrapSetting
from ticdc_producer.model import tso
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.pipeline.control_events import ResolvedPlan
from ticdc_producer.pipeline.event_filter import check_expressions
from ticdc_producer.pipeline.event_stream import StreamPlan
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.avro.schemas import Schema, SchemaIDs, numbered
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.runs.rule_errors import rules_placed
from ticdc_producer.runs.schemas import registered, schemas_of
from ticdc_producer.runs.traps import check_protocol, with_traps
from ticdc_producer.scenario.execute import check_commits, clock_of, commits_until, play, told
from ticdc_producer.scenario.history import History, State
from ticdc_producer.scenario.load import ScenarioFile, load_scenario
from ticdc_producer.scenario.update_ts import with_update_ts
from ticdc_producer.targets.encoding.encode import EncodePlan

_FEW = 6
"""So many changes give 12 rows when each is split: the most that Go sorts in a stable way."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """All that a run or a comparison needs to know, on the driver.

    :param scenario: as it was read.
    :param history: what its SQL committed.
    :param state_at: time stamps at which the expected state is wanted, beside that at the end.
    :param sent: how many commits a run wrote that was asked to end early; None: all.
    :param traps: what is to go wrong, by trap id.
    :param schema_ids: ids that a registry gave to ``schemas``; None: they count from 1.
    """

    scenario: ScenarioFile
    history: History
    changefeed: Changefeed
    state_at: tuple[int, ...] = ()
    sent: int | None = None
    traps: Mapping[str, TrapSetting] = field(default_factory=dict)
    schema_ids: SchemaIDs | None = None

    @cached_property
    def faults(self) -> FaultPlan | None:
        """Which events and messages have faults; None where none has."""
        if not self.traps:
            return None
        plan = plan_faults(
            self.traps,
            seed=self.scenario.seed,
            clock=self.stream.resolved.clock,
            commits=self.history.commits,
            ddl_ts=[place.commit_ts for place in self.stream.ddls],
        )
        return plan if plan.rates or plan.chosen or plan.single else None

    def event_faults(self, *, illegal: bool = True) -> EventFaults | None:
        """The stage that puts faults into the event stream.

        :param illegal: without them it is what TiCDC would send.
        """
        if self.faults is None:
            return None
        return EventFaults(self.faults, self.history.catalog, self.changefeed.partition_num, illegal)

    def message_faults(self) -> MessageFaults | None:
        """The stage that puts faults into the messages."""
        if self.faults is None:
            return None
        return MessageFaults(
            plan=self.faults,
            topics=self.stream.slots.topics,
            partitions=self.changefeed.partition_num,
            protocol=self.changefeed.protocol,
            options=self.options,
        )

    @cached_property
    def catalog(self) -> Catalog:
        """The tables that events may be of, as they show them: with faults also such as no DDL made."""
        catalog = self.stream.selection.shown(self.history.catalog)
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
            sent=self.encoder.losses.resolved,
        )
        return StreamPlan(
            catalog=self.history.catalog,
            changefeed=self.changefeed,
            resolved=resolved,
            crowded=frozenset((clock.ts(seq), table) for seq, table in self.history.crowded(_FEW)),
        )

    def state_until(self, ts: int) -> State:
        """The expected state at one of ``state_at``, generated rows aside."""
        return self.history.state_at[self.commits_until(ts)]

    def commits_until(self, ts: int) -> int:
        """How many commits have a commit-ts up to ``ts``."""
        return commits_until(self.scenario, self.history, ts)

    @cached_property
    def options(self) -> dict[str, Any]:
        """The changefeed's options as plain values, for the codec."""
        build_ts_ms = _milliseconds(self.scenario.build_time)
        return {**codec_options(self.changefeed), "build_ts_ms": build_ts_ms}

    @cached_property
    def encoder(self) -> Encoder:
        return registry.encoder(self.changefeed.protocol, self.options)

    @cached_property
    def schemas(self) -> Sequence[Schema]:
        """What a registry must know before the messages are read; none but with Avro."""
        return schemas_of(self.changefeed, self.stream, self.options)

    @property
    def known_schemas(self) -> dict[int, str]:
        """The schemas by the ids that messages have."""
        return {number: schema for (_, schema), number in self._ids.items()}

    @property
    def _ids(self) -> SchemaIDs:
        return numbered(self.schemas) if self.schema_ids is None else self.schema_ids

    @property
    def _id_option(self) -> dict[str, Any]:
        return {"schema_ids": self._ids} if self.schemas else {}

    def encode_plan(self, *, skip_refused: bool, faults: bool = True) -> EncodePlan:
        """What the workers need to encode.

        :param faults: whether messages have their faults.
        """
        return EncodePlan(
            protocol=self.changefeed.protocol,
            options={**self.options, **self._id_option},
            catalog=self.catalog,
            skip_refused=skip_refused,
            faults=self.message_faults() if faults else None,
        )


def prepare(
    scenario: str | Path | ScenarioFile,
    *,
    sink_uri: str | None = None,
    config: str | Path | None = None,
    sets: Sequence[str] = (),
    seed: int | None = None,
    changefeed: Changefeed | None = None,
    state_at: Sequence[int] = (),
    inject: Sequence[str] = (),
    client: Sequence[str] = (),
) -> Job:
    """Read a scenario and its changefeed, run its SQL, plan its stream.

    :param scenario: a ``.yaml``, a ``.sql``, the name of a shipped scenario, or one that was read.
    :param sink_uri: replaces the scenario's.
    :param config: a changefeed TOML.
    :param sets: ``path=value`` for any key of the scenario.
    :param changefeed: instead of the one that URI, TOML and scenario make.
    :param state_at: time stamps at which the expected state is wanted, beside that at the end.
    :param inject: traps beside the scenario's, as ``ID`` or ``ID:rate=…``.
    :param client: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :raises ProducerError: for anything in them that is wrong.
    """
    read = scenario if isinstance(scenario, ScenarioFile) else load_scenario(scenario, sets)
    _check_numbers(seed, state_at)
    if seed is not None:
        read = replace(read, seed=seed)
    read, traps = with_traps(read, inject)
    if changefeed is None:
        changefeed = changefeed_of(sink_uri, config, scenario=read.changefeed, name=read.name, client=client)
    history = play(
        read, force_replicate=changefeed.force_replicate, profile=changefeed.profile, state_at=state_at
    )
    with rules_placed(read, config):
        names = TableFilter(changefeed)
        history.catalog = names.told(history.catalog, clock_of(read, history).ts)
    history.catalog = told(history.catalog, read.file, profile=changefeed.profile, text=changefeed.ddl_text)
    history.catalog = with_update_ts(history.catalog, clock_of(read, history), changefeed.profile)
    check_protocol(traps, changefeed)
    moments = tuple(sorted(set(state_at)))
    job = Job(scenario=read, history=history, changefeed=changefeed, state_at=moments, traps=traps)
    history.catalog = _without_omitted(history.catalog, job.encoder.losses)
    _check_ddls(job)
    check_commits(read, history)
    with rules_placed(read, config):
        _ = job.stream.slots  # finds every route, so a rule that names a missing column is refused here
        for table in job.stream.replicated:
            check_expressions(table, changefeed.filter)
    _ = job.faults  # finds a place for every fault, or none
    return job


def _check_numbers(seed: int | None, state_at: Sequence[int]) -> None:
    """Refuse what no scenario may say, either: a TSO is that of a signed long, and so is a seed.

    :raises ScenarioError: for a number that is out of range.
    """
    if seed is not None and not 0 <= seed <= tso.MAX_TS:
        raise ScenarioError(f"{seed} is no seed: 0 to {tso.MAX_TS}", file="--seed")
    for ts in state_at:
        if not 1 <= ts <= tso.MAX_TS:
            raise ScenarioError(f"{ts} is no time stamp (TSO): 1 to {tso.MAX_TS}", file="--state-at")


def with_registered_schemas(job: Job) -> Job:
    """The job with the ids that its changefeed's registry gives; as it is, where there is none.

    :raises RegistryError: for a registry that does not answer, or does not take a schema.
    """
    ids = registered(job.changefeed, job.schemas) if job.schemas else None
    return job if ids is None else replace(job, schema_ids=ids)


def codec_options(changefeed: Changefeed) -> dict[str, Any]:
    """A changefeed's options as plain values, for a codec."""
    return changefeed.codec_options


def _milliseconds(moment: datetime | Literal["now"] | None) -> int | None:
    if moment is None:
        return None
    exact = datetime.now(UTC) if moment == "now" else moment
    return tso.physical(tso.from_datetime(exact))


def _without_omitted(catalog: Catalog, losses: Losses) -> Catalog:
    """The catalog without the DDLs that the protocol has no message for: with the reason, not sent."""
    ddls = tuple(
        replace(job, sent=False, reason=losses.omits_ddl(job.ddl_type))
        if job.sent and losses.omits_ddl(job.ddl_type)
        else job
        for job in catalog.ddls
    )
    return replace(catalog, ddls=ddls)


def _check_ddls(job: Job) -> None:
    """Refuse what no message can hold: DDLs are few, and to leave one out would make its table unreadable.

    :raises EncodeError: for the first DDL that TiCDC's encoder refuses, whatever ``on-error`` says.
    """
    if not job.changefeed.output_ddl:
        return
    catalog, clock = job.history.catalog, clock_of(job.scenario, job.history)
    for ddl in (ddl for ddl in catalog.ddls if ddl.sent):
        try:
            job.encoder.ddl(ddl.event(clock.ts(ddl.commit_seq)), *catalog.tables_of(ddl))
        except EncodeError as refusal:
            place = f"{job.scenario.file}:{ddl.line}"
            raise EncodeError(
                f"{refusal.what.removeprefix(refusal.code + ': ')}, in the DDL message of {place}",
                code=refusal.code,
                table=refusal.table,
                commit_ts=refusal.commit_ts,
                hint="TiCDC's changefeed would stop here; raise max-message-bytes",
            ) from None


def changefeed_of(
    sink_uri: str | None,
    config: str | Path | None,
    *,
    scenario: Mapping[str, Any] | None = None,
    name: str = "scenario",
    client: Sequence[str] = (),
) -> Changefeed:
    """The changefeed of a command's options."""
    content = None if config is None else load_changefeed_toml(config)
    return resolve(sink_uri, content, scenario=scenario, name=name, client=client)
