"""Event filters on rows, and column selection: what of a history is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from tests.pipeline.small_changes import change, in_key_order
from ticdc_producer import api
from ticdc_producer.config import resolve
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Kind
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import CommitClock
from ticdc_producer.pipeline.delivery import commit
from ticdc_producer.pipeline.event_filter import event_filter, filtered_tables, select
from ticdc_producer.pipeline.mutations import collapse, net_mutations, split_moved
from ticdc_producer.pipeline.row_images import column_values
from ticdc_producer.pipeline.value_condition import value_condition
from ticdc_producer.scenario.history import Change
from ticdc_producer.simulate.change_log import change_batch
from ticdc_producer.simulate.prepare import prepare

TABLE = """
CREATE TABLE test.t (
  id INT PRIMARY KEY, u BIGINT UNSIGNED, d DECIMAL(10,2), s VARCHAR(20),
  ci VARCHAR(20) COLLATE utf8mb4_general_ci,
  b VARBINARY(20), day DATE, at DATETIME(3), f FLOAT, twice INT AS (id * 2) VIRTUAL
);
INSERT INTO test.t (id, u, d, s, ci, b, day, at, f) VALUES
  (1, 18446744073709551615, -1.50, 'a_b', 'x', 'bin', '2024-01-31', '2024-01-31 10:00:00.5', 1.5),
  (2, 0, 99.99, 'aXb ', 'x', 'bin ', '2023-12-31', '2024-01-31 10:00:00', 2),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""
