"""Version and length fields of Open Protocol's frames: 8 bytes, big-endian."""

from __future__ import annotations

from struct import Struct

LENGTH = Struct(">Q")
VERSION = LENGTH.pack(1)
