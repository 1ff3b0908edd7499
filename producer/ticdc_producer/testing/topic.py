"""The topic of one test: a scenario's messages, and the expected events and rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ticdc_producer.kafka.client import Brokers
from ticdc_producer.model.event import Record
from ticdc_producer.testing.cell import Rows
from ticdc_producer.testing.golden import Golden
from ticdc_producer.testing.topic_name import own_topics


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
        """The messages of the topics, ordered by topic, partition and offset."""
        return [replace(record, topic=self.topics[record.topic]) for record in self.golden.records]

    @cached_property
    def expected_events(self) -> list[dict[str, Any]]:
        """The events of the messages: lines of the golden folder's ``events.jsonl``, in its order."""
        return [{**event, "topic": self.topics[event["topic"]]} for event in self.golden.events]

    @property
    def expected_state(self) -> Mapping[str, Rows]:
        """``SCHEMA.TABLE`` → its rows at the end, each column → canonical text, bytes if that is not UTF-8,
        None for NULL.
        """
        return self.golden.state


@contextmanager
def filled(golden: Golden, brokers: Brokers, name: str, *, keep: bool) -> Iterator[ScenarioTopic]:
    """A topic with the messages of a golden folder.

    :param name: name of the topic.
    :param keep: do not delete the topic at the end.
    :raises BrokerError: if no broker answers, or it refuses the client.
    :raises DeliveryError: if it does not accept a message.
    """
    from ticdc_producer.testing.kafka import create, delete, send

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
