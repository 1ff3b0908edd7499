"""Scenarios built in Python: their text, their files, and what takes them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import ticdc_producer
from ticdc_producer import ProducerError, Scenario
from ticdc_producer.runs.rate import realtime_job
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.scenario.scenario import literal, yaml_text
from ticdc_producer.scenario.yaml_tree import read_yaml

CREATE = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))"
ROWS = pa.table({"n": [0, 1], "op": ["insert", "update"], "id": [1, 1], "v": ["a", "b"]})


def test_a_scenario_has_the_words_of_a_file() -> None:
    scenario = (
        Scenario(
            "orders",
            seed=7,
            clock={"start": datetime(2024, 1, 1, tzinfo=UTC), "every": timedelta(seconds=2)},
            changefeed={"sink-uri": "kafka:///orders?protocol=canal-json"},
            faults={"replay-suffix": {"times": 1}},
        )
        .sql(f"{CREATE};\nINSERT INTO t VALUES (1, 'a');", commit_ts=datetime(2024, 1, 2, tzinfo=UTC))
        .txn("INSERT INTO t VALUES (2, 'b')")
        .resolved(449000000000000000)
        .generate(transactions=3, tables=[{"table": "t"}])
        .data(table="u", format="csv", path="u.csv", order=("n", "m"), transactions=2)
    )
    assert (
        scenario.to_yaml()
        == """\
version: 1
name: orders
seed: 7
clock:
  start: '2024-01-01T00:00:00+00:00'
  every: 2000ms
changefeed:
  sink-uri: kafka:///orders?protocol=canal-json
faults:
  replay-suffix:
    times: 1
steps:
- sql: |-
    CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
    INSERT INTO t VALUES (1, 'a');
  commit-ts: '2024-01-02T00:00:00+00:00'
- txn: INSERT INTO t VALUES (2, 'b')
- resolved: 449000000000000000
- generate:
    transactions: 3
    tables:
    - table: t
- data:
    table: u
    format: csv
    path: u.csv
    order:
    - n
    - m
    transactions: 2
