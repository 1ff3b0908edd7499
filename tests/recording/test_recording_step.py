"""A step of a scenario replays a recording: in YAML, and in Python."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.recording.test_large import make_large
from tests.recording.test_record import golden, messages
from ticdc_producer import ProducerError, Scenario, record, run, verify
from ticdc_producer.scenario.content_digest import content_sha256
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.load import load_scenario, paths_of_scenario
from ticdc_producer.scenario.parse import parse_scenario

EARLIER = {"start": "2021-01-01T00:00:00Z", "every": "1s"}
BEFORE = """
SET time_zone = '+08:00', sql_mode = 'ANSI_QUOTES,STRICT_TRANS_TABLES';
CREATE DATABASE own; USE own; CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP NULL);
"""
AFTER = """INSERT INTO "t" VALUES (1, '2022-01-01 08:00:00'); UPDATE shop.things SET n = 9 WHERE id = 5;"""


def recording(folder: Path, **options: Any) -> Path:
    """The recording of a topic, with two replays."""
    given = {"inject": ["replay-suffix:times=2"], **options}
    report = record(folder=golden(folder / "golden", **given), out=folder / "tuesday")
    assert report.repeated or not given["inject"]
    return folder / "tuesday"


def yaml(folder: Path, *steps: str, keys: str = "") -> Path:
    """A scenario file."""
    file = folder / "s.yaml"
    file.write_text(f"version: 1\n{keys}\nsteps:\n" + "".join(f"- {step}\n" for step in steps), "utf-8")
    return file


def events(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = (folder / "events.jsonl").read_text("utf-8").splitlines()
    return [event for event in map(json.loads, lines) if event["kind"] == kind]


def times(folder: Path, kind: str) -> list[int]:
    """The commit-ts or resolved-ts of the events of a kind in partition 0."""
    return [event["commit_ts"] for event in events(folder, kind) if event["partition"] == 0]


@pytest.mark.parametrize("protocol", ["open-protocol", "simple", "canal-json&enable-tidb-extension=true"])
def test_a_scenario_of_a_recording_gives_the_messages_of_the_recording(tmp_path: Path, protocol: str) -> None:
    folder = recording(tmp_path, protocol=protocol)
    of_file = yaml(tmp_path, "recording: tuesday")
    of_python = Scenario("s").recording(folder)
    assert run(folder, out=tmp_path / "run").ok
    for number, replay in enumerate([of_file, of_python]):
        out = tmp_path / f"replay-{number}"
        assert run(replay, out=out).ok
        for file in ("messages.jsonl", "events.jsonl", "faults.jsonl", "changefeed.toml"):
            assert (out / file).read_bytes() == (tmp_path / "run" / file).read_bytes()
        assert verify(folder=out, scenario=replay).ok


def test_a_recording_of_a_later_start_has_its_start(tmp_path: Path) -> None:
    whole = golden(tmp_path / "golden")
    start = times(whole, "resolved")[4]
    record(folder=whole, out=tmp_path / "part", since=str(start))
    of_recording = Scenario("s").recording(tmp_path / "part")
    for number, source in enumerate([tmp_path / "part", of_recording]):
        assert run(source, out=tmp_path / str(number)).ok
    assert messages(tmp_path / "0") == messages(tmp_path / "1")
    assert (tmp_path / "1" / "snapshot").is_dir()
    # The scenario's own start counts: up to it, all rows are in the snapshot.
    later = Scenario("s", clock=EARLIER).recording(tmp_path / "part").snapshot().sql("CREATE DATABASE later")
    assert run(later, out=tmp_path / "later").ok
    assert not events(tmp_path / "later", "row")
    assert len(times(tmp_path / "later", "ddl")) == 1


def test_steps_before_and_after_have_their_own_settings(tmp_path: Path) -> None:
    folder = recording(tmp_path)
    mixed = Scenario("s", clock=EARLIER).sql(BEFORE).recording(folder).sql(AFTER)
    report = run(mixed, out=tmp_path / "mixed")
    assert report.ok
    rows = {event["table"]: event["after"] for event in events(tmp_path / "mixed", "row")}
    assert rows["t"]["at"] == "2022-01-01 00:00:00"  # in UTC, of the session in +08:00
    assert rows["things"]["n"] == "9"
    assert report.faults.unmet.count == 0
    assert {count["trap"] for count in report.faults.counts} >= {"duplicate-event", "duplicate-ddl"}


@pytest.mark.parametrize("large", [False, True])
def test_regular_resolved_events_follow_the_commits_of_other_steps(tmp_path: Path, large: bool) -> None:
    folder = recording(tmp_path, inject=[], protocol="simple")
    recorded = times(tmp_path / "golden", "resolved")
    if large:
        make_large(folder)
    before, after = "CREATE DATABASE early; CREATE DATABASE earlier", "CREATE DATABASE late"
    steps = Scenario("s", clock=EARLIER).sql(before).recording(folder).sql(after)
    run(steps, out=tmp_path / "mixed", engine="local")
    first, second, *_, last = times(tmp_path / "mixed", "ddl")
    assert times(tmp_path / "mixed", "resolved") == [first, second, *recorded, last]


def test_a_scenario_with_resolved_has_those_too(tmp_path: Path) -> None:
    folder = recording(tmp_path, inject=[], protocol="simple")
    recorded = times(tmp_path / "golden", "resolved")
    often = Scenario("s", resolved={"every": "1s"}).recording(folder)
    assert run(often, out=tmp_path / "often").ok
    assert {*recorded} < {*times(tmp_path / "often", "resolved")}


def test_other_rows_of_a_recording_make_another_scenario(tmp_path: Path) -> None:
    folder = recording(tmp_path)
    file = yaml(tmp_path, "recording: tuesday")
    first = content_sha256(load_scenario(file))
    assert content_sha256(load_scenario(file)) == first
    assert {str(folder / name) for name in ("scenario.yaml", "changes.parquet", "faults.parquet")} <= {
        *paths_of_scenario(str(file))
    }
    shutil.copytree(tmp_path, elsewhere := tmp_path.parent / "elsewhere")
    assert content_sha256(load_scenario(elsewhere / "s.yaml")) == first
    settings = folder / "scenario.yaml"
    settings.write_text(settings.read_text("utf-8").replace("name: tuesday", "name: wednesday"), "utf-8")
    assert content_sha256(load_scenario(file)) != first


@pytest.mark.parametrize(
    ("content", "what", "where"),
    [
        (None, "there is no recording in", "s.yaml:4"),
        ("version: 1\nsteps: [{sql: CREATE DATABASE a}]", "is not a recording", "s.yaml:4"),
        ("version: 1\nsteps: [{recording: ../tuesday}]", "is not a recording", "s.yaml:4"),
        ("version: 1\nsteps: [{nothing: 1}]", "nothing", "tuesday/scenario.yaml"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, content: str | None, what: str, where: str) -> None:
    if content is not None:
        (tmp_path / "tuesday").mkdir()
        (tmp_path / "tuesday" / "scenario.yaml").write_text(content, "utf-8")
    with pytest.raises(ProducerError) as refused:
        run(yaml(tmp_path, "recording: tuesday"), out=tmp_path / "out")
    assert what in str(refused.value)
    assert where in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("steps", "keys", "what"),
    [
        (["recording: a", "recording: b"], "", "at most one recording step"),
        (["{recording: a, commit-ts: 429918007904436226}"], "", "takes no commit-ts"),
        (["recording: a"], "recorded-faults: x.parquet", "leave out recorded-faults"),
        (["recording: ''"], "", "steps[0].recording"),
    ],
)
def test_steps_that_contradict_a_recording_are_refused(
    tmp_path: Path, steps: list[str], keys: str, what: str
) -> None:
    with pytest.raises(ProducerError, match=what.replace("[", r"\[")):
        load_scenario(yaml(tmp_path, *steps, keys=keys))


def test_errors_name_the_file_of_the_recording_and_the_row(tmp_path: Path) -> None:
    folder = recording(tmp_path)
    conflict = Scenario("s", clock=EARLIER).sql("CREATE DATABASE shop").recording(folder)
    with pytest.raises(
        ProducerError, match=r"tuesday/scenario.yaml:\d+: .* in row 0 \(shop/0@0\): CREATE DATABASE"
    ):
        run(conflict, out=tmp_path / "out")
    late = Scenario("s", clock={"start": "2040-01-01T00:00:00Z"}).sql("CREATE DATABASE own").recording(folder)
    with pytest.raises(ProducerError, match="must be greater than the previous commit-ts"):
        run(late, out=tmp_path / "out")
    settings = folder / "scenario.yaml"
    settings.write_text(settings.read_text("utf-8").replace("SET sql_mode", "SET sql_moda"), "utf-8")
    with pytest.raises(ProducerError, match=r"tuesday/scenario.yaml:\d+: the variable sql_moda"):
        run(Scenario("s").recording(folder), out=tmp_path / "out")


def test_a_scenario_that_was_only_parsed_does_not_run(tmp_path: Path) -> None:
    parsed = parse_scenario(yaml(tmp_path, f"recording: {recording(tmp_path)}").read_bytes(), "s.yaml")
    with pytest.raises(ProducerError, match=r"s.yaml:4: the recording was not read"):
        execute(parsed)
