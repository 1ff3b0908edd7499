"""The results of reading the large frames of a scenario."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ticdc_producer.scenario.frames.frame_rows import FrameSummary
    from ticdc_producer.scenario.frames.session_rows import LoadedRows


@dataclass
class FrameReadings:
    """The results of reading the frame of a step; a scenario is executed again for the rows at a time.

    :ivar summary: None before it was read.
    :ivar rows: by the table and the number of commits.
    """

    summary: FrameSummary | None = None
    rows: dict[tuple[int, int], LoadedRows] = field(default_factory=dict)
