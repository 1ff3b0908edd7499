"""Coverage: the traps of the catalogue that a topic or a golden folder exercises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ticdc_producer.config import Changefeed, ConfigSource
from ticdc_producer.config.kafka_properties import parse_kafka_properties
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.engine import EngineOption
from ticdc_producer.engine.choose import EngineStart
from ticdc_producer.engine.dataset import Dataset, Engine
from ticdc_producer.faults.catalogue import Trap, catalogue
from ticdc_producer.local_path import local_path
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.shapes import DECODED
from ticdc_producer.oracle.folder_content import injected_faults
from ticdc_producer.protocols import registry
from ticdc_producer.runs.options.rules import check_options
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics
from ticdc_producer.runs.targets.golden import folder_messages
from ticdc_producer.runs.targets.run_topics import topic_messages
from ticdc_producer.runs.verify import folder_estimate, messages_estimate
from ticdc_producer.runs.verify_options import verify_options
from ticdc_producer.targets.decode import event_decoder
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.targets.kafka.schema_registry import decoder_options
from ticdc_producer.verifier.coverage import TrapOccurrences, Visibility, exercised
from ticdc_producer.verifier.options import Strictness

Status: TypeAlias = Literal["exercised", "not_exercised", "unobservable", "not_applicable", "illegal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapCoverage:
    """The coverage of one trap by a stream.

    :param status: ``exercised``; ``not_exercised``; ``unobservable`` (the messages do not carry it);
        ``not_applicable`` (not in this protocol or profile); ``illegal`` (found by ``verify``, not
        searched for here).
    :param count: number of events or groups of events that exercise it.
    :param first: position of the first of them, ``topic/partition@offset[index]``; empty if the count is the
        manifest's.
    :param note: explanation for people.
    """

    trap: str
    status: Status
    count: int = 0
    first: str = ""
    note: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the fields as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of every trap, in the order of the catalogue."""

    protocol: str
    traps: tuple[TrapCoverage, ...]

    def of_status(self, *statuses: Status) -> list[TrapCoverage]:
        """Return the traps with one of these statuses."""
        return [trap for trap in self.traps if trap.status in statuses]

    def to_json(self) -> dict[str, object]:
        """Return the protocol and all traps as a JSON object."""
        return {"protocol": self.protocol, "traps": [trap.to_json() for trap in self.traps]}


def coverage(
    *,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    config: ConfigSource | None = None,
    kafka_properties: Sequence[str] = (),
    engine: EngineOption = "auto",
    on_status: OnStatus = ignore_status,
) -> Coverage:
    """Return the traps of the catalogue that a topic or a golden folder exercises, and those that it misses.

    Exactly one of ``sink_uri`` and ``folder`` is given.

    :param sink_uri: TiCDC's sink URI of the topic.
    :param folder: a golden folder; its manifest holds the changefeed and the injected traps.
    :param config: a changefeed TOML, or its content as a mapping: dispatch rules, protocol options.
    :param kafka_properties: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :param engine: ``local``: search in this process; ``spark``: in Spark's tasks; ``auto``: in Spark's tasks
        if the messages are not few.
    :param on_status: called with a line of text for each step of the work.
    :raises ProducerError: for a source that cannot be read. Messages that do not decode are skipped.
    """
    check_options("coverage", {"sink_uri": sink_uri, "folder": folder, "config": config, "engine": engine})
    if folder is not None:
        parse_kafka_properties(kafka_properties)
        return _folder_coverage(local_path(folder), engine, on_status)
    changefeed = changefeed_of(sink_uri, config, kafka_properties=kafka_properties)
    ranges = whole_topics(brokers_of(changefeed), [changefeed.sink_uri.topic])
    estimate = messages_estimate(changefeed, sum(part.size for part in ranges))
    start = EngineStart.of(engine, estimate, on_status)
    messages = topic_messages(start(), brokers_of(changefeed), ranges).rows
    return _covered(start(), messages, changefeed, Counter(), on_status)


def _folder_coverage(folder: Path, engine: EngineOption, on_status: OnStatus) -> Coverage:
    manifest = golden.manifest(folder)
    changefeed = golden.changefeed(folder, manifest)
    start = EngineStart.of(engine, folder_estimate(folder, changefeed), on_status)
    messages = folder_messages(start(), folder)
    return _covered(
        start(), messages, changefeed, injected_faults(manifest), on_status, golden.schemas(folder)
    )


def _covered(
    engine: Engine,
    messages: Dataset,
    changefeed: Changefeed,
    injected: Mapping[str, int],
    on_status: OnStatus,
    schemas: Mapping[int, str] | None = None,
) -> Coverage:
    """Search messages for traps.

    :param messages: shape ``MESSAGES``.
    :param schemas: the Avro schemas stored in a folder.
    """
    on_status("looking for traps")
    options = decoder_options(changefeed, messages, schemas or {})
    # Claim-check objects are not read: the messages that refer to them count.
    decoded = messages.map(event_decoder(changefeed.protocol, options), DECODED).merged()
    visibility = _visibility(changefeed)
    rules = {trap.id: trap.coverage for trap in catalogue().values() if trap.coverage is not None}
    traps = _trap_coverages(changefeed, visibility, exercised(engine, decoded, visibility, rules), injected)
    return Coverage(changefeed.protocol, tuple(traps))


def _visibility(changefeed: Changefeed) -> Visibility:
    fidelity = registry.fidelity(changefeed.protocol, changefeed.codec_options())
    return Visibility(
        options=verify_options(changefeed, fidelity, (), Strictness()),
        types=fidelity.sql_types,
        flags=fidelity.visible_flag(ColumnFlag.UNSIGNED) != 0,
        decimals=not fidelity.float_decimals,
        claim_check=changefeed.large_message_handle_option == "claim-check",
    )


def _trap_coverages(
    changefeed: Changefeed,
    visibility: Visibility,
    occurrences: Mapping[str, TrapOccurrences | None],
    injected: Mapping[str, int],
) -> Iterator[TrapCoverage]:
    for trap in catalogue().values():
        status, note = _status(trap, changefeed, visibility, occurrences)
        of_trap = occurrences.get(trap.id)
        if of_trap is not None and status == "exercised":
            yield TrapCoverage(trap=trap.id, status=status, count=of_trap.count, first=of_trap.location)
        elif count := injected.get(trap.id, 0):
            note = "injected according to the manifest"
            yield TrapCoverage(trap=trap.id, status="exercised", count=count, note=note)
        else:
            yield TrapCoverage(trap=trap.id, status=status, note=note)


def _status(
    trap: Trap,
    changefeed: Changefeed,
    visibility: Visibility,
    occurrences: Mapping[str, TrapOccurrences | None],
) -> tuple[Status, str]:
    if trap.coverage is None:
        return "illegal", "found by verify"
    if changefeed.protocol not in trap.protocols or changefeed.profile not in trap.profiles:
        return "not_applicable", f"not in {changefeed.protocol}, profile {changefeed.profile}"
    if trap.id not in occurrences:
        lacking = [need for need in trap.coverage.needs if visibility.lacks(need)]
        return "unobservable", f"the messages do not carry: {', '.join(lacking)}"
    return ("not_exercised", trap.requires) if occurrences[trap.id] is None else ("exercised", "")
