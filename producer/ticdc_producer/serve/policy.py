"""What a posted scenario or changefeed may not do: read the server, or write to another Kafka.

Everything is checked on what was parsed, never on the text, because YAML, JSON, TOML and URIs can spell the
same text in many ways. Environment variables are hidden while text is parsed (``without_environment``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ticdc_producer.config import SinkKind, parse_sink_uri
from ticdc_producer.config.parameters import BY_NAME
from ticdc_producer.errors import RefusedRequest
from ticdc_producer.scenario.load import DataStep, GenerateStep, ScenarioFile
from ticdc_producer.serve.settings import Permission, ServeSettings

CLAIM_STORAGE = "claim-check-storage-uri"
_FORBIDDEN = 403


def check_scenario(scenario: ScenarioFile, shipped: ScenarioFile | None, settings: ServeSettings) -> None:
    """Check a scenario, after its overrides were applied.

    :param shipped: the shipped scenario that was overridden, whose own expressions may be used.
    :raises RefusedRequest: for a step that this service does not run.
    """
    own = set() if shipped is None else {text for text, _ in _expressions(shipped)}
    for step in scenario.steps:
        if isinstance(step, DataStep) and "files" not in settings.permissions:
            raise _refused("`data` steps read files and databases", "files", f"{scenario.file}:{step.line}")
    for text, line in _expressions(scenario):
        if "expression" not in settings.permissions and text not in own:
            where = f"{scenario.file}:{line}" if line else scenario.file
            raise _refused("`expression` is Spark SQL", "expression", where)
    check_changefeed(scenario.changefeed, settings, scenario.file)


def _expressions(scenario: ScenarioFile) -> Iterator[tuple[str, int]]:
    """Each expression of a column, with the line of its step."""
    for step in scenario.steps:
        if isinstance(step, GenerateStep):
            for table in step.spec.resolved_tables():
                for column in table.columns.values():
                    if column.expression:
                        yield column.expression, step.line


def check_changefeed(content: Mapping[str, Any], settings: ServeSettings, where: str) -> None:
    """Check the keys of a changefeed file, or of a scenario's ``changefeed:``.

    :raises RefusedRequest: for a key that names files, brokers, credentials or a registry.
    """
    for key, value in _leaves(content):
        if key == "sink-uri" and isinstance(value, str):
            check_sink_uri(value, settings, where)
        elif value not in (None, ""):
            _check_option(key, settings, where)


def _leaves(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        elif isinstance(value, list | tuple):
            for entry in value:
                yield from _leaves(entry) if isinstance(entry, Mapping) else [(str(key), entry)]
        else:
            yield str(key), value


def _check_option(name: str, settings: ServeSettings, where: str) -> None:
    option = BY_NAME.get(name)
    if option is not None and option.of_client:
        what = f"{name} is set where the service is started, not by a request"
        raise RefusedRequest(what, status=_FORBIDDEN, where=where)
    if name == CLAIM_STORAGE and "files" not in settings.permissions:
        raise _refused(f"{name} names a storage of the server", "files", where)


def check_sink_uri(text: str, settings: ServeSettings, where: str) -> None:
    """Check the brokers and the parameters of a sink URI.

    :raises RefusedRequest: for other brokers than those of the service, a storage, and client parameters.
    :raises ChangefeedError: for a URI that is invalid.
    """
    parsed = parse_sink_uri(text)
    if parsed.target.kind is SinkKind.STORAGE and "files" not in settings.permissions:
        raise _refused(f"{parsed.target.scheme}:// names a storage of the server", "files", where)
    own = {part for address in (settings.kafka, *settings.other_kafkas) for part in address.split(",")}
    if not set(parsed.target.hosts) <= own:
        what = "the sink URI names a Kafka that is not the service's"
        hint = "leave the host out: kafka:///TOPIC; the service allows others with --allow-kafka HOST:PORT"
        raise RefusedRequest(what, status=_FORBIDDEN, where=where, hint=hint)
    check_topic(parsed.target.topic)
    for name in parsed.parameters:
        _check_option(name, settings, where)


def check_topic(topic: str) -> None:
    """Check that a topic is none of Kafka's own.

    :raises RefusedRequest: if it is one.
    """
    if topic.startswith("__"):
        raise RefusedRequest("topics that begin with __ are Kafka's own", status=_FORBIDDEN, where=topic)


def _refused(what: str, permission: Permission, where: str) -> RefusedRequest:
    hint = f"the service allows it if it is started with --allow {permission}"
    return RefusedRequest(f"{what}: posted scenarios may not use it", status=403, where=where, hint=hint)
