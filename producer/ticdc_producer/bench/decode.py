"""How fast the decoders are: the messages of the benchmark's rows, and the events that come out of them.

Beside the JSON protocols stands the plain way, which is what a consumer of a few lines does: ``json.loads``
and picking names, times and values, without a look at whether they are right.
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

from ticdc_producer.bench.batches import ENCODERS, LEAST_ROWS, event_batches
from ticdc_producer.bench.encode import PASSES
from ticdc_producer.model.event import Message
from ticdc_producer.protocols import registry
from ticdc_producer.targets.encoding.encode import EncodePlan, PartitionEncoder

Reader: TypeAlias = Callable[[bytes, bytes], Iterable[object]]
_LENGTH = 8


def _plain_open_protocol(key: bytes, value: bytes) -> list[tuple[Any, ...]]:
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


def _plain_canal_json(_key: bytes, value: bytes) -> list[tuple[Any, ...]]:
    row = json.loads(value)
    return [
        (row["database"], row["table"], row["type"], row["es"], row["data"], row["old"], row["mysqlType"])
    ]


def _plain_debezium(_key: bytes, value: bytes) -> list[tuple[Any, ...]]:
    row = json.loads(value)["payload"]
    source = row["source"]
    return [(source["db"], source["table"], row["op"], source["commit_ts"], row.get("before"), row["after"])]


def _plain_simple(_key: bytes, value: bytes) -> list[tuple[Any, ...]]:
    row = json.loads(value)
    if "data" not in row and "old" not in row:
        return []
    return [(row["database"], row["table"], row["type"], row["commitTs"], row.get("data"), row.get("old"))]


_PLAIN: Mapping[str, Reader] = {
    "open-protocol": _plain_open_protocol,
    "canal-json": _plain_canal_json,
    "debezium": _plain_debezium,
    "simple": _plain_simple,
}


@dataclass(frozen=True, kw_only=True)
class DecoderSpeed:
    """Microseconds per row on one core, of the best pass.

    :param plain: of the plain way, None where a protocol has none.
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

    :param path: recorded events; its ``row`` lines are taken round and round.
    :raises FolderError: if there are none.
    """
    catalog, batches = event_batches(path, LEAST_ROWS)
    report = DecodeReport(sum(batch.num_rows for batch in batches))
    for name, (protocol, options) in ENCODERS.items():
        plan = EncodePlan(protocol=protocol, options=options, catalog=catalog)
        messages = list(PartitionEncoder(plan).messages(batches))
        decoder = registry.decoder(protocol, options)
        report.decoders[name] = _speed(messages, report.rows, decoder.events, _PLAIN.get(protocol), passes)
    return report


def _speed(
    messages: Sequence[Message], rows: int, events: Reader, plain: Reader | None, passes: int
) -> DecoderSpeed:
    """Both ways in turn, so that a drift of the machine meets both."""
    pairs = [(message.key or b"", message.value or b"") for message in messages]
    ours, others = [], []
    for _ in range(passes):
        ours.append(_seconds(pairs, events))
        if plain is not None:
            others.append(_seconds(pairs, plain))
    per_row = 1e6 / rows
    return DecoderSpeed(us_per_row=min(ours) * per_row, plain=min(others) * per_row if others else None)


def _seconds(pairs: Iterable[tuple[bytes, bytes]], read: Reader) -> float:
    gc.collect()
    start = perf_counter()
    for key, value in pairs:
        deque(read(key, value), 0)
    return perf_counter() - start
