"""The tables of ``shop.sql`` as consumers write them: typed values for databases, files in three formats."""

from __future__ import annotations

import csv
import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ITEMS: list[dict[str, Any]] = [
    {
        "id": 1, "name": "lamp", "price": Decimal("1.5"), "weight": 123.99, "ratio": 0.1,
        "picture": b"\x00\xff\x10",
        "flags": 21, "kind": "large", "marks": "new,sale", "made": date(2021, 12, 20),
        "sold": datetime(2021, 12, 20, 13, 30, 49, 120000), "changed": datetime(2021, 12, 20, 13, 30, 49),
        "lasts": timedelta(hours=-12, seconds=-1), "year_of": 2021, "details": '{"a":null,"b":[1,2.5,"x"]}',
        "big": 18446744073709551615, "code": "ab",
    },
    {
        "id": 2, "name": "", "price": Decimal(100), "weight": 16777216.0, "ratio": 1e300, "picture": b"",
        "flags": 0, "kind": "small", "marks": "", "made": date(1000, 1, 1),
        "sold": datetime(2021, 12, 20), "changed": datetime(1970, 1, 1, 0, 0, 1),
        "lasts": timedelta(hours=838, minutes=59, seconds=59), "year_of": 1901, "details": '"text"',
        "big": 0, "code": "",
    },
]  # fmt: skip
ITEMS.append(dict.fromkeys(ITEMS[0]) | {"id": 3})
STOCK = [("north", 1, 5), ("north", 2, 7), ("south", 1, 9), ("south", 10, 0)]
SIDE_ROWS = [(1, None), (2, ""), (3, "null"), (4, 'a,b "c"\nd'), (5, "😀")]


def write_files(folder: Path) -> Path:
    """``items`` as Parquet, ``stock`` as JSON lines with numbers, ``notes`` as CSV."""
    folder.mkdir()
    columns = {name: [row[name] for row in ITEMS] for name in ITEMS[0]}
    columns["lasts"] = ["-12:00:01", "838:59:59", None]
    columns["big"] = [Decimal(value) if value is not None else None for value in columns["big"]]
    columns["changed"] = [value and value.replace(tzinfo=UTC) for value in columns["changed"]]
    pq.write_table(pa.table(columns), folder / "shop.items.parquet")
    lines = [{"place": shelf, "item": item, "pieces": float(count)} for shelf, item, count in STOCK]
    (folder / "stock.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    with (folder / "shop_notes.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
        writer.writerow(("id", "note"))
        for number, note in SIDE_ROWS:
            # The csv module writes NULL and '' the same way.
            file.write(f"{number},\n") if note is None else file.write(f'{number},""\n') if note == "" else (
                writer.writerow((number, note))
            )
    return folder


def sqlite_row(row: dict[str, Any]) -> tuple[Any, ...]:
    """Values that SQLite can store: it has no decimals, times and large integers."""
    return tuple(_sqlite_value(value) for value in row.values())


def _sqlite_value(value: Any) -> Any:
    match value:
        case timedelta():
            return "-12:00:01" if value < timedelta(0) else "838:59:59"
        case date() | time():
            return str(value)
        case Decimal():
            return str(value)
        case int() if value >= 2**63:
            return str(value)
    return value
