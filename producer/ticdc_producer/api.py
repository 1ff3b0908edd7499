"""The public functions, called by the command line and by Python users."""

from __future__ import annotations

from ticdc_producer.runs.decode import decode
from ticdc_producer.runs.run import run
from ticdc_producer.runs.run_changes import run_changes
from ticdc_producer.runs.run_realtime import run_realtime
from ticdc_producer.runs.run_report import RunReport
from ticdc_producer.runs.verify import verify
from ticdc_producer.runs.verify_state import verify_state
from ticdc_producer.scenario.dataframe import changes, tables
from ticdc_producer.verifier.consumer_state.outcome import StateOutcome
from ticdc_producer.verifier.verdict import Verdict

__all__ = [
    "RunReport",
    "StateOutcome",
    "Verdict",
    "changes",
    "decode",
    "run",
    "run_changes",
    "run_realtime",
    "tables",
    "verify",
    "verify_state",
]
