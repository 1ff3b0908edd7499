"""The public functions, called by the command line and by Python users.

The module of a name is imported when the name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ticdc_producer.runs.decode import decode
    from ticdc_producer.runs.diff import diff
    from ticdc_producer.runs.following.follow import follow
    from ticdc_producer.runs.following.transcode import transcode_growing
    from ticdc_producer.runs.recordings.mask import mask, suggest_rules
    from ticdc_producer.runs.recordings.record import record
    from ticdc_producer.runs.recordings.recording_report import Recording
    from ticdc_producer.runs.recordings.transcode import Transcoding, transcode
    from ticdc_producer.runs.run import run
    from ticdc_producer.runs.run_changes import run_changes
    from ticdc_producer.runs.run_realtime import run_realtime
    from ticdc_producer.runs.run_report import RunReport
    from ticdc_producer.runs.verify import verify
    from ticdc_producer.runs.verify_state import verify_state
    from ticdc_producer.scenario.dataframe import changes, tables
    from ticdc_producer.scenario.scenario import Scenario
    from ticdc_producer.verifier.consumer_state.outcome import StateOutcome
    from ticdc_producer.verifier.history.outcome import HistoryDiff
    from ticdc_producer.verifier.verdict import Verdict

__all__ = [
    "HistoryDiff",
    "Recording",
    "RunReport",
    "Scenario",
    "StateOutcome",
    "Transcoding",
    "Verdict",
    "changes",
    "decode",
    "diff",
    "follow",
    "mask",
    "record",
    "run",
    "run_changes",
    "run_realtime",
    "suggest_rules",
    "tables",
    "transcode",
    "transcode_growing",
    "verify",
    "verify_state",
]

_MODULES = {
    "HistoryDiff": "verifier.history.outcome",
    "Recording": "runs.recordings.recording_report",
    "RunReport": "runs.run_report",
    "Scenario": "scenario.scenario",
    "StateOutcome": "verifier.consumer_state.outcome",
    "Transcoding": "runs.recordings.transcode",
    "Verdict": "verifier.verdict",
    "changes": "scenario.dataframe",
    "decode": "runs.decode",
    "diff": "runs.diff",
    "follow": "runs.following.follow",
    "mask": "runs.recordings.mask",
    "record": "runs.recordings.record",
    "run": "runs.run",
    "run_changes": "runs.run_changes",
    "run_realtime": "runs.run_realtime",
    "suggest_rules": "runs.recordings.mask",
    "tables": "scenario.dataframe",
    "transcode": "runs.recordings.transcode",
    "transcode_growing": "runs.following.transcode",
    "verify": "runs.verify",
    "verify_state": "runs.verify_state",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'ticdc_producer.api' has no attribute {name!r}")
    return getattr(import_module(f"ticdc_producer.{_MODULES[name]}"), name)
