"""All problems of a scenario are reported at once, each with its line and the nearest key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ticdc_producer.errors import ScenarioError, ScenarioProblems
from ticdc_producer.scenario.load import load_scenario


@pytest.fixture
def problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NOPE", raising=False)

    def read(text: str | bytes, overrides: tuple[str, ...] = (), name: str = "s.yaml") -> list[str]:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises((ScenarioError, ScenarioProblems)) as caught:
            load_scenario(name, overrides)
        assert caught.value.exit_code == 2
        return str(caught.value).splitlines()

    return read


MANY = """\
version: 1
nmae: x
clock: {start: 2021-12-20T13:30:49Z, evry: 1s}
session:
  time-zone: Mars/Olympus
  now: 2021-13-20
changefeed:
  sink-uri: kafka:///x?partion-num=3
  sink:
    dispatchers:
      - matcher: ['*.*']
        partiton: ts
    kafka-config:
      partition-num: ${NOPE}
      codec-config: {max-batch-size: 0}
  enable-sync-point: true
steps:
  - sql: SELECT
    txn: x
  - generate: {}
  - {}
  - resolved: 5
    commit-ts: 6
  - [1]
  - sqll: x
faults: []
on-error: stop
on-error: skip
1: x
"""


def test_all_problems_of_a_file_in_its_order(problems: Any) -> None:
    kinds = "a step is one of sql, txn, resolved, generate, data, changes, recording, snapshot"
    assert problems(MANY) == [
        "s.yaml:2: unknown key 'nmae' (did you mean 'name'?)",
        "s.yaml:3: unknown key 'clock.evry' (did you mean 'every'?)",
        (
            "s.yaml:5: session.time-zone: 'Mars/Olympus' is not an IANA time zone such as Asia/Tokyo, "
            "or an offset from -12:59 to +14:00"
        ),
        "s.yaml:6: session.now: '2021-13-20' cannot be read as timestamp",
        "s.yaml:8: changefeed.sink-uri: unknown parameter 'partion-num' (did you mean 'partition-num'?)",
        "s.yaml:12: unknown key 'changefeed.sink.dispatchers[0].partiton' (did you mean 'partition'?)",
        (
            "s.yaml:14: changefeed.sink.kafka-config.partition-num: environment variable 'NOPE' is not set "
            "(write $${…} for the text itself)"
        ),
        (
            "s.yaml:15: changefeed.sink.kafka-config.codec-config.max-batch-size: "
            "0 is not a whole number from 1 to 2147483647"
        ),
        (
            "s.yaml:16: changefeed.enable-sync-point: true is not supported: TiCDC has sync points for "
            "MySQL and TiDB sinks only"
        ),
        f"s.yaml:18: steps[0]: {kinds}; this one has sql and txn",
        "s.yaml:20: 'steps[1].generate.transactions' is missing",
        f"s.yaml:21: steps[2]: {kinds}; this one has none of them",
        "s.yaml:22: steps[3]: a resolved step takes no commit-ts: its value is the time stamp",
        (
            "s.yaml:24: 'steps[4]' must hold keys (allowed: sql, txn, resolved, generate, data, changes, "
            "recording, snapshot, commit-ts)"
        ),
        "s.yaml:25: unknown key 'steps[5].sqll' (did you mean 'sql'?)",
        "s.yaml:26: 'faults' must hold keys",
        "s.yaml:28: duplicate key 'on-error'",
        "s.yaml:29: a key must be text",
    ]


def test_each_problem_is_an_error_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(MANY)
    with pytest.raises(ScenarioProblems) as caught:
        load_scenario(path)
    assert {problem.file for problem in caught.value.problems} == {str(path)}
    assert [problem.line for problem in caught.value.problems][:3] == [2, 3, 5]


def test_the_text_has_the_first_problems_and_the_number_of_the_others(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("version: 1\nsteps:\n" + "  - {sqll: x}\n" * 5000)
    with pytest.raises(ScenarioProblems) as caught:
        load_scenario(path)
    lines = str(caught.value).splitlines()
    assert len(lines) == 25
    assert lines[0] == f"{path}:3: unknown key 'steps[0].sqll' (did you mean 'sql'?)"
    assert lines[-1] == "… and 4,976 more errors"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "s.yaml: the scenario is empty"),
        ("# nothing\n", "s.yaml: the scenario is empty"),
        ("- a", "s.yaml:1: a scenario is a mapping of keys"),
        ("INSERT INTO t VALUES (1);", "a mapping of keys (if the file has SQL, rename it to .sql)"),
        ("version: 1\n", "'steps' is missing"),
        ("steps: [{sql: x}]\n", "'version' is missing"),
        ("version: 2\nsteps: [{sql: x}]\n", "s.yaml:1: version: input should be 1, not 2"),
        ("version: 1\nsteps: []\n", "s.yaml:2: steps: a scenario needs at least one step"),
        ("version: 1\nsteps:\n  - sql: '  '\n", "s.yaml:3: steps[0]: sql contains no SQL"),
        ("version: 1\nsteps:\n  - sql: 3\n", "s.yaml:3: steps[0].sql: input should be a valid string, not 3"),
        ("version: 1\nsteps: [{sql: a}\nclock:", "s.yaml:3: not YAML: expected ',' or ']'"),
        ("version: 1\n\tsteps: x", "s.yaml:2: not YAML: found character '\\t'"),
        ("version: 1\nsteps:\n\t- sql: x", "cannot start any token (indent with spaces: YAML takes no tabs)"),
        (
            "version: 1\nname: a: b\n",
            "s.yaml:2: not YAML: mapping values are not allowed here (a text with ': '",
        ),
        ("version: 1\nname: 'a\n", "(a quote is not closed)"),
        (
            "version: 1\nsteps: x\n---\nversion: 1",
            "s.yaml:3: a scenario is one YAML document; a second one starts here",
        ),
        (
            "version: 1\nsteps: &a [{sql: a}]\nclock: *a",
            "s.yaml:3: aliases are not supported (write the value out)",
        ),
        ("version: 1\nsteps: " + "[" * 100_000, "s.yaml:2: not YAML: nested too deeply"),
        (
            "version: 1\nsteps: [{sql: !!python/name:os.system x}]",
            "s.yaml:2: steps[0].sql: 'x' cannot be read",
        ),
        ("version: 1\nname: \x07", "s.yaml:2: not YAML: special characters are not allowed"),
        (b"version: 1\nname: \xff", "s.yaml:2: the scenario is not UTF-8"),
        ("version: 1\nresolved: {}\nsteps: [{sql: x}]", "s.yaml:2: resolved: write either"),
        (
            "version: 1\nresolved: {after: row}\nsteps: [{sql: x}]",
            "s.yaml:2: resolved.after: input should be",
        ),
        ("version: 1\nclock: {every: 0s}\nsteps: [{sql: x}]", "s.yaml:2: clock.every: '0s' is out of range"),
        ("version: 1\nclock: {every: 5}\nsteps: [{sql: x}]", "s.yaml:2: clock.every: 5 is not a duration"),
        (
            "version: 1\nclock: {every: 1s5m}\nsteps: [{sql: x}]",
            "s.yaml:2: clock.every: '1s5m' is not a duration",
        ),
        (
            "version: 1\nclock: {start: -1}\nsteps: [{sql: x}]",
            "s.yaml:2: clock.start: -1 is not a time stamp",
        ),
        (
            "version: 1\nclock: {start: soon}\nsteps: [{sql: x}]",
            "s.yaml:2: clock.start: 'soon' is not a time",
        ),
        ("version: 1\nclock: {start: 1969-01-01}\nsteps: [{sql: x}]", "s.yaml:2: clock.start: "),
        (
            "version: 1\nseed: -1\nsteps: [{sql: x}]",
            "s.yaml:2: seed: input should be greater than or equal to 0",
        ),
        ("version: 1\ngenerate: {}\nsteps: [{sql: x}]", "s.yaml:2: unknown key 'generate'"),
    ],
)
def test_one_thing_wrong(problems: Any, text: str | bytes, expected: str) -> None:
    reported = problems(text)
    assert len(reported) == 1
    assert expected in reported[0]


def test_commit_ts_must_grow(problems: Any) -> None:
    steps = "- {sql: a, commit-ts: 7}\n- {sql: b}\n- txn: c\n  commit-ts: 7\n- {sql: d, commit-ts: 8}"
    assert problems(f"version: 1\nsteps:\n{steps}") == [
        "s.yaml:6: steps[2].commit-ts: 7 must be greater than the previous one, 7"
    ]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("clock.evry=2s", "`overrides` clock.evry: unknown key 'clock.evry' (did you mean 'every'?)"),
        ("nope", "`overrides` nope: write PATH=VALUE"),
        ("a[=1", "`overrides` a[: 'a[' is not a path of keys (such as clock.every or "),
        ("=1", "`overrides` : '' is not a path of keys"),
        ("seed[0]=3", "`overrides` seed[0]: seed: input should be a valid integer"),
        ("version.x=3", "`overrides` version.x: 'version' is not a mapping"),
        ("version[0]=3", "`overrides` version[0]: 'version' is not a list"),
        ("steps[4].sql=x", "`overrides` steps[4].sql: 'steps' has 1 entries, so [4] is out of range"),
        ("seed=[", "`overrides` seed: not YAML: "),
        ("seed=${NOPE}", "`overrides` seed: environment variable 'NOPE' is not set"),
        ("seed=", "`overrides` seed: seed: input should be a valid integer"),
        ("clock=3", "`overrides` clock: 'clock' must hold keys"),
        ("on-error=skipp", "`overrides` on-error: on-error: input should be 'stop' or 'skip'"),
        ("faults=[]", "`overrides` faults: 'faults' must hold keys"),
        ("faults.lost-row=2", "`overrides` faults.lost-row: faults.lost-row.rate: input should be less than"),
        ("faults.lost-row.rats=2", "`overrides` faults.lost-row.rats: unknown key"),
    ],
)
def test_a_wrong_setting_is_named(problems: Any, setting: str, expected: str) -> None:
    reported = problems("SELECT 1;", (setting,), "s.sql")
    assert len(reported) == 1
    assert reported[0].startswith(expected)


def test_a_secret_in_a_setting_is_in_no_error_text(problems: Any) -> None:
    assert "s3cret" not in "".join(problems("x", ("changefeed.sink-uri=kafka://u:s3cret@h:1/t",), "s.sql"))


@pytest.mark.parametrize("text", ["version: 1\nsteps: []\n", "# mine\n\nname: a\n"])
def test_yaml_in_a_sql_file(problems: Any, text: str) -> None:
    assert problems(text, (), "s.sql") == ["s.sql: the file has YAML, not SQL (rename it to .yaml)"]


def test_many_blank_lines_before_sql_cost_no_time(tmp_path: Path) -> None:
    (tmp_path / "s.sql").write_text(" \n# a comment\n" * 20_000 + "CREATE TABLE t (id INT PRIMARY KEY);")
    assert len(load_scenario(tmp_path / "s.sql").steps) == 1


def test_a_json_file_is_yaml(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text("{}")
    with pytest.raises(ScenarioError, match=r"JSON is YAML: rename the file to \.yaml"):
        load_scenario(path)


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_an_empty_sql_file(problems: Any, text: str) -> None:
    assert problems(text, (), "s.sql") == ["s.sql: steps[0]: sql contains no SQL"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("seed_t2", "there is no shipped scenario 'seed_t2' (did you mean 'seed_t1'?)"),
        ("nowhere.sql", "nowhere.sql: cannot read the scenario: No such file or directory"),
        (
            ".",
            ".: a scenario is a .yaml or a .sql file, a folder with scenario.yaml, or the folder of a dump",
        ),
    ],
)
def test_no_such_scenario(name: str, expected: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(name)
    assert str(caught.value) == expected


def test_a_file_without_its_ending_is_suspected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"'mine'.*did you mean the file mine\.yaml"):
        load_scenario("mine")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s.yaml", "s.yaml: the scenario is larger than 64 MiB"),
        pytest.param(
            "s.sql",
            "s.sql:1: statements other than INSERT of large tables have more than 64 MiB",
            marks=pytest.mark.slow,  # all of it is searched for statements
        ),
    ],
)
def test_a_file_that_is_too_large(problems: Any, name: str, expected: str) -> None:
    assert problems(b"-" * ((64 << 20) + 1), (), name) == [expected]
