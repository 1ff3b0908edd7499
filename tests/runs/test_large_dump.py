"""A dump that is too large for the SQL engine: Spark reads the INSERTs of its large tables from the file."""

from __future__ import annotations

import json
import mmap
import re
import sys
from pathlib import Path

import pytest

import ticdc_producer
from ticdc_producer.cli import main
from ticdc_producer.errors import ScenarioError
from ticdc_producer.runs.validate import validate_scenario
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.file_steps import LARGE_TABLE, SPAN_BYTES, statement_spans
from ticdc_producer.scenario.load import MAX_BYTES, load_scenario
from ticdc_producer.scenario.scenario_file import SQLStep

DUMPS = Path(__file__).parents[1] / "scenario" / "sql" / "dumps"
ROWS, INSERTS = 400, 8
COMMENTED = r"`items` .* VALUES \((?:0|100|200|300),"
"""Every second INSERT of the large table: a task reads one or two."""
COMMENTS = 4


def _dump() -> str:
    items = [f"({n},'it\\'s; {n}',{n / 4:.2f},NULL)" for n in range(ROWS)]
    step = ROWS // INSERTS
    inserts = [f"INSERT INTO `items` VALUES {','.join(items[n : n + step])};\n" for n in range(0, ROWS, step)]
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


def _enlarged(dump: str, inserts: str, comment_bytes: int = LARGE_TABLE) -> str:
    """Return a dump of more than 64 MiB, which is more than the SQL engine reads.

    :param inserts: regular expression of the INSERTs that have a long comment, of one line, before them. With
        it their tables are large.
    """
    insert = re.compile(f"^(?=INSERT INTO {inserts})", re.MULTILINE)
    enlarged = insert.sub(f"-- {'x' * comment_bytes}\n", dump)
    return f"{enlarged}-- {'x' * (MAX_BYTES - len(enlarged))}\n"


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump of 64 MiB, with 8 INSERTs of a large table and one of a small one."""
    path = tmp_path_factory.mktemp("large") / "dump.sql"
    path.write_text(_enlarged(_dump(), COMMENTED, SPAN_BYTES))
    return path


def _same_files(large: Path, text: str, tmp_path: Path) -> list[str]:
    """Run a large dump and its text without comments, compare their folders, and return the status lines.

    The small one is verified.
    """
    status = list[str]()
    ticdc_producer.run(large, out=tmp_path / "large", on_status=status.append, verify_output=False)
    small = tmp_path / large.name
    small.write_text(text)
    assert len(load_scenario(small).steps) == 1
    report = ticdc_producer.run(small, out=tmp_path / "small")
    assert report.verdict is not None
    assert report.verdict.ok, report.verdict.to_json()
    for name in ("messages.jsonl", "events.jsonl"):
        assert (tmp_path / "large" / name).read_bytes() == (tmp_path / "small" / name).read_bytes(), name
    states = [
        {path.name: path.read_bytes() for path in (tmp_path / folder / "state").iterdir()}
        for folder in ("large", "small")
    ]
    assert states[0] == states[1]
    return status


@pytest.mark.slow  # fast: test_a_dump_of_a_real_program
@pytest.mark.usefixtures("spark")
def test_a_large_dump_has_the_messages_of_a_small_one(dump: Path, tmp_path: Path) -> None:
    status = _same_files(dump, _dump(), tmp_path)
    assert f"{dump}:{19 + COMMENTS}: note: CREATE TRIGGER is ignored: TiDB has no triggers" in status
    rows = (tmp_path / "large" / "state" / "test.items.jsonl").read_text().splitlines()
    assert len(rows) == ROWS
    assert json.loads(rows[5])["v"] == "it's; 5"


def test_its_steps(dump: Path) -> None:
    scenario = load_scenario(dump)
    before, inserts, behind = scenario.steps
    assert isinstance(before, SQLStep)
    assert isinstance(behind, SQLStep)
    assert (before.line, inserts.line, behind.line) == (1, 5, 5 + INSERTS + COMMENTS)
    history = execute(scenario)
    [plan] = history.data
    assert (plan.first_commit, history.commits) == (1, 1 + INSERTS + 2)
    validation = validate_scenario(dump)
    assert validation.ok
    assert [note.line for note in validation.ignored_statements.notes] == [19 + COMMENTS]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts the mapped pages of a process")
def test_a_mapped_file_is_not_in_the_memory_of_the_driver(tmp_path: Path) -> None:
    path = tmp_path / "dump.sql"
    with path.open("w") as file:
        for number in range(64):
            file.write(f"INSERT INTO t VALUES ({number},'{'x' * (1 << 20)}');\n")
    before = _mapped_mib()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        mapped = [_mapped_mib() - before for _ in statement_spans(data)]
    assert len(mapped) > 10
    assert max(mapped) < 16, mapped


def _mapped_mib() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssFile:")[2].split()[0]) >> 10


@pytest.mark.slow  # fast: test_data_step.py
@pytest.mark.usefixtures("spark")
def test_a_value_that_does_not_fit_names_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = tmp_path / "dump.sql"
    text = _dump().replace("(177,'it", "(177,'far too long for the column, and strict mode is on")
    dump.write_text(_enlarged(text, COMMENTED, SPAN_BYTES))
    assert main(["run", str(dump), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "dump.sql:11: Data too long (at most 30 characters) for column 'v'" in error
    assert "Traceback" not in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("UPDATE items SET v = 1;", "come from a step or a dump"),
        (
            "SET foreign_key_checks = 1; DELETE FROM few;",
            "a foreign key between test.few and a table of a large dump",
        ),
    ],
)
def test_dml_that_needs_the_rows_of_the_dump_is_refused(tmp_path: Path, sql: str, what: str) -> None:
    dump = tmp_path / "dump.sql"
    dump.write_text(_enlarged(_dump() + sql, COMMENTED))
    with pytest.raises(ScenarioError, match=what):
        execute(load_scenario(dump))


@pytest.mark.usefixtures("spark")
def test_a_dump_of_a_real_program(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """The table with every type and one with a foreign key are large."""
    text = (DUMPS / "mariadb-dump-hex.sql").read_text("utf-8")
    source = tmp_path_factory.mktemp("real") / "dump.sql"
    source.write_text(_enlarged(text, "`(?:every_type|children)`"))
    assert len(execute(load_scenario(source)).data) == 2
    _same_files(source, text, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_every_table_of_a_dump_is_large(tmp_path: Path) -> None:
    source = tmp_path / "dump.sql"
    source.write_text(_enlarged((DUMPS / "mariadb-dump-hex.sql").read_text("utf-8"), ""))
    assert len(execute(load_scenario(source)).data) == 8
    report = ticdc_producer.run(source, out=tmp_path / "out")
    assert report.verdict is not None
    assert report.verdict.ok, report.verdict.to_json()
    assert report.counts.by_kind()["row"]["events"] == 19 - 3  # three rows of a table without a key
