"""``decode FOLDER`` reads golden folders and storage folders without an option."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.cli import main


@pytest.mark.parametrize("protocol", ["csv", "canal-json"])
def test_the_protocol_of_a_storage_folder_follows_from_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str
) -> None:
    script, folder = tmp_path / "t.sql", tmp_path / "of a storage"
    script.write_text("CREATE TABLE test.t (id INT PRIMARY KEY); INSERT INTO test.t VALUES (7);")
    uri = f"file://{str(folder).replace(' ', '%20')}?protocol={protocol}"
    assert main(["run", str(script), "--sink-uri", uri, "-q"]) == 0
    capsys.readouterr()
    assert main(["decode", str(folder)]) == 0
    assert "insert test.t id='7'" in capsys.readouterr().out
    assert main(["decode", "--sink-uri", uri]) == 0
    assert "insert test.t id='7'" in capsys.readouterr().out


def test_another_folder_is_an_error_that_names_both_kinds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["decode", str(tmp_path)]) == 2
    assert (
        "neither a golden folder nor the folder of a storage sink (a golden folder has a manifest.json"
        in (capsys.readouterr().err)
    )
