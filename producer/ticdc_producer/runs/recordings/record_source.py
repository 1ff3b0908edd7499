"""The messages that are recorded: of a topic, a golden folder or a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ticdc_producer.config import Changefeed, ConfigSource, SinkKind
from ticdc_producer.config.kafka_properties import parse_kafka_properties
from ticdc_producer.config.parameters import BY_NAME, OF_COMMIT_TS, has_parameter
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.engine.local import LocalEngine, local
from ticdc_producer.errors import ChangefeedError, FolderError
from ticdc_producer.local_path import local_path
from ticdc_producer.model.fidelity import Fidelity, has_commit_ts
from ticdc_producer.protocols.storage_files import SchemaFile
from ticdc_producer.rows.origin import (
    Origin,
    broker_messages,
    golden_folder,
    messages_of_topics,
    storage_folder,
)
from ticdc_producer.runs.decode import folder_source
from ticdc_producer.runs.run_options import OnStatus
from ticdc_producer.runs.targets.existing_topics import brokers_of, whole_topics
from ticdc_producer.targets.kafka.read import OffsetRange, file_messages, file_ranges
from ticdc_producer.targets.storage.read import listing_of


@dataclass
class MessageSource:
    """The messages to record.

    :param partitions: their number by topic.
    :param files: the schema files of a storage sink; None: the messages are those of topics.
    """

    origin: Origin
    partitions: dict[str, int] = field(default_factory=dict)
    files: Sequence[SchemaFile] | None = None


def check_protocol(changefeed: Changefeed, fidelity: Fidelity) -> None:
    """Refuse a protocol from which no history follows.

    :raises ChangefeedError: with the option that adds what its messages lack.
    """
    if has_commit_ts(fidelity.commit_ts) or fidelity.commit_ts == "not deletes":
        return
    hint = "record another protocol"
    for name in OF_COMMIT_TS:
        if has_parameter(changefeed.spec, BY_NAME[name]):
            hint = f"record a topic of a changefeed with {name}=true"
    what = f"{changefeed.protocol} has rows without a commit-ts: the order of the changes is not known"
    raise ChangefeedError(what, parameter="protocol", hint=hint)


def message_source(
    sink_uri: str | None,
    folder: str | Path | None,
    messages: str | Path | None,
    config: ConfigSource | None,
    kafka_properties: Sequence[str],
    on_status: OnStatus,
) -> MessageSource:
    """Return the messages to record."""
    if folder is not None:
        parse_kafka_properties(kafka_properties)
        path = local_path(folder)
        known = folder_source(path)
        if "sink_uri" in known:
            return _storage(changefeed_of(known["sink_uri"], config))
        origin = golden_folder(path)
        changefeed = origin.changefeed
        return MessageSource(origin, {changefeed.sink_uri.topic: changefeed.partition_num})
    changefeed = changefeed_of(sink_uri, config, kafka_properties=kafka_properties)
    topic = changefeed.sink_uri.topic
    if changefeed.sink_uri.kind is SinkKind.STORAGE:
        return _storage(changefeed)
    if messages is None:
        on_status(f"connecting to {brokers_of(changefeed)}")
        ranges = whole_topics(brokers_of(changefeed), [topic])
        origin = messages_of_topics(changefeed, brokers_of(changefeed), ranges)
        return MessageSource(origin, _partitions(ranges))
    named = changefeed.partition_num if changefeed.sets_partition_num else 0
    path = local_path(messages)
    ranges = file_ranges(path, topic, named)
    rows = local(file_messages(LocalEngine(), path, topic))
    return MessageSource(broker_messages(changefeed, rows), _partitions(ranges))


def _storage(changefeed: Changefeed) -> MessageSource:
    listing = listing_of(changefeed)
    if listing.unread or listing.shares_directories:
        what = "the order of the rows in its files is not known"
        problem = next(iter(listing.unread), None)
        hint = f"{problem.path}: {problem.what}" if problem else "several dispatchers wrote into a directory"
        raise FolderError(what, path=listing.uri, hint=hint)
    return MessageSource(storage_folder(changefeed), files=[*listing.tables.values()])


def _partitions(ranges: Sequence[OffsetRange]) -> dict[str, int]:
    return dict(Counter(part.topic for part in ranges))