HOLDS: list[tuple[str, set[int]]] = [
    ("id = 1", {1}),
    ("ID <> 1", {2, 3}),
    ("u = 18446744073709551615", {1}),
    ("d < 0 OR d >= 99.99", {1, 2}),
    ("d = -1.5", {1}),
    ("NOT d > 0", {1}),
    ("u IS NULL", {3}),
    ("u IS NOT NULL AND id != 1", {2}),
    ("u <=> NULL", {3}),
    ("id IN (1, 3, NULL)", {1, 3}),
    ("id NOT IN (1)", {2, 3}),
    ("id BETWEEN 2 AND 3", {2, 3}),
    ("id % 2 = 1", {1, 3}),
    ("id + 1 = d + 3.5", {1}),
    ("s = 'aXb'", {2}),
    ("b = 'bin'", {1}),
    ("s LIKE 'a\\_b'", {1}),
    ("s like 'a_b%'", {1, 2}),
    ("day >= '2024-01-01'", {1}),
    ("at > '2024-01-31 10:00:00'", {1}),
    ("at = '2024-01-31 10:00:00.000'", {2}),
    ("(id = 1 OR id = 2) AND d > 0", {2}),
]
REFUSED = [
    ("id =", "not an SQL expression"),
    ("nope = 1", "CDC:ErrExpressionColumnNotFound: test.t has no column 'nope'"),
    ("id", "'id' is not a condition"),
    ("id + 1", "is not a condition"),
    ("ci = 'x'", "collation utf8mb4_general_ci"),
    ("f > 1", "column 'f' of type float"),
    ("twice = 2", "virtual"),
    ("id = '1'", "do not have the same type"),
    ("s = 1", "do not have the same type"),
    ("day = 'today'", "not in the format of the column's values"),
    ("length(s) = 3", "is not evaluated here"),
    ("id IN (SELECT 1)", "is not evaluated here"),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filters") / "t.sql"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize(("expression", "wanted"), HOLDS, ids=[expression for expression, _ in HOLDS])
def test_conditions_hold_as_in_mysql(table: Path, expression: str, wanted: set[int]) -> None:
    job = prepare(table)
    changes = change_batch(job.history.changes)
    rows = np.flatnonzero(changes["after"].is_valid())
    holds = value_condition(expression, job.history.catalog.tables[0])
    matching = holds(partial(column_values, changes["after"], rows), len(rows))
    assert {changes["row_id"][row].as_py() for row in rows[matching]} == wanted


@pytest.mark.parametrize(("expression", "message"), REFUSED, ids=[expression for expression, _ in REFUSED])
def test_what_is_not_evaluated_is_refused_by_name(table: Path, expression: str, message: str) -> None:
    info = prepare(table).history.catalog.tables[0]
    with pytest.raises(ChangefeedError) as rejected:
        value_condition(expression, info)
    assert message in str(rejected.value)
    assert expression in rejected.value.where


SCRIPT = """
CREATE TABLE test.some (id INT PRIMARY KEY, v INT, secret VARCHAR(9));
CREATE TABLE test.whole (id INT PRIMARY KEY, v INT);
INSERT INTO test.some VALUES (1, 1, 'a'), (2, 2, 'b'), (3, NULL, 'c');
INSERT INTO test.whole VALUES (1, 1);
UPDATE test.some SET v = 10 WHERE id = 1;
UPDATE test.some SET v = 11 WHERE id = 1;
DELETE FROM test.some WHERE id IN (2, 3);
DELETE FROM test.whole;
"""
CHANGEFEED = """
[[filter.event-filters]]
matcher = ["test.some"]
ignore-event = ["delete"]
ignore-insert-value-expr = "v = 2"
ignore-update-old-value-expr = "v = 10"
[[filter.event-filters]]
matcher = ["test.nothing"]
ignore-event = ["all dml"]
[sink]
column-selectors = [{matcher = ["test.some"], columns = ["*", "!secret"]}]
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    script, config = tmp_path / "script.sql", tmp_path / "changefeed.toml"
    script.write_text(SCRIPT)
    config.write_text(CHANGEFEED)
    return script, config


def test_ignored_rows_and_columns_are_gone_and_others_stay(files: tuple[Path, Path]) -> None:
    job = prepare(files[0], config=files[1])
    committed = commit(change_batch(job.history.changes), job.stream.resolved.clock)
    mutations = collapse(in_key_order(split_moved(committed)))
    remaining = event_filter(mutations, job.stream.replicated, job.changefeed)
    selected = select(remaining, job.stream.replicated, job.stream.selection)
    rows = selected.sort_by([(name, "ascending") for name in ("commit_ts", "table_id", "row_key")])
    images = [
        tuple(image and tuple(image) for image in pair)
        for pair in zip(rows["before"].to_pylist(), rows["after"].to_pylist(), strict=True)
    ]
    assert images == [
        (None, (b"1", b"1")),
        (None, (b"3", None)),
        (None, (b"1", b"1")),
        ((b"1", b"1"), (b"1", b"10")),
        ((b"1", b"1"), None),
    ]


def _left(changes: Sequence[Change], tables: Sequence[TableInfo], **section: Any) -> list[bytes]:
    """The row keys of the changes that a filter does not ignore."""
    mutations = collapse(in_key_order(split_moved(commit(change_batch(changes), CommitClock()))))
    filtered = event_filter(mutations, tables, resolve("kafka:///t", {"filter": section}))
    keys: list[bytes] = filtered["row_key"].to_pylist()
    return keys


SMALL = TableInfo(
    schema="test",
    name="t",
    table_id=100,
    columns=(
        ColumnInfo(name="id", type=MySQLType.LONG),
        ColumnInfo(name="v", type=MySQLType.LONG),
        ColumnInfo(name="s", type=MySQLType.VARCHAR),
    ),
)
OLD, NEW = [b"1", None, b"a"], [b"2", None, b"b"]
CHANGES = (change(b"insert", None, NEW), change(b"update", OLD, NEW), change(b"delete", OLD, None))


def _rule(**rule: Any) -> dict[str, Any]:
    rule = {name.replace("_", "-"): value for name, value in rule.items()}
    return {"event-filters": [{"matcher": ["test.t"], **rule}]}


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        ({}, [b"delete", b"insert", b"update"]),
        ({"ignore_event": ["insert", "DELETE"]}, [b"update"]),
        ({"ignore_event": ["all dml"]}, []),
        ({"ignore_event": ["all dml"], "matcher": ["test.other"]}, [b"delete", b"insert", b"update"]),
        ({"ignore_insert_value_expr": "id = 2"}, [b"delete", b"update"]),
        ({"ignore_insert_value_expr": "id = 1"}, [b"delete", b"insert", b"update"]),
        ({"ignore_update_old_value_expr": "id = 1"}, [b"delete", b"insert"]),
        ({"ignore_update_new_value_expr": "id = 1"}, [b"delete", b"insert", b"update"]),
        ({"ignore_update_new_value_expr": "id = 2"}, [b"delete", b"insert"]),
        ({"ignore_delete_value_expr": "s = 'a'"}, [b"insert", b"update"]),
        # A condition that is unknown does not hide another one.
        (
            {"ignore_update_old_value_expr": "v = 1", "ignore_update_new_value_expr": "id = 2"},
            [b"delete", b"insert"],
        ),
        ({"ignore_insert_value_expr": "NOT v = 1"}, [b"delete", b"insert", b"update"]),
        ({"ignore_insert_value_expr": "1 = 1"}, [b"delete", b"update"]),
    ],
)
def test_a_rule_ignores_the_rows_of_its_operations(rule: dict[str, Any], left: list[bytes]) -> None:
    assert _left(CHANGES, [SMALL], **_rule(**rule)) == left


KEYED = TableInfo(
    schema="test",
    name="t",
    table_id=100,
    columns=(
        ColumnInfo(name="id", type=MySQLType.LONG),
        ColumnInfo(name="email", type=MySQLType.VARCHAR),
        ColumnInfo(name="twice", type=MySQLType.LONG, generated="virtual"),
        ColumnInfo(name="Version", type=MySQLType.LONG),
        ColumnInfo(name="f", type=MySQLType.DOUBLE),
        ColumnInfo(name="note", type=MySQLType.VARCHAR),
    ),
    indexes=(
        IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True),
        IndexInfo(id=2, name="email", offsets=(1,), unique=True),
    ),
)
_ROW = [b"1", b"a@b", b"1", b"0", None]
UPDATES = {
    "version": [b"1", b"a@b", b"2", b"0", None],
    "version and note": [b"1", b"a@b", b"2", b"0", b"new"],
    "version and zero": [b"1", b"a@b", b"2", b"-0", None],
    "float": [b"1", b"a@b", b"1", b"0.5", None],
    "email": [b"1", b"c@d", b"2", b"0", None],
    "nothing": _ROW,
}


@pytest.mark.parametrize(
    ("columns", "case_sensitive", "ignored"),
    [
        (["version"], False, {"version", "version and zero", "nothing"}),
        (
            ["version", "note", "nowhere"],
            False,
            {"version", "version and note", "version and zero", "nothing"},
        ),
        (["Version", "f"], True, {"version", "version and zero", "float", "nothing"}),
        (["version"], True, set()),
        (["id", "email", "VERSION"], False, {"version", "version and zero", "nothing"}),
        (["email"], False, {"nothing"}),
        (["nowhere", "twice"], False, set()),
    ],
)
def test_updates_that_change_listed_columns_only_are_ignored(
    columns: list[str], case_sensitive: bool, ignored: set[str]
) -> None:
    rule = {"matcher": ["TEST.t" if not case_sensitive else "test.t"], "ignore-update-only-columns": columns}
    content = {"filter": {"event-filters": [rule]}, "case-sensitive": case_sensitive}
    changefeed = resolve("kafka:///t?profile=new", content)
    others = (change(b"insert", None, _ROW), change(b"delete", _ROW, None))
    changes = (*(change(name.encode(), _ROW, after) for name, after in UPDATES.items()), *others)
    committed = commit(change_batch(changes), CommitClock())
    filtered = event_filter(net_mutations(split_moved(committed)), [KEYED], changefeed)
    left = {key.decode() for key in filtered["row_key"].to_pylist()}
    assert left == UPDATES.keys() - ignored | {"insert", "delete"}
    assert list(filtered_tables([KEYED], changefeed)) == [KEYED]


VERSIONS = """
CREATE TABLE test.user (id INT PRIMARY KEY, email VARCHAR(20), seen INT, UNIQUE KEY (email));
INSERT INTO test.user VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 1);
UPDATE test.user SET seen = 2 WHERE id = 1;
UPDATE test.user SET seen = 3, email = 'bb' WHERE id = 2;
UPDATE test.user SET id = 30, seen = 9 WHERE id = 3;
DELETE FROM test.user WHERE id = 1;
"""


@pytest.mark.parametrize("protocol", ["open-protocol", "canal-json", "debezium", "simple"])
def test_a_run_without_ignored_updates_is_verified(tmp_path: Path, protocol: str) -> None:
    script, config = tmp_path / "versions.sql", tmp_path / "changefeed.toml"
    script.write_text(VERSIONS)
    config.write_text(
        "[[filter.event-filters]]\nmatcher = ['test.*']\nignore-update-only-columns = ['email', 'seen']\n"
        "[sink.kafka-config]\noutput-raw-change-event = true\n"
    )
    uri = f"kafka:///t?protocol={protocol}&partition-num=2&profile=new"
    report = api.run(script, sink_uri=uri, config=config, out=tmp_path / "out")
    assert report.ok
    rows = [event for event in api.decode(folder=tmp_path / "out") if event["kind"] == Kind.ROW.label]
    assert sorted(str(row["op"]) for row in rows) == sorted(["insert"] * 4 + ["delete"] * 2 + ["update"])
    assert api.verify(folder=tmp_path / "out", scenario=script).ok


def test_only_replicated_versions_of_matching_tables_are_concerned() -> None:
    other = replace(SMALL, name="other", version=1)
    changes = [*CHANGES, change(b"of other", None, NEW, table_version=1, table_id=101)]
    assert _left(changes, [SMALL, other], **_rule(ignore_insert_value_expr="id = 2")) == [
        b"delete", b"update", b"of other"
    ]  # fmt: skip


def test_transactions_are_ignored_by_their_start_ts() -> None:
    changes = [change(b"%d" % number, None, NEW, commit_seq=number) for number in range(4)]
    ignored = [CommitClock().ts(1) - 1, CommitClock().ts(2), (1 << 64) - 1]
    assert _left(changes, [SMALL], **{"ignore-txn-start-ts": ignored}) == [b"0", b"2", b"3"]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["open-protocol", "canal-json", "debezium", "craft"])
def test_a_filtered_run_follows_its_changefeed(
    spark: SparkSession, files: tuple[Path, Path], tmp_path: Path, protocol: str
) -> None:
    import ticdc_producer

    uri = f"kafka:///t?protocol={protocol}&partition-num=2"
    report = ticdc_producer.run(files[0], sink_uri=uri, config=files[1], out=tmp_path / "out")
    assert report.ok
    assert report.verdict is not None
    assert report.verdict.state is not None
    assert [path.name for path in (tmp_path / "out" / "state").iterdir()] == ["test.whole.jsonl"]
    rows = [
        event for event in ticdc_producer.decode(folder=tmp_path / "out") if event["kind"] == Kind.ROW.label
    ]
    assert len(rows) == 5
    assert not any("secret" in (event["after"] or {}) for event in rows)
    assert ticdc_producer.verify(folder=tmp_path / "out", scenario=files[0]).ok
