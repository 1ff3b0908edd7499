"""What TiCDC refuses in a changefeed with Avro, and what is not simulated.

Source: tiflow ``pkg/sink/codec/common/config.go`` (``Validate``), ``pkg/config/replica_config.go``,
``cdc/sink/dmlsink/mq/dispatcher/topic/expression.go`` (``ValidateForAvro``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.option_type import Plain

_SCHEMES = ("http", "https", "mock")


def check_changefeed(options: Mapping[str, Plain], topics: Sequence[str], reaches_kafka: bool) -> None:
    """Refuse a changefeed that Avro does not allow.

    :param options: by parameter name.
    :param topics: the topic expressions of the dispatch rules.
    :param reaches_kafka: whether the sink URI names hosts.
    :raises ChangefeedError: for the first rule that is violated.
    """
    if options["force-replicate"]:
        raise ChangefeedError(
            "force-replicate must be off with protocol avro",
            parameter="force-replicate",
            hint="a table without a handle key has no message key",
        )
    for name, hint in _NOT_SIMULATED.items():
        if _is_enabled(options.get(name)):
            raise ChangefeedError(f"protocol avro with {name} is not simulated", parameter=name, hint=hint)
    for topic in topics:
        if "{" in topic and not ("{schema}" in topic and "{table}" in topic):
            what = f"topic expression {topic!r} of protocol avro lacks a placeholder"
            raise ChangefeedError(what, parameter="topic", hint="Avro requires both {schema} and {table}")
    _check_registry(str(options["schema-registry"] or ""), reaches_kafka)


_NOT_SIMULATED = {
    "integrity": "rows carry no checksums here: leave integrity-check-level at none",
    "glue-schema-registry-config": "registries are reached as Confluent's: use schema-registry",
}


def _is_enabled(value: object) -> bool:
    if isinstance(value, Mapping) and value.get("integrity-check-level", "") == "none":
        return False
    return bool(value)


def _check_registry(url: str, reaches_kafka: bool) -> None:
    hint = "schema-registry=http://HOST:8081, as a parameter or in [sink]"
    if not url:
        if reaches_kafka:
            raise ChangefeedError(
                "protocol avro needs a schema registry", parameter="schema-registry", hint=hint
            )
        return
    try:
        parts = urlsplit(url)
        known = parts.scheme in _SCHEMES and (parts.scheme == "mock" or bool(parts.hostname))
    except ValueError:
        known = False
    if not known:  # the URL may hold a password, so the error does not repeat it
        raise ChangefeedError(
            "the schema registry's URL is not an http:// or https:// URL",
            parameter="schema-registry",
            hint=hint,
        )
