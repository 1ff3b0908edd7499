"""The golden ``*.events.jsonl`` as typed objects: what real TiCDC handed to its encoders.

Values come as the canonical text of DESIGN "Value", so that a test can feed them to a stage or an
encoder and compare the outcome with what lies beside the file.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from producer.model.event import Op
from producer.model.float_text import plain_text
from producer.model.mysql_type import MySQLType
from producer.model.table import ColumnInfo, IndexInfo, TableInfo

GOLDEN = Path(__file__).parent / "golden"
TIDB_UNSIGNED = 0x20  # mysql.UnsignedFlag, TiDB's own numbering
Image: TypeAlias = tuple[bytes | None, ...]


@dataclass(frozen=True, kw_only=True)
class GoldenRow:
    """A row event; images hold the columns of ``table.sent``, in that order.

    :param table_id: physical table id; ``table.table_id`` is the logical one.
    :param flags: golden flag of every column of ``table.columns``, virtual ones included.
    """

    seq: int
    commit_ts: int
    table: TableInfo
    table_id: int
    row_id: int
    op: Op
    before: Image | None
    after: Image | None
    is_partitioned: bool
    flags: tuple[int, ...]
    handle_key_columns: tuple[str, ...]

    @property
    def image(self) -> Image:
        """The image that dispatch looks at: the new one, of a delete the old one."""
        image = self.before if self.after is None else self.after
        assert image is not None
        return image


@dataclass(frozen=True, kw_only=True)
class GoldenDDL:
    """A DDL event; ``query`` is the text that is sent, ``query_job`` what the user typed."""

    seq: int
    commit_ts: int
    schema: str
    table: str
    query: str
    ddl_type: int
    query_job: str


@dataclass(frozen=True, kw_only=True)
class GoldenResolved:
    seq: int
    commit_ts: int


@dataclass(frozen=True, kw_only=True)
class GoldenLeftOut:
    """What TiCDC did not send: a discarded DDL, rows of an ineligible table, a refused DDL."""

    kind: str
    commit_ts: int
    schema: str
    table: str
    reason: str


GoldenEvent: TypeAlias = GoldenRow | GoldenDDL | GoldenResolved | GoldenLeftOut


def event_files() -> list[Path]:
    """All event files of visible and fuzz."""
    return sorted(path for part in ("visible", "fuzz") for path in (GOLDEN / part).glob("*.events.jsonl"))


def load_events(path: Path) -> Iterator[GoldenEvent]:
    """Every line of one file, in its order."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield _event(json.loads(line))


def load_rows(path: Path) -> Iterator[GoldenRow]:
    """The row events of one file."""
    return (event for event in load_events(path) if isinstance(event, GoldenRow))


def _event(raw: dict[str, Any]) -> GoldenEvent:
    match raw["kind"]:
        case "row":
            return _row(raw)
        case "resolved":
            return GoldenResolved(seq=raw["seq"], commit_ts=raw["commit_ts"])
        case "ddl":
            fields = ("seq", "commit_ts", "schema", "table", "query", "ddl_type", "query_job")
            return GoldenDDL(**{field: raw[field] for field in fields})
    return GoldenLeftOut(
        kind=raw["kind"],
        commit_ts=raw["commit_ts"],
        schema=raw.get("schema", ""),
        table=raw.get("table", ""),
        reason=raw.get("reason", ""),
    )


def _row(raw: dict[str, Any]) -> GoldenRow:
    columns = sorted(raw["columns"] + raw["virtual_columns"], key=lambda column: column["offset"])
    return GoldenRow(
        seq=raw["seq"],
        commit_ts=raw["commit_ts"],
        table=_table(raw, columns),
        table_id=raw["table_id"],
        row_id=raw["row_id"],
        op=Op[raw["row_type"].upper()],
        before=image_of(raw["before"]),
        after=image_of(raw["after"]),
        is_partitioned=raw["is_partitioned"],
        flags=tuple(column["flag"] for column in columns),
        handle_key_columns=tuple(raw["handle_key_columns"]),
    )


def _table(raw: dict[str, Any], columns: list[dict[str, Any]]) -> TableInfo:
    return TableInfo(
        schema=raw["schema"],
        name=raw["table"],
        table_id=raw["logical_table_id"],
        columns=tuple(_column(column) for column in columns),
        indexes=tuple(_indexes(raw, [column["name"] for column in columns])),
        charset=raw["table_charset"],
    )


def _column(raw: dict[str, Any]) -> ColumnInfo:
    return ColumnInfo(
        name=raw["name"],
        type=MySQLType(raw["type"]),
        length=raw["flen"],
        decimal=raw["decimal"],
        unsigned=bool(raw["tidb_flag"] & TIDB_UNSIGNED),
        charset=raw["charset"],
        collation=raw["collation"],
        elements=tuple(raw.get("elems") or ()),
        nullable=raw["nullable"],
        generated=raw.get("generated") or "",
        hidden=raw.get("hidden", False),
        comment=raw.get("comment", ""),
    )


def _indexes(raw: dict[str, Any], names: list[str]) -> Iterator[IndexInfo]:
    if raw["pk_is_handle"]:  # TiDB keeps no index for a primary key that is the row's integer handle
        offsets = tuple(names.index(name) for name in raw["handle_key_columns"])
        yield IndexInfo(id=0, name="PRIMARY", offsets=offsets, unique=True, primary=True, clustered=True)
    for index in raw["indexes"]:
        yield IndexInfo(
            id=index["id"],
            name=index["name"],
            offsets=tuple(names.index(name) for name in index["columns"]),
            unique=index["unique"],
            primary=index["primary"],
            clustered=index["primary"] and raw["is_common_handle"],
        )


def image_of(values: list[Any] | None) -> Image | None:
    """The canonical texts of a golden image."""
    return None if values is None else tuple(_text(value) for value in values)


def _text(value: dict[str, str] | None) -> bytes | None:
    """Canonical text of one golden value."""
    if value is None:
        return None
    if "float32" in value:
        return plain_text(struct.unpack(">f", bytes.fromhex(value["bits"]))[0], MySQLType.FLOAT)
    if "float64" in value:
        return plain_text(struct.unpack(">d", bytes.fromhex(value["bits"]))[0], MySQLType.DOUBLE)
    ((form, content),) = value.items()
    if form in ("bytes", "str_b64"):
        return base64.b64decode(content, validate=True)
    if form in ("int", "uint", "str", "vector"):
        return content.encode()
    raise AssertionError(f"golden value of an unknown form: {value}")
