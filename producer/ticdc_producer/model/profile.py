"""The two TiCDC programs: ``classic`` is tiflow, every release up to v8.5; ``new`` is pingcap/ticdc."""

from __future__ import annotations

from typing import Literal, TypeAlias

Profile: TypeAlias = Literal["classic", "new"]
