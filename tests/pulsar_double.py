"""A double of Pulsar's client at the interface that the tool uses: it holds what is sent, in order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from functools import total_ordering
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import ClassVar


class PulsarException(Exception):
    """The base class of the client's errors."""


class ConnectError(PulsarException):
    """No broker answers."""


class ProducerBusy(PulsarException):
    """A producer of the same name is connected."""


class WorkerDied(BaseException):
    """The end of a process that writes, in the middle of its work."""


@total_ordering
@dataclass(frozen=True)
class MessageId:
    """A position: ledger, entry of the ledger, index in the batch of the entry."""

    ledger: int
    entry: int
    index: int
    earliest: ClassVar[MessageId]
    latest: ClassVar[MessageId]

    def __lt__(self, other: MessageId) -> bool:
        return astuple(self) < astuple(other)

    def ledger_id(self) -> int:
        return self.ledger

    def entry_id(self) -> int:
        return self.entry

    def batch_index(self) -> int:
        return self.index

    def serialize(self) -> bytes:
        return " ".join(map(str, astuple(self))).encode()

    @classmethod
    def deserialize(cls, text: bytes) -> MessageId:
        return cls(*map(int, text.split()))


MessageId.earliest = MessageId(-1, -1, -1)
MessageId.latest = MessageId(1 << 62, 1 << 62, -1)


@dataclass(frozen=True)
class Sent:
    """A message, or with ``value`` None a flush."""

    topic: str
    partition: int | None
    key: str | None = None
    value: bytes | None = None


@dataclass(frozen=True)
class Stored:
    """A message of a partition."""

    id: MessageId
    key: str
    value: bytes

    def message_id(self) -> MessageId:
        return self.id

    def partition_key(self) -> str:
        return self.key

    def data(self) -> bytes:
        return self.value


OnDelivery = Callable[[object, MessageId | None], None]


@dataclass
class PulsarDouble:
    """A Pulsar of one process.

    :ivar partitions: number of partitions of each topic; 0: the topics have none.
    :ivar refused: message number at which it begins to refuse messages; None: it accepts all.
    :ivar lost: number of messages after which the process that sends dies; None: it does not.
    :ivar busy: number of producers that it refuses, because another one has their name.
    :ivar ledger_entries: number of entries of a ledger. The next ledger has another number.
    :ivar before_entry: called before the messages of a batch are stored, with the name of their partition.
    :ivar sent: the messages and flushes, in order.
    :ivar stored: the messages of the partitions, by name.
    :ivar clients: the arguments of the clients.
    :ivar producers: the arguments of the producers.
    :ivar readers: the partitions that were read.
    :ivar connected: topic and name of the producers.
    :ivar entries: number of entries of the partitions; some may hold no messages.
    """

    partitions: int = 3
    refused: int | None = None
    lost: int | None = None
    busy: int = 0
    answers: bool = True
    ledger_entries: int = 1000
    before_entry: Callable[[str], None] = lambda _: None
    sent: list[Sent] = field(default_factory=list)
    stored: dict[str, list[Stored]] = field(default_factory=lambda: defaultdict(list))
    clients: list[dict[str, object]] = field(default_factory=list)
    producers: list[dict[str, object]] = field(default_factory=list)
    readers: list[str] = field(default_factory=list)
    connected: set[tuple[str, str]] = field(default_factory=set)
    entries: Counter[str] = field(default_factory=Counter)

    @property
    def messages(self) -> list[Sent]:
        return [sent for sent in self.sent if sent.value is not None]

    def values(self, topic: str) -> list[list[bytes]]:
        """The values of each partition of a topic, in order."""
        return [[message.value for message in self.stored[name]] for name in self.names(topic)]

    def names(self, topic: str) -> list[str]:
        numbers = range(self.partitions)
        return [f"{topic}-partition-{number}" for number in numbers] if self.partitions else [topic]

    def store(self, name: str, batch: list[tuple[str, bytes]]) -> list[MessageId]:
        """Store a batch as an entry of a partition."""
        ledger, entry = divmod(self.entries[name], self.ledger_entries)
        self.entries[name] += 1
        ids = [MessageId(ledger, entry, index) for index in range(len(batch))]
        self.stored[name] += [
            Stored(message_id, *message) for message_id, message in zip(ids, batch, strict=True)
        ]
        return ids

    def module(self) -> ModuleType:
        """Return the module ``pulsar``."""
        module = ModuleType("pulsar")
        module.__spec__ = ModuleSpec("pulsar", None)
        contents = {
            "PulsarException": PulsarException,
            "ProducerBusy": ProducerBusy,
            "MessageId": MessageId,
            "Client": self._client,
            "FileLogger": lambda *_: None,
            "LoggerLevel": SimpleNamespace(Error=3),
            "CompressionType": SimpleNamespace(NONE=0, LZ4=1, ZLib=2, ZSTD=3),
            **{f"Authentication{name}": _method(name) for name in ("Token", "Basic", "Oauth2", "TLS")},
        }
        vars(module).update(contents)
        return module

    def _client(self, url: str, **options: object) -> SimpleNamespace:
        self.clients.append({"url": url, **options})
        return SimpleNamespace(
            create_producer=self._producer,
            create_reader=self._reader,
            get_topic_partitions=self.names,
            close=lambda: None,
        )

    def _producer(self, topic: str, **options: object) -> Producer:
        name = str(options["producer_name"] or f"unnamed {len(self.producers)}")
        if not self.answers:
            raise ConnectError
        if self.busy or (topic, name) in self.connected:
            self.busy -= 1
            raise ProducerBusy
        self.connected.add((topic, name))
        self.producers.append({"topic": topic, **options})
        return Producer(self, topic, name, options)

    def _reader(self, topic: str, start: MessageId, *, start_message_id_inclusive: bool = False) -> Reader:
        self.readers.append(topic)
        messages = self.stored[topic]
        if start == MessageId.latest and start_message_id_inclusive:
            return Reader(messages, max(0, len(messages) - 1))
        return Reader(messages, sum(message.id <= start for message in messages))


