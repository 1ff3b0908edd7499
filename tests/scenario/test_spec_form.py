"""The content of scenario files: every key, defaults, --set, environment variables, the JSON Schema."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.resources import bundled_dir
from ticdc_producer.scenario.load import descriptions, load_scenario, shipped
from ticdc_producer.scenario.scenario_file import ResolvedStep, ScenarioFile, SQLStep
from ticdc_producer.scenario.spec import ScenarioSpec, scenario_schema

GOLDEN = Path(__file__).parents[1] / "golden"
CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_file(text: str, name: str = "s.yaml") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write_file


FULL = """\
version: 1
name: bank
description: money moves
seed: 1_000
clock: {start: 2022-01-01T00:00:00+01:00, every: 1m30s, build-time: 2000-01-01T00:00:00Z}
session:
  database: db
  time-zone: +10:00
  now: 2022-02-03 04:05:06
resolved: {every: 500ms}
changefeed:
  sink-uri: "kafka:///bank?partition-num=4"
  sink:
    dispatchers: [{matcher: ['*.*'], partition: ts}]
steps:
  - sql: CREATE TABLE t (id INT PRIMARY KEY);
    commit-ts: 429918007904436226
  - txn: |
      INSERT INTO t VALUES (1);
      INSERT INTO t VALUES (2);
    commit-ts: 429918007904436300
  - resolved: 429918007904436299
  - sql: "DELETE FROM t;"
  - sql: >
      DELETE
      FROM t;
on-error: skip
"""


def test_every_key(write: Any) -> None:
    path = write(FULL)
    scenario = load_scenario(path)
    assert scenario == ScenarioFile(
        file=str(path),
        sha256=hashlib.sha256(FULL.encode()).hexdigest(),
        name="bank",
        description="money moves",
        seed=1000,
        start=int(datetime(2021, 12, 31, 23, tzinfo=UTC).timestamp() * 1000) << 18,
        every=timedelta(seconds=90),
        database="db",
        time_zone="+10:00",  # a plain +10:00 is not a number in base 60
        build_time=datetime(2000, 1, 1, tzinfo=UTC),
        now=datetime(2022, 2, 3, 4, 5, 6, tzinfo=UTC),
        resolved_every=timedelta(milliseconds=500),
        resolved_given=True,
        changefeed={
            "sink-uri": "kafka:///bank?partition-num=4",
            "sink": {"dispatchers": [{"matcher": ["*.*"], "partition": "ts"}]},
        },
        steps=(
            SQLStep(text="CREATE TABLE t (id INT PRIMARY KEY);", line=16, commit_ts=429918007904436226),
            SQLStep(
                text="INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2);\n",
                line=19,
                transaction=True,
                commit_ts=429918007904436300,
            ),
            ResolvedStep(ts=429918007904436299, line=22),
            SQLStep(text="DELETE FROM t;", line=23),
            SQLStep(text="DELETE FROM t;\n", line=25),
        ),
        on_error="skip",
        start_given=True,
        changefeed_lines={
            "": 11,
            "sink-uri": 12,
            "sink": 13,
            "sink.dispatchers": 14,
            "sink.dispatchers[0]": 14,
            "sink.dispatchers[0].matcher": 14,
            "sink.dispatchers[0].matcher[0]": 14,
            "sink.dispatchers[0].partition": 14,
        },
    )
    assert resolve(scenario=scenario.changefeed).partition_num == 4


def test_the_defaults_are_those_of_a_sql_file(write: Any) -> None:
    yaml = load_scenario(write("version: 1\nsteps: [{sql: SELECT 1;}]\n", "one.yaml"))
    sql = load_scenario(write("SELECT 1;", "one.sql"))
    for scenario in (yaml, sql):
        assert scenario.name == "one"
        assert scenario.seed == 0
        assert scenario.start == 429918007904436226
        assert scenario.every == timedelta(seconds=1)
        assert scenario.database == "test"
        assert scenario.time_zone == "+00:00"
        assert scenario.now is None
        assert scenario.resolved_every is None
        assert scenario.changefeed == {}
        assert scenario.on_error == "stop"
    assert [step.text for step in yaml.steps if isinstance(step, SQLStep)] == ["SELECT 1;"]
    assert sql.steps == (SQLStep(text="SELECT 1;", line=1),)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*/*.sql")), ids=lambda path: path.stem)
def test_a_golden_sql_file_is_one_step_with_its_whole_text(path: Path) -> None:
    assert load_scenario(path).steps == (SQLStep(text=path.read_bytes().decode(), line=1),)


@pytest.mark.parametrize(
    ("overrides", "field", "value"),
    [
        (["clock.every=2s"], "every", timedelta(seconds=2)),
        (["resolved.every=5s"], "resolved_every", timedelta(seconds=5)),
        (["resolved.every=5s", "resolved.after=transaction"], "resolved_every", None),
        (["session.time-zone=+10:00"], "time_zone", "+10:00"),
        (["session.time-zone=Asia/Tokyo"], "time_zone", "Asia/Tokyo"),
        (["seed=1", "seed=2"], "seed", 2),
        (["name=x=y"], "name", "x=y"),
        (
            ["clock.start=2021-12-20"],
            "start",
            int(datetime(2021, 12, 20, tzinfo=UTC).timestamp() * 1000) << 18,
        ),
        (["on-error=skip"], "on_error", "skip"),
        (["steps[1].resolved=7"], "steps", (SQLStep(text="SELECT 1;", line=1), ResolvedStep(ts=7, line=0))),
        (
            [
                "changefeed.sink.dispatchers[0].matcher=['a.*', '!a.b']",
                "changefeed.sink.dispatchers[0].partition=ts",
            ],
            "changefeed",
            {"sink": {"dispatchers": [{"matcher": ["a.*", "!a.b"], "partition": "ts"}]}},
        ),
    ],
)
def test_set_addresses_any_key_of_a_sql_file_too(
    write: Any, overrides: list[str], field: str, value: object
) -> None:
    assert getattr(load_scenario(write("SELECT 1;", "s.sql"), overrides), field) == value


def test_set_overrides_the_file(write: Any) -> None:
    scenario = load_scenario(
        write(FULL),
        ["resolved.after=transaction", "changefeed.sink.dispatchers[0].partition=table", "clock.every=1s"],
    )
    assert scenario.resolved_every is None
    assert scenario.changefeed["sink"]["dispatchers"] == [{"matcher": ["*.*"], "partition": "table"}]
    assert scenario.start != 429918007904436226  # the other key of clock is not changed


def test_environment_variables(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST", "h:1")
    monkeypatch.setenv("PARTS", "5")
    text = """\
