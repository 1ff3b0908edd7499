"""Partition and key text of every golden row event under every rule, against real TiCDC."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.dispatch.reference_dispatch import dispatch
from tests.golden_events import GOLDEN, GoldenRow, event_files, load_rows
from tests.new_events import as_new, classic_file
from tests.protocols.golden_messages import events_of
from ticdc_producer.config import resolve
from ticdc_producer.dispatch import Route, Router
from ticdc_producer.model.table import TableInfo

PARTITIONS = (1, 2, 3, 4, 7, 16)


@cache
def _route(table: TableInfo, rule: str, arguments: tuple[str, ...]) -> Route:
    entry: dict[str, Any] = {"matcher": ["*.*"], "partition": rule.partition(":")[0]}
    if rule.startswith("columns"):
        entry |= {"partition": "columns", "columns": [*arguments]}
    elif ":" in rule:
        entry["index"] = arguments[0]
    uri = f"kafka:///golden?profile={table.profile}"
    return Router(resolve(uri, {"sink": {"dispatchers": [entry]}})).route(table)


def _upstream_takes_another_column(table: TableInfo, rule: str, route: Route) -> bool:
    """TiCDC's known bug: it looks a named column up by its offset among all columns, in an image that
    holds no virtual ones."""
    if table.profile == "new" or rule in ("table", "default", "ts", "index-value"):
        return False
    offsets = {column.name: offset for offset, column in enumerate(table.columns)}
    return any(offsets[name] != index for name, index in route.key_columns)


def _check_row(row: GoldenRow, expected: dict[str, Any], counts: Counter[str]) -> None:
    for rule, result in expected.items():
        route = _route(row.table, rule, tuple(result["args"] or ()))
        if _upstream_takes_another_column(row.table, rule, route):
            counts["excepted"] += 1
            continue
        for count in PARTITIONS:
            partition, key = dispatch(route, row.image, row.commit_ts, count)
            assert (partition, key) == (result["partition"][str(count)], result["key"]), (row, rule)
        counts["exact"] += 1


def _check_file(path: Path, rows: Mapping[int, GoldenRow]) -> Counter[str]:
    """:param path: a file of dispatch results; ``rows``: the row events, by number."""
    counts: Counter[str] = Counter()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["seq"] for line in lines] == list(rows)
    for line in lines:
        _check_row(rows[line.pop("seq")], line, counts)
    return counts


@cache
def _check_classic(events: Path) -> Counter[str]:
    path = events.with_name(events.name.replace(".events.", ".dispatch."))
    return _check_file(path, {row.seq: row for row in load_rows(events)})


@cache
def _check_new(path: Path) -> Counter[str]:
    events = as_new(path, events_of(classic_file(path)))
    return _check_file(path, {seq: row for seq, row in events.items() if isinstance(row, GoldenRow)})


NEW_FILES = sorted((GOLDEN / "new").glob("*.new-dispatch.jsonl"))


@pytest.mark.parametrize("path", event_files(), ids=lambda path: path.name.split(".")[0])
def test_every_row_under_every_rule(path: Path) -> None:
    assert _check_classic(path)["exact"] > 0


@pytest.mark.parametrize("path", NEW_FILES, ids=lambda path: path.name.split(".")[0])
def test_every_row_under_every_rule_of_the_newer_program(path: Path) -> None:
    assert _check_new(path)["exact"] > 0


def test_what_is_excepted() -> None:
    total = sum((_check_classic(path) for path in event_files()), Counter[str]())
    assert total == {"exact": 7632, "excepted": 161}
    assert sum(map(_check_new, NEW_FILES), Counter[str]()) == {"exact": 2998}
