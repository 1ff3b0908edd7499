"""``run --watch``: which saves start a run, and what is printed after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.editor import Editor
from ticdc_producer.cli import main
from ticdc_producer.cli.remote.client_files import saves
from ticdc_producer.cli.run_command import differences

SCRIPT = "CREATE TABLE t (id INT PRIMARY KEY, v INT);\nINSERT INTO t VALUES (1, 10), (2, 20);\n"


def test_a_save_is_a_change_of_the_file(tmp_path: Path) -> None:
    file, pauses = tmp_path / "s.sql", 0
    file.write_text("1")

    def pause(_seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        match pauses:
            case 2:
                file.unlink()  # an editor that writes a new file
            case 4:
                file.write_text("23")
            case 6:
                raise KeyboardInterrupt

    changes = saves(lambda: [file], pause)
    assert next(changes) is None
    assert next(changes) is None
    assert pauses == 4
    with pytest.raises(KeyboardInterrupt):
        next(changes)


def test_the_lines_that_differ_are_printed_by_part() -> None:
    before = {"events of t/0": ["a", "b"], "rows of test.t": ["1"]}
    after = {"events of t/0": ["a", "c"], "rows of test.t": ["1"], "rows of test.u": ["2"]}
    assert [*differences(before, after)] == [
        "events of t/0: 2 before, 2 now",
        "  - b",
        "  + c",
        "rows of test.u: 0 before, 1 now",
        "  + 2",
    ]
    assert [*differences(after, after)] == []
    many = {"events of t/0": [str(number) for number in range(100)]}
    assert [*differences({}, many)][-1] == "  … and 60 more lines"


def test_an_edited_scenario_prints_its_differences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "s.sql"
    script.write_text(SCRIPT)
    texts = [SCRIPT, SCRIPT + "INSERT INTO t VALUES (oops", SCRIPT + "DELETE FROM t WHERE id = 1;"]
    editor = Editor(script, texts)
    monkeypatch.setattr("sys.stderr", editor)
    assert main(["run", str(script), "--watch", "--out", str(tmp_path / "golden"), "--no-verify"]) == 130
    printed = capsys.readouterr().out.splitlines()
    changes = printed.index("no event and no row changed")
    assert printed[0].startswith("ran s into")
    assert "s.sql:3" in editor.getvalue()
    assert printed[changes + 1 :] == [
        "events of s/1: 3 before, 4 now",
        "  + delete test.t id='1' v='10'",
        "rows of test.t: 2 before, 1 now",
        '  - {"id": "1", "v": "10"}',
    ]
    assert (tmp_path / "golden" / "manifest.json").exists()


def test_a_sourced_file_is_watched_as_long_as_it_is_sourced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script, rows = tmp_path / "s.sql", tmp_path / "rows.sql"
    script.write_text("CREATE TABLE t (id INT PRIMARY KEY);\nSOURCE rows.sql\n")
    rows.write_text("INSERT INTO t VALUES (1);")
    texts = ["INSERT INTO t VALUES (oops", "SOURCE rows.sql", "INSERT INTO t VALUES (1), (2);"]
    editor = Editor(rows, texts)
    monkeypatch.setattr("sys.stderr", editor)
    assert main(["run", str(script), "--watch", "--no-verify"]) == 130
    printed = editor.getvalue()
    assert "rows.sql:1" in printed
    assert "'rows.sql' sources itself" in printed  # it cannot be loaded, and is watched nevertheless
    assert "rows of test.t: 1 before, 2 now" in capsys.readouterr().out


def test_a_missing_file_that_is_sourced_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script, rows = tmp_path / "s.sql", tmp_path / "rows.sql"
    script.write_text("CREATE TABLE t (id INT PRIMARY KEY);\nSOURCE rows.sql\n")
    editor = Editor(rows, ["INSERT INTO t VALUES (1);"])
    monkeypatch.setattr("sys.stderr", editor)
    assert main(["run", str(script), "--watch", "--no-verify"]) == 130
    assert "there is no file 'rows.sql'" in editor.getvalue()
    assert capsys.readouterr().out.startswith("ran s into")


def test_a_file_may_join_and_leave_while_others_are_watched(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    first.write_text("1")
    second.write_text("2")
    files, pauses = [first], 0

    def pause(_seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        match pauses:
            case 1:
                second.write_text("3 is not watched yet")
            case 2:
                first.write_text("12")
            case 3:
                second.unlink()  # alone no change
            case 4:
                second.write_text("12")
            case 5:
                raise KeyboardInterrupt

    changes = saves(lambda: files, pause)
    next(changes)
    files = [first, second]
    next(changes)
    assert pauses == 2
    files = [first]
    next(changes)
    assert pauses == 4
    second.write_text("1")
    with pytest.raises(KeyboardInterrupt):
        next(changes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["seed_t1"], "--watch requires a scenario file that exists"),
        (["seed_t1", "--rate", "5/s"], "--watch cannot be combined with --rate"),
        (["seed_t1", "--resume"], "--watch cannot be combined with --resume"),
        (["seed_t1", "--dry-run"], "--watch cannot be combined with --dry-run"),
    ],
)
def test_what_cannot_be_watched(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["run", "--watch", *arguments]) == 2
    assert message in capsys.readouterr().err
