"""Large DataFrames with several tables: the messages and rows of the same DataFrame as a small one."""

from __future__ import annotations

import gc
import tempfile
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest
import yaml
from hypothesis import Phase
from hypothesis import strategies as st

import ticdc_producer
from tests.runs import frame_histories as histories
from tests.runs.frame_histories import START, frame, scenario
from ticdc_producer import ProducerError
from ticdc_producer.engine import EngineOption
from ticdc_producer.scenario.commit_times import CommitTimes
from ticdc_producer.scenario.load import load_scenario

URI = "kafka:///s?protocol=canal-json&partition-num=3&enable-tidb-extension=true"
SECOND = 1000 << 18
LATER = "CREATE TABLE o (a INT PRIMARY KEY); INSERT INTO o VALUES (1); ALTER TABLE t ADD z INT DEFAULT 3"
USES = (
    f"{LATER}; DELETE FROM t WHERE id < 3; UPDATE t SET d = d + 1;"
    "REPLACE INTO t (id, d, z) VALUES (5, 2, 1); INSERT INTO o SELECT id + 10 FROM t"
)
"""SQL that also uses the rows of the DataFrame."""


def written(file: Path, out: Path, engine: EngineOption = "local", **options: Any) -> dict[str, bytes]:
    """What a run of a scenario writes: messages, events, and the rows at the end and at times."""
    report = ticdc_producer.run(file, sink_uri=URI, out=out, engine=engine, **options)
    assert report.ok
    if options.get("verify_output", True):
        assert report.verdict is not None
        assert report.verdict.comparison is not None
        assert report.verdict.comparison.ok
        assert report.verdict.state is not None
    files = [out / "messages.jsonl", out / "events.jsonl", *out.glob("state*/**/*.jsonl"),
             *out.glob("snapshot/**/*")]  # fmt: skip
    return {str(file.relative_to(out)): file.read_bytes() for file in files if file.is_file()}


