"""Message sizes of the cases in Craft's documentation: this tool's, TiCDC's, and the published ones."""

from __future__ import annotations

from pathlib import Path

from tests.docs.markdown import code, table
from tests.golden_events import GOLDEN, load_rows
from tests.protocols.golden_messages import load_messages, row_messages
from ticdc_producer.protocols.base import Encoder
from ticdc_producer.protocols.batch_options import CraftOptions, OpenOptions
from ticdc_producer.protocols.craft.encoder import CraftEncoder
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder

FOLDER = GOLDEN / "craft_cases"
CASES = sorted(path.name.split(".")[0] for path in FOLDER.glob("*.events.jsonl"))
ENCODERS: dict[str, Encoder] = {
    "craft.floatfix": CraftEncoder(CraftOptions(batch_by="partition", max_batch_size=64)),
    "open": OpenEncoder(OpenOptions(batch_by="partition", max_batch_size=64)),
}
PUBLISHED = {
    "original_case0": (300, 708, 382, 375),
    "original_case1_2021": (993, 2816, 1528, 1482),
}
"""Sizes of Craft, JSON and two forms of Protocol Buffers, from the documentation of Craft."""


def golden_file(case: str, variant: str) -> Path:
    return FOLDER / f"{case}.{variant}.jsonl"


def golden_size(case: str, variant: str) -> int:
    """Bytes of keys and values that TiCDC wrote."""
    return sum(len(m.key or b"") + len(m.value or b"") for m in load_messages(golden_file(case, variant)))


def our_size(case: str, variant: str) -> int:
    encoder = ENCODERS[variant]
    rows = list(load_rows(FOLDER / f"{case}.events.jsonl"))
    return sum(message.size for message in row_messages(encoder, rows))


def sizes() -> str:
    head = ["case", "rows", "Craft", "Open Protocol", "published: Craft", "JSON", "Protocol Buffers 1", "2"]
    return table(head, [_line(case) for case in CASES])


def _line(case: str) -> list[str]:
    rows = len(list(load_rows(FOLDER / f"{case}.events.jsonl")))
    published = PUBLISHED.get(case, ("", "", "", ""))
    ours = [our_size(case, variant) for variant in ENCODERS]
    return [code(case), str(rows), *(f"{size:,}" for size in ours), *map(str, published)]
