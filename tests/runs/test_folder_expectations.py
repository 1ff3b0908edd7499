"""A golden folder is verified against its own expected events, rows and faults, without its scenario."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from ticdc_producer import api
from ticdc_producer.cli import main
from ticdc_producer.engine import EngineOption
from ticdc_producer.targets.golden.write import write_manifest
from ticdc_producer.verifier.verdict import Verdict

FAULTY = Path(__file__).parent / "faulty.yaml"
URI = "kafka:///faulty?protocol={}&partition-num=3&enable-tidb-extension=true&output-ddl=true"
PROTOCOLS = ("open-protocol", "craft", "canal-json", "debezium", "simple", "maxwell", "canal")
FAST = ("open-protocol", "debezium", "maxwell")
"""Protocols with several events in a message, with the schema in each message, and with flat JSON."""
FIRST = 415508878783938562
STATE = "state/test.t1.jsonl"
ENGINES: tuple[EngineOption, ...] = ("local", "spark")


def edited(folder: Path, name: str, edit: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Path:
    """The folder after a change of one of its files, with a manifest that agrees."""
    path = folder / name
    lines = edit([json.loads(line) for line in path.read_text("utf-8").splitlines()])
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return listed(folder)


def listed(folder: Path, **changes: Any) -> Path:
    """The folder with a manifest of its present files."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    (folder / "manifest.json").unlink()
    write_manifest(folder, {**manifest, **changes})
    return folder


def on_spark(folder: Path) -> Verdict:
    """What Spark's tasks find; the engine is that of a verification in one process."""
    return replace(api.verify(folder=folder, engine="spark"), engine=api.verify(folder=folder).engine)


def run(tmp_path: Path, sql: str, protocol: str, *, more: str = "", **options: Any) -> Path:
    """The folder of a run of SQL."""
    scenario = tmp_path / "history.sql"
    scenario.write_text(sql)
    report = api.run(
        scenario, sink_uri=f"kafka:///t?protocol={protocol}{more}", out=tmp_path / "out", **options
    )
    assert report.ok
    return tmp_path / "out"


@pytest.mark.parametrize(
    "protocol",
    [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in PROTOCOLS],
)
def test_what_the_run_found_is_found_in_its_folder(
    spark: SparkSession, tmp_path: Path, protocol: str
) -> None:
    uri = URI.format(protocol)
    ran = api.run(FAULTY, sink_uri=uri, out=tmp_path / "good").verdict
    verdict = api.verify(folder=tmp_path / "good")
    assert ran is not None
    assert ran.comparison is not None
    assert verdict.ok
    # The manifest has the digests of the messages, so that all parts of them are compared.
    assert (verdict.comparison, verdict.state) == (replace(ran.comparison, not_compared={}), ran.state)
    report = api.run(FAULTY, sink_uri=uri, out=tmp_path / "bad", inject=["lost-row"])
    assert report.verdict is not None
    assert not report.verdict.ok
    verdict = api.verify(folder=tmp_path / "bad")
    assert not verdict.ok
    assert verdict.comparison is not None
    assert verdict.comparison.injected == 1
    fault = report.faults.occurrences[0]
    assert (
        f"faulty/{fault['partition']}@{fault['offset']} lost-row at ts {fault['commit_ts']}"
        in verdict.comparison.diff[0]
    )
    if protocol == PROTOCOLS[0]:
        assert on_spark(tmp_path / "bad") == verdict


@pytest.mark.parametrize("trap", ["mixed-kinds", "duplicate-event:rate=0.2"])
def test_faults_that_change_no_event_are_no_difference(
    spark: SparkSession, tmp_path: Path, trap: str
) -> None:
    assert api.run(FAULTY, out=tmp_path / "out", inject=[trap]).ok
    verdict = api.verify(folder=tmp_path / "out")
    assert verdict.ok
    assert verdict.comparison is not None
    assert verdict.comparison.injected == 0


