"""Speed of the encoders on the same path as in a Spark worker: Arrow batches in, messages out.

The rows of a benchmark file are repeated up to ``MIN_ROWS``. The time of ``PartitionEncoder.messages`` is
measured, after a first pass in which plans are compiled.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa

from ticdc_producer.bench.batches import LINES, MIN_ROWS, event_batches
from ticdc_producer.protocols import registry
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder

PASSES = 5


@dataclass(frozen=True, kw_only=True)
class EncoderSpeed:
    """The speed of one encoder.

    :param us_per_row: microseconds on one core, of the best pass.
    :param bytes_per_row: bytes of keys and values.
    """

    us_per_row: float
    bytes_per_row: float


@dataclass(frozen=True)
class EncodeReport:
    """Speed of every encoder on the same rows."""

    rows: int
    encoders: dict[str, EncoderSpeed] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """``{"rows": n, "encoders": {name: {"us_per_row": …, "bytes_per_row": …}}}``."""
        speeds = {
            name: {"us_per_row": round(one.us_per_row, 4), "bytes_per_row": round(one.bytes_per_row, 2)}
            for name, one in self.encoders.items()
        }
        return {"rows": self.rows, "encoders": speeds}


def measure_encoders(path: Path, *, passes: int = PASSES) -> EncodeReport:
    """Measure all encoders on the rows of a file.

    :param path: recorded events; its ``row`` lines are repeated up to ``MIN_ROWS``.
    :raises FolderError: if the file has no row events.
    """
    catalog, batches = event_batches(path, MIN_ROWS)
    rows = sum(batch.num_rows for batch in batches)
    return EncodeReport(
        rows=rows,
        encoders={
            name: _best(EncodePlan(protocol=protocol, options=line.options, catalog=catalog), batches, passes)
            for name, (protocol, line) in LINES.items()
        },
    )


def _best(plan: EncodePlan, batches: Sequence[pa.RecordBatch], passes: int) -> EncoderSpeed:
    rows = sum(batch.num_rows for batch in batches)
    sizes = sum(message.size for message in PartitionEncoder(plan).messages(batches))
    registry.encoder(plan.protocol, plan.options)  # imports modules that the encoder loads lazily
    best = min(_seconds(plan, batches) for _ in range(passes))
    return EncoderSpeed(us_per_row=best / rows * 1e6, bytes_per_row=sizes / rows)


def _seconds(plan: EncodePlan, batches: Sequence[pa.RecordBatch]) -> float:
    gc.collect()
    start = perf_counter()
    for _ in PartitionEncoder(plan).messages(batches):
        pass
    return perf_counter() - start
