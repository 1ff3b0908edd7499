"""The bodies of requests, and the restrictions of posted scenarios and changefeeds.

All checks inspect the parsed content, never the text, because YAML, JSON, TOML and URIs can spell the same
text in many ways. Environment variables are hidden while text is parsed (``without_environment``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from ticdc_producer.config import SinkKind, parse_sink_uri
from ticdc_producer.config.parameters import BY_NAME
from ticdc_producer.errors import ProducerError, RefusedRequest
from ticdc_producer.runs.options.commands import RUN, VERIFY
from ticdc_producer.runs.options.option import Option
from ticdc_producer.runs.options.requests import REQUEST_RULES
from ticdc_producer.runs.options.rule import check_rules
from ticdc_producer.scenario.scenario_file import (
    ChangesStep,
    DataStep,
    GenerateStep,
    RecordingStep,
    ScenarioFile,
)
from ticdc_producer.serve.settings import Permission, ServeSettings

_Name: TypeAlias = Annotated[str, Field(max_length=300)]
_Text: TypeAlias = Annotated[str, Field(max_length=4 << 20)]
_Names: TypeAlias = Annotated[tuple[Annotated[str, Field(max_length=10_000)], ...], Field(max_length=100)]
_TSOs: TypeAlias = Annotated[tuple[Annotated[int, Field(ge=1, lt=1 << 63)], ...], Field(max_length=20)]
_Time: TypeAlias = Annotated[int, Field(ge=1, lt=1 << 63)] | _Name | None
_MOST_TABLES = 1000
_CONTENT = "Content of a changefeed file (TOML)."


def _declared(options: Iterable[Option], field: str, **parts: Any) -> Any:
    """Return the field of a declared option.

    :param parts: of the field, in addition to those of the option, or instead of them.
    """
    option = next(option for option in options if option.field == field)
    return Field(**{"default": option.default, "ge": option.minimum, "description": option.help, **parts})


_of_run, _of_verification = partial(_declared, RUN), partial(_declared, VERIFY)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _is_boolean(cls, value: Any, info: ValidationInfo) -> Any:
        """Reject texts and numbers for a boolean, which pydantic would convert: ``"no"`` and 0 are False."""
        field = cls.model_fields.get(info.field_name or "")
        if field is not None and field.annotation is bool and not isinstance(value, bool):
            raise PydanticCustomError("bool_type", "Input should be true or false")
        return value


class ScenarioOf(_Body):
    """The scenario of a request: one of ``scenario``, ``sql`` and ``yaml``."""

    scenario: _Name | None = Field(
        default=None, description="Name of a shipped or an uploaded scenario.", examples=["seed_t1"]
    )
    sql: _Text | None = Field(default=None, description="SQL of the scenario.")
    yaml: _Text | None = Field(default=None, description="Content of a YAML scenario.")
    file: _Name = Field(default="", description="Name of the file that held the text, for messages.")
    overrides: _Names = _of_run("overrides", description="PATH=VALUE each, as `overrides` of `run`.")

    def check_combinations(self, kind: str) -> None:
        """Reject fields that cannot be combined.

        :param kind: of the request, as ``REQUEST_RULES`` names it.
        :raises ValueError: for the first rule that they break, in the words of the JSON.
        """
        try:
            check_rules(REQUEST_RULES[kind], {name for name, value in self if value not in (None, {})})
        except ProducerError as error:
            raise ValueError(error.spelled(str)) from None


_PARTITION_NUM: Any = Field(default=None, ge=1, le=100, description="Partitions of the topic.")
_DISPATCH: Any = Field(default=None, description="Partition rule of all tables.", examples=["index-value"])
_MOST_PREVIEWED = 10


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
    partitions: int | None = _PARTITION_NUM
    dispatch: _Name | None = _DISPATCH
    topic: _Name | None = Field(default=None, description="Default: a new topic of this run alone.")
    scenario_topic: bool = Field(
        default=False,
        description="Write to the topic that the scenario names; replace it if this service has written it.",
    )
    sink_uri: _Name | None = _of_run(
        "sink_uri", description="Instead of protocol, options, partitions and topic: as for `run`."
    )
    config: _Text | None = _of_run("config", description=_CONTENT)
    seed: int | None = _of_run("seed", ge=0, lt=1 << 63)
    traps: _Names = _of_run("traps", examples=[["duplicate-message:rate=0.1"]])
    start_ts: _Time = _of_run("start_ts")
    target_ts: _Time = _of_run("target_ts")
    state_at: _TSOs = _of_run("state_at")
    append: bool = _of_run("append")
    replace: bool = _of_run("replace", description="Delete the topic first, if it exists.")
    dry_run: bool = _of_run("dry_run")
    verify: bool = _of_run("verify")

    @property
    def replaces(self) -> bool:
        """Whether topics that exist are deleted first."""
        return self.replace or (self.scenario_topic and self.sink_uri is None and self.topic is None)

    @model_validator(mode="after")
    def _fits_together(self) -> RunRequest:
        self.check_combinations("run")
        return self


class PreviewRequest(ScenarioOf):
    """A preview: the messages of a small scenario in several protocols, which no Kafka gets."""

    protocols: Annotated[tuple[_Name, ...], Field(max_length=_MOST_PREVIEWED)] = Field(
        default=(), description="Default: the scenario's own.", examples=[["canal-json"]]
    )
    options: dict[_Name, dict[_Name, _Name]] = Field(
        default_factory=dict,
        max_length=_MOST_PREVIEWED,
        description="Further parameters of the sink URI, by protocol.",
        examples=[{"canal-json": {"enable-tidb-extension": "true"}}],
    )
    partitions: int | None = _PARTITION_NUM
    dispatch: _Name | None = _DISPATCH
    config: _Text | None = _of_run("config", description=_CONTENT)
    seed: int | None = _of_run("seed", ge=0, lt=1 << 63)
    traps: _Names = _of_run("traps", examples=[["duplicate-message:rate=0.1"]])
    start_ts: _Time = _of_run("start_ts")
    target_ts: _Time = _of_run("target_ts")
    state_at: int | None = Field(
        default=None, ge=1, lt=1 << 63, description="Also return the rows of all tables at this TSO."
    )
    verify: bool = Field(default=False, description="Also verify the messages.")
    change: _Name | None = Field(
        default=None, description="Return the messages of this `change` of an event alone."
    )

    @model_validator(mode="after")
    def _fits_together(self) -> PreviewRequest:
        self.check_combinations("preview")
        return self

    def run_request(self, protocol: str | None) -> RunRequest:
        """Return the run of one protocol, to the topic that the scenario names."""
        others = {"protocols", "options", "state_at", "verify", "change"}
        fields = {name: getattr(self, name) for name in type(self).model_fields if name not in others}
        options = self.options.get(protocol or "", {})
        return RunRequest(**fields, protocol=protocol, options=options, scenario_topic=True)


class VerifyRequest(ScenarioOf):
    """A verification of a topic, optionally against a scenario."""

    sink_uri: _Name = _of_verification("sink_uri", default=...)
    config: _Text | None = _of_verification("config", description=_CONTENT)
    traps: _Names = _of_verification("traps")
    start_ts: _Time = _of_verification("start_ts")
    target_ts: _Time = _of_verification("target_ts")
    state_at: _TSOs = _of_verification("state_at")
    strict_table_order: bool = _of_verification("strict_table_order")
    from_beginning: bool = _of_verification("from_beginning")
    resolved_gap_ms: int | None = _of_verification("resolved_gap_ms")
    examples: int = _of_verification("examples", le=100)

    @model_validator(mode="after")
    def _fits_together(self) -> VerifyRequest:
        self.check_combinations("verification")
        return self


class DecodeRequest(_Body):
    """A topic to decode."""

    sink_uri: _Name
    config: _Text | None = None
    protocol: _Name | None = None


class StreamRequest(_Body):
    """A stream that the service was started with."""

    attachment: _Name = Field(description="Its name.", examples=["orders"])
    protocol: _Name = Field(
        default="", description="Default: that of the URI or folder; else it is detected."
    )


class TablesRequest(_Body):
    """The rows that a consumer has."""

    tables: dict[_Name, Annotated[list[dict[str, object]], FailFast()]] = Field(
        description="SCHEMA.TABLE to rows; bytes that are not UTF-8 as {b64: …}.",
        examples=[{"test.orders": [{"id": 1, "item": "lamp"}]}],
    )

    @model_validator(mode="before")
    @classmethod
    def _has_few_keys(cls, value: Any) -> Any:
        """Reject many keys before each of them can have an error."""
        return _few(value, "keys")

    @field_validator("tables", mode="before")
    @classmethod
    def _has_few_tables(cls, value: Any) -> Any:
        return _few(value, "tables")


def _few(value: Any, what: str) -> Any:
    """Return a value; an object must not have many members."""
    if isinstance(value, dict) and len(value) > _MOST_TABLES:
        raise ValueError(f"a comparison has at most {_MOST_TABLES} {what}")
    return value


CLAIM_STORAGE = "claim-check-storage-uri"
_FORBIDDEN = 403


_READING = {DataStep: "data", ChangesStep: "changes", RecordingStep: "recording"}
"""The steps that read files, with their keys."""


def check_scenario(scenario: ScenarioFile, shipped: ScenarioFile | None, settings: ServeSettings) -> None:
    """Check a scenario, after its overrides were applied.

    :param shipped: the shipped scenario that was overridden, whose own expressions may be used.
    :raises RefusedRequest: for a step that this service does not run.
    """
    own = set() if shipped is None else {text for text, _ in _expressions(shipped)}
    for step in scenario.steps:
        kind = _READING.get(type(step))
        if kind is not None and "files" not in settings.permissions:
            what = f"`{kind}` steps read files and databases"
            raise _refused(what, "files", f"{scenario.file}:{step.line}")
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
    if parsed.target.kind is SinkKind.PULSAR:
        what = "the service does not write topics of Pulsar"
        raise RefusedRequest(what, status=_FORBIDDEN, where=where, hint="kafka:///TOPIC")
    if not set(parsed.target.hosts) <= settings.allowed_brokers:
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