def test_a_message_that_was_removed_is_missing(spark: SparkSession, tmp_path: Path) -> None:
    api.run("seed_t1", out=tmp_path / "out", state_at=[FIRST])

    def without_last_row(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        last = max(number for number, line in enumerate(lines) if line["type"] == "row")
        return lines[:last] + lines[last + 1 :]

    verdict = api.verify(folder=edited(tmp_path / "out", "messages.jsonl", without_last_row))
    assert verdict.comparison is not None
    assert verdict.comparison.missing == 1
    assert verdict.state is not None
    assert not verdict.state.ok
    assert verdict.states[FIRST].ok
    assert on_spark(tmp_path / "out") == verdict


def test_a_row_that_the_messages_do_not_lead_to_is_missing(spark: SparkSession, tmp_path: Path) -> None:
    api.run("seed_t1", out=tmp_path / "out")
    edited(tmp_path / "out", "state/test.t1.jsonl", lambda rows: [{**rows[0], "val": "other"}, *rows[1:]])
    verdict = api.verify(folder=tmp_path / "out")
    assert verdict.comparison is not None
    assert verdict.comparison.ok
    assert verdict.state is not None
    assert (verdict.state.missing, verdict.state.unexpected) == (1, 1)


def test_values_are_compared_as_the_protocol_carries_them(spark: SparkSession, tmp_path: Path) -> None:
    sql = (
        "CREATE TABLE a (id INT PRIMARY KEY, d DECIMAL(40, 20), b BIT(9), e ENUM('x', 'y'), j JSON);"
        "INSERT INTO a VALUES (1, 12345678901234567890.12345678901234567890, 5, 'y', '{\"k\": 1.0}');"
    )
    verdict = api.verify(folder=run(tmp_path, sql, "debezium", more="&output-ddl=true"))
    assert verdict.ok
    assert verdict.state is not None
    assert (verdict.state.tables, verdict.state.rows) == (1, 1)


DDLS = """\
CREATE TABLE still (id INT PRIMARY KEY);
CREATE TABLE emptied (id INT PRIMARY KEY);
CREATE TABLE widened (id INT PRIMARY KEY);
CREATE TABLE moved (id INT PRIMARY KEY);
CREATE TABLE rekeyed (id INT PRIMARY KEY NONCLUSTERED, n INT NOT NULL UNIQUE);
INSERT INTO still VALUES (1); INSERT INTO emptied VALUES (1); INSERT INTO widened VALUES (1);
INSERT INTO moved VALUES (1); INSERT INTO rekeyed VALUES (1, 2);
TRUNCATE TABLE emptied;
ALTER TABLE widened ADD COLUMN note INT DEFAULT 7;
RENAME TABLE moved TO arrived;
ALTER TABLE rekeyed DROP PRIMARY KEY;
INSERT INTO emptied VALUES (2); INSERT INTO widened VALUES (2, 3); INSERT INTO arrived VALUES (2);
INSERT INTO rekeyed VALUES (3, 4);
"""


@pytest.mark.parametrize(
    ("protocol", "compared"),
    [
        ("open-protocol", True),
        ("simple", True),
        ("canal-json&enable-tidb-extension=true", True),
        ("debezium&output-ddl=true", True),
        ("debezium", False),
    ],
)
def test_tables_that_a_ddl_changed_are_compared_if_the_stream_has_it(
    spark: SparkSession, tmp_path: Path, protocol: str, compared: bool
) -> None:
    """Without the stream's DDLs a folder does not show which tables one changed."""
    verdict = api.verify(folder=run(tmp_path, DDLS, protocol))
    assert verdict.ok
    assert verdict.state is not None
    tables = {"still", "emptied", "widened", "arrived", "rekeyed"}
    reasons = verdict.state.not_compared
    assert set(reasons) == (set() if compared else {f"test.{table}" for table in tables})
    assert all("carries no DDLs" in reason for reason in reasons.values())
    assert verdict.state.tables == (len(tables) if compared else 0)


def test_a_folder_of_messages_alone_is_compared_with_nothing(spark: SparkSession, tmp_path: Path) -> None:
    api.run("seed_t1", out=tmp_path / "out", messages_only=True)
    verdict = api.verify(folder=tmp_path / "out")
    assert (verdict.comparison, verdict.state, verdict.states) == (None, None, {})


def test_faults_count_without_the_expected_events(spark: SparkSession, tmp_path: Path) -> None:
    api.run(FAULTY, out=tmp_path / "out", inject=["lost-row"])
    for name in ("events.jsonl", "faults.jsonl"):
        (tmp_path / "out" / name).unlink()
    verdict = api.verify(folder=listed(tmp_path / "out"))
    assert verdict.comparison is not None
    assert verdict.comparison.injected == 1
    assert not verdict.ok


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        pytest.param(name, engine, marks=pytest.mark.slow if (name, engine) == (STATE, "spark") else ())
        for name in ("events.jsonl", STATE)
        for engine in ENGINES
    ],
)
def test_expectations_that_cannot_be_read_are_refused(
    spark: SparkSession,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    engine: EngineOption,
) -> None:
    api.run("seed_t1", out=tmp_path / "out")
    edited(tmp_path / "out", name, lambda lines: [*lines[:1], {"kind": 5}, *lines[1:]])
    assert main(["verify", "--in", str(tmp_path / "out"), "--engine", engine]) == 2
    errors = capsys.readouterr().err
    assert f"{tmp_path / 'out' / name}:2: this line is not" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.slow)])
def test_the_protocol_that_the_bytes_look_like_is_named(
    spark: SparkSession, tmp_path: Path, engine: EngineOption
) -> None:
    api.run("seed_t1", sink_uri="kafka:///t?protocol=canal-json", out=tmp_path / "out")
    changefeed = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["changefeed"]
    listed(tmp_path / "out", changefeed={**changefeed, "protocol": "open-protocol"})
    verdict = api.verify(folder=tmp_path / "out", engine=engine)
    (frame,) = [finding for finding in verdict.findings if finding.id == "INV-FRAME"]
    assert "the messages look like canal-json" in frame.hint
