"""The verdict on a topic does not depend on the engine that verifies it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from ticdc_producer.engine import EngineOption
from ticdc_producer.kafka.embedded import EmbeddedKafka

OVERRIDES = ["steps[1].generate.transactions=150", "steps[1].generate.rows=50"]
LEGAL = (
    "duplicate-event:rate=0.05", "replay-suffix:rate=0.1", "replay-one-table:rate=0.1",
    "resolved-lag:rate=0.1",
)  # fmt: skip
ILLEGAL = (
    "lost-row:times=2",
    "stale-before-image:times=2",
    "wrong-partition:times=1",
    "lost-message:times=1",
)


@pytest.mark.slow  # fast: test_engines.py
@pytest.mark.parametrize(
    "inject", [pytest.param((), id="no faults"), pytest.param((*LEGAL, *ILLEGAL), id="faults")]
)
def test_the_verdict_is_that_of_one_process(
    spark: SparkSession, kafka: EmbeddedKafka, inject: tuple[str, ...]
) -> None:
    """With its examples, which few tasks read again at their offsets."""
    uri = f"kafka://{kafka.bootstrap}/verified-by-many-{len(inject)}?protocol=open-protocol&partition-num=3"
    ticdc_producer.run("sysbench", sink_uri=uri, overrides=OVERRIDES, inject=inject, verify_output=False)
    verdicts = []
    engines: tuple[EngineOption, ...] = ("local", "spark")
    for engine in engines:
        verdict = ticdc_producer.verify(
            sink_uri=uri,
            scenario="sysbench",
            overrides=OVERRIDES,
            inject=inject,
            from_beginning=True,
            engine=engine,
        )
        verdicts.append(replace(verdict, engine=None))
    by_one, by_many = verdicts
    assert by_many == by_one
    assert by_many.ok is not bool(inject)
    assert by_many.comparison is not None
    assert by_many.comparison.expected > 0
    assert bool(by_many.comparison.diff) is bool(inject)


@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.slow)])
def test_rejected_rows_are_left_out(
    engine: EngineOption, request: pytest.FixtureRequest, kafka: EmbeddedKafka
) -> None:
    if engine == "spark":
        request.getfixturevalue("spark")
    options = "protocol=open-protocol&partition-num=1&max-message-bytes=340"
    uri = f"kafka://{kafka.bootstrap}/rejected-by-many-{engine}?{options}"
    settings = [*OVERRIDES, "on-error=skip"]
    report = ticdc_producer.run("bank", sink_uri=uri, overrides=settings, verify_output=False)
    assert report.skipped
    assert ticdc_producer.verify(sink_uri=uri, scenario="bank", overrides=settings, engine=engine).ok
