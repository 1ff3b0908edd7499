"""Compares two topics, folders or dumps of messages as histories, whatever their protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ticdc_producer.config import Changefeed, ConfigSource, SinkKind
from ticdc_producer.config.kafka_properties import parse_kafka_properties
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import EngineStart, Estimate, translate_worker_errors
from ticdc_producer.engine.dataset import Engine
from ticdc_producer.errors import ChangefeedError, FolderError
from ticdc_producer.local_path import local_path
from ticdc_producer.masking import masked
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.protocols import registry
from ticdc_producer.rows.origin import KnownTable, folder_tables, known_tables, selected_names
from ticdc_producer.runs.decode import folder_source
from ticdc_producer.runs.options.rule import BROKER, GOLDEN, SCENARIO, STORAGE
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics
from ticdc_producer.runs.targets.golden import folder_messages
from ticdc_producer.runs.targets.run_topics import topic_messages
from ticdc_producer.runs.verify import folder_estimate, messages_estimate
from ticdc_producer.scenario.load import SCENARIO_ENDINGS, shipped
from ticdc_producer.scenario.recordings import SCENARIO_FILE
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import estimate_of, simulate
from ticdc_producer.targets.decode import event_decoder
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.targets.kafka.read import file_messages, file_ranges
from ticdc_producer.targets.kafka.schema_registry import decoder_options
from ticdc_producer.targets.storage.read import Listing, readable_listing, reading_options, storage_rows
from ticdc_producer.verifier.history.history_diff import diff_histories
from ticdc_producer.verifier.history.outcome import HistoryDiff
from ticdc_producer.verifier.history.sides import HistorySide, KnownDefinition
from ticdc_producer.verifier.messages import Messages

_NO_OUTPUT = "its changefeed sends none"


@translate_worker_errors()
def diff(
    a: str | Path,
    b: str | Path,
    *,
    config_a: ConfigSource | None = None,
    config_b: ConfigSource | None = None,
    messages_a: str | Path | None = None,
    messages_b: str | Path | None = None,
    tables: Sequence[str] = (),
    examples: int = 3,
    kafka_properties: Sequence[str] = (),
    engine: EngineOption = "auto",
    on_status: OnStatus = ignore_status,
) -> HistoryDiff:
    """Compare two topics, folders or dumps of messages as histories, whatever their protocols.

    A history is, per table and row key, the sequence of row changes by commit-ts. Duplicates do not count,
    nor does the division into partitions and messages. Values are compared in the form
    that both protocols carry.

    :param a, b: TiCDC's sink URI of a topic or storage, a golden folder, the folder of a storage sink, or a
        scenario: what its changefeed would send.
    :param config_a, config_b: a changefeed TOML, or its content as a mapping: protocol and its options.
    :param messages_a, messages_b: a file with the messages of the topic that the sink URI names, read in
        place of it: lines of ``messages.jsonl``, of ``kcat -J``, or of Kafka's console consumer.
    :param tables: ``SCHEMA.TABLE`` of the tables to compare, where ``*`` matches any characters; none: all.
    :param examples: number of examples per table.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param engine: ``local``: compare in this process; ``spark``: in Spark's tasks; ``auto``: in Spark's tasks
        if the messages are not few.
    :param on_status: called with a line of text for each step of the work.
    :raises ProducerError: for a source that cannot be read; differences are part of the result.
    """
    check_options("diff", {"tables": tables, "examples": examples, "engine": engine})
    parse_kafka_properties(kafka_properties)
    sources = [
        _source(str(name), side, config, messages, kafka_properties)
        for name, side, config, messages in (
            (a, "a", config_a, messages_a),
            (b, "b", config_b, messages_b),
        )
    ]
    for source in sources:
        on_status(f"looking at {source.name}")
    sizes = [source.size() for source in sources]
    estimate = Estimate(
        events=sum(size.events for size in sizes),
        nbytes=sum(size.nbytes for size in sizes),
        rows=sum(size.rows for size in sizes),
    )
    start = EngineStart.of(engine, estimate, on_status)
    with ExitStack() as stack:
        first, second = (source.side(start(), stack) for source in sources)
        on_status(f"comparing {first.name} with {second.name}")
        return diff_histories(start(), (first, second), tables=tables, examples=examples, choice=start.choice)


@dataclass(frozen=True, kw_only=True)
class _Source:
    """One of the two, before an engine starts.

    :param messages: reads the messages with an engine, as long as a block of contexts lasts.
    :param claims: location of the claim-check objects; empty if unknown.
    :param schemas: the Avro schemas stored in a folder.
    :param listing: the files of a storage folder; None: messages.
    """

    name: str
    changefeed: Changefeed
    size: Callable[[], Estimate]
    messages: Callable[[Engine, ExitStack], Messages]
    claims: str = ""
    schemas: Mapping[int, str] = field(default_factory=dict)
    tables: Mapping[str, KnownTable] = field(default_factory=dict)
    listing: Listing | None = None

    def side(self, engine: Engine, stack: ExitStack) -> HistorySide:
        """Return the messages, and what is known of them."""
        changefeed, messages, listing = self.changefeed, self.messages(engine, stack), self.listing
        if listing is None:
            options = decoder_options(changefeed, messages.rows, self.schemas)
        else:
            names = selected_names(changefeed, listing)
            options = reading_options(listing, changefeed.codec_options(), names)
        fidelity = registry.fidelity(changefeed.protocol, changefeed.codec_options())
        without = "" if changefeed.output_ddl else _NO_OUTPUT
        return HistorySide(
            name=self.name,
            protocol=changefeed.protocol,
            profile=changefeed.profile,
            fidelity=fidelity,
            messages=messages,
            decode=event_decoder(changefeed.protocol, options, self.claims),
            tables={
                _names(name): KnownDefinition({column.name: column for column in table.columns}, table.key)
                for name, table in self.tables.items()
            },
            ddls=[] if listing is None else _ddls(listing),
            without_ddls=without or fidelity.ddl_skip_reason(Action.CREATE_TABLE),
            ordered=listing is None or not listing.shares_directories,
        )


def _names(qualified: str) -> tuple[str, str]:
    schema, _, table = qualified.partition(".")
    return schema, table


def _ddls(listing: Listing) -> list[tuple[int, str, str, str, int]]:
    """Return the DDLs in the schema files of a storage folder."""
    return sorted(
        {
            (file.version, file.schema, file.table, file.query, file.type)
            for file in listing.tables.values()
            if file.query
        }
    )


def _source(
    name: str,
    side: str,
    config: ConfigSource | None,
    messages: str | Path | None,
    kafka_properties: Sequence[str],
) -> _Source:
    given = {f"config_{side}": config, f"messages_{side}": messages}
    sink_uri = name
    if "://" not in name:
        path = local_path(name)
        if _is_scenario(path):
            check_options("diff", given, SCENARIO)
            return _scenario(name)
        if not path.is_dir():
            what = "this is not a folder" if path.exists() else "there is no such folder"
            hint = (
                "a folder, a scenario, or a sink URI;"
                f" a file of messages is `messages_{side}` with the sink URI"
            )
            raise FolderError(what, path=name, hint=hint).about(f"messages_{side}")
        likely = folder_source(path)
        if "folder" in likely:
            check_options("diff", given, GOLDEN)
            return _golden(path)
        sink_uri = likely["sink_uri"]
    changefeed = changefeed_of(sink_uri, config, name="diff", kafka_properties=kafka_properties)
    if changefeed.sink_uri.kind is SinkKind.STORAGE:
        check_options("diff", given, STORAGE)
        return _storage(masked(name), changefeed)
    check_options("diff", given, BROKER)
    return _topic(masked(name), changefeed) if messages is None else _file(local_path(messages), changefeed)


def _golden(folder: Path) -> _Source:
    manifest = golden.manifest(folder)
    changefeed = golden.changefeed(folder, manifest)

    return _Source(
        name=str(folder),
        changefeed=changefeed,
        size=partial(folder_estimate, folder, changefeed),
        messages=lambda engine, _: Messages(folder_messages(engine, folder)),
        claims=golden.claims(folder),
        schemas=golden.schemas(folder),
        tables=folder_tables(folder, manifest),
    )


def _is_scenario(path: Path) -> bool:
    if path.is_dir():
        return (path / SCENARIO_FILE).is_file()
    return path.suffix in SCENARIO_ENDINGS or str(path) in shipped()


def _scenario(name: str) -> _Source:
    """Return what the changefeed of a scenario would send."""
    job = prepare(name)
    if job.changefeed.sink_uri.kind is SinkKind.STORAGE:
        what = "the scenario writes a storage, and `diff` takes the messages of scenarios"
        raise ChangefeedError(what, parameter="sink-uri", hint="run it, and compare its folder")

    def messages(engine: Engine, stack: ExitStack) -> Messages:
        simulation = stack.enter_context(simulate(job, engine, expected_events=False))
        return Messages(simulation.encoded.messages.select(*MESSAGES.names))

    return _Source(
        name=name,
        changefeed=job.changefeed.model_copy(update={"schema_registry": ""}),
        size=partial(estimate_of, job),
        messages=messages,
        schemas=job.known_schemas if job.schemas else {},
        tables=known_tables(job.catalog),
    )


def _storage(name: str, changefeed: Changefeed) -> _Source:
    listing = readable_listing(changefeed)
    options = changefeed.codec_options()
    return _Source(
        name=name,
        changefeed=changefeed,
        size=lambda: Estimate(events=0, nbytes=listing.nbytes),
        messages=lambda engine, _: Messages(storage_rows(engine, listing, changefeed.protocol, options)),
        listing=listing,
    )


def _topic(name: str, changefeed: Changefeed) -> _Source:
    brokers = brokers_of(changefeed)
    ranges = whole_topics(brokers, [changefeed.sink_uri.topic])
    return _Source(
        name=name,
        changefeed=changefeed,
        size=partial(messages_estimate, changefeed, sum(part.size for part in ranges)),
        messages=lambda engine, _: topic_messages(engine, brokers, ranges),
        claims=changefeed.claim_check_storage_uri,
    )


def _file(file: Path, changefeed: Changefeed) -> _Source:
    topic = changefeed.sink_uri.topic
    ranges = file_ranges(file, topic, 0)
    return _Source(
        name=str(file),
        changefeed=changefeed,
        size=partial(messages_estimate, changefeed, sum(part.size for part in ranges)),
        messages=lambda engine, _: Messages(file_messages(engine, file, topic).reused()),
        claims=changefeed.claim_check_storage_uri,
    )
