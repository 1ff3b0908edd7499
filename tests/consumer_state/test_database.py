"""Database URLs: which are accepted, and that their secrets are never displayed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.consumer_state.folder import state_folder
from ticdc_producer.cli import main
from ticdc_producer.errors import StateSourceError
from ticdc_producer.targets.golden.read import manifest
from ticdc_producer.verifier.consumer_state.database import DatabaseSource
from ticdc_producer.verifier.consumer_state.plan import ExpectedTable, expected_tables

SECRET = "hunter2"


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://ann:{SECRET}@db.example/shop?ssl_key_password={SECRET}",
        f"postgresql://ann:{SECRET}@db.example/shop?password={SECRET}",
    ],
)
def test_passwords_are_masked(url: str) -> None:
    label = DatabaseSource(url).label
    assert SECRET not in label
    assert "ann:***@db.example/shop" in label


@pytest.mark.parametrize(
    "url", [f"mysql://ann:{SECRET}@127.0.0.1:1/x", f"nosuchdb://ann:{SECRET}@host/x", f"mysql://ann:{SECRET}@host:port/x",
            f"sqlite:///{SECRET}-but-no-file.db", "sqlite://"]
)  # fmt: skip
def test_invalid_databases_are_rejected(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = state_folder(tmp_path / "golden")
    code = main(["verify", "state", "--expected", str(golden), "--actual", url])
    error = capsys.readouterr().err
    assert code in (2, 3)
    assert "Traceback" not in error
    assert url.startswith("sqlite") or SECRET not in error


def test_a_password_may_come_from_the_environment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    golden = state_folder(tmp_path / "golden")
    url = "mysql://ann:${TICDC_STATE_PASSWORD}@127.0.0.1:1/x"
    assert main(["verify", "state", "--expected", str(golden), "--actual", url]) == 2
    assert "'TICDC_STATE_PASSWORD' is not set" in capsys.readouterr().err
    monkeypatch.setenv("TICDC_STATE_PASSWORD", f"{SECRET}@/")
    assert main(["verify", "state", "--expected", str(golden), "--actual", url]) == 3
    error = capsys.readouterr().err
    assert "ann:***@127.0.0.1:1/x" in error
    assert SECRET not in error


def test_an_unreachable_server_is_an_error_of_the_environment(tmp_path: Path) -> None:
    golden = state_folder(tmp_path / "golden")
    table = _tables(golden)[0]
    with pytest.raises(StateSourceError) as caught:
        DatabaseSource(f"mysql://ann:{SECRET}@127.0.0.1:1/shop").find(table, None, True)
    assert SECRET not in str(caught.value)
    assert caught.value.exit_code == 3


def _tables(golden: Path) -> list[ExpectedTable]:
    return expected_tables(golden, manifest(golden))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://ann@127.0.0.1", "the URL names no database (DIALECT://USER:PASSWORD@HOST:PORT/DATABASE)"),
        ("mariadb://ann@127.0.0.1:3306/", "the URL names no database"),
        (f"sqlite:///{'x' * 300}", "the name is too long for a file or folder"),
        ("/dev/null", "no such file or folder"),
        (
            "oracle://ann@db/x",
            "its driver is missing (oracledb) (install its driver, such as with pip instal",
        ),
    ],
)
def test_a_url_without_what_it_needs(
    url: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = state_folder(tmp_path / "golden")
    assert main(["verify", "state", "--expected", str(golden), "--actual", url]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["shop.items", "shop_items", "items", "ITEMS"])
def test_a_table_is_found_by_its_usual_names(name: str, tmp_path: Path) -> None:
    golden = state_folder(tmp_path / "golden")
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute(f'CREATE TABLE "{name}" (id INTEGER)')
    table = DatabaseSource(f"sqlite:///{tmp_path / 'x.db'}").find(_tables(golden)[0], None, True)
    assert table is not None
    assert table.columns == ("id",)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["--at", "5"], "--state-at"),
        (["--table", "shop.itmes"], "shop.items"),
        (["--map", "shop.items"], "--map SCHEMA.TABLE=NAME"),
        (["--map", "shop.x=y"], "shop.stock"),
        (["--protocol", "canal-jsn"], "canal-json"),
    ],
)
def test_invalid_options_are_rejected_with_a_hint(
    options: list[str], hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = state_folder(tmp_path / "golden")
    (tmp_path / "x.db").touch()
    code = main(
        ["verify", "state", "--expected", str(golden), "--actual", f"sqlite:///{tmp_path}/x.db", *options]
    )
    assert code == 2
    assert hint in capsys.readouterr().err


def test_a_file_holds_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = state_folder(tmp_path / "golden")
    file = golden / "state" / "shop.items.jsonl"
    assert main(["verify", "state", "--expected", str(golden), "--actual", str(file)]) == 2
    assert "--table" in capsys.readouterr().err


def test_a_folder_without_columns_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = state_folder(tmp_path / "golden")
    path = golden / "manifest.json"
    content = json.loads(path.read_text("utf-8"))
    del content["tables"]
    path.write_text(json.dumps(content), "utf-8")
    assert main(["verify", "state", "--expected", str(golden), "--actual", "sqlite://"]) == 2
    assert "write it again: ticdc-producer run with --out" in capsys.readouterr().err


def test_options_of_verify_are_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--in", "x", "state", "--expected", "x", "--actual", "y"]) == 2
    assert "--in is not an option of `verify state`" in capsys.readouterr().err
