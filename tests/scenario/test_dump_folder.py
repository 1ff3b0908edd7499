"""The folder of a dump is a scenario: its files run in the order of TiDB Lightning."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

import ticdc_producer
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.catalog import Action
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.file_steps import LARGE_TABLE, DumpPlan
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.scenario.scenario_file import SQLStep
from ticdc_producer.scenario.sourced_files import MAX_BYTES

HEAD = "/*!40014 SET FOREIGN_KEY_CHECKS=0*/;\n/*!40101 SET NAMES binary*/;\n"
DUMPLING = {
    "metadata": "Started dump at: 2024-01-01 00:00:00\n",
    "shop-schema-create.sql": "CREATE DATABASE `shop` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;\n",
    "shop.numbers-schema-sequence.sql": "CREATE SEQUENCE `numbers`;\nSELECT SETVAL(`numbers`,9);\n",
    "shop.items-schema.sql": f"{HEAD}CREATE TABLE `items` (`id` bigint PRIMARY KEY DEFAULT"
    " nextval(`shop`.`numbers`), `kind` int, FOREIGN KEY (`kind`) REFERENCES `kinds` (`id`));\n",
    "shop.kinds-schema.sql": f"{HEAD}CREATE TABLE `kinds` (`id` int AUTO_INCREMENT PRIMARY KEY, `d` date);\n",
    "shop.items.0000000010000.sql": f"{HEAD}INSERT INTO `items` VALUES (3,2);\n",
    "shop.items.0000000000000.sql": f"{HEAD}INSERT INTO `items` VALUES\n(1,0),\n(2,1);\n",
    "shop.kinds.000000000.sql": "INSERT INTO `kinds` VALUES (0,'0000-00-00'),(1,NULL),(2,NULL);\n",
    "shop.few-schema.sql": "CREATE TABLE `few` (\n`id` int\n)ENGINE=MyISAM;\n",
    "shop.few-schema-view.sql": "DROP TABLE IF EXISTS `few`;\nDROP VIEW IF EXISTS `few`;\n"
    "CREATE VIEW `few` (`id`) AS SELECT `id` AS `id` FROM `shop`.`items`;\n",
}


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def dumpling(folder: Path, **files: str | bytes) -> Path:
    return write(folder / "dump", {**DUMPLING, **files})


def history_of(folder: Path) -> History:
    return execute(load_scenario(folder))


def error_of(folder: Path) -> ScenarioError:
    with pytest.raises(ScenarioError) as error:
        history_of(folder)
    return error.value


def test_its_files_run_in_order(tmp_path: Path) -> None:
    folder = dumpling(tmp_path)
    scenario = load_scenario(folder)
    assert (scenario.name, scenario.file) == ("dump", str(folder))
    history = execute(scenario)
    jobs = [(Action(ddl.job_type).name, ddl.table) for ddl in history.catalog.ddls]
    assert jobs == [
        ("CREATE_SCHEMA", ""), ("CREATE_SEQUENCE", "numbers"), ("CREATE_TABLE", "few"),
        ("CREATE_TABLE", "items"), ("CREATE_TABLE", "kinds"), ("DROP_TABLE", "few"), ("CREATE_VIEW", "few"),
    ]  # fmt: skip
    tables = [history.catalog.tables[change.table_version].name for change in history.changes]
    assert tables == ["items", "items", "items", "kinds", "kinds", "kinds"]
    assert [row[0] for row in history.state["shop", "items"].rows] == [b"1", b"2", b"3"]
    assert history.state["shop", "kinds"].rows[0] == (b"0", b"0000-00-00")


def test_a_run_of_it(tmp_path: Path) -> None:
    report = ticdc_producer.run(dumpling(tmp_path), out=tmp_path / "golden")
    assert report.verdict is not None
    assert report.verdict.ok
    names = {path.name for path in (tmp_path / "golden" / "state").iterdir()}
    assert {"shop.items.jsonl", "shop.kinds.jsonl"} <= names


def test_other_files_of_the_programs_are_left_alone(tmp_path: Path) -> None:
    others = {
        ".hidden.sql": "NONSENSE", "shop.items-metadata": "3", "shop.items-checksum": "x",
        "shop.items.sql.bak": "NO", "README.md": "ours", "dump.log": "…", "metadata.json": "{}",
    }  # fmt: skip
    assert len(history_of(dumpling(tmp_path, **others)).changes) == 6


def test_files_of_stored_programs_are_noted(tmp_path: Path) -> None:
    body = "CREATE TRIGGER g BEFORE INSERT ON items FOR EACH ROW BEGIN SET NEW.id = 1; END;\n"
    names = ("shop-schema-post.sql", "shop.items-schema-trigger.sql", "shop.items-schema-triggers.sql")
    history = history_of(dumpling(tmp_path, **dict.fromkeys(names, body)))
    assert sorted(
        (Path(note.file).name, note.text.partition(": ")[2]) for note in history.ignored_statements.notes
    ) == [
        ("shop-schema-post.sql", "TiDB has no stored procedures, stored functions and events"),
        ("shop.items-schema-trigger.sql", "TiDB has no triggers"),
        ("shop.items-schema-triggers.sql", "TiDB has no triggers"),
    ]


def test_a_name_with_a_newline_moves_no_file(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "dump",
        {
            "metadata": "",
            "x%0Ay-schema-create.sql": "CREATE DATABASE `x\ny`;\n",
            "x%0Ay.a-schema.sql": "CREATE TABLE a (id INT PRIMARY KEY);",
            "x%0Ay.b-schema.sql": "CREATE TABLE b (id INT PRIMARY KEY);",
            "x%0Ay.b.sql": "INSERT INTO b VALUES (1);",
        },
    )
    assert history_of(folder).state["x\ny", "b"].rows == ((b"1",),)


def test_databases_that_exist_or_have_no_file(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "dump",
        {
            "metadata": "",
            "test-schema-create.sql": "CREATE DATABASE `test`;\n",
            "test.a-schema.sql": "CREATE TABLE a (id INT PRIMARY KEY);",
            "my%2Edb.b%2F1-schema.sql": "CREATE TABLE `b/1` (id INT PRIMARY KEY);",
            "my%2Edb.b%2F1.sql": "INSERT INTO `b/1` VALUES (1);",
        },
    )
    history = history_of(folder)
    assert history.state["my.db", "b/1"].rows == ((b"1",),)
    assert ("test", "a") in history.state


@pytest.mark.parametrize(
    ("codec", "ending"), [("gzip", "gz"), ("zstd", "zst"), ("bz2", "bz2"), ("lz4", "lz4")]
)
def test_packed_files_are_unpacked(tmp_path: Path, codec: str, ending: str) -> None:
    folder = tmp_path / "dump"
    folder.mkdir()
    for name, text in DUMPLING.items():
        with pa.CompressedOutputStream(str(folder / f"{name}.{ending}"), codec) as packed:
            packed.write(text.encode())
    assert len(history_of(folder).changes) == 6


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("shop.items.1.sql.snappy", "a file with the ending .snappy is not supported"),
        ("shop.items.1.csv", "a dump with .csv files is not supported"),
        ("shop.items.1.dat", "a dump with .dat files is not supported"),
        ("items.sql", "the name is not one of mydumper or Dumpling"),
        ("metadata.partial", "the dump is not complete: it has the file metadata.partial"),
    ],
)
def test_files_that_would_be_missed_are_refused(tmp_path: Path, name: str, what: str) -> None:
    error = error_of(dumpling(tmp_path, **{name: "x"}))
    assert error.what == what
    assert error.file == str(tmp_path / "dump" / (name if name != "metadata.partial" else ""))


def test_links_stay_in_the_folder(tmp_path: Path) -> None:
    folder = dumpling(tmp_path)
    rows = folder / "shop.kinds.000000000.sql"
    rows.rename(folder / ".rows")
    rows.symlink_to(".rows")
    assert len(history_of(folder).changes) == 6
    for target, what in (
        (tmp_path / "secret.sql", "a link to a file outside of the folder is not allowed"),
        (folder / "missing", "this is not a file"),
        (rows, "this is not a file"),  # links to itself
    ):
        rows.unlink()
        (tmp_path / "secret.sql").write_bytes((folder / ".rows").read_bytes())
        rows.symlink_to(target)
        error = error_of(folder)
        assert (error.file, error.what) == (str(rows), what)


def test_packed_files_are_bounded_by_what_they_hold(tmp_path: Path) -> None:
    packed = gzip.compress(b"-- " + b"x" * (MAX_BYTES // 2), 1)
    files = {f"shop.items.{n}.sql.gz": packed for n in range(2)}
    error = error_of(dumpling(tmp_path, **files))
    assert error.what == "definitions and small tables have more than 64 MiB"


def test_errors_have_their_line_in_the_file(tmp_path: Path) -> None:
    folder = dumpling(tmp_path, **{"shop.kinds.000000000.sql": "\nINSERT INTO `kinds` VALUES\n('x',NULL);\n"})
    assert error_of(folder).where == f"{folder}/shop.kinds.000000000.sql:2"
    assert error_of(dumpling(tmp_path, **{"shop.x.sql.gz": gzip.compress(b"x")[:9]})).what.startswith(
        "cannot read"
    )


def test_a_folder_with_a_scenario_is_that_scenario(tmp_path: Path) -> None:
    folder = dumpling(tmp_path, **{"scenario.yaml": "version: 1\nsteps:\n  - sql: CREATE DATABASE own\n"})
    assert [ddl.query for ddl in history_of(folder).catalog.ddls] == ["CREATE DATABASE own"]


def test_an_empty_one(tmp_path: Path) -> None:
    assert (
        error_of(write(tmp_path / "dump", {"metadata": ""})).what == "the folder of a dump has no .sql files"
    )


def keyless(comment: str = "") -> dict[str, str | bytes]:
    """Files of ``items``, whose rows are in two files, without foreign keys."""
    return {
        "shop.items-schema.sql": f"{HEAD}CREATE TABLE `items` (`id` bigint PRIMARY KEY, `kind` int);\n",
        "shop.items.0000000000000.sql": f"{HEAD}{comment}INSERT INTO `items` VALUES\n(1,0),\n(2,1);\n",
        "shop.items.0000000010000.sql": f"{HEAD}{comment}INSERT INTO `items` VALUES (3,2);\n",
    }


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of more than 64 MiB, in which ``items`` is large."""
    files = keyless(f"-- {'x' * (MAX_BYTES - LARGE_TABLE)}\n")
    return dumpling(tmp_path_factory.mktemp("large"), **files)


