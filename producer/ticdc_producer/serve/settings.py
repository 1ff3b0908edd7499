"""The settings of the service: its address, its socket, its clients, and permissions of posted scenarios."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Literal, TypeAlias

from ticdc_producer.errors import ArgumentError, ChangefeedError, EnvironmentFailure
from ticdc_producer.runs.options.requests import SERVE_RULES
from ticdc_producer.runs.options.rule import check_rules

Permission: TypeAlias = Literal["environment", "expression", "files"]
"""``environment``: ``${NAME}``; ``expression``: columns with Spark SQL; ``files``: ``data`` steps, storages,
claim-check."""
DEFAULT_PORT = 8642
_SHORTEST_TOKEN = 16


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of requests and runs.

    :param body_bytes: size of a request.
    :param body_values: keys and values of the JSON of a request; not of the rows of a comparison.
    :param body_seconds: time in which the headers of a request must arrive, and then its body.
    :param check_seconds: time in which the scenario and the changefeed of a request must be read.
    :param row_changes: row changes of one run.
    :param events: events of one run, resolved events of all partitions included.
    :param image_bytes: bytes of the row images of one run.
    :param stream_bytes: estimated bytes of the messages of one run; of the events that a request decodes.
    :param seconds: time of one run.
    :param memory_bytes: resident memory of the process of a run, and of those that it has started.
    :param queued: runs that wait.
    :param runs: finished runs that are available; the oldest are removed.
    :param scenarios: uploaded scenarios.
    :param preview_rows: row changes of a preview.
    :param preview_events: events of a preview in one protocol.
    :param preview_bytes: bytes of its row images, and of its messages in one protocol.
    :param preview_messages: messages of a preview in one protocol that are returned.
    :param file_bytes: size of a file of messages.
    :param archive_bytes: size of the files in an archive of a golden folder.
    :param copied_messages: messages of a stream that is opened; of a topic the newest.
    :param streams: streams that are open; the oldest are closed.
    """

    body_bytes: int = 4 << 20
    body_values: int = 1000
    body_seconds: float = 30
    check_seconds: float = 10
    row_changes: int = 20_000
    events: int = 100_000
    image_bytes: int = 64 << 20
    stream_bytes: int = 256 << 20
    seconds: float = 300
    memory_bytes: int = 4 << 30
    queued: int = 50
    runs: int = 100
    scenarios: int = 100
    preview_rows: int = 2500
    preview_events: int = 10_000
    preview_bytes: int = 8 << 20
    preview_messages: int = 500
    file_bytes: int = 256 << 20
    archive_bytes: int = 512 << 20
    copied_messages: int = 300_000
    streams: int = 4


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """The settings of the service.

    :param host: address to listen on.
    :param token: token of the header ``Authorization: Bearer TOKEN``; empty: none, on loopback only.
    :param host_names: names by which clients reach the service, besides ``host`` and those of loopback.
    :param kafka: ``HOST:PORT`` of the Kafka to write to; empty: the service starts one.
    :param kafka_addresses: ``HOST:PORT`` each, by which clients of other machines or containers reach the
        Kafka that the service starts.
    :param other_kafkas: further brokers that posted sink URIs may name.
    :param kafka_properties: ``name=value`` each: properties of the clients of ``kafka``.
    :param schema_registry: URL of the registry for Avro; posted changefeeds may not name one.
    :param permissions: permissions of posted scenarios.
    :param attachments: the streams that requests may read: sink URIs and paths by their names.
    :param attachment_configs: paths of their changefeed files, by the same names.
    :raises ArgumentError: for an address that other machines reach, without a token, and for addresses of
        Kafka that it cannot have.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    token: str = field(default="", repr=False)
    host_names: frozenset[str] = frozenset()
    kafka: str = ""
    kafka_addresses: tuple[str, ...] = ()
    other_kafkas: frozenset[str] = frozenset()
    kafka_properties: tuple[str, ...] = field(default=(), repr=False)
    schema_registry: str = field(default="", repr=False)
    permissions: frozenset[Permission] = frozenset()
    attachments: Mapping[str, str] = field(default_factory=dict, repr=False)
    attachment_configs: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not self.on_loopback and not self.token:
            what = f"`host` {self.host} can be reached from other machines and requires a token"
            hint = "set TICDC_PRODUCER_TOKEN, such as to the output of `openssl rand -hex 32`"
            raise ArgumentError(what, argument="host", hint=hint).about("host")
        if self.token and len(self.token) < _SHORTEST_TOKEN:
            what = f"the token has fewer than {_SHORTEST_TOKEN} characters"
            raise ArgumentError(what, argument="token", hint="openssl rand -hex 32 prints a good one")
        if self.kafka_addresses:
            self._check_addresses()

    def _check_addresses(self) -> None:
        ports = [_port(address) for address in self.kafka_addresses]
        port, times = Counter(ports).most_common(1)[0]
        if times > 1:
            what = f"two values of `kafka_address` have port {port}"
            hint = "give each a port of its own, such as localhost:9092 and ticdc:9093"
            raise ArgumentError(what, argument="kafka_address", hint=hint).about("kafka_address")

    def kafka_for(self, host: str) -> str:
        """Return the address of the service's Kafka for a client.

        :param host: the name or address by which the client reaches the service.
        """
        for address in self.kafka_addresses:
            if address.rpartition(":")[0].strip("[]") == host:
                return address
        return next(iter(self.kafka_addresses), self.kafka)

    def names_own_kafka(self, netloc: str) -> bool:
        """Return whether the brokers of a sink URI, or some of them, are the service's Kafka."""
        own = {part for address in (self.kafka, *self.kafka_addresses) for part in address.split(",")}
        return not netloc or {*netloc.split(",")} <= own - {""}

    @property
    def allowed_brokers(self) -> frozenset[str]:
        """The brokers that posted sink URIs may name."""
        addresses = (self.kafka, *self.kafka_addresses, *self.other_kafkas)
        return frozenset(part for address in addresses for part in address.split(","))

    @property
    def on_loopback(self) -> bool:
        """Whether only this machine reaches the service."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def accepted_hosts(self) -> frozenset[str]:
        """The names that the header ``Host`` may have, in lower case; empty: any, as a token is required."""
        if not self.on_loopback and not self.host_names:
            return frozenset()
        names = {"localhost", "127.0.0.1", "[::1]", self.host, *self.host_names}
        return frozenset(name.lower() for name in names)


def _port(address: str) -> int:
    """Return the port of an address.

    :raises ArgumentError: if it is not HOST:PORT.
    """
    from ticdc_producer.config.sink_uri import broker_addresses  # the service begins to listen without it

    hint = "write the name by which clients reach this machine or container, such as localhost:9092"
    try:
        addresses = [*broker_addresses(address)]
    except ChangefeedError:
        addresses = []
    if len(addresses) != 1:
        what = f"`kafka_address` {address!r} is not HOST:PORT"
        raise ArgumentError(what, argument="kafka_address", hint=hint).about("kafka_address")
    return int(address.rpartition(":")[2])


def check_kafka_ports(settings: ServeSettings) -> None:
    """Check that Kafka can listen where clients of other machines expect it.

    :raises ArgumentError: if the service starts no Kafka.
    :raises EnvironmentFailure: if a port is taken.
    """
    options = {"kafka": settings.kafka, "kafka_address": settings.kafka_addresses}
    check_rules(SERVE_RULES, {name for name, value in options.items() if value})
    for address in settings.kafka_addresses:
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("", _port(address)))
            except OSError as error:
                what = f"Kafka cannot listen on the port of {address}: {error.strerror}"
                raise EnvironmentFailure(what, hint="choose another `kafka_address`").about(
                    "kafka_address"
                ) from None


def listen(settings: ServeSettings) -> socket.socket:
    """Open a socket that accepts connections.

    :raises EnvironmentFailure: if the address is taken.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen()  # clients may connect from now on, and wait
    except OSError as error:
        listener.close()
        what = f"cannot listen on {settings.host}:{settings.port}: {error.strerror}"
        raise EnvironmentFailure(what, hint="choose another `port`").about("port") from None
    listener.set_inheritable(False)
    return listener


def url_of(settings: ServeSettings, listener: socket.socket) -> str:
    """Return the URL of the service."""
    port = listener.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{port}"
