"""Campaigns: wrong consumers are found, and their histories cut to a few statements; right ones survive."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conformance.fuzz.in_process import InProcess, Respond
from tests.conformance.fuzz.reference import Streaming, consumer
from tests.conformance.fuzz.wrong import WRONG, WrongConsumer
from ticdc_producer.conformance.case_spec import Level
from ticdc_producer.conformance.delivery import ORDERS
from ticdc_producer.conformance.fuzz.campaign import CampaignLimits, Report, run_campaign
from ticdc_producer.conformance.fuzz.example import FuzzExample
from ticdc_producer.conformance.fuzz.protocols import PROTOCOLS
from ticdc_producer.conformance.fuzz.shrink import first_wrong
from ticdc_producer.conformance.fuzz.stream import Settings
from ticdc_producer.conformance.fuzz.testee import Process
from ticdc_producer.conformance.wire import Answer, ApplyRequest, Request

FOUND_HERE = (
    FuzzExample(
        sql=(
            "CREATE TABLE test.t (k DATE, PRIMARY KEY (k) NONCLUSTERED)",
            "INSERT INTO test.t VALUES ('9999-12-31'), ('1969-12-31')",
            "BEGIN",
            "UPDATE test.t SET k = '2000-01-01' WHERE k = '1969-12-31'",
            "UPDATE test.t SET k = '1969-12-31' WHERE k = '9999-12-31'",
            "COMMIT",
        ),
        protocol="canal-json",
        options={"enable-tidb-extension": True, "output-raw-change-event": True},
    ),
    FuzzExample(
        sql=(
            "CREATE TABLE test.u (k INT, v1 TIMESTAMP, PRIMARY KEY (k))",
            "INSERT INTO test.u VALUES (5, '1970-01-01 00:00:01')",
        ),
        protocol="debezium",
        options={"enable-tidb-extension": True, "output-ddl": True, "time-zone": "America/New_York"},
    ),
)
"""Histories that random examples found here: a chain of raw key updates, and a wall time before 1970."""
SAMPLE = shlex.join([sys.executable, str(Path(__file__).parents[3] / "examples" / "testee_python_apply.py")])


def campaign(respond: Respond, seed: int, examples: int, regressions: Sequence[FuzzExample] = ()) -> Report:
    settings = Settings(seed=seed, protocols=PROTOCOLS)
    return run_campaign(
        InProcess(respond), settings, CampaignLimits(examples=examples), regressions=regressions
    )


def wrong(name: str) -> WrongConsumer:
    return next(consumer for consumer in WRONG if consumer.name == name)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(consumer(), id="sorts all", marks=pytest.mark.slow),
        pytest.param(consumer(Streaming), id="streams"),
    ],
)
def test_the_reference_consumer_survives(make: Respond) -> None:
    report = campaign(make, seed=1, examples=30, regressions=FOUND_HERE)
    assert report.failure is None
    assert (report.regressions, report.examples, report.skipped) == (2, 30, [])
    assert report.cases > 300
    survived = report.steering.as_json()
    traps = [sum(bool(count) for count in survived[protocol]["traps"].values()) for protocol in PROTOCOLS]
    assert all(traps)
    assert sum(traps) > 5 * len(PROTOCOLS)
    assert set(survived["orders"]) == set(ORDERS)


@pytest.mark.parametrize(
    "name",
    [
        "drops rows below a received resolved-ts",
        "first row of a message",
    ],  # those that few histories reveal are in the slow tier
)
def test_a_wrong_consumer_is_found(name: str) -> None:
    report = campaign(wrong(name).respond, seed=1, examples=100)
    assert report.failure is not None
    assert report.failure.smallest.statements <= 5
    assert report.failure.smallest.statements <= report.failure.original.statements
    again = asyncio.run(first_wrong(InProcess(wrong(name).respond), report.failure.smallest))
    assert again is not None
    assert report.failure.wrong.reasons == again.reasons
    assert asyncio.run(first_wrong(InProcess(consumer()), report.failure.smallest)) is None


def test_the_wrong_consumers_come_from_users_threads() -> None:
    assert len(WRONG) >= 20
    assert sum(bool(consumer.source) for consumer in WRONG) >= 10
    assert len({consumer.name for consumer in WRONG}) == len(WRONG)


def test_a_failure_of_an_earlier_run_comes_first() -> None:
    report = campaign(wrong("keeps the old key").respond, seed=1, examples=5, regressions=FOUND_HERE)
    assert report.failure is not None
    assert (report.failure.number, report.examples) == (0, 0)


def test_a_protocol_that_the_testee_skips_is_left_out() -> None:
    right = consumer()

    def respond(request: Request | ApplyRequest) -> Answer:
        if request.protocol != "craft":
            return Answer(case=request.case, skipped="not implemented")
        return right(request)

    report = campaign(respond, seed=3, examples=40)
    assert set(report.skipped) == set(PROTOCOLS) - {"craft"}
    assert report.examples == 40
    assert report.steering.survived.total() > 0


def test_a_testee_without_any_protocol_ends_the_campaign() -> None:
    report = campaign(lambda request: Answer(case=request.case, skipped="none"), seed=1, examples=500)
    assert set(report.skipped) == set(PROTOCOLS)
    assert report.examples < 50


def test_a_crash_is_a_failure() -> None:
    def respond(request: Request | ApplyRequest) -> Answer:
        raise ZeroDivisionError("out of cheese")

    report = campaign(respond, seed=1, examples=1)
    assert report.failure is not None
    assert report.failure.wrong.reasons == ("ZeroDivisionError: out of cheese",)
    assert report.failure.smallest.statements == 1


def test_only_one_level() -> None:
    levels = set[str]()

    def respond(request: Request | ApplyRequest) -> Answer:
        levels.add(request.level)
        return consumer()(request)

    settings = Settings(seed=1, protocols=PROTOCOLS, levels=(Level.APPLY,))
    run_campaign(InProcess(respond), settings, CampaignLimits(examples=20))
    assert levels == {"apply"}


def test_the_report_has_the_time_in_which_the_testee_had_nothing_to_do() -> None:
    settings = Settings(seed=1, protocols=["canal-json"])
    report = run_campaign(Process(SAMPLE, 30), settings, CampaignLimits(examples=5))
    assert report.failure is None
    assert 0 < report.idle < report.exchange < report.seconds
    single = run_campaign(Process(SAMPLE, 30), settings, CampaignLimits(examples=1))
    assert single.idle == 0  # nothing came after its only request


@pytest.mark.slow
@pytest.mark.parametrize("wrong_consumer", WRONG, ids=lambda wrong_consumer: wrong_consumer.name)
def test_every_wrong_consumer_is_found(wrong_consumer: WrongConsumer) -> None:
    report = campaign(wrong_consumer.respond, seed=1, examples=2000)
    assert report.failure is not None
    assert report.failure.smallest.statements <= 8


@pytest.mark.slow
def test_the_reference_consumer_survives_a_thousand_examples() -> None:
    report = campaign(consumer(), seed=2, examples=1000)
    assert report.failure is None
    survived = report.steering.as_json()
    assert [
        name for protocol in PROTOCOLS for name, count in survived[protocol]["traps"].items() if not count
    ] == []
