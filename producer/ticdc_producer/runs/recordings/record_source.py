"""The recorded messages: those of a topic, a golden folder or a file, and the events that options select."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ticdc_producer.config import Changefeed, ConfigSource, SinkKind
from ticdc_producer.config.kafka_properties import parse_kafka_properties
from ticdc_producer.config.parameters import BY_NAME, OF_COMMIT_TS, has_parameter
from ticdc_producer.config.resolve import changefeed_of
from ticdc_producer.dispatch.matcher import Matcher
from ticdc_producer.engine.local import LocalEngine, local
from ticdc_producer.errors import ArgumentError, ChangefeedError, FolderError
from ticdc_producer.local_path import local_path
from ticdc_producer.model import tso
from ticdc_producer.model.fidelity import Fidelity, has_commit_ts
from ticdc_producer.protocols.storage_files import SchemaFile
from ticdc_producer.recording.defined_changes import changes_columns
from ticdc_producer.recording.selection import Accepts, Selection
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
from ticdc_producer.simulate.prepare import TimeStamp, read_ts
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


def check_offsets(selection: Selection, source: MessageSource) -> None:
    """Check that a source has the partitions whose offsets bound a selection.

    :raises ArgumentError: if it lacks one, or has no offsets.
    """
    number = max(source.partitions.values(), default=0)
    for option, offsets in (("since", selection.offsets), ("until", selection.ends)):
        if offsets and source.files is not None:
            what = "the files of a storage have no offsets"
            raise ArgumentError(what, argument=option, hint="name a TSO or a time").about(option)
        for partition in offsets:
            if partition >= number:
                what = f"there is no partition {partition}: the topic has {number}"
                raise ArgumentError(what, argument=option).about(option)


def check_mask(source: MessageSource) -> None:
    """Refuse a source whose values cannot be masked.

    :raises ArgumentError: for files, and a protocol whose messages do not have the values of the columns.
    """
    changefeed, fidelity = source.origin.changefeed, source.origin.fidelity
    if source.files is not None or changes_columns(fidelity):
        what = f"`mask` takes topics whose messages have the values of columns: not {changefeed.protocol}"
        raise ArgumentError(what, argument="mask", hint="record a topic of another protocol").about("mask")


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


_OFFSET = re.compile(r"([0-9]{1,9}):([0-9]{1,18})")
_OFFSETS = re.compile(rf"{_OFFSET.pattern}(,{_OFFSET.pattern})*")


def selection_of(
    table: Sequence[str], key: Sequence[str], since: TimeStamp | None, until: TimeStamp | None
) -> Selection:
    """Return the selection that the options of ``record`` make.

    :raises ArgumentError: for a value that cannot be read.
    """
    offsets, ends = _offsets(since, "since"), _offsets(until, "until")
    return Selection(
        accepts=_accepts(table),
        keys=[_key(text) for text in key],
        after=0 if since is None or offsets else read_ts(since, "since"),
        offsets=offsets,
        until=tso.MAX_TS if until is None or ends else read_ts(until, "until"),
        ends=ends,
    )


def _offsets(value: TimeStamp | None, option: str) -> dict[int, int]:
    """Return the offset of each partition; none if the value has no offsets."""
    text = value.replace(" ", "") if isinstance(value, str) else ""
    if _OFFSETS.fullmatch(text) is None:
        return {}
    offsets: dict[int, int] = {}
    for partition, offset in _OFFSET.findall(text):
        if int(partition) in offsets:
            what = f"{text!r} names partition {int(partition)} twice"
            raise ArgumentError(what, argument=option).about(option)
        offsets[int(partition)] = int(offset)
    return offsets


def _key(text: str) -> dict[str, bytes]:
    """Return the values of a handle key by column."""
    cells = [cell.partition("=") for cell in text.split(",")]
    if not all(name.strip() and equals for name, equals, _ in cells):
        hint = "COLUMN=VALUE of each column of the handle key, such as id=5 or a=1,b=x"
        raise ArgumentError(f"{text!r} is not a key", argument="key", hint=hint).about("key")
    return {name.strip(): value.encode() for name, _, value in cells}


def _accepts(rules: Sequence[str]) -> Accepts:
    """Return the test of TiCDC's filter rules.

    :raises ArgumentError: for a rule that cannot be parsed.
    """
    try:
        matcher = Matcher(rules or ("*.*",), case_sensitive=False)
    except ChangefeedError as error:
        raise ArgumentError(error.what, argument="table", hint=error.hint) from None
    return lambda schema, table: matcher.accepts(schema, table) if table else matcher.accepts_schema(schema)
