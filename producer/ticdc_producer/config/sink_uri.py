"""The sink URI: ``kafka://HOST:PORT[,HOST:PORT]/TOPIC?protocol=open-protocol&partition-num=3&…``.

Storage sinks: ``file:///DIR?protocol=csv``, ``s3://BUCKET/PREFIX?protocol=canal-json``. Pulsar:
``pulsar://HOST:PORT/persistent://TENANT/NAMESPACE/TOPIC?protocol=canal-json``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from ticdc_producer.config.kafka_properties import with_environment
from ticdc_producer.config.parameters import BY_NAME, parameter
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.hints import nearest
from ticdc_producer.model.option_type import Choice, Plain
from ticdc_producer.model.parameter import Parameter, SinkKind, State

MAX_TOPIC_LENGTH = 249
_TOPIC = re.compile(r"[A-Za-z0-9._-]+")
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)")
_OTHER_SINKS = ("mysql", "tidb", "mysql+ssl", "tidb+ssl")
_KAFKA = ("kafka", "kafka+ssl")
_PULSAR = ("pulsar", "pulsar+ssl", "pulsar+http", "pulsar+https")
_PULSAR_TOPIC = re.compile(r"(?:(?:(?:non-)?persistent://)?[\w.=-]+/[\w.=-]+/)?[\w.=-]+", re.ASCII)
STORAGES = ("file", "s3", "gcs", "gs", "azure", "azblob", "hdfs", "sftp", "smb", "webdav", "oss", "dbfs")
"""TiCDC's storages, and others that fsspec supports. Not ``memory``: each process has its own."""


_BUCKET_SCHEMES = ("s3", "gcs", "gs", "azure", "azblob", "oss")


class SinkURI(BaseModel):
    """The target of a changefeed, without parameters and credentials.

    :param hosts: ``host:port`` each; empty for the embedded broker and for a storage.
    :param topic: the default topic; for a storage the name of its last directory.
    :param path: for a storage, the URI of its folder without parameters; empty for topics.
    """

    model_config = ConfigDict(frozen=True)

    hosts: tuple[str, ...] = ()
    topic: str = Field(min_length=1)
    scheme: str = "kafka"
    path: str = ""

    @property
    def kind(self) -> SinkKind:
        """Whether it names topics of Kafka, topics of Pulsar, or a storage."""
        if self.path:
            return SinkKind.STORAGE
        return SinkKind.PULSAR if self.scheme in _PULSAR else SinkKind.KAFKA

    @property
    def embedded(self) -> bool:
        """Whether it is a Kafka URI without hosts, which means the embedded broker."""
        return not self.hosts and not self.path

    @property
    def bootstrap_servers(self) -> str:
        """The hosts in the notation of Kafka clients: ``host:port,host:port``."""
        return ",".join(self.hosts)

    def __str__(self) -> str:
        return self.path or f"{self.scheme}://{self.bootstrap_servers}/{self.topic}"


