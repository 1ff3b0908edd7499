"""What a run prints after its report: where its messages are, and what to do with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.cli import main

SQL = "CREATE TABLE test.t (id INT PRIMARY KEY); INSERT INTO test.t VALUES (1);"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "t.sql"
    path.write_text(SQL)
    return path


def test_a_golden_folder_is_decoded_and_compared(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "golden folder"
    assert main(["run", str(script), "--out", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1].startswith("verified"), "the report ends with the verdict"
    decode, compare = err.splitlines()[-2:]
    assert decode.startswith(f"next: `ticdc-producer decode '{folder}'` prints all events; `run --html PATH`")
    assert (
        compare.strip()
        == f"`ticdc-producer verify state --expected '{folder}' --actual URL` compares your tables"
    )
    assert main(["decode", str(folder)]) == 0
    assert " insert test.t id='1'" in capsys.readouterr().out


def test_files_of_the_storage_sink_are_decoded(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "files"
    assert main(["run", str(script), "--sink-uri", f"file://{folder}?protocol=csv"]) == 0
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"next: `ticdc-producer decode {folder}` ")
    assert main(["decode", str(folder)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("] insert test.t id='1'"), "the files have no commit-ts, so no time is displayed"


@pytest.mark.parametrize("option", ["--dry-run", "--quiet", "--json"])
def test_programs_and_dry_runs_get_no_advice(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    target = [] if option == "--dry-run" else ["--out", str(tmp_path / "out")]
    assert main(["run", str(script), *target, option]) == 0
    assert "next:" not in capsys.readouterr().err


def test_the_log_form_is_that_of_open_protocol(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(script), "--out", str(tmp_path / "open"), "--preview", "log"]) == 0
    assert '1. [partition=0] [key="{\\"ts\\":' in capsys.readouterr().out
    uri = "kafka:///t?protocol=canal-json"
    assert (
        main(["run", str(script), "--out", str(tmp_path / "c"), "--sink-uri", uri, "--preview", "log"]) == 0
    )
    assert "only messages of Open Protocol are printed with --preview log" in capsys.readouterr().out


def test_a_folder_of_messages_alone_has_no_rows_to_compare(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(script), "--only", "messages", "--out", str(tmp_path / "out")]) == 0
    err = capsys.readouterr().err
    assert "next: `ticdc-producer decode" in err
    assert "verify state" not in err
