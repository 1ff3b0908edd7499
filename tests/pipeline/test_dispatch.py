"""Partitions of whole scenarios against what TiCDC's dispatchers computed, for every rule and count."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dispatch import reference_dispatch
from tests.golden_events import GOLDEN, load_rows
from tests.pipeline.small_changes import Image, images, in_key_order, op_of
from tests.streams import in_go_sort_order
from tests.tiers import one_in
from ticdc_producer.config import resolve
from ticdc_producer.dispatch.rules import Route, Router
from ticdc_producer.model.shapes import EVENT_STREAM
from ticdc_producer.model.table import TableInfo
from ticdc_producer.pipeline.delivery import TopicPartitions, dispatch
from ticdc_producer.pipeline.event_stream import committed
from ticdc_producer.pipeline.mutations import collapse, split
from ticdc_producer.simulate.change_log import change_batch
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare

TOPIC = "scenario"
FILES = sorted(path for part in ("visible", "fuzz") for path in (GOLDEN / part).glob("*.sql"))
Result: TypeAlias = dict[str, Any]
Rule: TypeAlias = tuple[str, tuple[str, ...]]
COUNTS = (1, 2, 3, 4, 7, 16)


def golden_dispatch(path: Path) -> dict[int, dict[str, Result]]:
    """Golden results by event number and rule; not those where TiCDC's dispatcher failed."""
    lines = [json.loads(line) for line in path.with_suffix(".dispatch.jsonl").read_text().splitlines()]
    return {
        line.pop("seq"): {rule: result for rule, result in line.items() if "key" in result} for line in lines
    }


def _takes_another_column(table: TableInfo, rule: Rule) -> bool:
    """Whether TiCDC's dispatcher looks up another column than the rule names: a bug of its own.

    It counts virtual columns where its row has none. Rules that name columns or an index are concerned.
    """
    name, arguments = rule
    named = {table.columns[o].name for i in table.indexes if i.name in arguments for o in i.offsets}
    wanted = set(arguments) if name.startswith("columns") else named
    virtual = [offset for offset, column in enumerate(table.columns) if column.generated == "virtual"]
    return any(
        column.name in wanted and any(v < offset for v in virtual)
        for offset, column in enumerate(table.columns)
    )


def comparable_rules(
    tables: Sequence[TableInfo], versions: list[int], results: list[dict[str, Result]]
) -> dict[int, set[Rule]]:
    """The rules that hold for all rows of a table version.

    :param versions: the index in ``tables`` of each row; ``results`` the golden ones of the row by rule.
    """
    rules: dict[int, set[Rule]] = {}
    for version, result in zip(versions, results, strict=True):
        given = {(rule, tuple(answer["args"] or ())) for rule, answer in result.items()}
        given = {rule for rule in given if not _takes_another_column(tables[version], rule)}
        rules.setdefault(version, given).intersection_update(given)
    return rules


def _rounds(
    tables: Sequence[TableInfo], versions: list[int], results: list[dict[str, Result]]
) -> list[dict[int, Rule]]:
    """Rules by table version, one round after the other, until every rule of every version had its turn."""
    rules = comparable_rules(tables, versions, results)
    ordered = {version: sorted(given) for version, given in rules.items()}
    most = max(map(len, ordered.values()))
    return [{version: given[n % len(given)] for version, given in ordered.items()} for n in range(most)]


def _routes(job: Job, rules_of: dict[int, Rule]) -> dict[int, Route]:
    return {table.version: _route(table, rules_of.get(table.version)) for table in job.stream.replicated}


def _route(table: TableInfo, rule: Rule | None) -> Route:
    name, arguments = rule or ("table", ())
    partition, _, index = name.partition(":")
    dispatcher: dict[str, object] = {"matcher": ["*.*"], "partition": partition}
    if index:
        dispatcher["index"] = index
    if partition.startswith("columns"):
        dispatcher |= {"partition": "columns", "columns": list(arguments)}
    return Router(resolve(None, {"sink": {"dispatchers": [dispatcher]}})).route(table)


