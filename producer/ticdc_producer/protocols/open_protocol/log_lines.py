"""Messages as TiCDC's documentation prints them: one event per line, key and value unframed and quoted.

Compressed values are printed decompressed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ticdc_producer.protocols import go_quote
from ticdc_producer.protocols.compression import Decompressor
from ticdc_producer.protocols.open_protocol.frame_reader import FrameReader


def log_lines(partition: int, key: bytes, value: bytes) -> Iterator[str]:
    """``[partition=P] [key="…"] [value="…"]`` of every event of a message.

    :raises DecodeError: for a truncated frame.
    """
    keys, values, decompressor = FrameReader("key", key), FrameReader("value", value), Decompressor()
    keys.version()
    while not keys.at_end:
        json, content = keys.next(), b"" if values.at_end else values.next()
        text = _quoted(decompressor.text(content, "value")) if content else ""
        yield f"[partition={partition}] [key={_quoted(json)}] [value={text}]"


def _quoted(json: bytes) -> str:
    return f'"{go_quote.quote(json).decode()}"'
