"""Hidden row ids (``_tidb_rowid``) of large DataFrames: the messages of the same DataFrame as a small one."""

from __future__ import annotations

import gc
import json
import tempfile
from base64 import b64decode
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pyarrow as pa
import pytest
from hypothesis import Phase
from hypothesis import strategies as st

import ticdc_producer
from tests.runs.frame_histories import (
    START,
    TIERS,
    Images,
    check_histories,
    flat_frame,
    frame,
    hidden,
    scenario,
)  # fmt: skip
from ticdc_producer.engine import EngineOption
from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.frames.row_ids.part_ids import with_part_ids

OPEN = "kafka:///s?protocol=open-protocol&partition-num=2"
ROW_KEY = "kafka:///s?protocol=canal-json&partition-num=2&profile=new&enable-tidb-extension=true&output-row-key=true"
DEBEZIUM = "kafka:///s?protocol=debezium&partition-num=2"
LATE = START + (60_000 << 18)
LATER = "CREATE TABLE o (a INT PRIMARY KEY); INSERT INTO o VALUES (1); ALTER TABLE t ADD z INT DEFAULT 3"


def written(
    file: Path, out: Path, uri: str, engine: EngineOption = "local"
) -> tuple[tuple[str, ...], list[bytes]]:
    """The warnings of a run, and its messages and events."""
    report = ticdc_producer.run(file, sink_uri=uri, out=out, engine=engine, verify_output=engine == "local")
    assert report.ok
    return report.warnings, [(out / name).read_bytes() for name in ("messages.jsonl", "events.jsonl")]


