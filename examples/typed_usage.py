"""The Python interface with its types: mypy in strict mode accepts this file."""

from __future__ import annotations

import sys
from pathlib import Path

import ticdc_producer


def golden(scenario: str, folder: Path) -> ticdc_producer.RunReport:
    """Write a golden folder of a scenario; errors of the scenario are printed in one line."""
    try:
        return ticdc_producer.run(scenario, out=folder, seed=7, on_status=print)
    except ticdc_producer.ProducerError as error:
        sys.exit(f"{error.where}: {error.what} ({error.hint})")


def findings(folder: Path) -> list[str]:
    """The invariants that a folder violates."""
    verdict: ticdc_producer.Verdict = ticdc_producer.verify(folder=folder)
    return [finding.id for finding in verdict.findings if finding.severity == "error"]


if __name__ == "__main__":
    report = golden("seed_t1", Path("golden/seed_t1"))
    print(report.ok, findings(Path("golden/seed_t1")))
