"""Models of a scenario file; its JSON Schema is generated from them.

A plain ``.sql`` has the default values. The golden files of real TiCDC were also recorded with them.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.config import JsonDict

from ticdc_producer.config import ChangefeedFile
from ticdc_producer.config.parameters import REJECTED_KEYS
from ticdc_producer.model import tso
from ticdc_producer.model.option_type import TimeZone
from ticdc_producer.scenario.data_steps import Changes, Data
from ticdc_producer.scenario.generate.spec import Generate
from ticdc_producer.scenario.yaml_tree import StrictModel

MOST_TIMES = 10_000
"""Limit because the driver chooses the positions of single faults."""


class Fault(StrictModel):
    """The frequency of a trap: a ratio of the positions where it is possible, or a number of them."""

    rate: float | None = Field(
        default=None,
        gt=0,
        le=1,
        strict=False,
        description="Ratio of the possible positions where it is injected.",
    )
    times: int | None = Field(
        default=None, ge=1, le=MOST_TIMES, description="Number of times it is injected."
    )
    window: int | None = Field(
        default=None,
        ge=2,
        le=1_000_000,
        description="Maximum number of commits that are delivered again; the largest of all traps applies.",
    )

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: object) -> object:
        """Expand short forms: a bare number is the rate, no value means the default."""
        if value is None:
            return {}
        return {"rate": value} if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _one_measure(self) -> Fault:
        if self.rate is not None and self.times is not None:
            raise ValueError("write either rate or times")
        return self


DEFAULT_START = 429918007904436226
KEYS_REFUSED = {f"changefeed.{key}": reason for key, reason in REJECTED_KEYS.items()}
"""Keys, without list indexes, that are not supported yet, with the reason; they are refused by name."""

_STEPS = ("sql", "txn", "resolved", "generate", "data", "changes", "recording", "snapshot")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?")
_LONGEST = timedelta(days=3650)


def read_duration(value: object) -> timedelta:
    """Read a duration such as ``1s``, ``500ms`` or ``1h30m``: whole milliseconds, greater than zero."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if not value or not match or any(part and len(part) > 12 for part in match.groups()):
        raise ValueError(f"{value!r} is not a duration; write 500ms, 1s, 5m or 1h30m")
    hours, minutes, seconds, milliseconds = (int(part or 0) for part in match.groups())
    total = ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds
    if not 1 <= total <= _LONGEST // timedelta(milliseconds=1):
        raise ValueError(f"{value!r} is out of range: 1ms to {_LONGEST.days * 24}h")
    return timedelta(milliseconds=total)


def read_time(value: object) -> datetime:
    """Read a point in time; without a time zone it is UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(f"{value!r} is not a time; write 2021-12-20T13:30:49Z") from None
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    if not isinstance(value, datetime):
        raise ValueError(f"{value!r} is not a time; write 2021-12-20T13:30:49Z")
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def read_tso(value: object) -> int:
    """Read a TSO, or a point in time as its TSO."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= tso.MAX_TS:
            raise ValueError(f"{value} is not a time stamp: 1 to {tso.MAX_TS}")
        return value
    try:
        return tso.from_datetime(read_time(value))
    except ValueError as error:
        raise ValueError(f"{error}, or a TSO such as {DEFAULT_START}") from None


def _read_now(value: object) -> datetime:
    try:
        return read_time(value)
    except ValueError as error:
        raise ValueError(f"{error}, or commit") from None


_TIME_SCHEMA: dict[str, Any] = {"type": "string", "examples": ["2021-12-20T13:30:49Z"]}
_DURATION_SCHEMA = {
    "type": "string",
    "pattern": r"^([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$",
    "minLength": 2,
}
_TSO_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": tso.MAX_TS}, _TIME_SCHEMA]}

