"""The bodies of requests. Unknown keys and values of another type are rejected by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ticdc_producer.errors import RefusedRequest

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


def refusal_of(error: Mapping[str, Any]) -> RefusedRequest:
    """The error for a body that is invalid.

    :param error: the first one that pydantic lists.
    """
    where = ".".join(str(part) for part in error["loc"] if part != "body")[:200]
    return RefusedRequest(str(error["msg"]).removeprefix("Value error, "), status=422, where=where)


class RunRequest(ScenarioOf):
    """A run: what is written, and where."""

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
