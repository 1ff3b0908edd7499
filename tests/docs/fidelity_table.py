"""The table of ``docs/fidelity.md``: how much of each golden file the tests compare.

The tests named on that page fail at the first difference, so all compared data is equal.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.docs.markdown import code, table
from tests.golden_events import GoldenDDL, GoldenRow, load_events, load_rows
from tests.pipeline.golden_variants import VARIANTS
from tests.pipeline.test_dispatch import comparable_rules, golden_dispatch
from tests.pipeline.test_golden_streams import FILES

PROTOCOLS = ("open-protocol", "canal-json", "debezium", "craft", "simple", "avro", "maxwell", "canal")


def fidelity() -> str:
    """One line per golden file: number of compared items, and number of all items."""
    head = ["file", "rows", "DDLs", *(f"{protocol} messages" for protocol in PROTOCOLS), "dispatch results"]
    return table(head, [_line(path) for path in FILES])


def _line(path: Path) -> list[str]:
    events = list(load_events(path.with_suffix(".events.jsonl")))
    rows = sum(isinstance(event, GoldenRow) for event in events)
    ddls = sum(isinstance(event, GoldenDDL) for event in events)
    messages = [_of_protocol(path, protocol) for protocol in PROTOCOLS]
    compared, results = _dispatch(path)
    counts = [(rows, rows), (ddls, ddls), *((count, count) for count in messages), (compared, results)]
    return [code(path.stem), *(f"{equal:,} of {total:,}" for equal, total in counts)]


def _of_protocol(path: Path, protocol: str) -> int:
    return sum(_messages(path, name) for name, variant in VARIANTS.items() if variant.protocol == protocol)


def _messages(path: Path, variant: str) -> int:
    """Number of lines of an option file without those where TiCDC's encoder fails."""
    file = path.with_name(f"{path.stem}.{variant}.jsonl")
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    return sum("error" not in json.loads(line) for line in lines)


def _dispatch(path: Path) -> tuple[int, int]:
    rows = list(load_rows(path.with_suffix(".events.jsonl")))
    golden = golden_dispatch(path)
    tables = list(dict.fromkeys(row.table for row in rows))
    versions = [tables.index(row.table) for row in rows]
    rules = comparable_rules(tables, versions, [golden[row.seq] for row in rows])
    lines = [json.loads(line) for line in path.with_suffix(".dispatch.jsonl").read_text("utf-8").splitlines()]
    return sum(len(rules[version]) for version in versions), sum(len(line) - 1 for line in lines)
