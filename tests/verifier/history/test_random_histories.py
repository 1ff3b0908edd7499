"""Random histories: equal to themselves after any legal trap, different after an illegal one."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.runs.features import Row
from tests.runs.test_same_history import TABLES, Transaction, histories, of_sql
from tests.verifier.history.sides import compared, job_of, side_of
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.runs.verify_options import verify_options
from ticdc_producer.simulate.job import Job
from ticdc_producer.verifier.check import check_messages
from ticdc_producer.verifier.history.sides import HistorySide
from ticdc_producer.verifier.options import Strictness

PROTOCOLS = ("open-protocol", "canal-json, extension", "simple", "debezium", "maxwell", "avro", "craft")
LEGAL = (
    "replay-suffix",
    "replay-one-table:times=2",
    "duplicate-event:rate=0.5",
    "duplicate-message:rate=0.5",
    "regrouped-batches:rate=1",
)
ILLEGAL = ("lost-row", "reordered-key", "changed-duplicate")
EXACT = ("open-protocol", "canal-json, extension", "simple", "craft")


@settings(max_examples=settings().max_examples // 5)
@given(
    create=st.sampled_from(TABLES),
    history=histories(),
    trap=st.sampled_from(LEGAL),
    protocols=st.tuples(st.sampled_from(PROTOCOLS), st.sampled_from(PROTOCOLS)),
)
def test_a_history_equals_itself_after_a_legal_trap(
    create: str, history: list[Transaction], trap: str, protocols: tuple[str, str]
) -> None:
    trap_name = trap.partition(":")[0]
    scenario = of_sql(create, history)
    first, second = protocols
    assume(trap_name != "regrouped-batches" or first in ("open-protocol", "craft", "maxwell"))
    a = side_of(job_of(scenario, first, partitions=3, traps=[trap]))
    b = side_of(job_of(scenario, second, partitions=2))
    diff = compared(a, b)
    assert [table.examples for table in diff.tables if not table.ok] == []
    assert diff.equal


@settings(max_examples=settings().max_examples // 5)
@given(
    create=st.sampled_from(TABLES[:3]),
    history=histories(),
    trap=st.sampled_from(ILLEGAL),
    protocol=st.sampled_from(EXACT),
)
def test_a_history_differs_from_itself_after_an_illegal_trap_that_the_verifier_reports(
    create: str, history: list[Transaction], trap: str, protocol: str
) -> None:
    scenario = of_sql(create, [*history, *updates_of_a_row(len(history))])
    job = job_of(scenario, protocol, partitions=3, traps=[trap])
    faulty = side_of(job)
    assume(reports_errors(job, faulty))
    correct = side_of(job_of(scenario, protocol, partitions=3))
    assert not compared(correct, faulty).equal
    assert not compared(side_of(job_of(scenario, "debezium")), faulty).equal


def updates_of_a_row(number: int) -> list[Transaction]:
    """An INSERT and three UPDATEs of one row, which each of the traps can meet."""
    prices = ("0.00", "1.50", "9999.99", "0.00")
    images: list[Row | None] = [None, *({"id": 100, "v": "a100", "n": price} for price in prices)]
    return [[(number + step, before, after)] for step, (before, after) in enumerate(pairwise(images))]


def reports_errors(job: Job, side: HistorySide) -> bool:
    topics = job.stream.topic_partitions.topics
    options = verify_options(job.changefeed, side.fidelity, topics, Strictness(from_beginning=True), job)
    checked = check_messages(LocalEngine(), side.messages, side.decode, options)
    return any(finding.severity == "error" for finding in checked.findings)
