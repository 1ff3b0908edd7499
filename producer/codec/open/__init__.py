"""TiCDC Open Protocol: framed JSON, several row changed events in one message.

Source of the rules: ``tiflow pkg/sink/codec/open``; the bytes of its real encoder are the tests' judge.
"""

from producer.codec.open.decoder import OpenDecoder
from producer.codec.open.encoder import OpenEncoder
from producer.codec.open.options import OpenOptions

__all__ = ["OpenDecoder", "OpenEncoder", "OpenOptions"]
