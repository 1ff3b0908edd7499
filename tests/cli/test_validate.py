"""``scenario validate`` reports all errors; its exit code, its text and its JSON agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ticdc_producer.cli import main

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
    assert out == f"{good}: ok, 1 commits, 0 row changes, passed over: 2 SELECT\n"
    insert, create, call, note, total = err.splitlines()
    assert insert.startswith(f"ticdc-producer: {bad}:2: Data too long")
    assert insert.endswith("""in "insert into t values (1, 'long text')\"""")
    assert create.startswith(
        f"ticdc-producer: {bad}:4: the column type POINT is not supported, in 'create table g"
    )
    assert create.endswith(" (use a BLOB column: TiDB has no spatial types)")
    assert call.startswith(f"ticdc-producer: {bad}:7: CALL is not supported, in 'call p()' (write ")
    assert note == f"{bad}:6: note: CREATE TRIGGER is passed over: TiDB has no triggers"
    assert total == f"{bad}: 3 errors; 1 statement not checked"


def test_the_same_as_json(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "validate", "--json", *files]) == 2
    out, _ = capsys.readouterr()
    good, bad = json.loads(out)
    assert (good["ok"], good["problems"], good["passed_over"]) == (True, [], {"SELECT": 2})
    assert (bad["ok"], bad["unchecked"], bad["passed_over"]) == (False, 1, {"SHOW": 1})
    assert [note["line"] for note in bad["notes"]] == [6]
    assert [(one["line"], one["found"]) for one in bad["problems"]] == [
        (2, "insert into t values (1, 'long text')"),
        (4, "create table g (id int primary key, p point)"),
        (7, "call p()"),
    ]
    assert "TiDB has no stored procedures" in bad["problems"][2]["instead"]


def test_a_good_file_ends_with_exit_code_0(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "validate", "--json", files[0]]) == 0
    assert json.loads(capsys.readouterr().out)[0]["ok"]