"""
    )
    assert scenario.load().seed == 7


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_comes_back_from_the_yaml(text: str) -> None:
    tree = read_yaml(yaml_text({"sql": literal(text)}), "s.yaml")
    assert (tree.data, tree.problems) == ({"sql": text}, [])


@pytest.mark.parametrize(
    "text", ["${HOME}", "$${HOME}", "$$${A}", "${a b}", "\n  x\n y \n\n", " \n", "a\r\nb"]
)
def test_variables_and_blanks_of_sql_stay(text: str) -> None:
    assert read_yaml(yaml_text({"sql": literal(text)}), "s.yaml").data == {"sql": text}


def test_half_a_pair_of_surrogates_is_refused() -> None:
    with pytest.raises(ProducerError, match=r"U\+D800"):
        Scenario("s").sql("SELECT '\ud800'").to_yaml()


RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["a"]))


@pytest.mark.parametrize(
    ("v", "message"),
    [
        (RUNS, "Parquet cannot hold the DataFrame"),
        (pa.array([0, 1 << 61], pa.timestamp("s")), "out of range"),
    ],
)
def test_nothing_is_written_of_a_dataframe_that_no_file_holds(
    tmp_path: Path, v: pa.Array, message: str
) -> None:
    wrong = ROWS.set_column(3, "v", v)
    with pytest.raises(ProducerError, match=message):
        Scenario("s").sql(CREATE).changes(wrong, table="t", order="n").write(tmp_path / "s.yaml")
    assert not [*tmp_path.iterdir()]


def test_a_written_scenario_is_the_same_one(tmp_path: Path) -> None:
    scenario = Scenario("s").sql(CREATE).changes(ROWS, table="t", order="n")
    file = scenario.write(tmp_path / "folder" / "s.yaml")
    here = ticdc_producer.run(scenario, out=tmp_path / "here")
    read = ticdc_producer.run(file, out=tmp_path / "there")
    assert here.ok
    assert here.to_json() | {"target": ""} == read.to_json() | {"target": ""}
    files = [path.relative_to(tmp_path / "here") for path in (tmp_path / "here").rglob("*") if path.is_file()]
    assert len(files) > 3
    for name in files:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes(), name


def test_other_rows_make_another_scenario() -> None:
    changed = ROWS.set_column(3, "v", pa.array(["a", "c"]))
    digests = {
        Scenario("s").sql(CREATE).changes(rows, table="t", order="n").load().sha256
        for rows in (ROWS, changed)
    }
    assert len(digests) == 2


def test_scenarios_of_one_name_with_other_large_dataframes_share_no_file(tmp_path: Path) -> None:
    tables = [
        pa.table({"n": [0], "op": ["insert"], "id": [number], "v": ["x" * (65 << 20)]}) for number in (1, 2)
    ]
    for number, table in enumerate(tables):
        scenario = Scenario("s").sql(CREATE).changes(table, table="t", order="n")
        scenario.write(tmp_path / f"{number}.yaml")
    assert [pq.read_table(file, columns=["id"])["id"].to_pylist() for file in files_of(tmp_path)] == [
        [1],
        [2],
    ]


def files_of(folder: Path) -> list[Path]:
    """The files with the rows of 0.yaml and 1.yaml."""
    texts = [yaml.safe_load((folder / f"{number}.yaml").read_text()) for number in range(2)]
    return [folder / text["steps"][1]["changes"]["path"] for text in texts]


def test_verify_takes_it_and_finds_a_difference(tmp_path: Path) -> None:
    scenario = Scenario("s").sql(CREATE).sql("INSERT INTO t VALUES (1, 'a')")
    ticdc_producer.run(scenario, out=tmp_path / "out")
    assert ticdc_producer.verify(folder=tmp_path / "out", scenario=scenario).ok
    other = Scenario("s").sql(CREATE).sql("INSERT INTO t VALUES (1, 'b')")
    assert not ticdc_producer.verify(folder=tmp_path / "out", scenario=other).ok


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (Scenario("s").sql(CREATE).sql("\n\nDELETE FROM u"), "s.to_yaml():8: Table 'test.u' doesn't exist"),
        (Scenario("s").generate(tabel="t"), "s.to_yaml():5: unknown key 'steps[0].generate.tabel'"),
        (Scenario("a b/c").sql(CREATE, commit_ts="soon"), "a-b-c.to_yaml():5: steps[0].commit-ts: 'soon'"),
        (Scenario("s"), "s.to_yaml():3: steps: a scenario needs at least one step"),
    ],
)  # fmt: skip
def test_an_error_names_the_line_of_the_yaml(scenario: Scenario, message: str) -> None:
    with pytest.raises(ProducerError) as caught:
        ticdc_producer.run(scenario, dry_run=True)
    assert message in str(caught.value)


def test_values_of_numpy_are_those_of_python() -> None:
    numbers = Scenario("s", seed=np.int32(5)).resolved(np.int64(449000000000000000))
    assert numbers.to_yaml() == Scenario("s", seed=5).resolved(449000000000000000).to_yaml()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Scenario("s", clock={"every": Decimal(5)}), "a scenario has no values of type Decimal"),
        (lambda: Scenario("s").generate(tables={"t"}), "a scenario has no values of type set"),
        (lambda: Scenario("s").sql(None), "SQL is a text, and not NoneType"),
        (lambda: Scenario("s").txn(b"x"), "SQL is a text, and not bytes"),
        (lambda: Scenario("s").changes(pd.DataFrame({"id": [10**30]})), "Arrow cannot hold a column"),
    ],
)
def test_values_that_no_scenario_has_are_refused(build: Callable[[], Scenario], message: str) -> None:
    with pytest.raises(ProducerError, match=message):
        build().to_yaml()


def test_a_run_in_real_time_takes_it() -> None:
    tables = [{"table": "t", "rows": 5}]
    scenario = Scenario("s").sql(CREATE).generate(transactions=100, tables=tables)
    job = realtime_job(scenario, "10/s", "2s")
    assert job.history.commits == 1 + 1 + 20, "the DDL, the first rows, and ten transactions a second"


def test_overrides_and_seed_apply() -> None:
    scenario = Scenario("s").sql(CREATE).sql("INSERT INTO t VALUES (1, 'a')")
    assert load_scenario(scenario, ["seed=5", "name=other"]).seed == 5
    report = ticdc_producer.run(scenario, overrides=["name=other"], dry_run=True)
    assert report.scenario == "other"


@pytest.mark.parametrize("df", [3, "rows.parquet", [{"a": 1}], None])
def test_what_is_no_dataframe_is_refused(df: object) -> None:
    with pytest.raises(ProducerError, match="is not a DataFrame"):
        Scenario("s").changes(df, table="t", order="n")


class LazyFrame:
    """A DataFrame whose rows are not computed, as Polars has it."""

    def collect(self) -> pa.Table:
        return pa.table({"txn": [1], "statement": ["CREATE TABLE t (id INT)"]})


def test_a_lazy_frame_is_refused_with_what_to_call() -> None:
    with pytest.raises(ProducerError, match=r"LazyFrame is not a DataFrame \(call its `collect`\)"):
        Scenario.from_dataframe(LazyFrame())
    assert ticdc_producer.run(Scenario.from_dataframe(LazyFrame().collect()), dry_run=True).ok


def test_a_notebook_shows_the_steps_escaped() -> None:
    scenario = Scenario("<b>").sql("SELECT '<script>'").changes(ROWS, table="t", order="n")
    html = scenario._repr_html_()
    assert "<script>" not in html
    assert "Scenario &lt;b&gt;" in html
    assert "<td>sql</td><td>SELECT &#x27;&lt;script&gt;&#x27;</td>" in html
    assert repr(scenario) == "Scenario('<b>': sql, changes)"


def test_a_notebook_shows_reports_and_verdicts_escaped(tmp_path: Path) -> None:
    scenario = Scenario("<i>", faults={"lost-row": {"times": 1}}).sql(
        f"{CREATE}; INSERT INTO t VALUES (1, 'a')"
    )
    report = ticdc_producer.run(scenario, out=tmp_path / "out")
    html = report._repr_html_()
    assert html.startswith("<b>Run of &lt;i&gt;: ok</b><table>")
    assert report.verdict is not None
    of_verdict = report.verdict._repr_html_()
    assert of_verdict.startswith("<b>Verdict: violated</b>")
    for text in ("<td>rows</td><td>1 in 1 tables, different</td>", "<td>events</td>"):
        assert text in of_verdict
        assert text in html
