"""TiCDC Craft: a binary protocol, several events in one message, names as numbers of a dictionary.

Source of the rules: ``tiflow pkg/sink/codec/craft``; the bytes of its real encoder are the tests' judge.
"""

from producer.codec.craft.decoder import CraftDecoder
from producer.codec.craft.encoder import CraftEncoder
from producer.codec.craft.options import CraftOptions

__all__ = ["CraftDecoder", "CraftEncoder", "CraftOptions"]
