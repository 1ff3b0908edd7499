"""The size of a small amount of work, which one process does."""

from __future__ import annotations

SMALL_EVENTS = 100_000
"""Up to this many events, DDL and resolved events of all partitions included, one process is faster."""
SMALL_BYTES = 64 << 20
"""Up to this many bytes of row images."""
