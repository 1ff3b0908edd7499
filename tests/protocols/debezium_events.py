"""Golden events with data that only some protocols use: defaults of columns, and the tables of DDLs."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.golden_events import GoldenDDL, GoldenEvent, GoldenRow, load_events
from tests.new_events import as_new, classic_file, is_new
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import ColumnDefinition, DDLEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.sql.definition.describe import defined_columns
from ticdc_producer.scenario.sql.syntax import parse_ddl
from ticdc_producer.scenario.sql.text.cursor import Cursor
from ticdc_producer.scenario.sql.text.statements import split_statements

T = MySQLType
NOT_NULL, UNSIGNED, ZEROFILL, AUTO_INCREMENT, ON_UPDATE_NOW = 1, 1 << 5, 1 << 6, 1 << 9, 1 << 13
NOW = "CURRENT_TIMESTAMP"


@dataclass(frozen=True, kw_only=True)
class DebeziumDDL:
    """A DDL event with its table after and before the DDL."""

    seq: int
    event: DDLEvent
    table: TableInfo | None
    before: TableInfo | None


def described_events(messages_file: Path) -> Mapping[int, GoldenEvent | DebeziumDDL]:
    """Golden events of classic TiCDC (tiflow) by their number, for a message file of any variant."""
    return _described(messages_file.with_name(f"{messages_file.name.split('.')[0]}.events.jsonl"))


@cache
def _described(path: Path) -> Mapping[int, GoldenEvent | DebeziumDDL]:
    lines = path.read_text("utf-8").splitlines()
    pairs = zip(load_events(path), map(json.loads, lines), strict=True)
    return {raw["seq"]: _enriched(event, raw) for event, raw in pairs if "seq" in raw}


@cache
def events_of(messages_file: Path) -> Mapping[int, GoldenEvent | DebeziumDDL]:
    """Golden events by their number, for a message file of either TiCDC program."""
    if is_new(messages_file):
        return as_new(messages_file, described_events(classic_file(messages_file)))
    return described_events(messages_file)


def _enriched(event: GoldenEvent, raw: dict[str, Any]) -> GoldenEvent | DebeziumDDL:
    if isinstance(event, GoldenRow):
        columns = raw["columns"] + raw["virtual_columns"]
        defaults = {column["name"]: _default(column["type"], column, _stored(column)) for column in columns}
        with_defaults = tuple(replace(column, **defaults[column.name]) for column in event.table.columns)
        return replace(event, table=replace(event.table, columns=with_defaults))
    if isinstance(event, GoldenDDL):
        return _ddl(event, raw)
    return event


def _ddl(event: GoldenDDL, raw: dict[str, Any]) -> DebeziumDDL:
    names = (raw["schema"], raw["table"])
    old_names = (raw.get("pre_schema") or "", raw.get("pre_table") or "")
    return DebeziumDDL(
        seq=event.seq,
        event=DDLEvent(
            commit_ts=event.commit_ts,
            schema=event.schema,
            table=event.table,
            query=event.query,
            ddl_type=event.ddl_type,
            definitions=_definitions(event.query),
        ),
        table=_table(*names, raw["table_info"]),
        before=_table(*old_names, raw["pre_table_info"]),
    )


def _definitions(query: str) -> tuple[ColumnDefinition, ...]:
    """The columns that a DDL defines; none if TiDB cannot parse the text."""
    with suppress(ScenarioError):
        (statement,) = split_statements(query)
        return defined_columns(parse_ddl(Cursor(statement)))
    return ()


def _table(schema: str, name: str, info: dict[str, Any] | None) -> TableInfo | None:
    if info is None:
        return None
    columns = tuple(_column(column) for column in info["cols"] or ())
    return TableInfo(
        schema=schema,
        name=name,
        table_id=info["id"],
        columns=columns,
        indexes=tuple(_indexes(info)),
        charset=info["charset"],
        update_ts=info["update_timestamp"],
    )


def _column(raw: dict[str, Any]) -> ColumnInfo:
    kind = raw["type"]
    generated = "" if not raw["generated_expr_string"] else "stored" if raw["generated_stored"] else "virtual"
    return ColumnInfo(
        name=raw["name"]["O"],
        id=raw["id"],
        type=T(kind["Tp"]),
        length=kind["Flen"],
        decimal=kind["Decimal"],
        unsigned=bool(kind["Flag"] & UNSIGNED),
        zerofill=bool(kind["Flag"] & ZEROFILL),
        charset=kind["Charset"],
        collation=kind["Collate"],
        elements=tuple(kind["Elems"] or ()),
        nullable=not kind["Flag"] & NOT_NULL,
        auto_increment=bool(kind["Flag"] & AUTO_INCREMENT),
        on_update_now=bool(kind["Flag"] & ON_UPDATE_NOW),
        generated=generated,  # type: ignore[arg-type]  # one of the three values
        hidden=raw["hidden"],
        comment=raw["comment"],
        **_default(kind["Tp"], {"elems": kind["Elems"]}, _stored_in_info(raw, "default")),
        origin_default=_canonical(kind["Tp"], kind["Elems"], _stored_in_info(raw, "origin_default")),
    )


def _indexes(info: dict[str, Any]) -> Iterator[IndexInfo]:
    if info["pk_is_handle"]:
        offsets = tuple(i for i, column in enumerate(info["cols"]) if column["type"]["Flag"] & 2)
        yield IndexInfo(id=0, name="PRIMARY", offsets=offsets, unique=True, primary=True, clustered=True)
    for index in info["index_info"] or ():
        yield IndexInfo(
            id=index["id"],
            name=index["idx_name"]["O"],
            offsets=tuple(column["offset"] for column in index["idx_cols"]),
            unique=index["is_unique"],
            primary=index["is_primary"],
        )


def _stored(raw: dict[str, Any]) -> bytes | None:
    """The DEFAULT of a column in an events file, as TiDB stores it."""
    default = raw["default"]
    if default is None:
        return None
    return default["str"].encode() if "str" in default else base64.b64decode(default["str_b64"])


def _stored_in_info(raw: dict[str, Any], name: str) -> bytes | None:
    """The DEFAULT of a column in TiDB's own JSON, as TiDB stores it."""
    bits = raw[f"{name}_bit"]
    if bits is not None:
        return base64.b64decode(bits)
    return None if raw[name] is None else str(raw[name]).encode()


def _default(code: int, raw: dict[str, Any], stored: bytes | None) -> dict[str, Any]:
    """The fields of ``ColumnInfo`` for a DEFAULT."""
    if stored is None:
        return {}
    if stored == NOW.encode():
        return {"has_default": True, "default_expression": NOW}
    return {"has_default": True, "default": _canonical(code, raw.get("elems"), stored)}


def _canonical(code: int, elements: list[str] | None, stored: bytes | None) -> bytes | None:
    """Canonical text of a DEFAULT; a DECIMAL's digits stay as the user wrote them."""
    if stored is None:
        return None
    if code == T.BIT:
        return b"%d" % int.from_bytes(stored, "big")
    if code == T.YEAR:
        return b"%d" % int(stored)
    members = elements or []
    if code == T.ENUM:
        return b"%d" % (members.index(stored.decode()) + 1)
    if code == T.SET:
        names = stored.decode().split(",") if stored else []
        return b"%d" % sum(1 << members.index(member) for member in names)
    return stored
