"""``scenario validate`` reports all errors; its exit code, its text and its JSON agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ticdc_producer
from ticdc_producer.cli import main
from ticdc_producer.runs.validate import validate_scenario

SQL = """create table t (id int primary key, v varchar(3));
insert into t values (1, 'long text');
show tables;
create table g (id int primary key, p point);
insert into g values (1, 2);
create trigger x before insert on t for each row set new.v = 'x';
call p();
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    good, bad = tmp_path / "good.sql", tmp_path / "bad.sql"
    good.write_text("create table t (id int primary key); select 1; select 2;")
    bad.write_text(SQL)
    return [str(good), str(bad)]


def test_all_errors_as_text(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = files
    assert main(["scenario", "validate", *files]) == 2
    out, err = capsys.readouterr()
    assert out == f"{good}: ok, 1 commit, 0 row changes, ignored: 2 SELECT\n"
    insert, create, call, note, total = err.splitlines()
    assert insert.startswith(f"ticdc-producer: {bad}:2: Data too long")
    assert insert.endswith("""in "insert into t values (1, 'long text')\"""")
    assert create.startswith(
        f"ticdc-producer: {bad}:4: the column type POINT is not supported, in 'create table g"
    )
    assert create.endswith(" (use a BLOB column: TiDB has no spatial types)")
    assert call.startswith(f"ticdc-producer: {bad}:7: CALL is not supported, in 'call p()' (write ")
    assert note == f"{bad}:6: note: CREATE TRIGGER is ignored: TiDB has no triggers"
    assert total == f"{bad}: 3 errors; 1 statement not checked"


def test_of_many_errors_the_first_are_listed_and_json_has_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "many.yaml"
    path.write_text("steps: [{sql: SELECT 1}]\n" + "".join(f"unknown{number}: 1\n" for number in range(30)))
    assert main(["scenario", "validate", str(path)]) == 2
    *errors, total = capsys.readouterr().err.splitlines()
    unknown = [f"ticdc-producer: {path}:{number + 2}: unknown key 'unknown{number}'" for number in range(23)]
    assert [error.split(" (")[0] for error in errors] == [
        f"ticdc-producer: {path}:1: 'version' is missing",
        *unknown,
    ]
    assert total == f"{path}: 31 errors, of which the first 24 are listed; --json lists all"
    assert main(["scenario", "validate", "--json", str(path)]) == 2
    [of_file] = json.loads(capsys.readouterr().out)
    assert len(of_file["problems"]) == 31


def test_the_same_as_json(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "validate", "--json", *files]) == 2
    out, _ = capsys.readouterr()
    good, bad = json.loads(out)
    assert (good["ok"], good["problems"], good["passed_over"]) == (True, [], {"SELECT": 2})
    assert (bad["ok"], bad["unchecked"], bad["passed_over"]) == (False, 1, {"SHOW": 1})
    assert [note["line"] for note in bad["notes"]] == [6]
    assert [(problem["line"], problem["found"]) for problem in bad["problems"]] == [
        (2, "insert into t values (1, 'long text')"),
        (4, "create table g (id int primary key, p point)"),
        (7, "call p()"),
    ]
    assert "TiDB has no stored procedures" in bad["problems"][2]["instead"]


def test_a_good_file_ends_with_exit_code_0(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "validate", "--json", files[0]]) == 0
    assert json.loads(capsys.readouterr().out)[0]["ok"]


WARNED = """version: 1
changefeed:
  sink-uri: kafka:///t?protocol=open-protocol
  sink: {dispatchers: [{matcher: ['*.*'], dispatcher: rowid}]}
steps: [{sql: CREATE TABLE test.t (id INT PRIMARY KEY)}]
"""


def test_what_a_run_warns_of_is_a_warning_here_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "warned.yaml"
    path.write_text(WARNED)
    assert main(["run", str(path), "--dry-run"]) == 0
    warnings = [line for line in capsys.readouterr().out.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == 2
    assert main(["scenario", "validate", str(path)]) == 0
    assert capsys.readouterr().err.splitlines() == [f"{path}: {warning}" for warning in warnings]
    assert main(["scenario", "validate", "--json", str(path)]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert [f"warning: {warning}" for warning in result["warnings"]] == warnings


def test_a_word_that_yaml_reads_as_a_boolean_needs_quotes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "switches.yaml"
    values = "{table: test.t, transactions: 1, columns: {s: {values: [on, off]}}}"
    path.write_text(
        "version: 1\nsteps:\n- sql: CREATE TABLE test.t (id INT PRIMARY KEY, s VARCHAR(3))\n"
        f"- generate: {values}\n"
    )
    assert main(["scenario", "validate", str(path)]) == 2
    first, second, _ = capsys.readouterr().err.splitlines()
    assert "columns.s.values[0]: the value is the boolean true, not text (quote it: " in first
    assert "columns.s.values[1]: the value is the boolean false, not text (quote it: " in second
    path.write_text(path.read_text().replace("[on, off]", "['on', 'off']"))
    assert main(["scenario", "validate", str(path)]) == 0


def test_what_ticdc_does_not_send_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "nokey.sql"
    script.write_text("CREATE TABLE nokey (a INT); INSERT INTO nokey VALUES (1);")
    assert main(["scenario", "validate", str(script)]) == 0
    validated = capsys.readouterr().err
    assert main(["run", str(script), "--dry-run"]) == 0
    sent = [line for line in capsys.readouterr().out.splitlines() if line.startswith("not sent, as by TiCDC")]
    assert sent
    assert validated.splitlines() == [f"{script}: {line}" for line in sent]


def test_what_is_before_the_start_or_after_the_target_is_not_printed(tmp_path: Path) -> None:
    path = tmp_path / "part.yaml"
    inserts = "".join(
        f"  - {{sql: INSERT INTO nokey VALUES (1), commit-ts: {ts}00000}}\n" for ts in (2, 3, 4)
    )
    path.write_text(
        "version: 1\nstart-ts: 250000\ntarget-ts: 350000\nsteps:\n"
        "  - {sql: CREATE TABLE test.nokey (a INT), commit-ts: 100000}\n"
        f"{inserts}session: {{database: test}}\n"
    )
    result = validate_scenario(path)
    assert [*result.discarded] == ticdc_producer.run(path, dry_run=True).discarded
    assert [(entry["kind"], entry["changes"]) for entry in result.discarded] == [("row", 1)]
