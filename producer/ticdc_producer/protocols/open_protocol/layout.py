"""The numbers that frame Open Protocol's messages: 8 bytes, big-endian."""

from __future__ import annotations

from struct import Struct

LENGTH = Struct(">Q")
VERSION = LENGTH.pack(1)
