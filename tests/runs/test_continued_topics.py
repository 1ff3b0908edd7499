"""A DataFrame continues a topic as SQL does, with ``append`` and with ``resume``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

import ticdc_producer
from tests.kafka_topic import Message, read_topic
from tests.runs.features import FORMS, LARGE, TABLE, History, Row, flat_changes
from ticdc_producer import ProducerError, RunReport, Scenario
from ticdc_producer.engine import SMALL_EVENTS, EngineOption
from ticdc_producer.errors import ForeignMessageError, TopicError
from ticdc_producer.kafka.embedded import EmbeddedKafka

Topic: TypeAlias = dict[int, list[Message]]
Run: TypeAlias = Callable[..., RunReport]
"""Runs a history; a call is a program of its own, which builds its scenario again."""

BY_KEY = {"sink": {"dispatchers": [{"matcher": ["*.*"], "partition": "index-value"}]}}
CREATE = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))"
ROWS: list[Row] = [{"id": number, "v": f"v{number}"} for number in range(9)]
HISTORY = History(
    create=CREATE,
    changes=[
        *((0, None, row) for row in ROWS),
        *((1, row, {**row, "v": "new"}) for row in ROWS[:4]),
        *((2, row, {**row, "id": row["id"] + 20}) for row in ROWS[4:]),
    ],
)
OTHER = History(create=CREATE, changes=[(n, None, {"id": n, "v": "other"}) for n in range(3)])
"""As many transactions as ``HISTORY``."""
CHANGE_LOG = "change log"
FAST = {("DataFrame", "local"), (LARGE, "local"), (CHANGE_LOG, "local")}
ENGINES: tuple[EngineOption, ...] = ("local", "spark")
CASES = [
    pytest.param(form, engine, marks=() if (form, engine) in FAST else pytest.mark.slow)
    for form in ("YAML", "DataFrame", LARGE, TABLE, CHANGE_LOG)
    for engine in ENGINES
]


class Interruption(Exception):
    """Ends a run before its first message."""


def run_of(form: str, history: History, engine: EngineOption, folder: Path, spark: SparkSession) -> Run:
    """Return what runs a history in one of its forms."""

    def run(sink_uri: str, **options: Any) -> RunReport:
        arguments: dict[str, Any] = {"sink_uri": sink_uri, "config": BY_KEY, "engine": engine, **options}
        if form != CHANGE_LOG:
            return ticdc_producer.run(FORMS[form](history, folder), **arguments)
        frame = spark.createDataFrame(flat_changes(history)).withColumnRenamed("x", "number")
        tables = ticdc_producer.tables(history.create)
        order = ("number", "y")
        log = ticdc_producer.changes(frame, tables["t"], op="op", order=order, before="old")
        return ticdc_producer.run_changes(log, tables, **arguments)

    return run


def uri_of(kafka: EmbeddedKafka, topic: str) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}?protocol=canal-json&partition-num=2"


def interrupted(run: Run, kafka: EmbeddedKafka, topic: str, written: Topic, **options: Any) -> None:
    """Run into a topic, and end after the messages ``written``."""

    def stop(status: str) -> None:
        if status.startswith("writing"):
            raise Interruption

    with pytest.raises(Interruption):
        run(uri_of(kafka, topic), on_status=stop, **options)
    client = Producer({"bootstrap.servers": kafka.bootstrap})
    for partition, messages in written.items():
        for key, value, headers in messages:
            client.produce(topic, key=key, value=value, partition=partition, headers=headers)
    assert client.flush(60) == 0


@pytest.fixture(scope="module")
def expected(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Topic:
    """The topic of the same history in SQL."""
    source = FORMS["SQL"](HISTORY, tmp_path_factory.mktemp("sql"))
    assert ticdc_producer.run(source, sink_uri=uri_of(kafka, "of_sql"), config=BY_KEY).ok
    messages = read_topic(kafka.bootstrap, "of_sql")
    assert min(map(len, messages.values())) >= 3
    return messages


@pytest.mark.parametrize(("form", "engine"), CASES)
def test_a_run_is_appended_and_an_interrupted_one_is_resumed(
    form: str,
    engine: EngineOption,
    expected: Topic,
    kafka: EmbeddedKafka,
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    """The topic has a run, an appended one, and one that was interrupted in both partitions and resumed."""
    topic = f"{''.join(filter(str.isalpha, form))}_{engine}"
    run = run_of(form, HISTORY, engine, tmp_path, spark)
    assert run(uri_of(kafka, topic)).ok
    with pytest.raises(TopicError, match="already holds messages"):
        run(uri_of(kafka, topic))
    assert run(uri_of(kafka, topic), append=True).ok
    interrupted(run, kafka, topic, {0: expected[0][:2], 1: expected[1][:-1]}, append=True)
    assert run(uri_of(kafka, topic), append=True, resume=True).ok
    assert read_topic(kafka.bootstrap, topic) == {n: 3 * messages for n, messages in expected.items()}


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ("DataFrame", TopicError),
        pytest.param(CHANGE_LOG, ForeignMessageError, marks=pytest.mark.slow),
    ],
)
def test_other_rows_do_not_resume_a_run(
    form: str,
    error: type[ProducerError],
    expected: Topic,
    kafka: EmbeddedKafka,
    spark: SparkSession,
    tmp_path: Path,
) -> None:
    topic = f"other_{''.join(filter(str.isalpha, form))}"
    written = {n: messages[:-1] for n, messages in expected.items()}
    interrupted(run_of(form, HISTORY, "local", tmp_path, spark), kafka, topic, written)
    with pytest.raises(error):
        run_of(form, OTHER, "local", tmp_path, spark)(uri_of(kafka, topic), resume=True)
    assert read_topic(kafka.bootstrap, topic) == written


def large_scenario(spark: SparkSession) -> Scenario:
    frame = spark.range(SMALL_EVENTS + 1).selectExpr("id", "0 n", "'insert' op")
    return Scenario("s").sql("CREATE TABLE t (id INT PRIMARY KEY)").changes(frame, table="t", order="n")


@pytest.mark.slow
def test_a_large_dataframe_of_spark_is_resumed_as_the_same_object_or_as_a_written_file(
    kafka: EmbeddedKafka, spark: SparkSession, tmp_path: Path
) -> None:
    """Nothing says that another DataFrame has the same rows: its run is not resumed."""

    def run(source: Scenario | Path, sink_uri: str, **options: Any) -> RunReport:
        return ticdc_producer.run(source, sink_uri=sink_uri, config=BY_KEY, **options)

    scenario = large_scenario(spark)
    file = scenario.write(tmp_path / "s.yaml")
    assert run(file, uri_of(kafka, "large")).ok
    large = read_topic(kafka.bootstrap, "large")
    written = {0: large[0][:1000], 1: large[1][:30_000]}
    for source, topic in ((scenario, "large_object"), (file, "large_file")):
        interrupted(partial(run, source), kafka, topic, written)
        if source is scenario:
            with pytest.raises(TopicError, match="no run of this scenario"):
                run(large_scenario(spark), uri_of(kafka, topic), resume=True)
        assert run(source, uri_of(kafka, topic), resume=True).ok
        assert read_topic(kafka.bootstrap, topic) == large
