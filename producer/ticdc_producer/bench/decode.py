"""Speed of the decoders on the messages of the benchmark's rows.

For the JSON protocols a minimal consumer is measured for comparison: ``json.loads`` and access to names,
times and values, without any checks.
"""

from __future__ import annotations

import gc
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

from ticdc_producer.bench.batches import ENCODERS, MIN_ROWS, event_batches
from ticdc_producer.bench.encode import PASSES
from ticdc_producer.model.event import Message
from ticdc_producer.protocols import registry
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder

Reader: TypeAlias = Callable[[bytes, bytes], Iterable[object]]
_LENGTH = 8


def _minimal_open_protocol(key: bytes, value: bytes) -> list[tuple[Any, ...]]:
    events, at_key, at_value = [], _LENGTH, 0
    while at_key < len(key):
        key_end = at_key + _LENGTH + int.from_bytes(key[at_key : at_key + _LENGTH], "big")
        value_end = at_value + _LENGTH + int.from_bytes(value[at_value : at_value + _LENGTH], "big")
        head, row = (
            json.loads(key[at_key + _LENGTH : key_end]),
            json.loads(value[at_value + _LENGTH : value_end]),
        )
        new, old = (
            {name: column["v"] for name, column in row.get(image, {}).items()} for image in ("u", "p")
        )
        events.append((head["scm"], head["tbl"], head["ts"], new, old))
        at_key, at_value = key_end, value_end
    return events


def _minimal_canal_json(_key: bytes, value: bytes) -> list[tuple[Any, ...]]:
    row = json.loads(value)
    return [
        (row["database"], row["table"], row["type"], row["es"], row["data"], row["old"], row["mysqlType"])
    ]


def _minimal_debezium(_key: bytes, value: bytes) -> list[tuple[Any, ...]]:
    row = json.loads(value)["payload"]
    source = row["source"]
    return [(source["db"], source["table"], row["op"], source["commit_ts"], row.get("before"), row["after"])]


def _minimal_simple(_key: bytes, value: bytes) -> list[tuple[Any, ...]]:
    row = json.loads(value)
    if "data" not in row and "old" not in row:
        return []
    return [(row["database"], row["table"], row["type"], row["commitTs"], row.get("data"), row.get("old"))]


_MINIMAL: Mapping[str, Reader] = {
    "open-protocol": _minimal_open_protocol,
    "canal-json": _minimal_canal_json,
    "debezium": _minimal_debezium,
    "simple": _minimal_simple,
}


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
    for name, (protocol, options) in ENCODERS.items():
        plan = EncodePlan(protocol=protocol, options=options, catalog=catalog)
        messages = list(PartitionEncoder(plan).messages(batches))
        decoder = registry.decoder(protocol, options)
        report.decoders[name] = _speed(messages, report.rows, decoder.events, _MINIMAL.get(protocol), passes)
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
