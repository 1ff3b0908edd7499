"""The topic of one test: its name, a scenario's messages, and the expected events and rows.

Names are unique per test, even if several runs use the same Kafka.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ArgumentError
from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.event import Record
from ticdc_producer.model.event_line import EventLine, from_json
from ticdc_producer.targets.golden import read as source
from ticdc_producer.testing.state_diff import Cell, Rows, cell


@dataclass(frozen=True)
class Golden:
    """The golden folder of a run.

    :param folder: path of the golden folder.
    :raises FolderError: if the folder is damaged.
    """

    folder: Path

    @cached_property
    def changefeed(self) -> Changefeed:
        """The changefeed of the run."""
        return source.changefeed(self.folder, source.manifest(self.folder))

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The messages in the order of topic, partition and offset.

        :raises ArgumentError: if the folder stores its messages as Parquet, which is too much for a test.
        """
        path = self.folder / "messages.jsonl"
        if not path.exists():
            what = "the scenario has too many messages for a test"
            hint = "make it smaller by overrides=[…], or use ticdc-producer run for volume"
            raise ArgumentError(what, argument="scenario", hint=hint)
        return tuple(source.records(path))

    @cached_property
    def events(self) -> tuple[EventLine, ...]:
        """The lines of ``events.jsonl``."""
        return tuple(_lines(self.folder / "events.jsonl"))

    @cached_property
    def state(self) -> Mapping[str, Rows]:
        """``SCHEMA.TABLE`` → the rows that a consumer must have at the end."""
        return _tables(self.folder / "state")

    @cached_property
    def snapshot(self) -> Mapping[str, Rows]:
        """``SCHEMA.TABLE`` → the rows with which a consumer starts; empty without a start-ts."""
        return _tables(self.folder / "snapshot")

    @cached_property
    def start_ts(self) -> int | None:
        """TSO after which the changefeed sends; None: it sends everything."""
        ts = source.manifest(self.folder).get("start-ts")
        return ts if isinstance(ts, int) else None

    @cached_property
    def keys(self) -> Mapping[str, tuple[str, ...]]:
        """``SCHEMA.TABLE`` → the columns of its handle key, if they are visible in the protocol."""
        keys: dict[str, tuple[str, ...]] = {}
        for event in self.events:
            if event["kind"] == "row":
                columns = event["columns"] or ()
                key = tuple(name for name, _, flag in columns if flag & ColumnFlag.HANDLE_KEY)
                keys[f"{event['schema']}.{event['table']}"] = key
        return keys


def _tables(folder: Path) -> dict[str, Rows]:
    """Return the rows of the files ``SCHEMA.TABLE.jsonl``."""
    files = sorted(folder.glob("*.*.jsonl"))
    return {unquote(path.stem): [_row(line) for line in _lines(path)] for path in files}


def _lines(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield json.loads(line)


def _row(line: Mapping[str, Any]) -> dict[str, Cell]:
    return {name: cell(from_json(value)) for name, value in line.items()}


_LONGEST_TEST = 120
"""Characters of the test's id; Kafka allows 249 in all."""
_LONGEST_ROUTED = 60


def topic_name(test: str, *, run: str, worker: str) -> str:
    """Return the name of the topic of one test.

    :param test: the test's node id.
    :param run: identifies the pytest run; topics of an earlier run may still exist.
    :param worker: the worker's name in pytest-xdist; empty without it.
    """
    readable = _plain(test)[-_LONGEST_TEST:].strip("-")
    return "-".join(part for part in ("ticdc", run, worker, readable, _digest(test)) if part)


def own_topics(topics: Iterable[str], default: str, name: str) -> Mapping[str, str]:
    """Map each topic of the scenario to the topic of the test.

    :param topics: every topic that the dispatch rules lead to.
    :param default: the sink URI's topic, which is mapped to ``name``; others get longer names.
    """
    return {topic: name if topic == default else f"{name}-{_routed(topic)}" for topic in {*topics, default}}


def _routed(topic: str) -> str:
    return f"{_plain(topic)[:_LONGEST_ROUTED].strip('-')}-{_digest(topic)}"


def _plain(text: str) -> str:
    # Kafka's metrics replace dots by underscores, so topics that differ only in these would collide.
    return re.sub(r"[^A-Za-z0-9_]+", "-", text)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


@dataclass(frozen=True, kw_only=True)
class ScenarioTopic:
    """A topic on a broker, with its expected events and rows.

    :param bootstrap: ``host:port`` for clients.
    :param topic: the topic's name; if the dispatch rules lead to several topics, that of the sink URI's.
    :param topics: topic of the scenario → topic on the broker, for all topics.
    """

    bootstrap: str
    topic: str
    topics: Mapping[str, str]
    golden: Golden = field(repr=False)

    @property
    def protocol(self) -> str:
        """The protocol's name in a sink URI, such as ``canal-json``."""
        return self.golden.changefeed.protocol

    @property
    def folder(self) -> Path:
        """The golden folder: manifest, messages, expected events and rows, claim-check objects."""
        return self.golden.folder

    def messages(self) -> list[Record]:
        """Return the messages of the topics, ordered by topic, partition and offset."""
        return [replace(record, topic=self.topics[record.topic]) for record in self.golden.records]

    @cached_property
    def expected_events(self) -> list[EventLine]:
        """The events of the messages: lines of the golden folder's ``events.jsonl``, in its order."""
        return [{**event, "topic": self.topics[event["topic"]]} for event in self.golden.events]

    @property
    def expected_state(self) -> Mapping[str, Rows]:
        """``SCHEMA.TABLE`` → its rows at the end, each column → canonical text, bytes if that is not UTF-8,
        None for NULL.
        """
        return self.golden.state

    @property
    def snapshot(self) -> Mapping[str, Rows]:
        """``SCHEMA.TABLE`` → the rows with which the consumer starts, in the form of ``expected_state``.

        Empty if the changefeed has no start-ts. ``folder / "snapshot"`` has them as SQL and Parquet as well.
        """
        return self.golden.snapshot

    @property
    def start_ts(self) -> int | None:
        """TSO after which the changefeed sends; None: it sends everything."""
        return self.golden.start_ts


@contextmanager
def filled(golden: Golden, brokers: Brokers, name: str, *, keep: bool) -> Iterator[ScenarioTopic]:
    """Provide a topic with the messages of a golden folder.

    :param name: name of the topic.
    :param keep: do not delete the topic at the end.
    :raises BrokerError: if no broker answers, or it refuses the client.
    :raises DeliveryError: if it does not accept a message.
    """
    from ticdc_producer.testing.broker import create, delete, send

    default = golden.changefeed.sink_uri.topic
    topics = own_topics({record.topic for record in golden.records}, default, name)
    topic = ScenarioTopic(bootstrap=str(brokers), topic=name, topics=topics, golden=golden)
    starts = create(brokers, golden.changefeed, topics.values())
    try:
        send(brokers, golden.changefeed, topic.messages(), starts)
        yield topic
    finally:
        if not keep:
            delete(brokers, topics.values())