Duration: TypeAlias = Annotated[
    timedelta,
    BeforeValidator(read_duration),
    WithJsonSchema(_DURATION_SCHEMA),
]
Time: TypeAlias = Annotated[datetime, BeforeValidator(read_time), WithJsonSchema(_TIME_SCHEMA)]
Now: TypeAlias = Annotated[
    datetime | Literal["commit"],
    BeforeValidator(lambda value: value if value == "commit" else _read_now(value)),
    WithJsonSchema({"anyOf": [{"const": "commit"}, _TIME_SCHEMA]}),
]
BuildTime: TypeAlias = Annotated[
    datetime | Literal["now"],
    BeforeValidator(lambda value: value if value == "now" else read_time(value)),
    WithJsonSchema({"anyOf": [{"const": "now"}, _TIME_SCHEMA]}),
]
TSO: TypeAlias = Annotated[int, BeforeValidator(read_tso), WithJsonSchema(_TSO_SCHEMA)]
Zone: TypeAlias = Annotated[str, BeforeValidator(TimeZone().check)]


def _exactly_one(*keys: str) -> JsonDict:
    return {"oneOf": [{"required": [key]} for key in keys]}


class Clock(StrictModel):
    """The times at which transactions and DDL jobs commit."""

    start: TSO = Field(
        default=DEFAULT_START, description="Commit time of the first commit: a TSO, or a time."
    )
    every: Duration = Field(
        default=timedelta(seconds=1),
        description="Time between commits.",
        json_schema_extra={"default": "1s"},
    )
    build_time: BuildTime | None = Field(
        default=None,
        description="Build time in messages (Canal-JSON's ts, Debezium's ts_ms): a time, or now; "
        "default: each message's commit time.",
    )


class SessionSpec(StrictModel):
    """Initial state of the SQL session."""

    database: str = Field(default="test", min_length=1, description="Current database; exists and is empty.")
    time_zone: Zone = Field(default="+00:00", description="Session variable time_zone.")
    now: Now = Field(
        default="commit",
        description="Result of NOW(): commit, the commit time of the transaction or DDL; or a fixed time.",
    )


class Resolved(StrictModel):
    """The times of resolved events, in addition to those of ``resolved`` steps."""

    model_config = ConfigDict(json_schema_extra=_exactly_one("after", "every"))

    after: Literal["transaction", "never"] | None = Field(
        default=None, description="One after each transaction and DDL; never: only those of the steps."
    )
    every: Duration | None = Field(
        default=None,
        description="One at each multiple of a duration after the start, after each DDL, and at the end.",
    )

    @model_validator(mode="after")
    def _one_of_them(self) -> Resolved:
        if (self.after is None) == (self.every is None):
            raise ValueError("write either 'after: transaction', 'after: never' or 'every: DURATION'")
        return self


