"""A history has the same messages as SQL, as statements in a DataFrame, and as row changes in DataFrames."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import ticdc_producer
from tests.conftest import EXHAUSTIVE
from tests.runs.features import History, Row, RowChange, flat_changes, statement_of
from ticdc_producer import Scenario
from ticdc_producer.engine import EngineOption
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic

Transaction: TypeAlias = str | list[RowChange]
"""A DDL, or the changes of a transaction."""

PROTOCOLS = (
    "open-protocol", "canal-json", "debezium", "craft", "simple", "avro", "canal", "maxwell", "debezium-avro",
    "csv",
)  # fmt: skip
"""CSV is written into a storage."""
REQUIRE_KEYS = ("avro", "debezium-avro")
"""Protocols whose messages need a key."""
COLUMNS = "id INT {key}, v VARCHAR(20) COLLATE utf8mb4_general_ci, n DECIMAL(6,2)"
TABLES = [
    f"CREATE TABLE t ({COLUMNS.format(key='PRIMARY KEY')})",
    f"CREATE TABLE t ({COLUMNS.format(key='PRIMARY KEY NONCLUSTERED')}, UNIQUE (v))",
    f"CREATE TABLE t ({COLUMNS.format(key='NOT NULL UNIQUE')})",
    f"CREATE TABLE t ({COLUMNS.format(key='')})",
    f"CREATE TABLE t ({COLUMNS.format(key='')}, PRIMARY KEY (id, v))",
    f"CREATE TABLE t ({COLUMNS.format(key='PRIMARY KEY')}) PARTITION BY HASH (id) PARTITIONS 3",
]
DDLS = ["ALTER TABLE t ADD INDEX (n)", "ALTER TABLE t COMMENT = 'x'", "CREATE TABLE u (a INT PRIMARY KEY)"]


@st.composite
def histories(draw: st.DrawFn) -> list[Transaction]:
    """Transactions on an empty table; ids and texts are unique, and DDL is between some of them."""
    state: dict[int, Row] = {}
    transactions: list[Transaction] = []
    for number, ddl in enumerate(draw(st.lists(st.none() | st.sampled_from(DDLS), min_size=1, max_size=3))):
        changes = []
        for _ in range(draw(st.integers(1, 8))):
            before = draw(st.none() | st.sampled_from([*state.values()])) if state else None
            after = None if before and draw(st.booleans()) else _new_row(draw, state, before)
            changes.append((number, before, after))
            if before is not None:
                del state[before["id"]]
            if after is not None:
                state[after["id"]] = after
        transactions.append(changes)
        if ddl is not None and ddl not in transactions:
            transactions.append(ddl)
    return transactions


def _new_row(draw: st.DrawFn, state: dict[int, Row], before: Row | None) -> Row:
    same_key = before is not None and draw(st.booleans())
    free = st.integers(1, 99).filter(lambda number: number not in state)
    number = before["id"] if same_key and before is not None else draw(free)
    price = draw(st.sampled_from([None, "0.00", "1.50", "9999.99"]))
    return {"id": number, "v": f"{draw(st.sampled_from('aAé'))}{number}", "n": price}


def of_sql(create: str, history: list[Transaction]) -> Scenario:
    scenario = Scenario("s").sql(create)
    for each in history:
        if isinstance(each, str):
            scenario.sql(each)
        else:
            scenario.sql(f"BEGIN; {'; '.join(map(statement_of, each))}; COMMIT")
    return scenario


def statements_frame(create: str, history: list[Transaction]) -> pa.Table:
    groups = [
        [create],
        *([each] if isinstance(each, str) else [*map(statement_of, each)] for each in history),
    ]
    rows = [(number, text) for number, group in enumerate(groups) for text in group]
    return pa.table({"txn": [number for number, _ in rows], "statement": [text for _, text in rows]})


def changes_frame(create: str, history: list[Transaction]) -> pa.Table:
    rows: list[dict[str, Any]] = []
    for number, each in enumerate([create, *history]):
        if isinstance(each, str):
            rows.append({"txn": number, "statement": each, "table": None, "before": None, "after": None})
            continue
        for _, before, after in each:
            rows.append({"txn": number, "statement": None, "table": "t", "before": before, "after": after})
    return pa.Table.from_pylist(rows)


def of_tables(create: str, history: list[Transaction]) -> Scenario:
    """A step for each transaction, whose columns are those of the table."""
    scenario = Scenario("s").sql(create)
    for each in history:
        if isinstance(each, str):
            scenario.sql(each)
        else:
            changes = [(0, before, after) for _, before, after in each]
            frame = flat_changes(History(create=create, changes=changes))
            scenario.changes(frame, table="t", order=("x", "y"), before="old")
    return scenario


def changes_rows(history: list[Transaction]) -> bool:
    """Return whether there is a transaction after which the table has other rows than before."""
    rows: dict[int, Row] = {}
    for each in history:
        before = dict(rows)
        for _, old, new in () if isinstance(each, str) else each:
            if old is not None:
                del rows[old["id"]]
            if new is not None:
                rows[new["id"]] = new
        if rows != before:
            return True
    return False


@pytest.mark.parametrize(
    "examples",
    [
        pytest.param(12, id="fast"),
        pytest.param(300 if EXHAUSTIVE else 100, id="full", marks=pytest.mark.slow),
    ],
)
def test_all_forms_have_the_same_messages(examples: int) -> None:
    @settings(max_examples=examples)
    @given(create=st.sampled_from(TABLES), history=histories(), protocol=st.sampled_from(PROTOCOLS))
    def check(create: str, history: list[Transaction], protocol: str) -> None:
        same_messages(create, history, protocol)

    check()


def same_messages(create: str, history: list[Transaction], protocol: str) -> None:
    """Each form of a history has the messages, or files, of the first one."""
    forms = [
        of_sql(create, history),
        Scenario.from_dataframe(statements_frame(create, history), "s"),
        Scenario.from_dataframe(changes_frame(create, history), "s"),
        of_tables(create, history),
    ]
    first, *others = (_output(form, protocol) for form in forms)
    assert len(first) or protocol in REQUIRE_KEYS or not changes_rows(history)
    for output in others:
        assert output == first


def _output(form: Scenario, protocol: str) -> pa.Table | dict[str, bytes]:
    """The messages of a scenario, or the files in a storage."""
    config = {"force-replicate": protocol not in REQUIRE_KEYS}
    if protocol != "csv":
        uri = f"kafka:///s?protocol={protocol}&partition-num=2"
        return simulated_topic(prepare(form, sink_uri=uri, config=config)).messages
    with tempfile.TemporaryDirectory() as folder:
        uri = f"file://{folder}?protocol=csv"
        ticdc_producer.run(form, sink_uri=uri, config=config, engine="local", verify_output=False)
        return files_of(Path(folder))


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a storage; data files have rows."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


EXAMPLE: list[Transaction] = [
    [(0, None, {"id": number, "v": f"a{number}", "n": "1.50"}) for number in range(15)],
    "ALTER TABLE t COMMENT = 'x'",
    [(1, {"id": number, "v": f"a{number}", "n": "1.50"}, {"id": number + 50, "v": f"A{number}", "n": None})
     for number in range(15)],
    [(2, {"id": 50, "v": "A0", "n": None}, None)],
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("create", TABLES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_dataframe_of_spark_has_them_on_spark(create: str, protocol: str, spark: SparkSession) -> None:
    same_on_spark(spark, create, EXAMPLE, protocol)


@pytest.mark.slow
def test_random_dataframes_of_spark_have_them_on_spark(spark: SparkSession) -> None:
    """An example is two runs, one of them with Spark's tasks."""

    @settings(max_examples=24)
    @given(create=st.sampled_from(TABLES), history=histories(), protocol=st.sampled_from(PROTOCOLS))
    def check(create: str, history: list[Transaction], protocol: str) -> None:
        same_on_spark(spark, create, history, protocol)

    check()


def same_on_spark(spark: SparkSession, create: str, history: list[Transaction], protocol: str) -> None:
    """A DataFrame of Spark with row changes, on Spark, has the messages, or files, of SQL."""
    frame = spark.createDataFrame(changes_frame(create, history)).coalesce(1)
    with tempfile.TemporaryDirectory() as name:
        of_rows, rows = Scenario.from_dataframe(frame, "s"), Path(name) / "rows"
        expected = _written(of_sql(create, history), protocol, "local", Path(name) / "sql")
        assert _written(of_rows, protocol, "spark", rows) == expected


def _written(form: Scenario, protocol: str, engine: EngineOption, out: Path) -> bytes | dict[str, bytes]:
    """The messages of a verified run, or the files in a storage."""
    options: dict[str, Any] = {"sink_uri": f"kafka:///s?protocol={protocol}&partition-num=2", "out": out}
    if protocol == "csv":
        options = {"sink_uri": f"file://{out}?protocol=csv"}
    report = ticdc_producer.run(form, engine=engine, **options)
    assert report.ok
    assert report.engine is not None
    assert report.engine.name == engine
    return files_of(out) if protocol == "csv" else (out / "messages.jsonl").read_bytes()
