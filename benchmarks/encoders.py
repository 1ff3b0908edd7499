"""Our encoders compared with TiCDC's: CPU time per row of ``bench encode`` relative to the Go encoder.

TiCDC's encoders (Go, one core) were measured on the same rows on another machine. Their times are scaled to
this machine by an anchor that was measured on both: ``json.dumps`` of the same rows in the shape of
Canal-JSON and of Open Protocol. It is measured here in the same run, before and after; Debezium, Craft and
Simple are scaled by the anchor of Canal-JSON. TiCDC's encoders of Maxwell and Canal were not measured; ours
are compared with that anchor itself.

    python benchmarks/encoders.py --json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

from ticdc_producer.bench.batches import RecordedRow, recorded_rows
from ticdc_producer.bench.speed import measure_encoders

ROWS = Path(__file__).parents[1] / "tests" / "golden" / "bench"
# Rows and operation → TiCDC's µs per row by encoder, and the anchors on the machine of that measurement.
TICDC = {
    ("t1", "insert"): ((1.671, 0.839, 0.334, 4.356, 0.904, 1.201), (2.52, 3.55)),
    ("sysbench", "insert"): ((2.146, 1.305, 0.628, 5.141, 1.102, 1.735), (3.96, 4.40)),
    ("sysbench", "update"): ((3.896, 1.571, 0.976, 5.285, 1.344, 2.767), (6.60, 5.16)),
    ("mixed", "insert"): ((9.049, 6.028, 2.361, 12.082, 5.291, 6.864), (14.5, 10.4)),
}
ENCODERS = ("open-protocol", "canal-json", "craft", "debezium", "debezium-disable-schema", "simple")
BESIDE_JSON = ("maxwell", "canal")
"""Encoders whose figure is their time relative to ``json.dumps`` of the same rows."""
WANTED = {
    "open-protocol": 0.4, "canal-json": 0.7, "craft": 1.5, "debezium": 0.4, "debezium-disable-schema": 0.7,
    "simple": 0.7,
}  # fmt: skip
_SECONDS, _REPEATS = 0.3, 7


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("latin-1")


def _canal_json(row: RecordedRow) -> Any:
    names = [column.name for column in row.table.sent_columns]

    def image(values: Sequence[bytes | None] | None) -> Any:
        return None if values is None else [dict(zip(names, map(_text, values), strict=True))]

    return {
        "id": 0, "database": row.table.schema, "table": row.table.name, "pkNames": row.handle_key_columns,
        "isDdl": False, "type": row.op.name, "es": row.commit_ts >> 18, "ts": 946684800000, "sql": "",
        "sqlType": dict.fromkeys(names, 4),
        "mysqlType": {column.name: column.type_name for column in row.table.sent_columns},
        "old": image(row.before), "data": image(row.image),
    }  # fmt: skip


def _open_protocol(row: RecordedRow) -> Any:
    columns = list(zip(row.table.sent_columns, row.table.sent_flags, strict=True))

    def image(values: Sequence[bytes | None]) -> Any:
        return {
            column.name: {"t": int(column.type), "h": True, "f": flag, "v": _text(value)}
            for (column, flag), value in zip(columns, values, strict=True)
        }

    images = {} if row.after is None else {"u": image(row.after)}
    return images if row.before is None else {**images, "p" if row.after else "d": image(row.before)}


def anchor(rows: Sequence[RecordedRow], shape: Callable[[RecordedRow], Any]) -> float:
    """Best µs of CPU time per row of ``json.dumps``."""
    plain = [shape(row) for row in rows]
    best = float("inf")
    for _ in range(_REPEATS):
        done, start = 0, process_time()
        while process_time() - start < _SECONDS:
            for message in plain:
                json.dumps(message, separators=(",", ":"), ensure_ascii=False)
            done += len(plain)
        best = min(best, (process_time() - start) / done * 1e6)
    return best


def ratios(name: str) -> dict[str, dict[str, float]]:
    """Encoder → µs per row on this machine, bytes per row, and the ratio to TiCDC's encoder or to JSON."""
    path = ROWS / f"{name}.events.jsonl"
    rows = list(recorded_rows(path))
    operations = sorted({row.op.label for row in rows})
    parts = {op: [row for row in rows if row.op.label == op] for op in operations}
    before = {op: (anchor(part, _open_protocol), anchor(part, _canal_json)) for op, part in parts.items()}
    measured = measure_encoders(path).encoders
    after = {op: (anchor(part, _open_protocol), anchor(part, _canal_json)) for op, part in parts.items()}
    by_encoder = {}
    for index, encoder in enumerate(ENCODERS):
        kind = 0 if encoder == "open-protocol" else 1
        scaled = mean(
            TICDC[name, op][0][index] * min(before[op][kind], after[op][kind]) / TICDC[name, op][1][kind]
            for op in operations
        )
        speed = measured[encoder]
        by_encoder[encoder] = {
            "us_per_row": round(speed.us_per_row, 3),
            "bytes_per_row": round(speed.bytes_per_row, 1),
            "ratio": round(speed.us_per_row / scaled, 3),
        }
    dumps = mean(min(before[op][1], after[op][1]) for op in operations)
    for encoder in BESIDE_JSON:
        speed = measured[encoder]
        by_encoder[encoder] = {
            "us_per_row": round(speed.us_per_row, 3),
            "bytes_per_row": round(speed.bytes_per_row, 1),
            "beside_json": round(speed.us_per_row / dumps, 3),
        }
    return by_encoder


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    names = sorted({name for name, _ in TICDC})
    load = os.getloadavg()[0]
    rows = {name: ratios(name) for name in names}
    if arguments.json:
        machine = {"cores": os.cpu_count(), "python": platform.python_version(), "load": load}
        print(json.dumps({"machine": machine, "rows": rows}, indent=2))
        return
    print(f"load {load:.1f}; ratio to TiCDC's encoder (wanted)")
    for name in names:
        for encoder, speed in rows[name].items():
            figures = f"{speed['us_per_row']:8.2f} µs  "
            if "ratio" in speed:
                figures += f"ratio {speed['ratio']:5.2f} ({WANTED[encoder]})"
            else:
                figures += f"json.dumps {speed['beside_json']:5.2f}"
            print(f"{name:<10} {encoder:<24} {figures}")


if __name__ == "__main__":
    main()
