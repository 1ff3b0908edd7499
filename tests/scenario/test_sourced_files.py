"""``SOURCE`` reads files of the scenario's folder, as a mysql client that runs there."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from ticdc_producer.errors import ScenarioError
from ticdc_producer.runs.validate import validate_scenario
from ticdc_producer.scenario.execute import execute
from ticdc_producer.scenario.history import History
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.scenario.parse import parse_scenario
from ticdc_producer.scenario.sql.text.lexer import sections

TABLE = "CREATE TABLE t (id INT PRIMARY KEY);\n"


def write(folder: Path, **files: str) -> Path:
    """Write SQL files; the scenario is ``main``."""
    for name, text in files.items():
        (folder / f"{name}.sql").write_text(text, "utf-8")
    return folder / "main.sql"


def history_of(main: Path) -> History:
    return execute(load_scenario(main))


def ids(history: History) -> list[bytes]:
    return [row[0] for row in history.state["test", "t"].rows if isinstance(row[0], bytes)]


def error_of(main: Path) -> ScenarioError:
    with pytest.raises(ScenarioError) as error:
        history_of(main)
    return error.value


@pytest.mark.parametrize(
    "command", ["SOURCE rows.sql", "source\trows.sql ;", "  \\. rows.sql", "\\.rows.sql;\r"]
)
def test_a_file_runs_where_it_is_sourced(tmp_path: Path, command: str) -> None:
    rows = "INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2)"
    main = write(tmp_path, main=f"{TABLE}{command}\nDELETE FROM t WHERE id = 1;", rows=rows)
    history = history_of(main)
    assert ids(history) == [b"2"]
    assert history.commits == 4
    assert [change.line for change in history.changes] == [2, 2, 3]
    assert [ddl.line for ddl in history.catalog.ddls] == [1]


def test_names_are_relative_to_the_folder_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    write(tmp_path / "parts", all="SOURCE parts/one more.sql\nINSERT INTO t VALUES (2);")
    (tmp_path / "parts" / "one more.sql").write_text(f"{TABLE}INSERT INTO t VALUES (1);")
    assert ids(history_of(write(tmp_path, main="SOURCE parts/all.sql"))) == [b"1", b"2"]


def test_transactions_settings_and_variables_continue_in_it(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main=f"{TABLE}SET @n = 3;\nSOURCE mode.sql\nBEGIN;\nINSERT INTO t VALUES (1);\n"
        "SOURCE rows.sql\nCOMMIT;",
        mode="SET sql_mode = 'ANSI_QUOTES';",
        rows='INSERT INTO "t" VALUES (@n);',
    )
    history = history_of(main)
    assert ids(history) == [b"1", b"3"]
    assert history.commits == 2


def test_the_word_elsewhere_is_no_command(tmp_path: Path) -> None:
    script = (
        "CREATE TABLE t (id VARCHAR(90) PRIMARY KEY,\nsource INT);\n"
        "INSERT INTO t VALUES ('\nSOURCE x.sql\n', 1);\n"
        "/*\nSOURCE x.sql\n*/\nUPDATE t SET\nsource = 2;"
    )
    assert ids(history_of(write(tmp_path, main=script))) == [b"\nSOURCE x.sql\n"]


def test_a_step_of_yaml_sources_files(tmp_path: Path) -> None:
    write(tmp_path, rows=f"{TABLE}INSERT INTO t VALUES (1);\nNONSENSE;")
    main = tmp_path / "main.yaml"
    main.write_text("version: 1\nsteps:\n  - sql: |\n      SOURCE rows.sql\n")
    assert error_of(main).where == f"{tmp_path}/rows.sql:3"
    main.write_text("version: 1\nsteps:\n  - txn: |\n      SOURCE rows.sql\n")
    assert str(error_of(main)).startswith(f"{main}:4: SOURCE is not allowed in a transaction step")


@pytest.mark.parametrize(
    ("steps", "line"),
    [
        ('[{sql: "SOURCE a.sql"}, {sql: "SOURCE b.sql"}]', 2),
        ('\n  - sql: "SELECT 1;\\nSOURCE a.sql"\n  - sql: "SOURCE b.sql"', 4),
    ],
    ids=["flow style", "escapes"],
)
def test_two_commands_with_the_same_line_are_refused(tmp_path: Path, steps: str, line: int) -> None:
    main = write(tmp_path, a="SELECT 1;", b="SELECT 2;").with_suffix(".yaml")
    main.write_text(f"version: 1\nsteps: {steps}\n")
    error = error_of(main)
    assert error.what == "two SOURCE commands with different files have the same line"
    assert error.where == f"{main}:{line}"


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    main = write(tmp_path, main=f"{TABLE}\nSOURCE {'x' * 300}.sql\n")
    assert str(error_of(main)).endswith(f"main.sql:3: SOURCE cannot read '{'x' * 100}…'")
    main = write(tmp_path, main=f"{TABLE}\nLOAD DATA LOCAL INFILE '{'x' * 300}' INTO TABLE t;\n")
    assert error_of(main).where == f"{main}:3"
    main = write(tmp_path, main=f"{TABLE}\nSOURCE ../{'x' * 300}.sql\n")
    assert "not in the folder" in error_of(main).what


def test_lines_that_look_like_commands_are_read_once() -> None:
    text = "INSERT INTO t VALUES ('" + "\nsource of it\n" * 50_000 + "');\nSOURCE a.sql\n"
    assert [section.source for section in sections(text)] == ["a.sql", None]


def test_errors_have_their_line_in_the_sourced_file(tmp_path: Path) -> None:
    main = write(tmp_path, main=f"{TABLE}\nSOURCE rows.sql\n", rows="\n\nINSERT INTO t VALUES ('x');")
    assert error_of(main).where == f"{tmp_path}/rows.sql:3"
    write(tmp_path, rows="\nINSERT INTO t VALUES ('x);")
    assert error_of(main).where == f"{tmp_path}/rows.sql:2"
    (tmp_path / "rows.sql").write_bytes(b"\n\nINSERT INTO t\xff VALUES (1);")
    assert error_of(main).where == f"{tmp_path}/rows.sql:3"
    write(tmp_path, rows="BEGIN;\nINSERT INTO t VALUES (1);")
    assert str(error_of(main)) == f"{main}:3: BEGIN without COMMIT or ROLLBACK"


def test_a_check_finds_all_errors_and_notes(tmp_path: Path) -> None:
    rows = (
        "INSERT INTO t VALUES ('x');\nCREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.id = 1;\nNO;"
    )
    main = write(tmp_path, main=f"{TABLE}SOURCE rows.sql\nALSO NO;", rows=rows)
    result = validate_scenario(main)
    locations = [problem.where for problem in result.problems]
    assert locations == [f"{tmp_path}/rows.sql:1", f"{tmp_path}/rows.sql:3", f"{main}:3"]
    [note] = result.ignored_statements.notes
    assert (note.file, note.line) == (f"{tmp_path}/rows.sql", 2)


@pytest.mark.parametrize(
    "name", ["../secret.sql", "/etc/passwd", "link.sql", "folder/../../secret.sql", "", "."]
)
def test_files_outside_of_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.sql").write_text("SELECT 'geheim';")
    folder = tmp_path / "scenario"
    (folder / "folder").mkdir(parents=True)
    (folder / "link.sql").symlink_to(tmp_path / "secret.sql")
    error = str(error_of(write(folder, main=f"{TABLE}\nSOURCE {name}\n")))
    assert error.startswith(f"{folder}/main.sql:3: ")
    assert "geheim" not in error


def test_links_inside_of_the_folder_are_read(tmp_path: Path) -> None:
    main = write(tmp_path, main="SOURCE link.sql", table=TABLE)
    (tmp_path / "link.sql").symlink_to("table.sql")
    (tmp_path / "circle.sql").symlink_to("circle.sql")
    assert ids(history_of(main)) == []
    write(tmp_path, main="SOURCE circle.sql")
    assert error_of(main).where == f"{main}:1"


@pytest.mark.parametrize(
    ("files", "where", "what"),
    [
        ({"main": "\nSOURCE none.sql"}, "main.sql:2", "there is no file 'none.sql'"),
        ({"main": "SOURCE main.sql"}, "main.sql:1", "'main.sql' sources itself"),
        (
            {"main": "SOURCE a.sql", "a": "\nSOURCE b.sql", "b": "\n\nSOURCE a.sql"},
            "b.sql:3",
            "'a.sql' sources itself",
        ),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, files: dict[str, str], where: str, what: str) -> None:
    error = error_of(write(tmp_path, **files))
    assert (error.where, error.what) == (f"{tmp_path}/{where}", what)


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.sql")
    assert error_of(write(tmp_path, main="SOURCE pipe.sql")).what == "there is no file 'pipe.sql'"


def test_depth_and_number_of_files_are_bounded(tmp_path: Path) -> None:
    deep = {f"f{n}": f"SOURCE f{n + 1}.sql" for n in range(20)}
    assert (
        error_of(write(tmp_path, main="SOURCE f0.sql", **deep)).what
        == "more than 16 files source one another"
    )
    wide = {f"f{n}": f"SOURCE f{n + 1}.sql\n" * 4 for n in range(10)} | {"f10": "SELECT 1;"}
    error = error_of(write(tmp_path, main="SOURCE f0.sql", **wide))
    assert error.what == "the scenario sources more than 1000 files, or 64 MiB"


def test_content_that_is_not_a_file_sources_nothing() -> None:
    with pytest.raises(
        ScenarioError, match=r"^sent.sql:2: SOURCE is executed only at the beginning of a line"
    ):
        execute(parse_scenario(b"SELECT 1;\nSOURCE rows.sql", "sent.sql"))


def test_sourced_files_are_in_the_digest_of_the_scenario(tmp_path: Path) -> None:
    main = write(tmp_path, main=f"{TABLE}SOURCE rows.sql", rows="INSERT INTO t VALUES (1);")
    before = load_scenario(main).sha256
    write(tmp_path, rows="INSERT INTO t VALUES (2);")
    assert load_scenario(main).sha256 != before


def test_a_packed_file_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "table.sql.gz").write_bytes(gzip.compress(f"{TABLE}INSERT INTO t VALUES (7);".encode()))
    assert ids(history_of(write(tmp_path, main="SOURCE table.sql.gz"))) == [b"7"]
    (tmp_path / "table.sql.gz").write_bytes(b"no")
    assert error_of(tmp_path / "main.sql").what.startswith("cannot read 'table.sql.gz': ")
