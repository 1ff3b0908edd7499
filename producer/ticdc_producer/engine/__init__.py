"""Datasets of Arrow batches, and the two engines that compute them: this process, and Spark."""

from __future__ import annotations

from typing import Literal, TypeAlias

EngineOption: TypeAlias = Literal["auto", "local", "spark"]
ENGINES: tuple[EngineOption, ...] = ("auto", "local", "spark")
