"""The coverage job: which traps of the catalogue a topic or a golden folder exercises."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pyspark.sql import DataFrame

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.faults.catalogue import Trap, catalogue
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.protocols import registry
from ticdc_producer.runs.offset_ranges import brokers_of, whole_topics
from ticdc_producer.runs.prepare import changefeed_of, codec_options
from ticdc_producer.runs.read_session import folder_session, topic_session
from ticdc_producer.runs.schemas import with_schemas
from ticdc_producer.runs.verification import verify_options
from ticdc_producer.runs.verify import Say
from ticdc_producer.runs.write_golden import folder_messages
from ticdc_producer.spark.materialize import kept
from ticdc_producer.targets.decoding.dataframes import kafka_messages
from ticdc_producer.targets.decoding.decode import decoded
from ticdc_producer.targets.golden.read import changefeed, manifest, schemas
from ticdc_producer.verifier.coverage import RULES, Found, Told, exercised
from ticdc_producer.verifier.options import Demands

Status: TypeAlias = Literal["exercised", "missed", "untold", "impossible", "illegal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrapCoverage:
    """What a stream has of one trap.

    :param status: exercised; missed; untold (the stream would not show it); impossible (in this protocol
        or program); illegal (``verify`` finds these, coverage does not look for them).
    :param count: events or groups of events that show it.
    :param first: the first of them, ``topic/partition@offset[index]``; empty where the manifest tells.
    :param note: for people.
    """

    trap: str
    status: Status
    count: int = 0
    first: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The fields as keys."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Coverage:
    """Every trap of the catalogue, in its order."""

    protocol: str
    traps: tuple[TrapCoverage, ...]

    def of_status(self, *statuses: Status) -> list[TrapCoverage]:
        """Those of these statuses."""
        return [one for one in self.traps if one.status in statuses]

    def to_json(self) -> dict[str, Any]:
        """Protocol, and all traps."""
        return {"protocol": self.protocol, "traps": [one.to_json() for one in self.traps]}


def coverage(
    *,
    sink_uri: str | None = None,
    folder: str | Path | None = None,
    config: str | Path | None = None,
    client: Sequence[str] = (),
    say: Say = lambda _line: None,
) -> Coverage:
    """Which traps of the catalogue a topic or a golden folder exercises, and which it misses.

    Exactly one of ``sink_uri`` and ``folder`` is given.

    :param folder: a golden folder; its manifest says how it was written, and what was injected.
    :param config: a changefeed TOML: dispatch rules, protocol options.
    :param client: ``name=value`` each: properties of the Kafka clients, as librdkafka spells them.
    :raises ProducerError: for a source that cannot be read. What does not decode is passed over.
    """
    if (sink_uri is None) == (folder is None):
        raise ChangefeedError("name one thing to look at: --sink-uri or --in", parameter="sink-uri")
    if folder is not None:
        return _of_folder(Path(folder), config, say)
    feed = changefeed_of(sink_uri, config, client=client)
    ranges = whole_topics(brokers_of(feed), [feed.sink_uri.topic])
    feed = feed.model_copy(update={"partition_num": max(part.partition for part in ranges) + 1})
    say("starting Spark")
    spark = topic_session(feed, ranges)
    return _covered(kafka_messages(spark, brokers_of(feed), ranges), feed, Counter(), say)


def _of_folder(folder: Path, config: str | Path | None, say: Say) -> Coverage:
    if config is not None:
        hint = "leave --config out"
        raise ChangefeedError("a golden folder says itself how it was written", parameter="config", hint=hint)
    written = manifest(folder)
    feed = changefeed(folder, written)
    say("starting Spark")
    spark = folder_session(feed, folder)
    return _covered(folder_messages(spark, folder), feed, _injected(written), say, schemas(folder))


def _injected(written: Mapping[str, Any]) -> Counter[str]:
    """How often the manifest says that each trap was injected."""
    counted: Counter[str] = Counter()
    for fault in written.get("faults") or ():
        if isinstance(fault, dict) and isinstance(fault.get("places"), int) and fault["places"] > 0:
            counted[str(fault.get("trap"))] += fault["places"]
    return counted


def _covered(
    back: DataFrame,
    feed: Changefeed,
    injected: Mapping[str, int],
    say: Say,
    known: Mapping[int, str] | None = None,
) -> Coverage:
    """:param known: schemas that a folder keeps."""
    say("looking for traps")
    options = with_schemas(codec_options(feed), feed, back, known or {})
    # Without the objects of claim-check: rows that name one must be seen to.
    with kept(decoded(back, feed.protocol, options)) as stream:
        told = _told(feed, back)
        found = exercised(stream, told)
    # A row in part is one or the other trap: which, the changefeed says.
    other = "handle-key-only" if feed.large_message_handle_option == "claim-check" else "claim-check"
    seen = {**found, other: None}
    return Coverage(feed.protocol, tuple(_judged(feed, told, seen, injected)))


def _told(feed: Changefeed, back: DataFrame) -> Told:
    losses = registry.encoder(feed.protocol, codec_options(feed)).losses
    debezium = feed.protocol == "debezium"
    types = not debezium or (feed.enable_tidb_extension and not feed.debezium_disable_schema)
    options = verify_options(feed, losses, back, Demands())
    flags = losses.told_flag(ColumnFlag.UNSIGNED) != 0
    return Told(options=options, types=types, flags=flags, decimals=not debezium)


def _judged(
    feed: Changefeed, told: Told, seen: Mapping[str, Found | None], injected: Mapping[str, int]
) -> Iterator[TrapCoverage]:
    for trap in catalogue().values():
        status, note = _status(trap, feed, told, seen)
        found = seen.get(trap.id)
        if found is not None and status == "exercised":
            yield TrapCoverage(trap=trap.id, status=status, count=found.count, first=found.place)
        elif count := injected.get(trap.id, 0):
            note = "injected, says the manifest"
            yield TrapCoverage(trap=trap.id, status="exercised", count=count, note=note)
        else:
            yield TrapCoverage(trap=trap.id, status=status, note=note)


def _status(trap: Trap, feed: Changefeed, told: Told, seen: Mapping[str, Found | None]) -> tuple[Status, str]:
    if not trap.legal:
        return "illegal", "verify finds it"
    if feed.protocol not in trap.protocols or feed.profile not in trap.profiles:
        return "impossible", f"not in {feed.protocol}, profile {feed.profile}"
    if trap.id not in seen:
        lacking = [need for need in RULES[trap.id].needs if told.lacks(need)]
        return "untold", f"the messages do not tell: {', '.join(lacking)}"
    return ("missed", trap.needs) if seen[trap.id] is None else ("exercised", "")
