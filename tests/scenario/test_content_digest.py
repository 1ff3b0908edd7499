"""The digest of a scenario: the rows that its steps read count, wherever they are."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ticdc_producer
from ticdc_producer import ProducerError, Scenario
from ticdc_producer.engine import SMALL_EVENTS
from ticdc_producer.runs.targets.run_topics import identity
from ticdc_producer.scenario.content_digest import content_sha256
from ticdc_producer.scenario.load import load_scenario, paths_of_scenario
from ticdc_producer.simulate.prepare import prepare

CREATE = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))"
CHANGES = "changes: {path: rows.parquet, table: t, order: n}"
HIDDEN = pd.arrays.IntegerArray(np.array([5, 77]), np.array([False, True]))


def rows(*values: str, count: int = 0) -> pa.Table:
    length = max(count, len(values))
    texts = [*values, *["x"] * (length - len(values))]
    return pa.table({"n": range(length), "op": ["insert"] * length, "id": range(length), "v": texts})


STRUCTS = pa.table(
    {"txn": [1, 2], "table": ["t", "t"], "after": [{"id": 1}, None], "before": [None, {"id": 1}]}
)


def of_one_table(df: object) -> Scenario:
    return Scenario("s").sql(CREATE).changes(df, table="t", order="n")


def scenario_of(folder: Path, step: str, end: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "s.yaml"
    path.write_text(f"version: 1\nsteps:\n- sql: {CREATE}\n- {step}\n{end}")
    return path


def digest(path: Path) -> str:
    return content_sha256(load_scenario(path))


@pytest.mark.parametrize("count", [0, SMALL_EVENTS + 1], ids=["small", "large"])
def test_other_rows_in_a_file_make_another_scenario(tmp_path: Path, count: int) -> None:
    scenario = scenario_of(tmp_path, CHANGES)
    digests = []
    for v in ("a", "b", "a"):
        pq.write_table(rows(v, count=count), tmp_path / "rows.parquet")
        digests.append(digest(scenario))
    assert digests[0] == digests[2] != digests[1]


def test_the_files_that_are_watched(tmp_path: Path) -> None:
    """A folder is one of them: files join and leave it."""
    data = "data: {table: t, path: loads, format: csv, transactions: 1, order: n}"
    scenario = scenario_of(tmp_path, CHANGES, f"- {data}\n- sql: SOURCE more.sql\n")
    pq.write_table(rows("a"), tmp_path / "rows.parquet")
    for name in ("loads/1.csv", "loads/_SUCCESS", "more.sql"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    names = ["loads", "loads/1.csv", "more.sql", "rows.parquet"]
    assert paths_of_scenario(str(scenario)) == [str(tmp_path / name) for name in names]


def test_a_golden_folder_has_the_digest_of_the_rows(tmp_path: Path) -> None:
    scenario = scenario_of(tmp_path, CHANGES)
    manifests = []
    for number, v in enumerate("ab"):
        pq.write_table(rows(v), tmp_path / "rows.parquet")
        assert ticdc_producer.run(scenario, out=tmp_path / f"{number}").ok
        manifests.append(json.loads((tmp_path / f"{number}" / "manifest.json").read_bytes())["scenario"])
    assert manifests[0]["name"] == manifests[1]["name"]
    assert manifests[0]["sha256"] != manifests[1]["sha256"]


def test_a_run_is_resumed_with_the_same_rows_only(tmp_path: Path) -> None:
    """The digest by which `resume` finds a run, on any machine."""
    here, elsewhere = scenario_of(tmp_path / "here", CHANGES), scenario_of(tmp_path / "elsewhere", CHANGES)
    pq.write_table(rows("a"), tmp_path / "here" / "rows.parquet")
    shutil.copy(tmp_path / "here" / "rows.parquet", tmp_path / "elsewhere")
    first = identity(prepare(here))
    assert identity(prepare(elsewhere)) == first
    pq.write_table(rows("b"), tmp_path / "elsewhere" / "rows.parquet")
    assert identity(prepare(elsewhere)) != first


@pytest.mark.parametrize(
    "scenario",
    [
        of_one_table(rows("a", "b")),
        of_one_table(rows("a", "b", "c").slice(1)),
        of_one_table(pd.DataFrame({"n": [0, 1], "op": ["insert", "insert"], "id": [1, 2], "v": HIDDEN})),
        Scenario("s").sql(CREATE).changes(STRUCTS),
    ],
    ids=["arrow", "slice", "pandas", "structs"],
)
def test_a_written_scenario_has_the_digest_of_the_one_that_wrote_it(
    tmp_path: Path, scenario: Scenario
) -> None:
    """A value that Arrow has behind a NULL does not count: Parquet has none."""
    written = scenario.write(tmp_path / "s.yaml")
    expected = scenario.load().sha256
    assert content_sha256(scenario.load()) == digest(written) == expected
    [file] = tmp_path.glob("*.parquet")
    pq.write_table(pq.read_table(file).slice(1), file)
    assert digest(written) != expected


def test_a_file_of_data_counts(tmp_path: Path) -> None:
    step = "data: {table: t, transactions: 1, format: csv, path: PATH, order: n}"
    (tmp_path / "day=1").mkdir()
    data = tmp_path / "day=1" / "rows.csv"
    for path in ("day=1/rows.csv", "day=1", "day=*/*.csv", data.as_uri()):
        scenario = scenario_of(tmp_path, step.replace("PATH", path))
        digests = []
        for text in ("0,insert,1", "0,insert,2", "0,insert,1"):
            data.write_text(text)
            digests.append(digest(scenario))
        (tmp_path / "day=1" / "_SUCCESS").touch()  # Spark does not read it
        digests.append(digest(scenario))
        assert digests[0] == digests[2] == digests[3] != digests[1], path


def test_recorded_faults_count(tmp_path: Path) -> None:
    scenario = scenario_of(tmp_path, "sql: SELECT 1", "recorded-faults: faults.parquet\n")
    faults = tmp_path / "faults.parquet"
    faults.write_bytes(b"a")
    first = digest(scenario)
    faults.write_bytes(b"b")
    assert digest(scenario) != first


@pytest.mark.parametrize(
    "step",
    [
        "sql: INSERT INTO t VALUES (1, 'a')",
        "data: {table: t, transactions: 1, format: csv, path: 's3a://bucket/rows', order: n}",
        "data: {table: t, transactions: 1, format: csv, path: missing.csv, order: n}",
        "data: {table: t, transactions: 1, format: jdbc, options: {dbtable: t}, order: n}",
    ],
)
def test_a_scenario_without_files_here_has_the_digest_of_its_text(tmp_path: Path, step: str) -> None:
    scenario = load_scenario(scenario_of(tmp_path, step))
    assert content_sha256(scenario) == scenario.sha256


def test_a_file_that_cannot_be_read_is_an_error_of_the_scenario(tmp_path: Path) -> None:
    scenario = scenario_of(tmp_path, CHANGES)
    (tmp_path / "rows.parquet").write_bytes(b"no Parquet")
    with pytest.raises(ProducerError, match=r"s.yaml:4: cannot read the rows of the step"):
        digest(scenario)
