"""What this process has read of the large frames of a scenario."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ticdc_producer.scenario.frames.frame_rows import FrameSummary
    from ticdc_producer.scenario.frames.session_rows import LoadedRows


@dataclass
class FrameReadings:
    """The results of reading large frames; a scenario is executed again for the rows at a time.

    :ivar summaries: by the line of the step.
    :ivar rows: by the line of the step, the table and the number of commits.
    """

    summaries: dict[int, FrameSummary] = field(default_factory=dict)
    rows: dict[tuple[int, int, int], LoadedRows] = field(default_factory=dict)