def same_on(
    engine: EngineOption,
    rows: pa.Table | list[pa.Table],
    later: str = LATER,
    *,
    start_ts: int | None = None,
    **changes: Any,
) -> None:
    """A run of the DataFrame as a large one writes what its run as a small one writes.

    The small one is verified. Spark would need half of its time to verify equal bytes.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options: dict[str, Any] = {
            "state_at": [(start_ts or START) + 2 * SECOND + 5, START + 9 * SECOND],
            "start_ts": start_ts,
        }
        small = scenario(folder, "small", rows, later, large=False, **changes)
        large = scenario(folder, "large", rows, later, large=True, **changes)
        expected = written(small, folder / "a", **options)
        assert len(expected) >= 4
        options["verify_output"] = engine == "local"
        assert written(large, folder / "b", engine, **options) == expected
    gc.collect()


CASES: list[dict[str, Any]] = [
    {"seed": 1, "number": "commit_ts", "images": "struct", "later": LATER, "steps": 2, "start_ts": None},
    {"seed": 2, "number": "txn", "images": "map", "later": USES, "steps": 1, "start_ts": START + 3 * SECOND},
    {"seed": 295892637, "number": "txn", "images": "json", "later": LATER, "steps": 2, "start_ts": None},
]
"""The last one renames."""


@pytest.mark.parametrize("phases", histories.TIERS)
def test_a_random_history_is_the_same(phases: tuple[Phase, ...]) -> None:
    """An example is two whole runs, each with the rows at three times; the fast tier has the named ones."""

    def check(
        seed: int,
        number: Literal["txn", "commit_ts"],
        images: histories.Images,
        later: str,
        steps: int,
        start_ts: int | None,
    ) -> None:
        rows = frame(seed, number, images)
        same_on("local", histories.halves(rows, number) if steps == 2 else rows, later, start_ts=start_ts)

    histories.check_histories(
        check,
        phases,
        CASES,
        later=st.sampled_from((LATER, USES)),
        steps=st.sampled_from((1, 2)),
        start_ts=st.sampled_from((None, START + 3 * SECOND)),
    )


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_a_random_history_of_one_table_is_the_same(seed: int, before: bool) -> None:
    columns: dict[str, Any] = {"before": "old"} if before else {}
    frame = histories.flat_frame(seed, before=before)
    same_on("local", frame, table="t", order=["x", "y"], **columns)


@pytest.mark.slow
@pytest.mark.parametrize("images", ["struct", "json"])
def test_a_random_history_is_the_same_on_spark(spark: object, images: histories.Images) -> None:
    same_on("spark", frame(6, "commit_ts", images))


T = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9) NOT NULL)"
A, B = {"id": 1, "v": "a"}, {"id": 1, "v": "b"}
Record = tuple[int, str | None, dict[str, Any] | str | None, dict[str, Any] | str | None]
"""Number, statement, and the row of ``t`` before and after."""


def records(*rows: Record, number: str = "commit_ts", **columns: list[Any]) -> pa.Table:
    numbers, statements, before, after = zip(*rows, strict=True)
    tables = [None if statement else "t" for statement in statements]
    fixed = {number: numbers, "statement": statements, "table": tables, "before": before, "after": after}
    return pa.table({**fixed, **columns})


FAR = pa.struct([("id", pa.int64()), ("v", pa.timestamp("us"))])
REFUSALS: dict[str, tuple[pa.Table, str, str]] = {
    "a duplicate": (
        records((5, T, None, None), (6, None, None, A), (7, None, None, B)), "",
        (r"Duplicate entry '1' for key 't.PRIMARY': it is the key of \(id=1, v='a'\) of commit_ts 6, in the "
         r"insert \(id=1, v='b'\) in test.t, commit_ts 7"),
    ),
    "a row that does not exist": (
        records((5, T, None, None), (6, None, A, B)), "",
        r"a row that does not exist, in the update \(id=1, v='a'\) → \(id=1, v='b'\) in test.t, commit_ts 6",
    ),
    "another row before": (
        records((5, T, None, None), (6, None, None, A), (7, None, B, None)), "",
        r"test.t holds \(id=1, v='a'\) of commit_ts 6 and not the row before, in the delete \(id=1, v='b'\)",
    ),
    "two changes at one position": (
        records((5, T, None, None), (6, None, None, A), (6, None, A, B)), "", "have the same position",
    ),
    "a row at the time of a DDL": (
        records((5, T, None, None), (5, None, None, A)), "", "has the commit_ts of a statement",
    ),
    "a row before its table": (
        records((4, None, None, A), (5, T, None, None)), "",
        r"Table 't' doesn't exist at this time: \(commit_ts=4",
    ),
    "a row with a time that Python does not have": (
        records((4, None, None, A), (5, T, None, None),
                after=pa.array([{"id": 1, "v": 1 << 61}, None], FAR)), "",
        r"Table 't' doesn't exist at this time: \(commit_ts=4, table='t'\)",
    ),
    "a statement of rows": (
        records((5, T, None, None), (6, "DELETE FROM t", None, None), (7, None, None, A)), "",
        "DELETE is not possible in a DataFrame of more than 100,000 rows, in the statement of commit_ts 6",
    ),
    "a gap": (
        records((5, T, None, None), (7, None, None, A), number="txn"), "",
        "has no gaps, and 1 numbers are missing",
    ),
    "another key": (
        records((5, T, None, None), (6, None, None, A),
                (7, "ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (v)", None, None)), "",
        "Unsupported drop primary key when the table is using clustered index",
    ),
    "a column that is not there": (
        records((5, T, None, None), (6, None, None, {"id": 1, "v": "a", "x": 3})), "", "has no column 'x'",
    ),
    "NULL": (records((5, T, None, None), (6, None, None, {"id": 1, "v": None})), "", "'v' cannot be null"),
    "a value": (records((5, T, None, None), (6, None, None, {"id": 1, "v": "x" * 10})), "", "Data too long"),
    "an update without a column": (
        records((5, T, None, None), (6, None, None, '{"id": 1, "v": "a"}'), (7, None, None, '{"id": 1}'),
                op=[None, None, "update"]), "", "has no value of column 'v'",
    ),
    "a row without a partition": (
        records((5, f"{T} PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (1))", None, None),
                (6, None, None, A)), "", r"test.t has no partition for a row: \(id=1, v='a'\)",
    ),
    "a DDL that moves rows": (
        records((5, f"{T} PARTITION BY HASH (id) PARTITIONS 2", None, None), (6, None, None, A)),
        "ALTER TABLE t COALESCE PARTITION 1", "come from a large DataFrame, and this DDL moves them",
    ),
    "an exchange": (
        records((5, f"{T} PARTITION BY HASH (id) PARTITIONS 2", None, None), (6, None, None, A)),
        f"{T.replace('TABLE t', 'TABLE e')}; ALTER TABLE t EXCHANGE PARTITION p0 WITH TABLE e",
        "come from a large DataFrame, and this DDL moves them",
    ),
    "a duplicate of another unique key": (
        records((5, f"{T[:-1]}, UNIQUE KEY k (v))", None, None), (6, None, None, A), (7, None, A, B),
                (8, None, None, {"id": 2, "v": "a"}), (9, None, None, {"id": 3, "v": "b"})), "",
        r"entry 'b' for key 't.k': it is the key of \(id=1, v='b'\) of commit_ts 7, in \(id=3, v='b'\) of",
    ),
    "a unique key of a column with NULL": (
        records((6, f"{T[:-1]}, z INT UNIQUE)", None, None), (7, None, None, {**A, "z": None}),
                (8, None, None, {"id": 2, "v": "a", "z": 4}), (9, None, None, {"id": 3, "v": "a", "z": None}),
                (10, None, None, {"id": 4, "v": "a", "z": 4})), "",
        r"Duplicate entry '4' for key 't.z': it is the key of \(id=2, v='a', z=4\) of commit_ts 8",
    ),
    "duplicates in a transaction without positions": (
        records((0, f"{T[:-1]}, UNIQUE KEY k (v))", None, None),
                *((1, None, None, {"id": number, "v": "a"}) for number in range(20)), number="txn"), "",
        "Duplicate entry 'a' for key 't.k'",
    ),
    "a duplicate of a unique key that a DDL adds": (
        records((5, T, None, None), (6, None, None, A), (7, "ALTER TABLE t ADD UNIQUE k (v)", None, None),
                (8, None, None, {"id": 2, "v": "a"})), "",
        r"Duplicate entry 'a' for key 't.k': it is the key of \(id=1, v='a'\) of commit_ts 6, in \(id=2",
    ),
    "duplicates before a DDL that adds a unique key": (
        records((5, T, None, None), (6, None, None, A), (7, None, None, {"id": 2, "v": "a"}),
                (8, "ALTER TABLE t ADD UNIQUE k (v)", None, None)), "",
        (r"Duplicate entry 'a' for key 't.k': it is the key of \(id=1, v='a'\) of commit_ts 6 and of "
         r"\(id=2, v='a'\) of commit_ts 7 when the DDL of commit_ts 8 adds the key"),
    ),
    "duplicates before a later step that adds a unique column": (
        records((5, T, None, None), (6, None, None, A), (7, None, None, {"id": 2, "v": "b"})),
        "ALTER TABLE t ADD n INT DEFAULT 3; ALTER TABLE t ADD UNIQUE (n)",
        (r"Duplicate entry '3' for key 't.n': it is the key of \(id=1, v='a'\) of commit_ts 6 and of "
         r"\(id=2, v='b'\) of commit_ts 7 when the DDL of a later step adds the key"),
    ),
    "duplicates of a key whose column loses digits": (
        records((5, f"{T[:-1]}, d DECIMAL(6,3) UNIQUE)", None, None), (6, None, None, {**A, "d": "1.001"}),
                (7, None, None, {**B, "id": 2, "d": "1.002"})), "ALTER TABLE t MODIFY d DECIMAL(6,2)",
        r"Duplicate entry '1.00' for key 't.d': it is the key of .*'1.001'.* and of .*'1.002'.* when the DDL",
    ),
    "a key that a DDL adds of rows that took it last": (
        records((5, T, None, None), (6, None, None, A), (7, None, A, B), (8, None, None, {"id": 2, "v": "a"}),
                (9, None, None, {"id": 3, "v": "c"}), (10, None, {"id": 3, "v": "c"}, {"id": 3, "v": "a"}),
                (11, "CREATE UNIQUE INDEX k ON t (v)", None, None)), "",
        r"it is the key of \(id=2, v='a'\) of commit_ts 8 and of \(id=3, v='a'\) of commit_ts 10 when",
    ),
    "a unique key of a virtual column": (
        records((5, f"{T[:-1]}, w VARCHAR(9) AS (v) VIRTUAL, UNIQUE KEY k (w))", None, None),
                (6, None, None, A), (7, None, None, {"id": 2, "v": "a"})), "",
        "the unique key 't.k' of the virtual column 'w': not supported in a large DataFrame",
    ),
    "a unique key of an expression": (
        records((5, f"{T[:-1]}, UNIQUE KEY k ((lower(v))))", None, None),
                (6, None, None, A), (7, None, None, {"id": 2, "v": "A"})), "",
        "the unique key 't.k' of an expression: not supported in a large DataFrame",
    ),
    "a later unique key of an expression": (
        records((5, T, None, None), (6, None, None, A), (7, None, None, {"id": 2, "v": "A"})),
        "ALTER TABLE t ADD UNIQUE KEY k ((lower(v)))",
        "the unique key 't.k' of an expression: not supported in a large DataFrame",
    ),
    "a unique key of all partitions": (
        records((5, f"{T[:-1]}, UNIQUE KEY k (v) GLOBAL) PARTITION BY HASH (id) PARTITIONS 2", None, None),
                (6, None, None, A), (7, None, None, {"id": 2, "v": "a"})), "",
        "the global unique key 't.k': not supported in a large DataFrame",
    ),
    "an id that TiDB gives": (
        records((5, T.replace("KEY", "KEY AUTO_INCREMENT"), None, None), (6, None, None, {**A, "id": 0})), "",
        "column 'id' is 0: a large DataFrame gives the values that TiDB computes .*NO_AUTO_VALUE_ON_ZERO",
    ),
    "operations that are numbers": (
        records((5, T, None, None), (6, None, None, A), op=[None, 1]), "",
        "column 'op' must be a text column, not int64",
    ),
    "the last commit-ts": (
        records((5, T, None, None), ((1 << 63) - 1, None, None, A)), "",
        "leaves no time for a commit after it",
    ),
    "SQL of rows with hidden row ids": (
        records((5, T.replace("KEY", "KEY NONCLUSTERED"), None, None), (6, None, None, A)),
        "UPDATE t SET v = 'c'", "come from a large DataFrame, and have hidden row ids",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_it_is_refused_by_name(case: str, tmp_path: Path) -> None:
    table, later, words = REFUSALS[case]
    file = scenario(tmp_path, "s", table, later, large=True)
    with pytest.raises(ProducerError, match=words):
        ticdc_producer.run(file, out=tmp_path / "out", engine="local")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in REFUSALS if "a DDL" in case])
def test_it_is_refused_by_name_on_spark(spark: object, case: str, tmp_path: Path) -> None:
    table, later, words = REFUSALS[case]
    file = scenario(tmp_path, "s", table, later, large=True)
    with pytest.raises(ProducerError, match=words):
        ticdc_producer.run(file, dry_run=True, engine="spark")


@pytest.mark.parametrize("large", [False, True])
def test_a_table_with_its_database_is_an_error_with_a_hint(tmp_path: Path, large: bool) -> None:
    table = records((5, T, None, None), (6, None, None, A), table=[None, "test.t"])
    file = scenario(tmp_path, "s", table, large=large)
    with pytest.raises(ProducerError) as caught:
        ticdc_producer.run(file, dry_run=True, engine="local")
    assert caught.value.hint == "give the database in the column 'schema': schema='test', table='t'"


def test_a_truncated_table_is_the_sessions_again(tmp_path: Path) -> None:
    table = records((START, T, None, None), (START + 7, None, None, A))
    later = "TRUNCATE TABLE t; INSERT INTO t VALUES (2, 'z')"
    same_on("local", table, later)


def test_partitions_may_be_dropped_and_truncated(tmp_path: Path) -> None:
    create = (
        f"{T} PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (5), PARTITION q VALUES LESS THAN (9))"
    )
    rows = [(START + 7, None, None, {"id": number, "v": "a"}) for number in range(9)]
    for later in ("ALTER TABLE t TRUNCATE PARTITION p", "ALTER TABLE t DROP PARTITION p"):
        same_on("local", records((START, create, None, None), *rows), later)


def test_a_later_unique_key_of_rows_that_were_equal_before() -> None:
    """Rows have one key until one of them is changed, or their partition is truncated."""
    create = (
        "CREATE TABLE t (id INT, v VARCHAR(9), PRIMARY KEY (id, v)) PARTITION BY RANGE (id)"
        " (PARTITION p VALUES LESS THAN (5), PARTITION q VALUES LESS THAN (9))"
    )
    rows: list[Record] = [
        (START, create, None, None),
        (START + 1, None, None, A), (START + 2, None, None, B), (START + 3, None, A, {"id": 2, "v": "a"}),
        (START + 4, None, None, {"id": 6, "v": "a"}), (START + 5, None, None, {"id": 6, "v": "b"}),
        (START + 6, "ALTER TABLE t TRUNCATE PARTITION q", None, None),
        (START + 7, "ALTER TABLE t ADD UNIQUE k (id)", None, None),
        (START + 8, None, None, {"id": 6, "v": "a"}),
    ]  # fmt: skip
    same_on("local", records(*rows), "")


def test_a_row_may_take_the_unique_key_that_another_row_left() -> None:
    """One row takes it in the step in which it is left, and one in a later step."""
    steps = [
        records((START, f"{T[:-1]}, UNIQUE KEY k (v))", None, None), (START + 1, None, None, A),
                (START + 2, None, A, B), (START + 3, None, None, {"id": 2, "v": "a"})),
        records((START + SECOND, None, B, None), (START + SECOND + 1, None, None, {"id": 3, "v": "b"})),
    ]  # fmt: skip
    same_on("local", steps, "")


def test_a_row_of_an_earlier_step_has_the_unique_key(tmp_path: Path) -> None:
    steps = [
        records((START, f"{T[:-1]}, UNIQUE KEY k (v))", None, None), (START + 1, None, None, A)),
        records((START + SECOND, None, None, {"id": 2, "v": "a"})),
    ]
    file = scenario(tmp_path, "s", steps, large=True)
    words = r"Duplicate entry 'a' for key 't.k': it is the key of \(id=1, v='a'\) of an earlier step"
    with pytest.raises(ProducerError, match=words):
        ticdc_producer.run(file, out=tmp_path / "out", engine="local")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("step", [1, -1], ids=["in order", "backwards"])
@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.slow)])
def test_large_transactions_have_the_order_of_gos_sort(
    engine: EngineOption, step: int, request: pytest.FixtureRequest
) -> None:
    """Transactions of 5 to 60 rows of a table with partitions, and of one whose updates are not split."""
    if engine == "spark":
        request.getfixturevalue("spark")
    parts = "PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (30), PARTITION q VALUES LESS THAN (99))"
    split = f"CREATE TABLE t (id INT PRIMARY KEY CLUSTERED, v VARCHAR(9), UNIQUE KEY k (id, v)) {parts}"
    rows: list[dict[str, Any]] = [{"statement": split}, {"statement": T.replace("TABLE t", "TABLE u")}]
    left: dict[tuple[str, int], dict[str, Any]] = {}
    for number, count in enumerate([60, 5, 13, 60, 25]):
        for table, key in product("tu", range(count)):
            before = left.pop((table, key), None)
            after = None if before is not None and key % 5 == number else {"id": key, "v": f"{number}"}
            if after is not None:
                left[table, key] = after
            rows.append({"txn": number + 2, "table": table, "before": before, "after": after})
    changes = [{"txn": seq, **row, "seq": seq} for seq, row in enumerate(rows)][::step]
    names = ("txn", "statement", "table", "before", "after", "seq")
    same_on(engine, pa.table({name: [change.get(name) for change in changes] for name in names}), "")


def test_a_transaction_may_delete_and_insert_a_row_without_a_clustered_key() -> None:
    """TiDB gives the inserted row another ``_tidb_rowid``, so that TiCDC sends no update."""
    c = {"id": 1, "v": "c"}
    changes = [(None, A), (A, None), (None, B), (B, c), (c, None), (None, A)]
    rows = [(START + 1 + bool(number), None, *change) for number, change in enumerate(changes)]
    for key in ("KEY NONCLUSTERED", "KEY"):
        create = (START, T.replace("KEY", key), None, None)
        same_on("local", records(create, *rows, seq=list(range(len(changes) + 1))), "")


def test_sql_between_two_dataframes_of_a_table() -> None:
    """A column of ids continues after the highest one of the DataFrame, also for a row that is gone."""
    create = T.replace("INT", "INT AUTO_INCREMENT")
    first = records((START, create, None, None), (START + 1, None, None, {"id": 9, "v": "a"}),
                    (START + 2, None, {"id": 9, "v": "a"}, None), (START + 3, None, None, A))  # fmt: skip
    second = records((START + (9 << 30), None, None, {"id": 20, "v": "b", "x": 2}),
                     (START + (9 << 30) + 1, None, {"id": 10, "v": "n", "x": 4},
                      {"id": 1, "v": "n", "x": 5}))  # fmt: skip
    between = "INSERT INTO t (v) VALUES ('n'); DELETE FROM t WHERE id = 1; ALTER TABLE t ADD x INT DEFAULT 4"
    same_on("local", [first, second], "INSERT INTO t (v) VALUES ('o')", between=between)


def test_unsigned_numbers_above_those_of_int64() -> None:
    """The columns are UINT64. The ids of AUTO_RANDOM continue as after SQL, which ignores one of 64 bits."""
    create = (
        "CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY CLUSTERED AUTO_RANDOM(5), b BIT(64), d DECIMAL(20,0))"
    )
    numbers = [(1 << 63) + 5, (1 << 64) - 1, 7]
    image = pa.StructArray.from_arrays([pa.array(numbers, pa.uint64())] * 3, names=["id", "b", "d"])
    rows = pa.table({
        "commit_ts": [START + number for number in range(4)], "statement": [create, None, None, None],
        "table": [None, "t", "t", "t"], "after": image.take(pa.array([None, 0, 1, 2])),
    })  # fmt: skip
    same_on("local", rows, "")
    same_on("local", rows.slice(0, 2), "INSERT INTO t (b) VALUES (1)")


@pytest.mark.parametrize(("column", "number"), [("BIGINT", 1 << 63), ("BIT(63)", 1 << 63), ("INT", 1 << 40)])
def test_an_unsigned_number_that_no_column_has_is_refused(column: str, number: int, tmp_path: Path) -> None:
    image = pa.StructArray.from_arrays([pa.array([1, number], pa.uint64())] * 2, names=["id", "v"])
    create = f"CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY, v {column})"
    rows = pa.table({
        "commit_ts": [START, START + 1], "statement": [create, None], "table": [None, "t"],
        "after": image.take(pa.array([None, 1])),
    })  # fmt: skip
    file = scenario(tmp_path, "s", rows, large=True)
    with pytest.raises(ProducerError, match=f"for column 'v': '{number}'"):
        ticdc_producer.run(file, out=tmp_path / "out", engine="local")


def test_dataframes_of_one_line_are_different_ones(tmp_path: Path) -> None:
    """All steps of a scenario in flow style are in its first line; SQL reads the rows of both DataFrames."""
    first, other = records((START, T, None, None), (START + 1, None, None, A)), {"id": 2, "v": "c"}
    second = records((START + SECOND, T.replace("TABLE t", "TABLE u"), None, None),
                     (START + SECOND + 1, None, None, A), (START + SECOND + 2, None, None, other),
                     table=[None, "u", "u"])  # fmt: skip
    later = "UPDATE t SET v = 'x'; UPDATE u SET v = 'y'"
    file = scenario(tmp_path, "s", [first, second], later, large=True)
    flow = tmp_path / "flow.yaml"
    steps = yaml.safe_load(file.read_text())
    flow.write_text(yaml.safe_dump(steps, default_flow_style=True, width=10_000))
    assert len(flow.read_text().splitlines()) == 1
    options: dict[str, Any] = {"state_at": [START + 9 * SECOND]}
    expected = written(file, tmp_path / "block", **options)
    assert written(flow, tmp_path / "flow", **options) == expected


@pytest.mark.slow
def test_more_rows_than_the_session_holds_are_refused(tmp_path: Path) -> None:
    ids = list(range(100_001))
    many = pa.table({"n": [0 for _ in ids], "op": ["i" for _ in ids], "id": ids, "d": [1 for _ in ids]})
    file = scenario(tmp_path, "s", many, "DELETE FROM t", large=True, table="t", order="n")
    with pytest.raises(ProducerError, match="come from a large DataFrame, and are too many for a statement"):
        ticdc_producer.run(file, dry_run=True, engine="local")


def test_a_row_may_follow_at_the_next_time_stamp() -> None:
    times = CommitTimes(load_scenario("seed_t1"))
    times.pin(4, START, of_step=None)
    times.number_by_ts(4, 15, [])
    assert times.newest(14) == START + 10
    times.pin(15, START + 11, of_step=None)
    assert times.pinned[15] == START + 11


def test_a_resolved_step_among_the_commits_is_refused(tmp_path: Path) -> None:
    file = scenario(tmp_path, "s", records((5, T, None, None), (9, None, None, A)), large=True)
    text = file.read_text().replace("steps:", "steps:\n- resolved: 7")
    file.write_text(text)
    with pytest.raises(ProducerError, match="the resolved-ts 7 is among the commits"):
        ticdc_producer.run(file, dry_run=True, engine="local")
