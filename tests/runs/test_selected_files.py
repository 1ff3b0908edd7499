"""Files of tables with unselected columns are read with the changefeed that wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

import ticdc_producer
from ticdc_producer.cli import main

SQL = """CREATE DATABASE s; USE s;
CREATE TABLE t (id INT PRIMARY KEY, h INT, v VARCHAR(9));
CREATE TABLE whole (id INT PRIMARY KEY, h INT);
INSERT INTO t VALUES (1, 2, 'a'), (3, NULL, 'b');
INSERT INTO whole VALUES (1, 7);
UPDATE t SET v = 'c' WHERE id = 1;
ALTER TABLE t ADD COLUMN n INT AFTER id;
DELETE FROM t WHERE id = 3;
"""
CONFIG = """[sink]
column-selectors = [{ matcher = ["s.t"], columns = ["*", "!h"] }, { matcher = ["s.*"], columns = ["*"] }]
"""
QUERIES = ["protocol=csv&profile=new", "protocol=canal-json&profile=new"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """The paths of a scenario and of a changefeed file."""
    scenario, config = tmp_path / "a.sql", tmp_path / "changefeed.toml"
    scenario.write_text(SQL, "utf-8")
    config.write_text(CONFIG, "utf-8")
    return str(scenario), str(config)


@pytest.mark.parametrize("query", QUERIES)
def test_they_are_read_without_the_scenario(query: str, files: tuple[str, str], tmp_path: Path) -> None:
    scenario, config = files
    uri = f"file://{tmp_path}/out?{query}"
    assert main(["run", scenario, "--sink-uri", uri, "--config", config]) == 0
    assert main(["verify", "--sink-uri", uri, "--config", config]) == 0
    assert main(["verify", "--sink-uri", uri, "--config", config, "--scenario", scenario]) == 0
    assert main(["decode", "--sink-uri", uri, "--config", config]) == 0
    assert main(["diff", uri, uri, "--config-a", config, "--config-b", config]) == 0
    rows = [row for row in ticdc_producer.decode(sink_uri=uri, config=config) if row["kind"] == "row"]
    names = [(row["table"], {column["name"] for column in row["columns"]}) for row in rows]
    of_table, altered = ("t", {"id", "v"}), ("t", {"id", "n", "v"})
    assert names == [of_table] * 3 + [altered, ("whole", {"id", "h"})]


def test_the_selector_is_required_for_csv(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario, config = files
    uri = f"file://{tmp_path}/out?{QUERIES[0]}"
    assert main(["run", scenario, "--sink-uri", uri, "--config", config]) == 0
    assert main(["decode", "--sink-uri", uri]) == 1
    assert "CSV-FIELDS" in capsys.readouterr().out
