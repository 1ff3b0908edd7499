"""Recordings are shrunk to the statements with which a command fails."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from statistics import median

import pytest

from tests.conformance.fuzz import sql_consumer
from tests.conformance.fuzz.sql_consumer import BUGS
from ticdc_producer import ProducerError, Scenario, record, run
from ticdc_producer.cli import main
from ticdc_producer.conformance.fuzz.shrink_recording import shrink_recording

SQL = """
CREATE DATABASE shop; USE shop;
CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(9), price DECIMAL(8,2), at TIMESTAMP NULL);
CREATE TABLE notes (k INT PRIMARY KEY, v VARCHAR(9));
INSERT INTO items VALUES (1, 'a', 1.5, '2024-01-01 00:00:00'), (2, 'b', NULL, NULL), (3, 'c', 0, NULL);
BEGIN; INSERT INTO notes VALUES (1, 'x'), (2, NULL); UPDATE items SET price = 9 WHERE id < 3; COMMIT;
UPDATE items SET name = 'bad' WHERE id = 2;
DELETE FROM items WHERE id = 1; UPDATE notes SET v = 'z';
"""


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    uri = "kafka:///shop?partition-num=2&protocol=simple"
    run(Scenario("shop").sql(SQL), sink_uri=uri, out=tmp_path / "golden", engine="local")
    record(folder=tmp_path / "golden", out=tmp_path / "recording")
    return tmp_path / "recording"


FAILS = shlex.join(["sh", "-c", '! grep -q "\'bad\'" "$1/scenario.yaml"', "sh"])


def test_a_recording_is_shrunk_to_the_statements_that_matter(recording: Path) -> None:
    result = shrink_recording(recording, FAILS, recording.parent / "out")
    text = (recording.parent / "out" / "shrunk.sql").read_text()
    assert "'bad'" in text
    assert "notes" not in text
    assert result.statements <= 4 < result.before
    assert run(recording.parent / "out", out=recording.parent / "replay", engine="local").ok


def test_the_command_records_and_shrinks(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = recording.parent
    arguments = ["record", "--in", str(folder / "golden"), "--out", str(folder / "out")]
    assert main([*arguments, "--quiet", "--shrink", FAILS]) == 0
    assert "'bad'" in capsys.readouterr().out
    arguments = ["record", "--in", str(recording), "--table", "*.*", "--out", str(folder / "other")]
    assert main([*arguments, "--shrink", FAILS]) == 2
    assert "--table" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("true", "true does not fail with the history as SQL"),
        ("/nothing/here", "does not start"),
        ("", "the command is empty"),
        ("sh -c 'x", "a quote that is not closed"),
    ],
)
def test_a_command_that_does_not_fail_is_refused(recording: Path, words: str, what: str) -> None:
    with pytest.raises(ProducerError, match=what):
        shrink_recording(recording, words, recording.parent / "out")
    assert not (recording.parent / "out").exists()


GENERATED = """
CREATE TABLE t (id INT PRIMARY KEY, v INT, g INT AS (v + 1) STORED);
INSERT INTO t (id, v) VALUES (1, 2); UPDATE t SET v = 5; DELETE FROM t;
"""
BACKTICKS = """
CREATE DATABASE `a``b`; USE `a``b`; CREATE TABLE `c``d` (id INT PRIMARY KEY, `e``f` INT);
INSERT INTO `c``d` VALUES (1, 2); UPDATE `c``d` SET `e``f` = 3;
"""


@pytest.mark.parametrize("sql", [GENERATED, BACKTICKS])
def test_generated_columns_and_names_with_backticks_run_as_sql(tmp_path: Path, sql: str) -> None:
    uri = "kafka:///shop?partition-num=1&protocol=open-protocol"
    run(Scenario("shop").sql(sql), sink_uri=uri, out=tmp_path / "golden", engine="local")
    record(folder=tmp_path / "golden", out=tmp_path / "recording")
    result = shrink_recording(tmp_path / "recording", "false", tmp_path / "out")
    assert result.statements < result.before


def test_one_variant_at_a_time_is_on_the_disk(recording: Path) -> None:
    counts = recording.parent / "counts"
    script = f'ls -d "$1"/../tmp* | wc -l >> {shlex.quote(str(counts))}; ! grep -q bad "$1/scenario.yaml"'
    result = shrink_recording(recording, shlex.join(["sh", "-c", script, "sh"]), recording.parent / "out")
    assert result.tries > 1
    assert set(counts.read_text().split()) == {"1"}


@pytest.mark.parametrize("content", [b"", b"\xff", b"steps: []"])
def test_a_folder_that_is_no_recording_is_refused(recording: Path, content: bytes) -> None:
    (recording / "scenario.yaml").write_bytes(content)
    with pytest.raises(ProducerError, match="the folder is not a recording"):
        shrink_recording(recording, "false", recording.parent / "out")
    assert not (recording.parent / "out").exists()


CHANGES = """\
version: 1
name: changes
seed: {seed}
steps:
  - sql: CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY, v INT, w VARCHAR(20))
  - generate:
      table: shop.t
      rows: 500
      transactions: {transactions}
      rows-per-transaction: 4
      mix: {{insert: 1, update: 2, delete: 1}}
"""


def transactions_of_a_shrunk_recording(folder: Path, seed: int, transactions: int) -> int:
    """Shrink a recording with which a consumer fails; return the number of its transactions."""
    (folder / "changes.yaml").write_text(CHANGES.format(seed=seed, transactions=transactions))
    run(
        folder / "changes.yaml", sink_uri="kafka:///t?protocol=simple", out=folder / "golden", engine="local",
        verify_output=False,
    )  # fmt: skip
    record(folder=folder / "golden", out=folder / "recording")
    bug = sorted(BUGS)[seed % len(BUGS)]
    command = shlex.join([sys.executable, "-I", "-S", str(Path(sql_consumer.__file__)), bug])
    shrink_recording(folder / "recording", command, folder / "out")
    number, is_open = 0, False
    for line in (folder / "out" / "shrunk.sql").read_text().splitlines():
        is_change = sql_consumer.DML.match(line) is not None
        number += line == "BEGIN;" or (is_change and not is_open)
        is_open = line == "BEGIN;" or (is_open and line != "COMMIT;")
    return number


def test_a_generated_recording_is_shrunk_to_a_few_transactions(tmp_path: Path) -> None:
    assert 0 < transactions_of_a_shrunk_recording(tmp_path, 1, 100) <= 5


@pytest.mark.slow
@pytest.mark.timeout(3 * 3600)
def test_twenty_recordings_of_10_000_changes_are_shrunk_to_a_few_transactions(tmp_path: Path) -> None:
    """Four wrong consumers fail with them."""
    numbers = []
    for seed in range(20):
        (tmp_path / str(seed)).mkdir()
        numbers.append(transactions_of_a_shrunk_recording(tmp_path / str(seed), seed, 2500))
    assert min(numbers) > 0
    assert median(numbers) <= 5