version: 1
changefeed:
  sink-uri: kafka://${HOST}/t
  sink: {kafka-config: {partition-num: 1}}
seed: ${PARTS}
name: "${PARTS}"
steps:
  - sql: SELECT '$${HOST}', '$HOST';
"""
    scenario = load_scenario(write(text))
    assert scenario.changefeed["sink-uri"] == "kafka://h:1/t"
    assert scenario.seed == 5
    assert scenario.name == "5"  # a quoted value remains text
    assert scenario.steps == (SQLStep(text="SELECT '${HOST}', '$HOST';", line=8),)


def test_a_sql_file_knows_no_environment_variables(write: Any) -> None:
    assert load_scenario(write("SELECT '${NOPE}';", "s.sql")).steps == (
        SQLStep(text="SELECT '${NOPE}';", line=1),
    )


def test_every_shipped_scenario_loads_by_name_and_its_changefeed_resolves() -> None:
    assert "seed_t1" in shipped()
    assert list(shipped()) == sorted(shipped())
    for name in shipped():
        scenario = load_scenario(name)
        assert scenario.name == name
        resolve(scenario=scenario.changefeed, name=name)
        assert descriptions()[name]


def test_seed_t1_has_the_time_stamps_and_statements_of_the_documentation() -> None:
    scenario = load_scenario("seed_t1")
    changefeed = resolve(scenario=scenario.changefeed)
    assert changefeed.partition_num == 2
    assert [step.commit_ts if isinstance(step, SQLStep) else -step.ts for step in scenario.steps] == [
        415508856908021766,
        -415508856908021766,
        415508878783938562,
        415508881418485761,
        -415508881038376963,
    ]
    first = scenario.steps[0]
    assert isinstance(first, SQLStep)
    assert first.text == "CREATE TABLE test.t1(id int primary key, val varchar(16));"


def test_the_published_schema_is_the_one_of_the_models() -> None:
    published = json.loads((CHECKOUT / "schemas" / "scenario.schema.json").read_text(encoding="utf-8"))
    assert published == scenario_schema(), "write it again: python -m ticdc_producer.scenario.spec"
    assert bundled_dir("schemas").joinpath("scenario.schema.json").is_file()


def test_the_schema_names_every_key_and_no_other() -> None:
    schema = scenario_schema()
    assert set(schema["properties"]) == {field.alias for field in ScenarioSpec.model_fields.values()}
    assert schema["required"] == ["version", "steps"]
    for name, definition in schema["definitions"].items():
        assert definition["additionalProperties"] is False, name
