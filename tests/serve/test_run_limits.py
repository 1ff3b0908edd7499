"""A run that is too large for the service is refused with the limit that it exceeds."""

from __future__ import annotations

import pytest

from ticdc_producer.engine.choose import SMALL_BYTES, SMALL_EVENTS
from ticdc_producer.scenario.load import parse_scenario
from ticdc_producer.serve.settings import Limits
from ticdc_producer.serve.work import first_excess
from ticdc_producer.simulate.job import Job, prepare

SQL = b"""CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));
INSERT INTO t VALUES (1, 'lamp'), (2, 'chair');
"""


@pytest.fixture(scope="module")
def job() -> Job:
    return prepare(parse_scenario(SQL, "small.sql"))


@pytest.mark.parametrize(
    ("limits", "size", "limit"),
    [
        (Limits(row_changes=1), "2 row changes", "1 row changes"),
        (Limits(events=1), " events", "1 events"),
        (Limits(image_bytes=9), " bytes of row images", "9 bytes of row images"),
        (Limits(row_changes=1, events=1), "2 row changes", "1 row changes"),
    ],
)
def test_the_limit_that_is_exceeded_is_named(job: Job, limits: Limits, size: str, limit: str) -> None:
    excess = first_excess(job, limits)
    assert excess is not None
    assert (excess[0].endswith(size), excess[1]) == (True, limit)


def test_a_small_run_exceeds_no_limit(job: Job) -> None:
    assert first_excess(job, Limits()) is None


def test_the_service_runs_only_what_one_process_does_fast() -> None:
    assert (Limits().events, Limits().image_bytes) == (SMALL_EVENTS, SMALL_BYTES)
