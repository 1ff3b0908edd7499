"""The comparison of a consumer's tables as JUnit XML: a test case per table."""

from __future__ import annotations

from pathlib import Path

from junitparser import TestCase

from ticdc_producer.reports.junit_suite import junit_text, passed_case, set_failed
from ticdc_producer.reports.state_text import table_lines
from ticdc_producer.reports.target import write_text
from ticdc_producer.verifier.consumer_state.outcome import StateOutcome, TableOutcome


def write_state_junit(path: Path, name: str, outcome: StateOutcome) -> None:
    """Write the report.

    :param name: name of the suite.
    :raises ReportError: if the file cannot be written.
    """
    cases = [_case(f"{name}.{outcome.protocol}", table) for table in outcome.tables]
    write_text(path, junit_text(name, cases))


def _case(classname: str, table: TableOutcome) -> TestCase:
    case = passed_case(classname, f"state:{table.table}")
    if not table.ok:
        counts = f"{table.missing} missing, {table.extra} extra, {table.different} different rows"
        set_failed(case, counts if table.actual else "there is no such table", list(table_lines(table)))
    return case
