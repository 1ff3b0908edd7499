"""Speed of the encoders and decoders on the rows of a benchmark file, which are repeated.

Encoders run on the same path as in a Spark worker: Arrow batches in, messages out. The time of
``PartitionEncoder.messages`` is measured, after a first pass in which plans are compiled. Decoders run on
these messages; for the JSON protocols a minimal consumer is measured for comparison: ``json.loads`` and
access to names, times and values, without any checks.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import TypeAlias

import pyarrow as pa

from ticdc_producer.bench.batches import LINES, MIN_ROWS, event_batches
from ticdc_producer.model.event import Message
from ticdc_producer.protocols import registry
from ticdc_producer.targets.encode import EncodePlan, PartitionEncoder

PASSES = 5


@dataclass(frozen=True, kw_only=True)
class EncoderSpeed:
    """The speed of one encoder.

    :param us_per_row: microseconds of CPU time, of the best pass.
    :param bytes_per_row: bytes of keys and values.
    """

    us_per_row: float
    bytes_per_row: float


@dataclass(frozen=True)
class EncodeReport:
    """Speed of every encoder on the same rows."""

    rows: int
    encoders: dict[str, EncoderSpeed] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return ``{"rows": n, "encoders": {name: {"us_per_row": …, "bytes_per_row": …}}}``."""
        speeds = {
            name: {"us_per_row": round(speed.us_per_row, 4), "bytes_per_row": round(speed.bytes_per_row, 2)}
            for name, speed in self.encoders.items()
        }
        return {"rows": self.rows, "encoders": speeds}


def measure_encoders(path: Path, *, passes: int = PASSES, min_rows: int = MIN_ROWS) -> EncodeReport:
    """Measure all encoders on the rows of a file.

    :param path: recorded events.
    :param min_rows: the ``row`` lines are repeated up to this number.
    :raises FolderError: if the file has no row events.
    """
    catalog, batches = event_batches(path, min_rows)
    rows = sum(batch.num_rows for batch in batches)
    return EncodeReport(
        rows=rows,
        encoders={
            name: _encoder_speed(
                EncodePlan(protocol=protocol, options=line.options, catalog=catalog), batches, passes
            )
            for name, (protocol, line) in LINES.items()
        },
    )


def _encoder_speed(plan: EncodePlan, batches: Sequence[pa.RecordBatch], passes: int) -> EncoderSpeed:
    rows = sum(batch.num_rows for batch in batches)
    sizes = sum(message.size for message in PartitionEncoder(plan).messages(batches))
    registry.encoder(plan.protocol, plan.options)  # imports modules that the encoder loads lazily
    best = min(_encoder_seconds(plan, batches) for _ in range(passes))
    return EncoderSpeed(us_per_row=best / rows * 1e6, bytes_per_row=sizes / rows)


def _encoder_seconds(plan: EncodePlan, batches: Sequence[pa.RecordBatch]) -> float:
    gc.collect()
    start = process_time()
    for _ in PartitionEncoder(plan).messages(batches):
        pass
    return process_time() - start


Reader: TypeAlias = Callable[[bytes, bytes], Iterable[object]]


@dataclass(frozen=True, kw_only=True)
class DecoderSpeed:
    """Microseconds of CPU time per row, of the best pass.

    :param plain: the same for the minimal consumer; None if the protocol has none.
    """

    us_per_row: float
    plain: float | None


@dataclass(frozen=True)
class DecodeReport:
    """Speed of every decoder on the same rows."""

    rows: int
    decoders: dict[str, DecoderSpeed] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return ``{"rows": n, "decoders": {name: {"us_per_row": …, "plain_us_per_row": …}}}``."""
        speeds = {
            name: {
                "us_per_row": round(speed.us_per_row, 4),
                "plain_us_per_row": None if speed.plain is None else round(speed.plain, 4),
            }
            for name, speed in self.decoders.items()
        }
        return {"rows": self.rows, "decoders": speeds}


def measure_decoders(path: Path, *, passes: int = PASSES, min_rows: int = MIN_ROWS) -> DecodeReport:
    """Measure all decoders on the messages of a file's rows.

    :param path: recorded events.
    :param min_rows: the ``row`` lines are repeated up to this number.
    :raises FolderError: if the file has no row events.
    """
    catalog, batches = event_batches(path, min_rows)
    report = DecodeReport(sum(batch.num_rows for batch in batches))
    for name, (protocol, line) in LINES.items():
        plan = EncodePlan(protocol=protocol, options=line.options, catalog=catalog)
        messages = list(PartitionEncoder(plan).messages(batches))
        decoder = registry.decoder(protocol, line.options)
        report.decoders[name] = _decoder_speed(messages, report.rows, decoder.events, line.minimal, passes)
    return report


def _decoder_speed(
    messages: Sequence[Message], rows: int, events: Reader, plain: Reader | None, passes: int
) -> DecoderSpeed:
    """Measure both in alternation, so that a drift of the machine's speed affects both."""
    pairs = [(message.key or b"", message.value or b"") for message in messages]
    decoder_seconds, plain_seconds = [], []
    for _ in range(passes):
        decoder_seconds.append(_decoder_seconds(pairs, events))
        if plain is not None:
            plain_seconds.append(_decoder_seconds(pairs, plain))
    per_row = 1e6 / rows
    return DecoderSpeed(
        us_per_row=min(decoder_seconds) * per_row,
        plain=min(plain_seconds) * per_row if plain_seconds else None,
    )


def _decoder_seconds(pairs: Iterable[tuple[bytes, bytes]], read: Reader) -> float:
    gc.collect()
    start = process_time()
    for key, value in pairs:
        deque(read(key, value), 0)
    return process_time() - start