def test_the_steps_of_a_large_one(large: Path) -> None:
    scenario = load_scenario(large)
    before, _, behind = scenario.steps
    assert isinstance(before, SQLStep)
    assert isinstance(behind, SQLStep)
    history = execute(scenario)
    [plan] = history.data
    assert isinstance(plan, DumpPlan)
    assert (plan.first_commit, history.commits) == (7, 7 + 2 + 1)
    names = [Path(span.file).name for span in plan.step.spans]
    assert names == ["shop.items.0000000000000.sql", "shop.items.0000000010000.sql"]


@pytest.mark.slow  # fast: test_the_steps_of_a_large_one
@pytest.mark.usefixtures("spark")
def test_a_large_one_has_the_messages_of_a_small_one(large: Path, tmp_path: Path) -> None:
    small = dumpling(tmp_path, **keyless())
    for folder, name in ((large, "large"), (small, "small")):
        ticdc_producer.run(folder, out=tmp_path / name, verify_output=False)
    for file in ("messages.jsonl", "events.jsonl", "state/shop.items.jsonl"):
        assert (tmp_path / "large" / file).read_bytes() == (tmp_path / "small" / file).read_bytes(), file


def test_empty_files_of_a_large_table_have_no_rows(large: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "dump", {f"shop.items.000000000{n}000.sql": "" for n in (1, 5)})
    for path in large.iterdir():
        (folder / path.name.replace("0000000000000", "0000000002000")).hardlink_to(path)
    [plan] = execute(load_scenario(folder)).data
    assert isinstance(plan, DumpPlan)
    assert plan.step.statements == 2


def test_files_of_a_large_table_have_inserts_only(large: Path, tmp_path: Path) -> None:
    files = {path.name: path.read_bytes() for path in large.iterdir()}
    name = "shop.items.0000000010000.sql"
    error = error_of(write(tmp_path / "dump", {**files, name: files[name] + b"DELETE FROM items;\n"}))
    assert error.what.startswith("a statement other than INSERT INTO items")
    error = error_of(write(tmp_path / "dump", {**files, name: files[name][len(HEAD) // 2 :]}))
    assert error.file == str(tmp_path / "dump" / name)
