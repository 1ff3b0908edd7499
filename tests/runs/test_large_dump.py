"""A dump that is too large for the SQL engine: Spark reads the INSERTs of its large tables from the file."""

from __future__ import annotations

import json
import mmap
import sys
from pathlib import Path

import pytest

import ticdc_producer
from ticdc_producer.cli import main
from ticdc_producer.errors import ScenarioError
from ticdc_producer.runs.validate import validate_scenario
from ticdc_producer.scenario import file_steps, load
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.load import SQLStep, load_scenario

DUMPS = Path(__file__).parents[1] / "scenario" / "sql" / "dumps"
ROWS = 400


def _dump() -> str:
    items = [f"({n},'it\\'s; {n}',{n / 4:.2f},NULL)" for n in range(ROWS)]
    inserts = [f"INSERT INTO `items` VALUES {','.join(items[n : n + 50])};\n" for n in range(0, ROWS, 50)]
    return (
        "-- a dump; of two tables\n/*!40014 SET FOREIGN_KEY_CHECKS=0 */;\n"
        "CREATE TABLE `items` (`id` int PRIMARY KEY, `v` varchar(30), `d` decimal(8,2) DEFAULT 1,\n"
        "  `at` datetime DEFAULT CURRENT_TIMESTAMP, `few` int, FOREIGN KEY (few) REFERENCES few (id));\n"
        "LOCK TABLES `items` WRITE;\n"
        + "".join(inserts).replace("`items` VALUES", "`items` (`id`,`v`,`d`,`few`) VALUES")
        + "/*!40000 ALTER TABLE `items` ENABLE KEYS */;\nUNLOCK TABLES;\n"
        "CREATE TABLE `few` (`id` int PRIMARY KEY);\nINSERT INTO `few` VALUES (1),(2);\n"
        "DELIMITER ;;\nCREATE TRIGGER g BEFORE INSERT ON items FOR EACH ROW BEGIN SET NEW.v = 1; END;;\n"
        "DELIMITER ;\n"
    )


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MAX_BYTES", 4000)
    monkeypatch.setattr(file_steps, "LARGE_TABLE", 1000)
    monkeypatch.setattr(file_steps, "_CHUNK", 3000)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.sql"
    path.write_text(_dump())
    return path


@pytest.mark.usefixtures("small_limits")
@pytest.mark.usefixtures("spark")
def test_a_large_dump_has_the_messages_of_a_small_one(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = list[str]()
    report = ticdc_producer.run(dump, out=tmp_path / "large", on_status=status.append)
    assert f"{dump}:19: note: CREATE TRIGGER is passed over: TiDB has no triggers" in status
    assert report.verdict is not None
    assert report.verdict.ok, report.verdict.to_json()
    monkeypatch.undo()
    assert len(load_scenario(dump).steps) == 1
    ticdc_producer.run(dump, out=tmp_path / "small")
    for name in ("messages.jsonl", "events.jsonl", "state/test.items.jsonl", "state/test.few.jsonl"):
        assert (tmp_path / "large" / name).read_bytes() == (tmp_path / "small" / name).read_bytes(), name
    rows = (tmp_path / "large" / "state" / "test.items.jsonl").read_text().splitlines()
    assert len(rows) == ROWS
    assert json.loads(rows[5])["v"] == "it's; 5"


@pytest.mark.usefixtures("small_limits")
def test_its_steps(dump: Path) -> None:
    scenario = load_scenario(dump)
    before, inserts, behind = scenario.steps
    assert isinstance(before, SQLStep)
    assert isinstance(behind, SQLStep)
    assert (before.line, inserts.line, behind.line) == (1, 5, 13)
    history = execute(scenario)
    [plan] = history.data
    assert (plan.first_commit, history.commits) == (1, 1 + 8 + 2)
    validation = validate_scenario(dump)
    assert validation.ok
    assert [note.line for note in validation.passed_over.notes] == [19]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts the mapped pages of a process")
def test_a_mapped_file_is_not_in_the_memory_of_the_driver(tmp_path: Path) -> None:
    path = tmp_path / "dump.sql"
    with path.open("w") as file:
        for number in range(64):
            file.write(f"INSERT INTO t VALUES ({number},'{'x' * (1 << 20)}');\n")
    before = _mapped_mib()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        mapped = [_mapped_mib() - before for _ in file_steps._spans(data)]
    assert len(mapped) > 10
    assert max(mapped) < 16, mapped


def _mapped_mib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssFile:")[2].split()[0]) >> 10


@pytest.mark.usefixtures("small_limits")
@pytest.mark.usefixtures("spark")
def test_a_value_that_does_not_fit_names_its_line(
    dump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump.write_text(_dump().replace("(177,'it", "(177,'far too long for the column, and strict mode is on"))
    assert main(["run", str(dump), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "dump.sql:9: Data too long (at most 30 characters) for column 'v'" in error
    assert "Traceback" not in error
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("small_limits")
def test_dml_that_needs_the_rows_of_the_dump_is_refused(dump: Path) -> None:
    for sql, what in (
        ("UPDATE items SET v = 1;", "come from a step or a dump"),
        (
            "SET foreign_key_checks = 1; DELETE FROM few;",
            "a foreign key between test.few and a table of a large dump",
        ),
    ):
        dump.write_text(_dump() + sql)
        with pytest.raises(ScenarioError, match=what):
            execute(load_scenario(dump))


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("large", "tables"), [(160, 2), pytest.param(100, 7, marks=pytest.mark.slow)], ids=["fast", "full"]
)
def test_a_dump_of_a_real_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int, tables: int
) -> None:
    """The fast tier has the table with every type and one with a foreign key as large ones."""
    monkeypatch.setattr(load, "MAX_BYTES", 12000)
    monkeypatch.setattr(file_steps, "LARGE_TABLE", large)
    source = DUMPS / "mariadb-dump-hex.sql"
    assert len(execute(load_scenario(source)).data) == tables
    report = ticdc_producer.run(source, out=tmp_path / "out")
    assert report.verdict is not None
    assert report.verdict.ok, report.verdict.to_json()
    assert report.counts.by_kind()["row"]["events"] == 19 - 3  # three rows of a table without a key
