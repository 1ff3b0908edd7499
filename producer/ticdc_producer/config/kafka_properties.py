"""Properties of the Kafka clients, and ``${NAME}`` in values of the command line.

Rules: tiflow ``pkg/sink/kafka/options.go`` (``applyTLS``, ``applySASL``), ``pkg/security/credential.go``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.hints import closest
from ticdc_producer.kafka.client import SETTABLE, InvalidValue, UnknownProperty, check_property
from ticdc_producer.model.option_type import Plain

_VARIABLE = re.compile(r"(\$?)\$\{([A-Za-z_][A-Za-z0-9_]*)\}")

_variables: ContextVar[Mapping[str, str] | None] = ContextVar("variables", default=None)


def variables() -> Mapping[str, str]:
    """Return the variables that may be substituted; none in ``without_environment``."""
    substituted = _variables.get()
    return os.environ if substituted is None else substituted


@contextmanager
def without_environment() -> Iterator[None]:
    """Hide the variables of the process from text of other users. All variables are unset then."""
    token = _variables.set({})
    try:
        yield
    finally:
        _variables.reset(token)


def with_environment(text: str, where: str, encode: Callable[[str], str] = str) -> str:
    """Substitute environment variables in a text; ``$${NAME}`` becomes the literal text ``${NAME}``.

    :param where: the location that errors name.
    :param encode: applied to a variable's value before it is inserted.
    :raises ChangefeedError: for a variable that is not set.
    """

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return f"${{{match[2]}}}"
        if match[2] not in variables():
            what = f"environment variable {match[2]!r} is not set"
            raise ChangefeedError(what, where=where, hint="write $${…} for the text itself")
        return encode(variables()[match[2]])

    return _VARIABLE.sub(value, text)


_ORDER = "the order of messages and the absence of duplicates depend on it"
_OPTION = "set by an option of the changefeed"
_READING = "the tool decides which offsets are read"
_REJECTED = {
    **dict.fromkeys(
        (
            "enable.idempotence", "acks", "request.required.acks", "retries", "message.send.max.retries",
            "max.in.flight", "max.in.flight.requests.per.connection", "partitioner", "transactional.id",
            "sticky.partitioning.linger.ms", "delivery.report.only.error", "produce.offset.report",
            "batch.num.messages.per.partition", "enable.gapless.guarantee", "queuing.strategy",
        ),
        _ORDER,
    ),
    "bootstrap.servers": "the sink URI names the brokers",
    "metadata.broker.list": "the sink URI names the brokers",
    "compression.type": f"{_OPTION}: compression",
    "compression.codec": f"{_OPTION}: compression",
    "message.max.bytes": f"{_OPTION}: max-message-bytes",
    **dict.fromkeys(
        (
            "group.id", "group.instance.id", "group.protocol", "auto.offset.reset", "enable.auto.commit",
            "enable.auto.offset.store", "enable.partition.eof", "isolation.level",
        ),
        _READING,
    ),
}  # fmt: skip
_WHERE = "`kafka_properties`"
_LIST = "names and values are those of librdkafka's CONFIGURATION.md"
_FORM = re.compile(r"([A-Za-z0-9_.-]+)=(.*)", re.DOTALL)


def parse_kafka_properties(texts: Iterable[str]) -> dict[str, str]:
    """Return properties by name, as librdkafka spells them. ``${NAME}`` is an environment variable.

    :param texts: ``name=value`` each.
    :raises ChangefeedError: for a text of another form, a duplicate name, a name or value that librdkafka
        does not know, and properties that our delivery guarantees depend on. No error repeats a value, since
        it may be a password.
    """
    properties: dict[str, str] = {}
    for text in texts:
        match = _FORM.fullmatch(text)
        if match is None:
            raise _error("it is not of the form name=value", "", "for example client.id=test")
        name, value = match.groups()
        if name in properties:
            raise _error(f"duplicate property {name!r}", name)
        if name in _REJECTED:
            raise _error(f"property {name!r} cannot be set by users", name, _REJECTED[name])
        try:
            properties[name] = with_environment(value, _WHERE)
        except ChangefeedError as error:
            raise error.about("kafka_properties") from None
        _check(name, properties[name])
    return properties


def _check(name: str, value: str) -> None:
    try:
        check_property(name, value)
    except UnknownProperty:
        hint = closest(name, SETTABLE.union(_REJECTED)) or _LIST
        raise _error(f"no Kafka client has a property {name!r}", name, hint) from None
    except InvalidValue as error:
        raise _error(f"invalid value of property {name!r}", name, str(error) or _LIST) from None


def _error(what: str, parameter: str, hint: str = "") -> ChangefeedError:
    return ChangefeedError(what, parameter=parameter, where=_WHERE, hint=hint).about("kafka_properties")


def security_properties(options: Mapping[str, Plain]) -> dict[str, str]:
    """Return client properties, as librdkafka spells them.

    Files are read here, and their content is sent with the tasks of Spark: workers need not have the files.

    :param options: the options by name; those of TLS and SASL are read. No manifest has their values.
    :raises ChangefeedError: for options that TiCDC rejects or would ignore, or a file that cannot be read.
    """
    tls, sasl = _tls(options), _sasl(options)
    protocol = ("sasl_" if sasl else "") + ("ssl" if tls else "plaintext")
    return {} if protocol == "plaintext" else {"security.protocol": protocol, **tls, **sasl}


def _tls(options: Mapping[str, Plain]) -> dict[str, str]:
    ca, cert, key = (str(options.get(name) or "") for name in ("ca", "cert", "key"))
    if (cert or key) and not (ca and cert and key):
        raise _security_error(
            "ca, cert and key belong together", "cert" if cert else "key", "name all three files"
        )
    enabled = options.get("enable-tls")
    if ca and enabled is False:
        raise _security_error("ca is given, but enable-tls is false", "enable-tls", "leave one of them out")
    if not (ca or enabled):
        if options.get("insecure-skip-verify"):
            raise _security_error(
                "insecure-skip-verify without TLS", "insecure-skip-verify", "add enable-tls=true"
            )
        return {}
    properties = {"enable.ssl.certificate.verification": "true"}
    if options.get("insecure-skip-verify"):
        properties = {
            "enable.ssl.certificate.verification": "false",
            "ssl.endpoint.identification.algorithm": "none",
        }
    files = {"ca": ("ssl.ca.pem", ca), "cert": ("ssl.certificate.pem", cert), "key": ("ssl.key.pem", key)}
    return properties | {name: _pem(option, path) for option, (name, path) in files.items() if path}


def _pem(option: str, path: str) -> str:
    try:
        text = Path(path).read_text(encoding="ascii")
    except OSError as error:
        raise _security_error(f"cannot read {path}: {error.strerror}", option) from None
    except ValueError:
        text = ""
    if "-----BEGIN" not in text:
        raise _security_error(f"{path} is not a PEM file", option, "TiCDC requires PEM, too")
    return text


def _sasl(options: Mapping[str, Plain]) -> dict[str, str]:
    mechanism, user, password = (options.get(f"sasl-{name}") for name in ("mechanism", "user", "password"))
    if not mechanism:
        if user or password:
            given = "sasl-user" if user else "sasl-password"
            hint = "TiCDC would connect without SASL; add sasl-mechanism, such as scram-sha-512"
            raise _security_error(f"{given} without sasl-mechanism", given, hint)
        return {}
    for name, value in (("sasl-user", user), ("sasl-password", password)):
        if not value:
            raise _security_error(f"sasl-mechanism {mechanism} needs {name}", name)
    return {
        "sasl.mechanism": str(mechanism).upper(),
        "sasl.username": str(user),
        "sasl.password": str(password),
    }


def _security_error(what: str, parameter: str, hint: str = "") -> ChangefeedError:
    return ChangefeedError(what, parameter=parameter, where="Kafka's security", hint=hint)
