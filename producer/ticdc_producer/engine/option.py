"""The name of an engine as commands and functions take it."""

from __future__ import annotations

from typing import Literal, TypeAlias

EngineOption: TypeAlias = Literal["auto", "local", "spark"]
ENGINES: tuple[EngineOption, ...] = ("auto", "local", "spark")