class ParsedSinkURI(BaseModel):
    """A sink URI and its parameters by name, each checked.

    :param warnings: what has no effect although TiCDC accepts it.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    target: SinkURI
    parameters: Mapping[str, Plain] = Field(repr=False)
    warnings: tuple[str, ...] = ()


def parse_sink_uri(text: str) -> ParsedSinkURI:
    """Parse a sink URI in TiCDC's notation. No error message repeats it, since it may hold a password.

    ``${NAME}`` in the value of a parameter is the environment variable, whose value is not percent-decoded.

    :raises ChangefeedError: for another scheme, a bad address or topic, an unknown, duplicate or unsupported
        parameter and a value that is not allowed.
    """
    if not text.strip():
        raise _error("it is empty", hint="kafka://HOST:PORT/TOPIC?protocol=open-protocol")
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        raise _error("it cannot be read", hint="kafka://HOST:PORT/TOPIC?protocol=open-protocol") from None
    _check_scheme(parts.scheme)
    if parts.scheme in (*_KAFKA, *_PULSAR):
        _refuse_user(parts)
    if parts.fragment:
        raise _error("it holds a '#'", hint="write %23")
    if parts.scheme in _KAFKA:
        target = SinkURI(
            hosts=tuple(broker_addresses(parts.netloc)), topic=_topic(unquote(parts.path.strip("/")))
        )
    elif parts.scheme in _PULSAR:
        target = _pulsar(parts)
    else:
        target = _storage(parts.scheme, parts.netloc, unquote(parts.path))
    parameters = _parameters(parts.query, target.kind)
    plain = parts.scheme == "kafka+ssl" and not parameters.get("enable-tls") and not parameters.get("ca")
    return ParsedSinkURI(
        target=target,
        parameters=MappingProxyType(parameters),
        warnings=("kafka+ssl:// is kafka://, without TLS: set enable-tls=true",) if plain else (),
    )


def default_sink_uri(name: str) -> str:
    """Return the default URI of a run: the embedded broker and a topic named after the scenario."""
    topic = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:MAX_TOPIC_LENGTH]
    return f"kafka:///{topic if topic not in ('', '.', '..') else 'scenario'}"


def check_topic(topic: str) -> str:
    """Return the topic if Kafka accepts the name.

    :raises ValueError: if it does not.
    """
    if not _TOPIC.fullmatch(topic) or topic in (".", "..") or len(topic) > MAX_TOPIC_LENGTH:
        raise ValueError(
            f"{topic!r} is not a topic name: Kafka accepts 1 to 249 of A-Z a-z 0-9 . _ -, and not . or .."
        )
    return topic


def _error(what: str, *, parameter: str = "", hint: str = "") -> ChangefeedError:
    return ChangefeedError(what, parameter=parameter, where="sink URI", hint=hint)


def _check_scheme(scheme: str) -> None:
    if scheme in _KAFKA or scheme in _PULSAR or scheme in STORAGES:
        return
    if scheme in _OTHER_SINKS:
        raise _error(
            f"scheme {scheme!r} is not supported",
            hint="supported: kafka://, for canal-json also pulsar://, and for csv and canal-json file:// and "
            "object storages",
        )
    raise _error("it does not start with kafka://", hint="kafka://HOST:PORT/TOPIC?protocol=open-protocol")


def _refuse_user(parts: SplitResult) -> None:
    """Refuse user information, whose password may contain the characters that end an address."""
    names = (name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    if "%" in parts.netloc or any("@" in part for part in (parts.netloc, parts.path, *names)):
        raise _error("it holds user information before '@', which TiCDC does not read", hint="leave it out")


def broker_addresses(netloc: str) -> Iterator[str]:
    """Yield the addresses of brokers in a sink URI, ``HOST:PORT`` each.

    :raises ChangefeedError: for one that is invalid.
    """
    if not netloc:
        return
    for address in netloc.split(","):
        host, colon, port = address.rpartition(":")
        if not colon or not re.fullmatch(r"[0-9]{1,5}", port) or not 1 <= int(port) <= 65_535:
            named = repr(address if not colon or port.isdecimal() else host)
            raise _error(f"{named} has no port from 1 to 65535", hint="HOST:PORT[,HOST:PORT]")
        if not host:
            raise _error(f"{address!r} names no host", hint="kafka:///TOPIC is the embedded broker")
        if not _HOST.fullmatch(host):
            raise _error(f"{address!r} is not HOST:PORT", hint="write an IPv6 address in brackets")
        yield address


def _topic(path: str) -> str:
    if not path:
        raise _error("it names no topic", hint="kafka://HOST:PORT/TOPIC?…")
    try:
        return check_topic(path)
    except ValueError as error:
        hint = "parameters begin after a '?'" if "=" in path else ""
        raise _error(str(error), hint=hint) from None


def _pulsar(parts: SplitResult) -> SinkURI:
    """Return the URI of a Pulsar, whose topic may be a full name (ticdc ``pkg/sink/pulsar/config.go``)."""
    hosts, topic = tuple(broker_addresses(parts.netloc)), unquote(parts.path.strip("/"))
    hint = "pulsar://HOST:PORT/persistent://TENANT/NAMESPACE/TOPIC?protocol=canal-json"
    if not hosts:
        raise _error("it names no host", hint=hint)
    if not topic:
        raise _error("it names no topic", hint=hint)
    if not _PULSAR_TOPIC.fullmatch(topic):
        raise _error(f"{topic!r} is not a topic of Pulsar", hint=hint)
    return SinkURI(hosts=hosts, topic=topic, scheme=parts.scheme)


def _storage(scheme: str, netloc: str, path: str) -> SinkURI:
    """Return the URI of a storage. Credentials come from the file system library's own environment."""
    host, _, port = netloc.partition(":")
    if "@" in netloc or "%" in netloc or (port and not port.isdecimal() and "[" not in netloc):
        raise _error("it holds user information before '@'", hint="leave it out")
    if scheme == "file" and netloc:
        raise _error(
            f"{host!r} is a host, which file:// does not allow", hint="write file:///DIR with three slashes"
        )
    folder = path.rstrip("/")
    parts = [part for part in folder.split("/") if part]
    if (not parts and not netloc) or (scheme == "file" and not parts):
        raise _error("it names no folder", hint=f"{scheme}://{'' if scheme == 'file' else 'BUCKET'}/DIR")
    if scheme in _BUCKET_SCHEMES and not netloc:
        raise _error("it names no bucket", hint=f"write {scheme}://BUCKET/DIR with two slashes")
    if ".." in parts or "." in parts or any(ord(char) < ord(" ") for char in folder):
        raise _error("its path holds '.', '..' or a control character", hint="name the folder itself")
    return SinkURI(topic=(parts or [netloc])[-1], scheme=scheme, path=f"{scheme}://{netloc}{folder}")


def _parameters(query: str, kind: SinkKind) -> dict[str, Plain]:
    values: dict[str, Plain] = {}
    substituted = with_environment(query, "sink URI", partial(quote, safe=""))
    for name, text in parse_qsl(substituted, keep_blank_values=True):
        if name in values:
            raise _error(f"duplicate parameter {name!r}", parameter=name)
        values[name] = _value(_lookup(name), text, kind)
    return values


def _lookup(name: str) -> Parameter:
    option = parameter(name)
    if option is None:
        allowed = [known.name for known in BY_NAME.values() if known.in_uri and known.state != State.REJECTED]
        hint = nearest(name, allowed, listed="the page on options")
        raise _error(f"unknown parameter {name!r}", parameter=name, hint=hint)
    if option.state == State.REJECTED:
        raise _error(f"parameter {name!r} is not supported", parameter=name, hint=option.effect)
    if not option.in_uri:
        key = f"{option.file_key} of the changefeed file"
        raise _error(f"{name!r} is not a parameter of a sink URI", parameter=name, hint=f"set {key}")
    return option


def _value(option: Parameter, text: str, kind: SinkKind) -> Plain:
    is_unread = option.sinks and kind not in option.sinks and not option.checked_elsewhere
    is_unknown = isinstance(option.value, Choice) and option.value.fallback and not option.value.knows(text)
    if is_unknown or (option.ignored_elsewhere and option.admits(text)):
        return text  # ``resolve`` reads it
    try:
        return option.value.read(text)
    except ValueError as error:
        if is_unread:  # TiCDC does not look at it
            return text
        raise _error(f"{option.name}: {error}", parameter=option.name) from None
