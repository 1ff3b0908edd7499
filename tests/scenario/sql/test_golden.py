"""The SQL engine against the recorded results of real TiDB and TiCDC for the same files.

The collapse of a transaction into row events is implemented here a second time, as a test oracle.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ticdc_producer.errors import UnsupportedSQL
from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.pipeline.go_sort import go_sorted
from ticdc_producer.scenario.history import Change, History
from ticdc_producer.scenario.sql.session.session import Session

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
FIRST_TS, STEP = 429918007904436226, 1000 << 18
EXACT = (
    "seed_t1",
    "canal_tp_int",
    "ints",
    "binaries",
    "decimals",
    "floats",
    "keys",
    "strings",
    "temporal",
    "canal_types_params",
    "enum_set_bit_json",
    "vector",
)
ALL = sorted(path.stem for folder in ("visible", "fuzz") for path in (GOLDEN / folder).glob("*.sql"))
_ORDER = {Op.DELETE: 0, Op.UPDATE: 1, Op.INSERT: 2}


@dataclass
class Net:
    """The net change of one row key in a transaction."""

    change: Change
    table_id: int
    key: bytes
    row_id: int
    before: tuple[Value, ...] | None
    after: tuple[Value, ...] | None

    @property
    def op(self) -> Op:
        return Op.INSERT if self.before is None else Op.DELETE if self.after is None else Op.UPDATE


def forced(text: str) -> bool:
    return "-- oracle: force-replicate" in text


def run_file(path: Path) -> History:
    session = Session(file=path.name)
    session.run(path.read_text())
    return session.history()


def run_until_refused(path: Path) -> History:
    text = path.read_text()
    session = Session(file=path.name, force_replicate=forced(text))
    with suppress(UnsupportedSQL):
        session.run(text)
    return session.history()


def events_of(history: History, table_of: Any) -> Iterator[tuple[int, Net]]:
    by_commit: dict[int, list[Change]] = defaultdict(list)
    for change in history.changes:
        by_commit[change.commit_seq].append(change)
    for commit in sorted(by_commit):
        by_table: dict[int, list[Net]] = defaultdict(list)
        for net in collapsed(by_commit[commit]):
            by_table[net.table_id].append(net)
        for table_id in sorted(by_table):
            info = table_of(by_table[table_id][0].change)
            for net in ordered(by_table[table_id], info):
                yield commit, net


def collapsed(changes: Iterable[Change]) -> list[Net]:
    nets: dict[tuple[int, bytes], Net] = {}
    for change in changes:
        if change.old_row_key is not None and change.old_table_id is not None:
            touch(
                nets,
                change,
                change.old_table_id,
                change.old_row_key,
                change.old_row_id or 0,
                change.before,
                None,
            )
            touch(nets, change, change.table_id, change.row_key, change.row_id, None, change.after)
        else:
            touch(nets, change, change.table_id, change.row_key, change.row_id, change.before, change.after)
    return [net for net in nets.values() if net.before != net.after]


def touch(
    nets: dict[tuple[int, bytes], Net],
    change: Change,
    table_id: int,
    key: bytes,
    row_id: int,
    before: tuple[Value, ...] | None,
    after: tuple[Value, ...] | None,
) -> None:
    known = nets.get((table_id, key))
    if known is None:
        nets[table_id, key] = Net(change, table_id, key, row_id, before, after)
    else:
        assert known.after == before, "each change starts from the result of the previous one"
        known.after = after


def ordered(nets: list[Net], info: TableInfo) -> list[Net]:
    nets = sorted(nets, key=lambda net: (_ORDER[net.op], net.key))
    if not any(must_split(net, info) for net in nets):
        return nets
    split: list[Net] = []
    for net in nets:
        if must_split(net, info):
            split.append(Net(net.change, net.table_id, net.key, net.row_id, net.before, None))
            split.append(Net(net.change, net.table_id, net.key, net.row_id, None, net.after))
        else:
            split.append(net)
    return [split[index] for index in go_sorted([_ORDER[net.op] for net in split])]


def must_split(net: Net, info: TableInfo) -> bool:
    if net.op != Op.UPDATE or net.before is None or net.after is None:
        return False
    sides = zip(info.sent_flags, net.before, net.after, strict=True)
    return any(flag & 0x12 and old != new for flag, old, new in sides)


def golden_value(value: dict[str, Any] | None) -> bytes | None:
    if value is None:
        return None
    if "float32" in value:
        return plain_text(float(value["float32"]), MySQLType.FLOAT)
    if "float64" in value:
        return plain_text(float(value["float64"]), MySQLType.DOUBLE)
    kind, content = next(iter(value.items()))
    return base64.b64decode(content) if kind in ("bytes", "str_b64") else str(content).encode()


def golden_events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def golden_rows(events: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (
            event["commit_ts"],
            event["row_type"],
            event["schema"],
            event["table"],
            event["table_id"],
            event["row_id"],
            [golden_value(value) for value in event["before"]] if event["before"] else None,
            [golden_value(value) for value in event["after"]] if event["after"] else None,
        )
        for event in events
        if event["kind"] == "row"
    ]


def own_rows(history: History, *, force: bool) -> list[tuple[Any, ...]]:
    tables = history.catalog.tables
    return [
        (
            FIRST_TS + commit * STEP,
            net.op.label,
            tables[net.change.table_version].schema,
            tables[net.change.table_version].name,
            net.table_id,
            net.row_id,
            list(net.before) if net.before is not None else None,
            list(net.after) if net.after is not None else None,
        )
        for commit, net in events_of(history, lambda change: tables[change.table_version])
        if force or tables[net.change.table_version].eligible
    ]


def assert_rows(history: History, events: list[dict[str, Any]], *, force: bool = False) -> None:
    for ours, theirs in zip(own_rows(history, force=force), golden_rows(events), strict=True):
        assert ours == theirs


def assert_commits(history: History, events: list[dict[str, Any]]) -> None:
    last = max(event["commit_ts"] for event in events)
    assert history.commits == (last - FIRST_TS) // STEP + 1


def assert_ddls(history: History, events: list[dict[str, Any]]) -> None:
    ours = [
        (
            FIRST_TS + job.commit_seq * STEP,
            job.query,
            job.job_type,
            job.ddl_type,
            (job.schema, job.table),
            (job.old_schema, job.old_table),
        )
        for job in history.catalog.ddls
        if job.sent
    ]
    theirs = [
        (
            e["commit_ts"],
            e["query_before_restore"],
            e["job_type"],
            e["ddl_type"],
            (e["schema"], e["table"]),
            (e.get("pre_schema") or "", e.get("pre_table") or ""),
        )
        for e in events
        if e["kind"] == "ddl"
    ]
    assert ours == theirs
    discarded = [
        (FIRST_TS + job.commit_seq * STEP, (job.old_table or job.table).lower() or job.schema)
        for job in history.catalog.ddls
        if not job.sent
    ]
    assert discarded == [
        (e["commit_ts"], (e["table"] or e["schema"]).lower()) for e in events if e["kind"] == "ddl_discarded"
    ]


def assert_tables(history: History, events: list[dict[str, Any]]) -> None:
    """Columns and indexes of every table of a sent DDL equal TiDB's."""
    jobs = [job for job in history.catalog.ddls if job.sent]
    for job, event in zip(jobs, [e for e in events if e["kind"] == "ddl"], strict=True):
        if job.version_after < 0:
            continue
        info = history.catalog.tables[job.version_after]
        if info.is_view:
            continue
        if event.get("table_id"):
            assert info.table_id == event["table_id"]
        theirs_columns = sorted(event["columns"] + event["virtual_columns"], key=lambda c: c["offset"])
        assert [column_summary(info, offset) for offset in range(len(info.columns))] == [
            golden_column(column) for column in theirs_columns
        ]
        indexes = [
            (
                index.id,
                index.name,
                [info.columns[offset].name for offset in index.offsets],
                index.primary,
                index.unique,
            )
            for index in info.indexes
            if index.id
        ]
        theirs = [(i["id"], i["name"], i["columns"], i["primary"], i["unique"]) for i in event["indexes"]]
        assert indexes == theirs


