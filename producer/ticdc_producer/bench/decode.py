"""Speed of the decoders on the messages of the benchmark's rows.

For the JSON protocols a minimal consumer is measured for comparison: ``json.loads`` and access to names,
times and values, without any checks.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

from ticdc_producer.bench.batches import LINES, MIN_ROWS, event_batches
from ticdc_producer.bench.encode import PASSES
from ticdc_producer.model.event import Message
from ticdc_producer.protocols import registry
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder

Reader: TypeAlias = Callable[[bytes, bytes], Iterable[object]]


@dataclass(frozen=True, kw_only=True)
class DecoderSpeed:
    """Microseconds per row on one core, of the best pass.

    :param plain: the same for the minimal consumer; None if the protocol has none.
    """

    us_per_row: float
    plain: float | None


@dataclass(frozen=True)
class DecodeReport:
    """Speed of every decoder on the same rows."""

    rows: int
    decoders: dict[str, DecoderSpeed] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """``{"rows": n, "decoders": {name: {"us_per_row": …, "plain_us_per_row": …}}}``."""
        speeds = {
            name: {
                "us_per_row": round(one.us_per_row, 4),
                "plain_us_per_row": None if one.plain is None else round(one.plain, 4),
            }
            for name, one in self.decoders.items()
        }
        return {"rows": self.rows, "decoders": speeds}


def measure_decoders(path: Path, *, passes: int = PASSES) -> DecodeReport:
    """Measure all decoders on the messages of a file's rows.

    :param path: recorded events; its ``row`` lines are repeated up to ``MIN_ROWS``.
    :raises FolderError: if the file has no row events.
    """
    catalog, batches = event_batches(path, MIN_ROWS)
    report = DecodeReport(sum(batch.num_rows for batch in batches))
    for name, (protocol, line) in LINES.items():
        plan = EncodePlan(protocol=protocol, options=line.options, catalog=catalog)
        messages = list(PartitionEncoder(plan).messages(batches))
        decoder = registry.decoder(protocol, line.options)
        report.decoders[name] = _speed(messages, report.rows, decoder.events, line.minimal, passes)
    return report


def _speed(
    messages: Sequence[Message], rows: int, events: Reader, plain: Reader | None, passes: int
) -> DecoderSpeed:
    """Measure both in alternation, so that a drift of the machine's speed affects both."""
    pairs = [(message.key or b"", message.value or b"") for message in messages]
    decoder_seconds, plain_seconds = [], []
    for _ in range(passes):
        decoder_seconds.append(_seconds(pairs, events))
        if plain is not None:
            plain_seconds.append(_seconds(pairs, plain))
    per_row = 1e6 / rows
    return DecoderSpeed(
        us_per_row=min(decoder_seconds) * per_row,
        plain=min(plain_seconds) * per_row if plain_seconds else None,
    )


def _seconds(pairs: Iterable[tuple[bytes, bytes]], read: Reader) -> float:
    gc.collect()
    start = perf_counter()
    for key, value in pairs:
        deque(read(key, value), 0)
    return perf_counter() - start
