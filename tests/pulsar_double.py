"""A double of Pulsar's client at the interface that the tool uses: it holds what is sent, in order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import astuple, dataclass, field
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import ClassVar


class PulsarException(Exception):
    """The base class of the client's errors."""


class ConnectError(PulsarException):
    """No broker answers."""


class ProducerBusy(PulsarException):
    """A producer of the same name is connected."""


class Timeout(PulsarException):
    """No message came."""


class WorkerDied(BaseException):
    """The end of a process that writes, in the middle of its work."""


@dataclass(frozen=True)
class MessageId:
    """A position: ledger, entry of the ledger, index in the batch of the entry.

    :ivar partition: the number of the partition; -1 for a topic without partitions, and if the producer of a
        partition returns the id.
    """

    partition: int
    ledger: int
    entry: int
    index: int
    earliest: ClassVar[MessageId]
    latest: ClassVar[MessageId]

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


MessageId.earliest = MessageId(-1, -1, -1, -1)
MessageId.latest = MessageId(-1, 1 << 62, 1 << 62, -1)


@dataclass(frozen=True)
class Sent:
    """A message, or with ``value`` None a flush."""

    topic: str
    partition: int
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
    :ivar order: the values of all messages in the order in which they were stored.
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
    order: list[bytes] = field(default_factory=list)
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
        _, number = _topic(name)
        self.stored[name] += [
            Stored(MessageId(number, ledger, entry, index), *message) for index, message in enumerate(batch)
        ]
        self.order += [value for _, value in batch]
        return [MessageId(-1, ledger, entry, index) for index in range(len(batch))]

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
        name = str(options["producer_name"] or len(self.producers))
        if not self.answers:
            raise ConnectError
        if self.busy or (topic, name) in self.connected:
            self.busy -= 1
            raise ProducerBusy
        self.connected.add((topic, name))
        self.producers.append({"topic": topic, **options})
        return Producer(self, topic, name, options["batching_max_messages"])

    def _reader(
        self, topic: str, start: MessageId, *, receiver_queue_size: int, start_message_id_inclusive: bool
    ) -> Reader:
        assert receiver_queue_size > 0
        self.readers.append(topic)
        messages = self.stored[topic]
        if start == MessageId.latest and start_message_id_inclusive:
            return Reader(messages, max(0, len(messages) - 1))
        at = sum(astuple(message.id)[1:] <= astuple(start)[1:] for message in messages)
        waits = at == len(messages) > 0 and start.partition != messages[-1].id.partition
        return Reader(messages, at, waits)


@dataclass
class Reader:
    """A reader of one partition.

    :ivar waits: whether it expects a message that does not come. The client compares the last id with that at
        which it starts, and their partitions differ.
    """

    messages: list[Stored]
    at: int
    waits: bool = False

    def has_message_available(self) -> bool:
        return self.waits or self.at < len(self.messages)

    def read_next(self, _timeout_ms: int) -> Stored:
        if self.at == len(self.messages):
            raise Timeout
        self.at += 1
        return self.messages[self.at - 1]

    def close(self) -> None:
        self.at = len(self.messages)


class Producer:
    """A producer of a partition, or of a topic without them. It stores a batch when it is full or flushed."""

    def __init__(self, broker: PulsarDouble, partition: str, name: str, full: object) -> None:
        self._broker, self._partition, self._name, self._full = broker, partition, name, full
        self._queue: list[tuple[str, bytes, OnDelivery]] = []

    def send_async(self, value: bytes, callback: OnDelivery, *, partition_key: str | None) -> None:
        broker = self._broker
        if broker.lost is not None and len(broker.messages) >= broker.lost:
            raise WorkerDied
        accepted = broker.refused is None or len(broker.messages) < broker.refused
        broker.sent.append(Sent(*_topic(self._partition), partition_key, value))
        if not accepted:
            callback(SimpleNamespace(name="MessageTooBig"), None)
            return
        self._queue.append((partition_key or "", value, callback))
        if len(self._queue) == self._full:
            self._store()

    def _store(self) -> None:
        batch, self._queue = self._queue, []
        self._broker.before_entry(self._partition)
        ids = self._broker.store(self._partition, [(key, value) for key, value, _ in batch])
        for (_, _, callback), message_id in zip(batch, ids, strict=True):
            callback(SimpleNamespace(name="Ok"), message_id)

    def flush(self) -> None:
        self._broker.sent.append(Sent(*_topic(self._partition)))
        if self._queue:
            self._store()

    def close(self) -> None:
        """Drop what is queued, as the client does."""
        for _, _, callback in self._queue:
            callback(SimpleNamespace(name="AlreadyClosed"), None)
        self._broker.connected.discard((self._partition, self._name))


def _topic(partition: str) -> tuple[str, int]:
    """Return the topic and the number of a partition; -1 for a topic without partitions."""
    topic, divides, number = partition.rpartition("-partition-")
    return (topic, int(number)) if divides else (partition, -1)


def _method(name: str) -> Callable[..., tuple[object, ...]]:
    return lambda *arguments: (name, *arguments)