def column_summary(info: TableInfo, offset: int) -> dict[str, Any]:
    column = info.columns[offset]
    return {
        "name": column.name,
        "type": int(column.type),
        "flag": info.flags[offset],
        "charset": column.charset,
        "collation": column.collation,
        "flen": column.length,
        "decimal": column.decimal,
        "elems": list(column.elements) or None,
        "mysql_type": column.type_name,
        "nullable": column.nullable,
        "default": default_bytes(column),
        "comment": column.comment,
        "generated": column.generated,
        "hidden": column.hidden,
    }


def default_bytes(column: Any) -> bytes | None:
    if column.default_expression:
        return str(column.default_expression).encode()
    if column.default is None:
        return None
    if column.type == MySQLType.BIT:
        number = int(column.default)
        return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")
    if column.type == MySQLType.YEAR:
        return column.default.zfill(4)
    if column.type == MySQLType.ENUM:
        return column.elements[int(column.default) - 1].encode()
    if column.type == MySQLType.SET:
        bits = int(column.default)
        return ",".join(name for index, name in enumerate(column.elements) if bits >> index & 1).encode()
    return column.default


def golden_column(column: dict[str, Any]) -> dict[str, Any]:
    keys = ("name", "type", "flag", "charset", "collation", "flen", "decimal", "mysql_type", "nullable")
    summary = {key: column[key] for key in keys}
    summary["mysql_type"] = summary["mysql_type"].removesuffix(" zerofill")
    summary |= {"elems": column.get("elems"), "comment": column.get("comment", "")}
    summary |= {"generated": column.get("generated", ""), "hidden": column.get("hidden", False)}
    default = golden_value(column["default"])
    if default is not None and column["type"] == MySQLType.NEW_DECIMAL:
        default = f"{Decimal(default.decode()):.{column['decimal']}f}".encode()  # TiDB stores the user's text
    return summary | {"default": default}


@pytest.mark.parametrize("name", EXACT)
def test_history_is_what_tidb_committed(name: str) -> None:
    history = run_file(GOLDEN / "visible" / f"{name}.sql")
    events = golden_events(GOLDEN / "visible" / f"{name}.events.jsonl")
    assert_ddls(history, events)
    assert_tables(history, events)
    assert_rows(history, events)
    assert_commits(history, events)


@pytest.mark.parametrize("name", ALL)
def test_what_ran_before_a_refusal_is_exact(name: str) -> None:
    path = next(GOLDEN.glob(f"*/{name}.sql"))
    history = run_until_refused(path)
    reached = FIRST_TS + history.commits * STEP
    events = [e for e in golden_events(path.with_suffix(".events.jsonl")) if e["commit_ts"] < reached]
    assert_ddls(history, events)
    assert_tables(history, events)
    assert_rows(history, events, force=forced(path.read_text()))
