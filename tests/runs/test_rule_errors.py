"""Errors in the rules of a changefeed name file and line, in `scenario validate` and `run`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.errors import ProducerError
from ticdc_producer.model.tso import MAX_TS, compose
from ticdc_producer.runs.validate import validate_scenario
from ticdc_producer.simulate.prepare import prepare

STEPS = "version: 1\nsteps:\n  - sql: CREATE TABLE d.t (id INT PRIMARY KEY)\nsession: {database: d}\n"
SQL = "version: 1\nsteps:\n  - sql: CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY)\n"
RULES = [
    ("filter:\n    rules:\n      - d.*\n      - t", ":6: filter.rules: matcher 't': "),
    (
        "sink:\n    dispatchers:\n      - matcher: [t]",
        ":7: sink.dispatchers[0]: matcher 't': ",
    ),
    (
        "sink:\n    dispatchers:\n      - matcher: ['d.*']\n        topic: a b",
        ":8: sink.dispatchers[0]: 'a b' is not a topic expression",
    ),
    (
        "sink:\n    dispatchers: [{matcher: [a.b]},\n     {matcher: [d.t], partition: rowid, index: x}]",
        ":7: sink.dispatchers[1]: dispatcher of d.t: there is no index 'x'",
    ),
    (
        "filter:\n    event-filters:\n      - {matcher: ['d.*'], ignore-event: [updte]}",
        ":7: filter.event-filters[0].ignore-event: there is no event type 'updte' (did you mean 'update'?)",
    ),
    (
        "filter:\n    event-filters:\n      - {matcher: ['d.*'], ignore-insert-value-expr: 'x > 5'}",
        ":6: value expression 'x > 5': CDC:ErrExpressionColumnNotFound: d.t has no column 'x'",
    ),
    (
        "filter:\n    event-filters:\n      - {matcher: ['d.*'], ignore-delete-value-expr: 'abs(id) = 5'}",
        ":6: value expression 'abs(id) = 5': 'ABS(id)' is not evaluated here",
    ),
    (
        "sink:\n    column-selectors:\n      - {matcher: [t], columns: [id]}",
        ":7: sink.column-selectors[0]: matcher 't': ",
    ),
]


def _scenario(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "s.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("rules", "message"), RULES)
def test_a_rule_of_the_scenario(tmp_path: Path, rules: str, message: str) -> None:
    """Neither command starts Spark."""
    path = _scenario(tmp_path, f"{SQL}changefeed:\n  {rules}\n")
    [reported] = validate_scenario(path).problems
    with pytest.raises(ProducerError) as rejected:
        prepare(path)
    for problem in (reported, rejected.value):
        assert str(problem).startswith(f"{path}{message}")


def test_a_rule_of_the_changefeed_file_that_wins(tmp_path: Path) -> None:
    config = tmp_path / "changefeed.toml"
    config.write_text('[filter]\nrules = ["t"]\n')
    path = _scenario(tmp_path, f"{SQL}changefeed:\n  filter: {{rules: ['d.*']}}\n")
    with pytest.raises(ProducerError) as rejected:
        prepare(path, config=config)
    assert str(rejected.value).startswith(f"{config}: filter.rules: matcher 't': ")


SECOND = compose(1000)


def inserts(count: int) -> str:
    """A scenario of one more commits."""
    values = "".join(f" INSERT INTO d.t (id) VALUES ({number});" for number in range(count))
    create = "CREATE TABLE d.t (id INT PRIMARY KEY, at DATETIME DEFAULT NOW());"
    return f"version: 1\nsession: {{database: d}}\nsteps:\n  - sql: {create}{values}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"{SQL}faults: {{lost-rows: {{rate: 0.5}}}}\n",
            ":4: unknown trap 'lost-rows' (did you mean 'lost-row'?)",
        ),
        ("version: 1\nsteps:\n  - sql: SELECT 1\n", ": the scenario commits nothing"),
        (
            f"clock: {{start: {MAX_TS - SECOND}}}\n{inserts(2)}",
            ": the scenario has 3 commits: only the first 2",
        ),
        (f"clock: {{every: 87600h}}\n{inserts(900)}", ": the scenario has 901 commits: only the first 107"),
    ],
)
def test_validate_rejects_what_a_run_rejects(tmp_path: Path, text: str, message: str) -> None:
    path = _scenario(tmp_path, text)
    [reported] = validate_scenario(path).problems
    with pytest.raises(ProducerError) as rejected:
        prepare(path)
    for problem in (reported, rejected.value):
        assert str(problem).startswith(f"{path}{message}")


def test_more_resolved_events_than_a_run_may_have(tmp_path: Path) -> None:
    path = _scenario(tmp_path, f"clock: {{every: 1000h}}\nresolved: {{every: 1ms}}\n{inserts(1)}")
    with pytest.raises(ProducerError, match="the run has 10800000000 resolved events, more than 2000000000"):
        prepare(path)
    assert prepare(path, sink_uri="kafka:///t?protocol=debezium").history.commits == 2
