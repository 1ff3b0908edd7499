"""The bodies of requests, and the restrictions of posted scenarios and changefeeds.

All checks inspect the parsed content, never the text, because YAML, JSON, TOML and URIs can spell the same
text in many ways. Environment variables are hidden while text is parsed (``without_environment``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ticdc_producer.config import SinkKind, parse_sink_uri
from ticdc_producer.config.parameters import BY_NAME
from ticdc_producer.errors import RefusedRequest
from ticdc_producer.scenario.load import DataStep, GenerateStep, ScenarioFile
from ticdc_producer.serve.settings import Permission, ServeSettings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_Name: TypeAlias = Annotated[str, Field(max_length=300)]
_Text: TypeAlias = Annotated[str, Field(max_length=4 << 20)]
_Names: TypeAlias = Annotated[tuple[Annotated[str, Field(max_length=10_000)], ...], Field(max_length=100)]
_TSO: TypeAlias = Annotated[int, Field(ge=1, lt=1 << 63)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScenarioOf(_Body):
    """The scenario of a request: one of ``scenario``, ``sql`` and ``yaml``."""

    scenario: _Name | None = Field(
        default=None, description="Name of a shipped or an uploaded scenario.", examples=["seed_t1"]
    )
    sql: _Text | None = Field(default=None, description="SQL of the scenario.")
    yaml: _Text | None = Field(default=None, description="Content of a YAML scenario.")
    file: _Name = Field(default="", description="Name of the file that held the text, for messages.")
    overrides: _Names = Field(default=(), description="PATH=VALUE each, as `run --set`.")

    @property
    def given(self) -> int:
        """The number of sources."""
        return sum(part is not None for part in (self.scenario, self.sql, self.yaml))


def refusal_of(error: ErrorDetails) -> RefusedRequest:
    """Return the error for a body that is invalid.

    :param error: the first one that pydantic lists.
    """
    where = ".".join(str(part) for part in error["loc"] if part != "body")[:200]
    return RefusedRequest(error["msg"].removeprefix("Value error, "), status=422, where=where)


class RunRequest(ScenarioOf):
    """A run: the messages to write, and their destination."""

    protocol: _Name | None = Field(
        default=None, description="Default: the scenario's own.", examples=["canal-json"]
    )
    options: dict[_Name, _Name] = Field(
        default_factory=dict,
        max_length=50,
        description="Further parameters of the sink URI.",
        examples=[{"enable-tidb-extension": "true"}],
    )
    partitions: int | None = Field(default=None, ge=1, le=100, description="Partitions of the topic.")
    dispatch: _Name | None = Field(
        default=None, description="Partition rule of all tables.", examples=["index-value"]
    )
    topic: _Name | None = Field(default=None, description="Default: a new topic of this run alone.")
    scenario_topic: bool = Field(
        default=False,
        description="Write to the topic that the scenario names; replace it if this service has written it.",
    )
    sink_uri: _Name | None = Field(
        default=None, description="Instead of protocol, options, partitions and topic: as `run --sink-uri`."
    )
    config: _Text | None = Field(default=None, description="Content of a changefeed file (TOML).")
    seed: int | None = Field(default=None, ge=0, lt=1 << 63)
    traps: _Names = Field(
        default=(), description="As `run --inject`.", examples=[["duplicate-message:rate=0.1"]]
    )
    state_at: Annotated[tuple[_TSO, ...], Field(max_length=20)] = ()
    append: bool = Field(default=False, description="Write after the messages that the topic holds.")
    replace: bool = Field(default=False, description="Delete the topic first, if it exists.")
    dry_run: bool = False
    verify: bool = Field(default=True, description="Read the messages again and verify them.")

    @property
    def replaces(self) -> bool:
        """Whether topics that exist are deleted first."""
        return self.replace or (self.scenario_topic and self.sink_uri is None and self.topic is None)

    @model_validator(mode="after")
    def _fits_together(self) -> RunRequest:
        if self.given != 1:
            raise ValueError("a run has exactly one of scenario, sql and yaml")
        if self.sink_uri is not None:
            parts = (self.protocol, self.partitions, self.topic)
            if any(part is not None for part in parts) or self.options:
                raise ValueError("sink_uri cannot be combined with protocol, options, partitions and topic")
        return self


class VerifyRequest(ScenarioOf):
    """A verification of a topic, optionally against a scenario."""

    sink_uri: _Name
    config: _Text | None = None
    traps: _Names = ()
    state_at: Annotated[tuple[_TSO, ...], Field(max_length=20)] = ()
    strict_table_order: bool = False
    from_beginning: bool = False
    resolved_gap_ms: int | None = Field(default=None, ge=0)
    examples: int = Field(default=3, ge=1, le=100)

    @model_validator(mode="after")
    def _fits_together(self) -> VerifyRequest:
        if self.given > 1:
            raise ValueError("a verification has at most one of scenario, sql and yaml")
        return self


class DecodeRequest(_Body):
    """A topic to decode."""

    sink_uri: _Name
    config: _Text | None = None
    protocol: _Name | None = None


class TablesRequest(_Body):
    """The rows that a consumer has."""

    tables: dict[_Name, list[dict[str, Any]]] = Field(
        description="SCHEMA.TABLE to rows; bytes that are not UTF-8 as {b64: …}.",
        examples=[{"test.orders": [{"id": 1, "item": "lamp"}]}],
    )


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
    """Yield each expression of a column, with the line of its step."""
    for step in scenario.steps:
        if isinstance(step, GenerateStep):
            for table in step.spec.resolved_tables():
                for column in table.columns.values():
                    if column.expression:
                        yield column.expression, step.line


def check_changefeed(content: Mapping[str, object], settings: ServeSettings, where: str) -> None:
    """Check the keys of a changefeed file, or of a scenario's ``changefeed:``.

    :raises RefusedRequest: for a key that names files, brokers, credentials or a registry.
    """
    for key, value in _leaves(content):
        if key == "sink-uri" and isinstance(value, str):
            check_sink_uri(value, settings, where)
        elif value not in (None, ""):
            _check_option(key, settings, where)


def _leaves(content: Mapping[str, object]) -> Iterator[tuple[str, object]]:
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