def _with_order_key(job: Job) -> pa.RecordBatch:
    """What the dispatch stage takes, in the order of the stream; the same under every rule."""
    plan = job.stream
    mutations = collapse(in_key_order(committed(change_batch(job.history.changes), plan)))
    rows = in_go_sort_order(split(mutations, plan.replicated), plan.large_transactions)
    return rows.sort_by([("commit_ts", "ascending"), ("txn_order_key", "ascending")])


@pytest.mark.parametrize("path", one_in(3, ([path] for path in FILES)), ids=[path.stem for path in FILES])
def test_partition_and_key_under_every_rule_and_count(tmp_path: Path, path: Path) -> None:
    config = tmp_path / "changefeed.toml"
    config.write_text(f"force-replicate = {str('-- oracle: force' in path.read_text()).lower()}\n")
    job = prepare(path, sink_uri=f"kafka:///{TOPIC}?protocol=open-protocol", config=config)
    rows = _with_order_key(job)
    versions = rows["table_version"].to_pylist()
    golden = golden_dispatch(path)
    results = [golden[event.seq] for event in load_rows(path.with_suffix(".events.jsonl"))]
    for rules_of in _rounds(job.history.catalog.tables, versions, results):
        wanted = [result[rules_of[v][0]] for v, result in zip(versions, results, strict=True)]
        for count in COUNTS:
            events = dispatch(rows, _routes(job, rules_of), TopicPartitions((TOPIC,), (count,)))
            assert events["dispatch_key"].to_pylist() == [row["key"] for row in wanted], rules_of
            assert events["partition"].to_pylist() == [row["partition"][str(count)] for row in wanted]


ROUTES = {
    0: Route(topic="a", rule="table", key_columns=(), base_hash=7, table_key="s.t"),
    1: Route(topic="b", rule="ts", key_columns=(), base_hash=8, table_key="s.u"),
    2: Route(topic="b", rule="columns", key_columns=(("x", 1), ("y", 0)), base_hash=9, table_key="s.v"),
    3: Route(
        topic="a",
        rule="index-value",
        key_columns=(("y", 1),),
        base_hash=1 << 31,
        table_key="",
        skips_null=True,
    ),
    4: Route(topic="a", rule="index-value", key_columns=(), base_hash=11, table_key="s.w"),
}
VALUES = st.none() | st.binary(max_size=3)
IMAGES = st.lists(VALUES, min_size=2, max_size=2)
PAIRS = st.tuples(st.none() | IMAGES, IMAGES) | st.tuples(IMAGES, st.none())
CHANGES = st.lists(st.tuples(st.sampled_from(sorted(ROUTES)), st.integers(1, (1 << 63) - 1), PAIRS))


@given(CHANGES, st.integers(1, 9))
def test_many_rows_are_dispatched_as_single_rows_are(
    drawn: list[tuple[int, int, tuple[Image, Image]]], count: int
) -> None:
    changes = pa.record_batch(
        {
            "table_version": pa.array([version for version, _, _ in drawn], pa.int32()),
            "commit_ts": pa.array([ts for _, ts, _ in drawn], pa.int64()),
            "op": pa.array([int(op_of(*pair)) for _, _, pair in drawn], pa.int8()),
            "before": images([before for _, _, (before, _) in drawn]),
            "after": images([after for _, _, (_, after) in drawn]),
        }
    )
    events = dispatch(changes, ROUTES, TopicPartitions(("a", "b"), (count, count)))
    assert events.schema == EVENT_STREAM
    wanted = []
    for version, ts, (before, after) in drawn:
        route, image = ROUTES[version], before if after is None else after
        assert image is not None
        number, key = reference_dispatch.dispatch(route, image, ts, count)
        wanted.append((route.topic, number, "ab".index(route.topic) * count + number, key))
    columns = ("topic", "partition", "partition_index", "dispatch_key")
    assert [tuple(row[name] for name in columns) for row in events.to_pylist()] == wanted
