"""The two TiCDC programs: ``classic`` is tiflow, in releases up to v8.5; ``new`` is the new architecture,
pingcap/ticdc."""

from __future__ import annotations

from typing import Literal, TypeAlias

Profile: TypeAlias = Literal["classic", "new"]