@dataclass
class Reader:
    """A reader of one partition."""

    messages: list[Stored]
    at: int

    def has_message_available(self) -> bool:
        return self.at < len(self.messages)

    def read_next(self, _timeout_ms: int) -> Stored:
        self.at += 1
        return self.messages[self.at - 1]

    def close(self) -> None:
        self.at = len(self.messages)


class Producer:
    """A producer of one topic. It stores the messages of a partition when a batch is full, and at a flush."""

    def __init__(self, broker: PulsarDouble, topic: str, name: str, options: dict[str, object]) -> None:
        self._broker, self._topic, self._name, self._options = broker, topic, name, options
        self._queues: dict[int, list[tuple[str, bytes, OnDelivery]]] = defaultdict(list)

    def send_async(self, value: bytes, callback: OnDelivery, *, partition_key: str | None) -> None:
        broker, router = self._broker, self._options["message_router"]
        if broker.lost is not None and len(broker.messages) >= broker.lost:
            raise WorkerDied
        message = SimpleNamespace(partition_key=lambda: partition_key or "")
        # The client of a topic without partitions calls no router.
        partition = router(message, broker.partitions) if broker.partitions and callable(router) else 0
        accepted = broker.refused is None or len(broker.messages) < broker.refused
        broker.sent.append(Sent(self._topic, partition, partition_key, value))
        if not accepted:
            callback(SimpleNamespace(name="MessageTooBig"), None)
            return
        self._queues[partition].append((partition_key or "", value, callback))
        if len(self._queues[partition]) == self._options["batching_max_messages"]:
            self._store(partition)

    def _store(self, partition: int) -> None:
        batch, name = self._queues.pop(partition), self._broker.names(self._topic)[partition]
        self._broker.before_entry(name)
        ids = self._broker.store(name, [(key, value) for key, value, _ in batch])
        for (_, _, callback), message_id in zip(batch, ids, strict=True):
            callback(SimpleNamespace(name="Ok"), message_id)

    def flush(self) -> None:
        self._broker.sent.append(Sent(self._topic, None))
        for partition in [*self._queues]:
            self._store(partition)

    def close(self) -> None:
        """Drop what is queued, as the client does."""
        for _, _, callback in (message for queue in self._queues.values() for message in queue):
            callback(SimpleNamespace(name="AlreadyClosed"), None)
        self._broker.connected.discard((self._topic, self._name))


def _method(name: str) -> Callable[..., tuple[object, ...]]:
    return lambda *arguments: (name, *arguments)
