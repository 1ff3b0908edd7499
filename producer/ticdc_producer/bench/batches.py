"""The rows of a benchmark as a Spark worker receives them: Arrow batches of the event stream.

They were recorded at the input of a real TiCDC encoder: the ``row`` lines of ``*.events.jsonl``. Values are
converted to the canonical text of the event stream, which encoders take.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Literal, NotRequired, TypeAlias, TypedDict

import pyarrow as pa

from ticdc_producer.errors import FolderError
from ticdc_producer.model.catalog import Catalog
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import Kind, Op, Value
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.targets.row_batches import EVENTS_ARROW

Image: TypeAlias = tuple[Value, ...]
ImageJSON: TypeAlias = Sequence[Mapping[str, str] | None]
_TIDB_UNSIGNED = 0x20  # mysql.UnsignedFlag, TiDB's own numbering


class RecordedColumnJSON(TypedDict):
    """A column in a recorded event."""

    name: str
    offset: int
    type: int
    flag: int
    tidb_flag: int
    flen: int
    decimal: int
    charset: str
    collation: str
    nullable: bool
    elems: NotRequired[list[str] | None]
    generated: NotRequired[Literal["virtual", "stored"] | None]
    hidden: NotRequired[bool]
    comment: NotRequired[str]


class RecordedIndexJSON(TypedDict):
    """An index in a recorded event."""

    id: int
    name: str
    columns: list[str]
    unique: bool
    primary: bool


class RecordedRowJSON(TypedDict):
    """A recorded row event."""

    seq: int
    commit_ts: int
    schema: str
    table: str
    table_id: int
    logical_table_id: int
    table_charset: str
    table_update_ts: int
    columns: list[RecordedColumnJSON]
    virtual_columns: list[RecordedColumnJSON]
    indexes: list[RecordedIndexJSON]
    pk_is_handle: bool
    is_common_handle: bool
    is_partitioned: bool
    handle_key_columns: list[str]
    row_id: int
    row_type: str
    before: ImageJSON | None
    after: ImageJSON | None


@dataclass(frozen=True, kw_only=True)
class RecordedRow:
    """A row event; images hold the columns of ``table.sent``, in that order.

    :param table_id: physical table id; ``table.table_id`` is the logical one.
    :param flags: TiCDC's flag of every column of ``table.columns``, virtual ones included.
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
        """The image that dispatch uses: the new image, for a delete the old one."""
        image = self.before if self.after is None else self.after
        if image is None:
            raise ValueError("a row event without an image")
        return image


def recorded_rows(path: Path) -> Iterator[RecordedRow]:
    """Yield the row events of a file, in its order.

    :raises FolderError: if the file cannot be read, or a line is not a recorded event.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                row = _row_of(line, path, number)
                if row is not None:
                    yield row
    except OSError as error:
        raise FolderError(f"cannot be read: {error.strerror}", path=str(path)) from None


def _row_of(line: bytes, path: Path, number: int) -> RecordedRow | None:
    try:
        raw = json.loads(line)
        return recorded_row(raw) if raw["kind"] == "row" else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        hint = "lines as in tests/golden/visible/*.events.jsonl, not as in a golden folder"
        raise FolderError("this line is not a recorded event", path=f"{path}:{number}", hint=hint) from None


def recorded_row(raw: RecordedRowJSON) -> RecordedRow:
    """Return the row event of one parsed line."""
    columns = sorted(raw["columns"] + raw["virtual_columns"], key=lambda column: column["offset"])
    return RecordedRow(
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


def _table(raw: RecordedRowJSON, columns: Sequence[RecordedColumnJSON]) -> TableInfo:
    return TableInfo(
        schema=raw["schema"],
        name=raw["table"],
        table_id=raw["logical_table_id"],
        columns=tuple(_column(column) for column in columns),
        indexes=tuple(_indexes(raw, [column["name"] for column in columns])),
        charset=raw["table_charset"],
        update_ts=raw["table_update_ts"],
    )


def _column(raw: RecordedColumnJSON) -> ColumnInfo:
    return ColumnInfo(
        name=raw["name"],
        type=MySQLType(raw["type"]),
        length=raw["flen"],
        decimal=raw["decimal"],
        unsigned=bool(raw["tidb_flag"] & _TIDB_UNSIGNED),
        charset=raw["charset"],
        collation=raw["collation"],
        elements=tuple(raw.get("elems") or ()),
        nullable=raw["nullable"],
        generated=raw.get("generated") or "",
        hidden=raw.get("hidden", False),
        comment=raw.get("comment", ""),
    )


def _indexes(raw: RecordedRowJSON, names: list[str]) -> Iterator[IndexInfo]:
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


def image_of(values: ImageJSON | None) -> Image | None:
    """Return the canonical values of an image."""
    return None if values is None else tuple(_text(value) for value in values)


def _text(value: Mapping[str, str] | None) -> Value:
    if value is None:
        return None
    if "float32" in value:
        return plain_text(struct.unpack(">f", bytes.fromhex(value["bits"]))[0], MySQLType.FLOAT)
    if "float64" in value:
        return plain_text(struct.unpack(">d", bytes.fromhex(value["bits"]))[0], MySQLType.DOUBLE)
    ((kind, content),) = value.items()
    if kind in ("bytes", "str_b64"):
        return base64.b64decode(content, validate=True)
    if kind in ("int", "uint", "str", "vector"):
        return content.encode()
    raise ValueError(f"unknown kind of value {kind!r}")


MIN_ROWS = 20_000
ARROW_ROWS = 10_000
"""Rows in an Arrow batch: Spark's default."""

LINES = {
    "-".join(filter(None, (spec.name, line.suffix))): (spec.name, line)
    for spec in BUILT_IN.values()
    for line in spec.benchmark
}
"""Name in the report → protocol, and its options and minimal decoder."""


def event_batches(path: Path, min_rows: int) -> tuple[Catalog, list[pa.RecordBatch]]:
    """Return a catalog, and the event stream of a file's rows as a worker receives it.

    The file's rows are repeated up to ``min_rows``; a longer file is used completely.

    :return: the batches have the shape ``row_batches.EVENTS_ARROW``, and the rows the order of the file.
    :raises FolderError: if the file has no row events.
    """
    recorded = list(recorded_rows(path))
    if not recorded:
        raise FolderError("has no row events", path=str(path))
    count = max(min_rows, len(recorded))
    tables = list(dict.fromkeys(map(_table_of, recorded)))
    catalog = Catalog(tuple(replace(table, version=version) for version, table in enumerate(tables)))
    rows = [_event_row(row, tables.index(_table_of(row))) for row in recorded]
    table = pa.Table.from_pylist(list(islice(cycle(rows), count)), schema=EVENTS_ARROW)
    return catalog, table.combine_chunks().to_batches(max_chunksize=ARROW_ROWS)


def _table_of(row: RecordedRow) -> TableInfo:
    partitions = (PartitionInfo(id=row.table_id, name=""),) if row.is_partitioned else ()
    return replace(row.table, partitions=partitions)


def _event_row(row: RecordedRow, version: int) -> dict[str, object]:
    return {
        "kind": int(Kind.ROW),
        "commit_ts": row.commit_ts,
        "table_version": version,
        "table_id": row.table_id,
        "row_id": row.row_id,
        "op": int(row.op),
        "before": row.before,
        "after": row.after,
        "dispatch_key": "",
        "ddl": None,
    }
