"""Datasets of Arrow batches, and the two engines that compute them: this process, and Spark."""

from __future__ import annotations

from typing import Literal, TypeAlias

EngineOption: TypeAlias = Literal["auto", "local", "spark"]
ENGINES: tuple[EngineOption, ...] = ("auto", "local", "spark")

SMALL_EVENTS = 100_000
"""Up to this many events, DDL and resolved events of all partitions included, one process is faster."""
SMALL_BYTES = 64 << 20
"""Up to this many bytes of row images."""