class Step(StrictModel):
    """One step: SQL, one transaction, a resolved event, or changes that are generated, read or recorded."""

    model_config = ConfigDict(json_schema_extra=_exactly_one(*_STEPS))

    sql: str | None = Field(default=None, description="SQL statements; BEGIN … COMMIT is one transaction.")
    txn: str | None = Field(default=None, description="Statements of one transaction.")
    resolved: TSO | None = Field(default=None, description="A resolved event with this time stamp.")
    generate: Generate | None = Field(default=None, description="Generated changes of tables.")
    data: Data | None = Field(default=None, description="Changes of a table from a file or a database.")
    changes: Changes | None = Field(default=None, description="Changes in the rows of a DataFrame.")
    recording: str | None = Field(
        default=None,
        min_length=1,
        description="Folder of a recording to replay; relative to the scenario's folder.",
    )
    snapshot: Literal[True] | None = Field(
        default=None,
        description="The changefeed starts here: start-ts is the commit time of the commit before.",
    )
    commit_ts: TSO | None = Field(default=None, description="Commit time of the step; must increase.")

    @model_validator(mode="after")
    def _one_kind(self) -> Step:
        kinds = [kind for kind in _STEPS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            present = " and ".join(kinds) or "none of them"
            raise ValueError(f"a step is one of {', '.join(_STEPS)}; this one has {present}")
        if self.resolved is not None and self.commit_ts is not None:
            raise ValueError("a resolved step takes no commit-ts: its value is the time stamp")
        if self.snapshot is not None and self.commit_ts is not None:
            raise ValueError("a snapshot step takes no commit-ts: it commits nothing")
        if self.recording is not None and self.commit_ts is not None:
            raise ValueError("a recording step takes no commit-ts: its rows have theirs")
        if kinds[0] in ("sql", "txn") and not (self.sql or self.txn or "").strip():
            raise ValueError(f"{kinds[0]} contains no SQL")
        return self


class ScenarioSpec(StrictModel):
    """A scenario file."""

    version: Literal[1] = Field(description="Version of the scenario format.")
    name: str = Field(default="", max_length=200, description="Default: the file's name without extension.")
    description: str = Field(default="", description="One line for the list of scenarios.")
    seed: int = Field(default=0, ge=0, le=tso.MAX_TS, description="Random seed.")
    clock: Clock = Field(default_factory=Clock)
    session: SessionSpec = Field(default_factory=SessionSpec)
    resolved: Resolved = Field(default_factory=lambda: Resolved(after="transaction"))
    changefeed: ChangefeedFile | None = Field(
        default=None, description="TiCDC's changefeed file as YAML, plus sink-uri."
    )
    start_ts: TSO | None = Field(
        default=None,
        description="The changefeed sends only what commits after this time: a TSO, or a time.",
    )
    target_ts: TSO | None = Field(
        default=None,
        description="The changefeed sends only what commits up to this time: a TSO, or a time.",
    )
    steps: Annotated[tuple[Step, ...], Field(strict=False)] = Field(
        description="Steps, in order.", json_schema_extra={"minItems": 1}
    )
    faults: dict[str, Fault] = Field(
        default_factory=dict, description="Traps to inject, by id: see ticdc-producer traps list."
    )
    recorded_faults: str | None = Field(
        default=None,
        min_length=1,
        description="A Parquet file of `record`: events that are delivered again, and damaged messages.",
    )
    on_error: Literal["stop", "skip"] = Field(
        default="stop", description="What to do where TiCDC's changefeed would stop."
    )

    @field_validator("steps")
    @classmethod
    def _some(cls, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        if not steps:
            raise ValueError("a scenario needs at least one step")
        if sum(step.snapshot is not None for step in steps) > 1:
            raise ValueError("a scenario has at most one snapshot step")
        if sum(step.recording is not None for step in steps) > 1:
            raise ValueError("a scenario has at most one recording step")
        return steps

    @model_validator(mode="after")
    def _one_start(self) -> ScenarioSpec:
        if self.start_ts is not None and any(step.snapshot is not None for step in self.steps):
            raise ValueError("start-ts and a snapshot step both say where the changefeed starts: remove one")
        return self

    @model_validator(mode="after")
    def _recorded_once(self) -> ScenarioSpec:
        if self.recorded_faults is not None and any(step.recording is not None for step in self.steps):
            raise ValueError("a recording step has faults of its own: leave out recorded-faults")
        return self


def scenario_schema() -> dict[str, object]:
    """Return the JSON Schema (draft 7, which editors read) of a scenario file."""
    schema = _tidied(ScenarioSpec.model_json_schema(by_alias=True, ref_template="#/definitions/{model}"))
    definitions = schema.pop("$defs")
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Scenario of ticdc-producer",
        **schema,
        "definitions": definitions,
    }


def _tidied(schema: Any) -> Any:
    """Remove titles that repeat the keys, null of optional keys and Python's details from a schema."""
    if isinstance(schema, list):
        return [_tidied(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {
        key: _tidied(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value is None)
    }
    if isinstance(tidy.get("description"), str):
        tidy["description"] = tidy["description"].split("\n\n")[0].replace("``", "")
    choices = [choice for choice in tidy.pop("anyOf", []) if choice != {"type": "null"}]
    return tidy | (choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {})


if __name__ == "__main__":
    sys.stdout.write(json.dumps(scenario_schema(), indent=2, ensure_ascii=False) + "\n")
