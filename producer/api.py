"""What the command line and Python users call."""

from __future__ import annotations

from producer.jobs.decode import decode
from producer.jobs.run import run
from producer.jobs.run_changes import run_changes
from producer.jobs.run_paced import run_paced
from producer.jobs.run_report import RunReport
from producer.jobs.verify import verify
from producer.jobs.verify_state import verify_state
from producer.scenario.dataframe import changes, tables
from producer.state.outcome import StateOutcome
from producer.verifier.verdict import Verdict

__all__ = [
    "RunReport",
    "StateOutcome",
    "Verdict",
    "changes",
    "decode",
    "run",
    "run_changes",
    "run_paced",
    "tables",
    "verify",
    "verify_state",
]
