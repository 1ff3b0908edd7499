"""A run that is too large for the service is refused with the limit that it exceeds."""

from __future__ import annotations

import json

import pytest

from ticdc_producer.engine import SMALL_BYTES, SMALL_EVENTS
from ticdc_producer.errors import RefusedRequest
from ticdc_producer.scenario.parse import parse_scenario
from ticdc_producer.serve.settings import Limits
from ticdc_producer.serve.tasks.limits import first_excess, size_check
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare

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
    assert (excess.size.endswith(size), excess.limit) == (True, limit)


def test_a_small_run_exceeds_no_limit(job: Job) -> None:
    assert first_excess(job, Limits()) is None


def _job(scenario: dict[str, object], protocol: str = "open-protocol") -> Job:
    text = json.dumps({"version": 1, **scenario}).encode()
    return prepare(parse_scenario(text, "x.yaml"), sink_uri=f"kafka://k:1/t?protocol={protocol}")


TWO_ROWS = "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)"


@pytest.mark.parametrize(("every", "events"), [("10h", 72_000_000), ("1s", 2000)])
def test_resolved_events_between_commits_count(every: str, events: int) -> None:
    clock = {"clock": {"every": every}, "resolved": {"every": "1ms"}}
    job = _job({**clock, "steps": [{"sql": TWO_ROWS}]}, "open-protocol&partition-num=1")
    excess = first_excess(job, Limits(events=events))
    assert excess is not None
    assert events < int(excess.size.split()[0]) < events + 20
    assert first_excess(job, Limits(events=events + 20, stream_bytes=1 << 40)) is None


WIDE = f"CREATE TABLE t (id INT PRIMARY KEY, {', '.join(f'c{number} INT' for number in range(900))})"


def test_wide_rows_of_nulls_count() -> None:
    """Their images have few bytes; their messages name all columns, and those of Debezium describe them."""
    rows = "INSERT INTO t (id) VALUES " + ", ".join(f"({number})" for number in range(100))
    job = _job({"steps": [{"sql": WIDE}, {"sql": rows}]}, "debezium")
    excess = first_excess(job, Limits(stream_bytes=10_000_000))
    assert excess is not None
    assert excess.size.endswith(" bytes of messages")
    assert first_excess(job, Limits(stream_bytes=30_000_000)) is None


def test_the_text_of_ddls_counts_once_per_partition() -> None:
    ddl = f"CREATE TABLE t (id INT PRIMARY KEY COMMENT '{'x' * 1000}')"
    job = _job({"steps": [{"sql": ddl}]}, "open-protocol&partition-num=64")
    excess = first_excess(job, Limits(stream_bytes=64_000))
    assert excess is not None
    assert excess.size.endswith(" bytes of messages")


ROW = "(%d, REPEAT('a', 1000))"
BLOBS = "CREATE TABLE t (id INT PRIMARY KEY, c LONGBLOB);\n"
STATEMENTS = "".join(f"INSERT INTO t VALUES {ROW % number};\n" for number in range(40))
LARGE = {
    "statements": STATEMENTS,
    "one transaction": f"BEGIN; {STATEMENTS} COMMIT",
    "one statement": f"INSERT INTO t VALUES {', '.join(ROW % number for number in range(40))}",
    "updates": f"INSERT INTO t VALUES {ROW % 1}; {'UPDATE t SET c = REVERSE(CONCAT(c, id)); ' * 40}",
}


@pytest.mark.parametrize("sql", LARGE.values(), ids=LARGE)
def test_sql_ends_at_the_bytes_of_its_rows(sql: str) -> None:
    limits = Limits(image_bytes=5000)
    scenario = parse_scenario(f"{BLOBS}{sql}".encode(), "large.sql")
    with pytest.raises(RefusedRequest, match="the run has more than 5000 bytes of row images") as refusal:
        prepare(scenario, check_size=size_check("large.sql", limits))
    assert refusal.value.where in ("large.sql:2", "large.sql:6")
    assert "use ticdc-producer run" in refusal.value.hint
    assert prepare(scenario, check_size=size_check("large.sql", Limits())).history.row_changes >= 40


def test_sql_ends_at_the_number_of_its_row_changes() -> None:
    doubled = "INSERT INTO t (c) SELECT c FROM t;" * 40
    sql = (
        f"CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, c INT); INSERT INTO t (c) VALUES (1); {doubled}"
    )
    with pytest.raises(RefusedRequest, match="the run has more than 100 row changes"):
        prepare(
            parse_scenario(sql.encode(), "x.sql"), check_size=size_check("x.sql", Limits(row_changes=100))
        )


def test_changes_that_are_rolled_back_do_not_count() -> None:
    undone = "BEGIN; INSERT INTO t VALUES (1), (2), (3); ROLLBACK;" * 10
    sql = f"CREATE TABLE t (id INT PRIMARY KEY); {undone} INSERT INTO t VALUES (1), (2), (3)"
    check = size_check("x.sql", Limits(row_changes=3))
    assert prepare(parse_scenario(sql.encode(), "x.sql"), check_size=check).history.row_changes == 3


def test_the_service_runs_only_what_one_process_does_fast() -> None:
    assert (Limits().events, Limits().image_bytes) == (SMALL_EVENTS, SMALL_BYTES)