def same_on(
    engine: EngineOption, rows: pa.Table, later: str = "", *, uri: str = OPEN, parts: int = 3, **changes: Any
) -> list[bytes]:
    """A run of the DataFrame as a large one writes the messages of its run as a small one; returns these."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = scenario(folder, "small", rows, later, large=False, **changes)
        large = scenario(folder, "large", rows, later, large=True, parts=parts, **changes)
        _, expected = written(small, folder / "a", uri)
        warnings, messages = written(large, folder / "b", uri, engine)
        assert not [warning for warning in warnings if "_tidb_rowid" in warning]
        assert messages == expected
    gc.collect()
    return messages


def row_ids(messages: bytes) -> list[int]:
    """The ids in the keys of Open Protocol, in order; those of a message that has several rows, too."""
    keys = (b64decode(json.loads(line)["key"] or "") for line in messages.splitlines())
    texts = (part.split(b"}", 1)[0] for key in keys for part in key.split(b'"rid":')[1:])
    return [int(text.split(b",")[0]) for text in texts]


CASES: list[dict[str, Any]] = [
    {
        "seed": 0,
        "number": "commit_ts",
        "images": "struct",
        "most": 5,
        "uri": OPEN,
        "parts": 3,
        "ordered": False,
    },
    {"seed": 1, "number": "txn", "images": "json", "most": 40, "uri": ROW_KEY, "parts": 1, "ordered": False},
    {"seed": 2, "number": "txn", "images": "struct", "most": 40, "uri": OPEN, "parts": 7, "ordered": True},
]


@pytest.mark.parametrize("phases", TIERS)
def test_a_random_history_is_the_same(phases: tuple[Phase, ...]) -> None:
    """The rows of both tables change their handle keys; those of one may move between partitions.

    In order they do neither.
    """

    def check(
        seed: int, number: Literal["txn", "commit_ts"], images: Images, most: int, uri: str, parts: int,
        ordered: bool,
    ) -> None:  # fmt: skip
        rows = frame(seed, number, images, most=most, are_hidden=True, may_move=not ordered)
        rows = sorted_rows(rows, number, "seq") if ordered else rows
        same_on("local", rows, LATER, uri=uri, parts=parts)

    values = {"most": (5, 40), "uri": (OPEN, ROW_KEY, DEBEZIUM), "parts": (1, 3, 7), "ordered": (False, True)}
    check_histories(check, phases, CASES, **{name: st.sampled_from(each) for name, each in values.items()})


def sorted_rows(rows: pa.Table, number: str, seq: str) -> pa.Table:
    """The rows of a DataFrame in the order of their positions."""
    return rows.sort_by([(number, "ascending"), (seq, "ascending")])


CREATE_T = (
    "CREATE TABLE t (id INT PRIMARY KEY NONCLUSTERED, v VARCHAR(9), d DECIMAL(8,2) NOT NULL, UNIQUE (id, v))"
)
ONE_TABLE: dict[str, Any] = {"table": "t", "order": ["x", "y"], "earlier": CREATE_T}


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_a_random_history_of_one_table_is_the_same(seed: int, before: bool, ordered: bool) -> None:
    columns: dict[str, Any] = {"before": "old"} if before else {}
    rows = flat_frame(seed, before=before)
    rows = sorted_rows(rows, "x", "y") if ordered else rows
    messages = same_on("local", rows, **ONE_TABLE, **columns)
    assert row_ids(messages[0])


@pytest.mark.slow
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize(("seed", "uri"), [(6, OPEN), (7, ROW_KEY), (8, DEBEZIUM)])
def test_a_random_history_is_the_same_on_spark(spark: object, seed: int, uri: str, ordered: bool) -> None:
    rows = frame(seed, "commit_ts", "struct", most=40, are_hidden=True, may_move=not ordered)
    rows = sorted_rows(rows, "commit_ts", "seq") if ordered else rows
    same_on("spark", rows, LATER, uri=uri, parts=2)  # more small files may have one task, in no order


T = hidden("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9) NOT NULL)")
Row = dict[str, Any]
Change = tuple[Row | None, Row | None]


def changes(*transactions: list[Change] | str) -> pa.Table:
    """Transactions of the table ``t``, or statements."""
    records: list[Row] = []
    for number, transaction in enumerate(transactions):
        if isinstance(transaction, str):
            records.append({"number": number, "seq": 0, "statement": transaction})
            continue
        for seq, (before, after) in enumerate(transaction):
            records.append({"number": number, "seq": seq, "table": "t", "before": before, "after": after})
    columns = {name: [record.get(name) for record in records] for name in ("seq", "statement", "table")}
    kind = pa.struct([("id", pa.int64()), ("v", pa.string())])
    images = {name: pa.array([record.get(name) for record in records], kind) for name in ("before", "after")}
    return pa.table({"commit_ts": [LATE + record["number"] for record in records], **columns, **images})


def row(number: int, v: str = "a") -> Row:
    return {"id": number, "v": v}


def test_a_row_retains_its_id_through_all_its_keys() -> None:
    """It changes its key in several transactions and several times in one, and two rows swap theirs."""
    through = [(row(key), row(key + 1)) for key in range(1, 9)]
    rows = changes(
        T, [(None, row(1)), (None, row(20))], *([change] for change in through), [(row(9), row(1))],
        through, [(row(9), row(30)), (row(20), row(9)), (row(30), row(20))], [(row(9), None)],
        [(row(20), row(20, "b"))],
    )  # fmt: skip
    messages = same_on("local", rows)
    assert set(row_ids(messages[0])) == {1, 2}
    assert row_ids(messages[0])[-2:] == [2, 1]


def test_a_transaction_may_delete_and_insert_a_row() -> None:
    """The inserted row has another id."""
    again = [(row(1), None), (None, row(1, "b")), (row(1, "b"), row(1, "c"))]
    rows = changes(T, [(None, row(1))], again, [(row(1, "c"), row(2)), (None, row(1))], [(row(1), None)])
    messages = same_on("local", rows)
    assert row_ids(messages[0])[-1] == 3


def test_rows_of_earlier_sql_have_their_ids() -> None:
    """Ids continue after those of the rows before, also of one that is gone; partitions share the counter."""
    parts = "PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (5), PARTITION q VALUES LESS THAN (99))"
    for create in (T, f"{T} {parts}", f"{T} AUTO_INCREMENT = 7"):
        sql = f"{create}; INSERT INTO t VALUES (1,'a'),(2,'a'),(8,'a'),(3,'a'); DELETE FROM t WHERE id = 3"
        rows = changes(
            [(row(2), row(6)), (None, row(2))], [(row(1), row(1, "b")), (row(8), None)],
            "ALTER TABLE t COMMENT 'c'", [(None, row(40)), (row(6), row(3))],
        )  # fmt: skip
        messages = same_on("local", rows, earlier=sql)
        assert len(row_ids(messages[0])) >= 8


def test_a_column_of_ids_may_have_a_counter_of_its_own() -> None:
    create = T.replace("NONCLUSTERED", "NONCLUSTERED AUTO_INCREMENT") + " AUTO_ID_CACHE 1"
    rows = changes(create, [(None, row(50)), (None, row(7))], [(row(50), row(60))])
    assert row_ids(same_on("local", rows)[0]) == [1, 2, 1, 1]


def test_values_of_a_column_of_ids_advance_the_counter() -> None:
    """The values of inserts, of updates, and of rows that move between partitions."""
    parts = "PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (50), PARTITION q VALUES LESS THAN (999))"
    create = T.replace("NONCLUSTERED", "NONCLUSTERED AUTO_INCREMENT")
    rows = changes(
        [(None, row(9)), (None, row(4))], [(row(4), row(20)), (None, row(12))], [(row(9), row(10))],
        [(None, row(5)), (row(20), row(70)), (None, row(6)), (row(70), row(3)), (row(3), row(90))],
        [(None, row(number)) for number in range(120, 100, -1)], [(row(12), row(8)), (None, row(9))],
    )  # fmt: skip
    for partitions in ("", parts):
        sql = f"{create} {partitions}; INSERT INTO t (v) VALUES ('x'), ('y')"
        for order in (rows, rows.take([*range(len(rows))][::-1])):
            assert row_ids(same_on("local", order, earlier=sql)[0])


@pytest.mark.parametrize("step", [1, -1], ids=["in order", "backwards"])
@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.slow)])
def test_large_transactions_have_the_order_of_gos_sort(
    engine: EngineOption, step: int, request: pytest.FixtureRequest
) -> None:
    """Transactions of 5 to 60 rows of a table with partitions, and of one that has a key of text."""
    if engine == "spark":
        request.getfixturevalue("spark")
    parts = "PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (30), PARTITION q VALUES LESS THAN (99))"
    creates = [
        f"{T[:-1]}, UNIQUE KEY k (id, v)) {parts}",
        "CREATE TABLE u (v VARCHAR(9) NOT NULL UNIQUE, id INT)",
    ]
    rows: list[Row] = [{"statement": create} for create in creates]
    left: dict[tuple[str, int], Row] = {}
    for number, count in enumerate([60, 5, 13, 60, 25]):
        for table, key in product("tu", range(count)):
            before = left.pop((table, key), None)
            after = None if before is not None and key % 5 == number else row(key, f"{number}-{key}")
            if after is not None:
                left[table, key] = after
            rows.append({"txn": number + 2, "table": table, "before": before, "after": after})
    positions = [{"txn": seq, **each, "seq": seq} for seq, each in enumerate(rows)][::step]
    names = ("txn", "statement", "table", "before", "after", "seq")
    same_on(engine, pa.table({name: [each.get(name) for each in positions] for name in names}))


UNKNOWN: dict[str, tuple[pa.Table, str, str]] = {
    "two rows at one position": (
        changes(T, [(None, row(1)), (None, row(2))]).drop_columns(["seq"]), "",
        "two of its rows have one position: a column with the position of a row is needed",
    ),
    "unsigned values": (
        changes(T.replace("INT PRIMARY", "BIGINT UNSIGNED AUTO_INCREMENT PRIMARY"), [(None, row(1))]), "",
        "the values of its AUTO_INCREMENT column are no signed integers",
    ),
    "a shard": (changes(f"{T} SHARD_ROW_ID_BITS = 3", [(None, row(1))]), "", "it has SHARD_ROW_ID_BITS"),
    "another counter": (
        changes([(None, row(1))], "ALTER TABLE t AUTO_INCREMENT = 90", [(None, row(2))]), T,
        "a statement of the DataFrame changes its counter",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", UNKNOWN)
def test_rows_whose_ids_are_not_known_have_none(case: str, tmp_path: Path) -> None:
    rows, earlier, reason = UNKNOWN[case]
    file = scenario(tmp_path, "s", rows, large=True, earlier=earlier)
    warnings, (messages, _) = written(file, tmp_path / "out", OPEN)
    (warning,) = [warning for warning in warnings if "_tidb_rowid" in warning]
    assert "the rows of test.t, which has no clustered primary key, have no _tidb_rowid" in warning
    assert warning.endswith(reason)
    assert row_ids(messages) == []


def test_a_part_that_has_other_rows_when_it_is_read_again_is_an_error() -> None:
    plan: Any = SimpleNamespace(columns=SimpleNamespace(number="txn"))
    starts = {(5, 0): {7: 20}}
    rows = pa.record_batch({"txn": [6, 7], "seq": [0, 0]})
    with pytest.raises(ScenarioError, match=r"in other parts when they are read again .*Parquet"):
        next(with_part_ids(plan, starts, iter([rows])))
