"""The SQL engine ends as a real TiDB ends: the same statements fail, and the same rows remain.

``tidb_cases/exceptions.toml`` lists the other cases: those that are refused, by a name in the error, and
those that end differently. A case that ends as in TiDB may not be listed.
"""

from __future__ import annotations

import tomllib

import pytest

from tests.scenario.sql.tidb_results import AREAS, CASES, cases_of, outcome_of

EXCEPTIONS = tomllib.loads((CASES / "exceptions.toml").read_text("utf-8"))
REFUSED: dict[str, str] = EXCEPTIONS["refused"]
DIFFERENT: dict[str, str] = EXCEPTIONS.get("different", {})


@pytest.mark.parametrize("area", AREAS)
def test_cases_end_as_in_tidb(area: str) -> None:
    problems = {}
    for case in cases_of(area):
        outcome = outcome_of(case)
        if case.name in REFUSED:
            as_listed = any(REFUSED[case.name] in error for error in outcome.refused)
        elif case.name in DIFFERENT:
            as_listed = bool(outcome.differences) and not outcome.refused
        else:
            as_listed = not outcome.refused and not outcome.differences
        if not as_listed:
            problems[case.name] = outcome
    assert not problems


def test_exceptions_are_cases() -> None:
    names = {case.name for area in AREAS for case in cases_of(area)}
    assert names >= REFUSED.keys() | DIFFERENT.keys()
    assert not REFUSED.keys() & DIFFERENT.keys()
