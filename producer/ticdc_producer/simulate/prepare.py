"""Read and check a scenario and its changefeed, and plan the stream; without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from ticdc_producer.config import Changefeed, ConfigSource
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.dispatch.table_filter import TableFilter
from ticdc_producer.errors import EncodeError, ScenarioError
from ticdc_producer.faults.trap import TrapSetting
from ticdc_producer.model import tso
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.pipeline.event_filter import check_expressions
from ticdc_producer.pipeline.soft_deletes import check_active_active_tables
from ticdc_producer.protocols import registry
from ticdc_producer.scenario.cached_flags import with_cached_flags
from ticdc_producer.scenario.commit_times import clock_of, sent_part
from ticdc_producer.scenario.execute import check_commits, execute
from ticdc_producer.scenario.generate.table_spec import MOST_EVENTS
from ticdc_producer.scenario.history import CheckSize, History
from ticdc_producer.scenario.load import ScenarioSource, load_scenario
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.scenario.spec import read_tso
from ticdc_producer.scenario.table_versions import rewrite_ddl_text, with_update_ts
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.scenario_changefeed import check_protocol, locate_rule_errors, with_traps
from ticdc_producer.simulate.target_names import with_target_names


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
    recorded: bool = True,
    kafka_properties: Sequence[str] = (),
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
    :param recorded: whether events that came again in a recorded topic come again.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param check_size: called after each row change of SQL.
    :raises ProducerError: for any error in the input.
    """
    scenario_file = scenario if isinstance(scenario, ScenarioFile) else load_scenario(scenario, overrides)
    _check_numbers(seed, state_at)
    scenario_file = with_times(scenario_file, seed=seed, start_ts=start_ts, target_ts=target_ts)
    if not recorded:
        scenario_file = replace(scenario_file, recorded_faults=None)
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
        check_size=check_size,
    )
    return planned(scenario_file, changefeed, history, traps=traps, state_at=state_at, config=config)


def with_times(
    scenario_file: ScenarioFile,
    *,
    seed: int | None,
    start_ts: TimeStamp | None,
    target_ts: TimeStamp | None,
) -> ScenarioFile:
    """Return a scenario with another seed and other times; None: its own."""
    if seed is not None:
        scenario_file = replace(scenario_file, seed=int(seed))
    if start_ts is not None:
        scenario_file = replace(scenario_file, start_ts=read_ts(start_ts, "start_ts"))
    if target_ts is not None:
        scenario_file = replace(scenario_file, target_ts=read_ts(target_ts, "target_ts"))
    return scenario_file


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
    catalog = _described_catalog(scenario_file, changefeed, history, config)
    check_protocol(traps, changefeed)
    fidelity = registry.fidelity(changefeed.protocol, changefeed.codec_options())
    history = _with_flags_and_ddls(sent_part(replace(history, catalog=catalog)), fidelity)
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
    _check_ddls(job)
    check_commits(scenario_file, history)
    with locate_rule_errors(scenario_file, config):
        # Computes every route, so that a rule that names a missing column is rejected here.
        _ = job.stream.topic_partitions
        for table in job.stream.replicated:
            check_expressions(table, changefeed)
        check_active_active_tables(job.stream.replicated, changefeed)
    _check_resolved_events(job)
    _ = job.faults  # rejects faults that find no event or message
    return job


def _described_catalog(
    scenario_file: ScenarioFile, changefeed: Changefeed, history: History, config: ConfigSource | None
) -> Catalog:
    """Return the catalog as TiCDC describes it: sent DDLs, their texts, versions and names of tables."""
    clock = clock_of(scenario_file, history)
    with locate_rule_errors(scenario_file, config):
        catalog = TableFilter(changefeed).mark_ddls(history.catalog, clock.ts)
    catalog = rewrite_ddl_text(
        catalog,
        scenario_file.file,
        profile=changefeed.profile,
        text=changefeed.ddl_text,
        on_typed=lambda job, reason: history.ignored_statements.note_typed(
            scenario_file.file, job.line, reason.what
        ),
    )
    catalog = with_update_ts(catalog, clock, changefeed.profile)
    with locate_rule_errors(scenario_file, config):
        return with_target_names(catalog, changefeed, scenario_file.file)


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


def read_ts(value: TimeStamp, option: str) -> int:
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


def _with_flags_and_ddls(history: History, fidelity: Fidelity) -> History:
    """Return a history with the DDLs that a protocol sends, and the flags of columns that it caches."""
    catalog, changes = with_filtered_ddls(history.catalog, fidelity), history.changes
    if fidelity.caches_flags:
        catalog, changes = with_cached_flags(catalog, changes)
    return replace(history, catalog=catalog, changes=changes)


def with_filtered_ddls(catalog: Catalog, fidelity: Fidelity) -> Catalog:
    """Return the catalog in which DDLs without a message in the protocol are marked as not sent."""
    ddls = tuple(
        replace(job, sent=False, reason=fidelity.ddl_skip_reason(job.ddl_type))
        if job.sent and fidelity.ddl_skip_reason(job.ddl_type)
        else job
        for job in catalog.ddls
    )
    return replace(catalog, ddls=ddls)


def _check_resolved_events(job: Job) -> None:
    """Check that the resolved events of a clock are not more than the row changes of a run may be.

    :raises ScenarioError: if they are.
    """
    count = job.stream.resolved.regular * len(job.stream.topic_partitions)
    if count > MOST_EVENTS and not job.stream.resolved.after_transaction:
        what = f"the run has {count} resolved events, more than {MOST_EVENTS}"
        hint = "set resolved.every higher, or fewer partitions"
        raise ScenarioError(what, file=job.scenario.file, hint=hint)


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
