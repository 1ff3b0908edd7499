"""A double of Pulsar's client at the interface that the tool uses: it keeps what is sent, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace


class PulsarException(Exception):
    """The base class of the client's errors."""


class ConnectError(PulsarException):
    """No broker answers."""


@dataclass(frozen=True)
class Sent:
    """A message, or with ``value`` None a flush."""

    topic: str
    partition: int | None
    key: str | None = None
    value: bytes | None = None


@dataclass
class PulsarDouble:
    """A Pulsar of one process.

    :ivar sent: the messages and flushes, in order.
    :ivar clients: the arguments of the clients.
    :ivar producers: the arguments of the producers.
    :ivar refused: message number at which it begins to refuse messages; None: it accepts all.
    """

    partitions: int = 3
    refused: int | None = None
    answers: bool = True
    sent: list[Sent] = field(default_factory=list)
    clients: list[dict[str, object]] = field(default_factory=list)
    producers: list[dict[str, object]] = field(default_factory=list)

    @property
    def messages(self) -> list[Sent]:
        return [sent for sent in self.sent if sent.value is not None]

    def module(self) -> ModuleType:
        """Return the module ``pulsar``."""
        module = ModuleType("pulsar")
        module.__spec__ = ModuleSpec("pulsar", None)
        contents = {
            "PulsarException": PulsarException,
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
        return SimpleNamespace(create_producer=self._producer, close=lambda: None)

    def _producer(
        self, topic: str, *, message_router: Callable[[object, int], int], **options: object
    ) -> SimpleNamespace:
        if not self.answers:
            raise ConnectError
        self.producers.append({"topic": topic, **options})

        def send(
            value: bytes, callback: Callable[[object, object], None], *, partition_key: str | None
        ) -> None:
            message = SimpleNamespace(partition_key=lambda: partition_key or "")
            partition = message_router(message, self.partitions)
            accepted = self.refused is None or len(self.messages) < self.refused
            self.sent.append(Sent(topic, partition, partition_key, value))
            callback(SimpleNamespace(name="Ok" if accepted else "MessageTooBig"), None)

        flush = Sent(topic, None)
        return SimpleNamespace(send_async=send, flush=lambda: self.sent.append(flush), close=lambda: None)


def _method(name: str) -> Callable[..., tuple[object, ...]]:
    return lambda *arguments: (name, *arguments)
