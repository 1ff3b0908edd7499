"""Topics of the plugin on a real Kafka: the examples of ``docs/testing.md``, and isolation of tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.secured_kafka import PASSWORD, secured_kafka
from tests.testing.page import write_page_files
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.targets.kafka.topics import Topics

ROOT = Path(__file__).parents[2]
TOPICS = """
import json
import pytest

SEEN = []


@pytest.fixture
def topic(ticdc_topic):
    SEEN.append(ticdc_topic)
    return ticdc_topic


CANAL = "canal-json&enable-tidb-extension=true&partition-num=3"
PARTITIONS = {"craft": {0, 1}, "canal-json": {0, 1, 2}}


@pytest.mark.ticdc(scenario="seed_t1", protocol=["craft", CANAL])
@pytest.mark.parametrize("again", [1, 2])
def test_all(topic, again, ticdc_broker, request):
    assert topic.bootstrap == ticdc_broker.bootstrap == request.config.getoption("--ticdc-bootstrap")
    assert topic.expected_state == {"test.t1": [{"id": "3", "val": "dd"}, {"id": "4", "val": "ee"}]}
    messages = topic.messages()
    assert {message.topic for message in messages} == {topic.topic}
    assert {event["topic"] for event in topic.expected_events} == {topic.topic}
    assert {message.partition for message in messages} == PARTITIONS[topic.protocol]
    assert (topic.folder / "manifest.json").exists()


def test_each_had_its_own():
    assert len({topic.topic for topic in SEEN}) == 4
    assert len({topic.folder for topic in SEEN}) == 2


@pytest.mark.ticdc(scenario="seed_t1", protocol="craft")
def test_wrong(ticdc_topic, ticdc_assert_state):
    ticdc_assert_state([{"id": 3, "val": "cc"}])
"""
ROUTED = """
import pytest
from tests.kafka_topic import read_topic


@pytest.mark.ticdc(
    scenario="seed_t1",
    overrides=[
        "changefeed.sink.dispatchers=[{matcher: ['*.*'], topic: 'of_{schema}_{table}', partition: ts}]"
    ],
)
def test_routed(ticdc_topic):
    assert set(ticdc_topic.topics) == {"seed_t1", "of_test_t1"}
    sent = {topic: {0: [], 1: []} for topic in ticdc_topic.topics.values()}
    for one in ticdc_topic.messages():
        sent[one.topic][one.partition].append((one.key, one.value, list(one.headers)))
    assert sent == {topic: read_topic(ticdc_topic.bootstrap, topic) for topic in sent}
    assert all(any(partitions.values()) for partitions in sent.values())
"""
SECURED = """
import pytest
from confluent_kafka import Consumer


@pytest.mark.ticdc(scenario="seed_t1", protocol="canal-json")
def test_read(ticdc_topic, ticdc_broker):
    own = {"group.id": "ticdc-producer-test", "auto.offset.reset": "earliest"}
    consumer = Consumer({"bootstrap.servers": ticdc_topic.bootstrap, **ticdc_broker.client, **own})
    consumer.subscribe([ticdc_topic.topic])
    sent = ticdc_topic.messages()
    got = []
    while len(got) < len(sent):
        got += consumer.consume(len(sent) - len(got), timeout=10) or pytest.fail("no message")
    consumer.close()
    assert sorted(one.value() for one in got) == sorted(one.value for one in sent)


@pytest.mark.ticdc(scenario="seed_t1", protocol="canal-json")
def test_that_fails(ticdc_topic, ticdc_broker):
    assert ticdc_broker is None and ticdc_topic is None
"""


@pytest.fixture
def tried(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> pytest.Pytester:
    """A project that uses the plugin of this checkout; its runs have the session of these tests."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "ticdc_producer.testing.plugin")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.syspath_prepend(pytester.path)
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider\n")
    return pytester


def test_the_tests_of_the_page_pass(tried: pytest.Pytester, kafka: EmbeddedKafka) -> None:
    write_page_files(tried.path)
    result = tried.runpytest_inprocess("test_orders.py", f"--ticdc-bootstrap={kafka.bootstrap}")
    result.assert_outcomes(passed=4)


@pytest.mark.slow
def test_every_test_has_a_topic_of_its_own_and_leaves_none(
    tried: pytest.Pytester, kafka: EmbeddedKafka
) -> None:
    before = set(Topics(kafka.bootstrap).existing())
    tried.makepyfile(test_topics=TOPICS)
    result = tried.runpytest_inprocess(f"--ticdc-bootstrap={kafka.bootstrap}")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        [
            "E * AssertionError: the rows differ from the expected ones",
            "E * table test.t1: 1 missing, 1 different",
            "E *   missing    id='4' val='ee'",
            "E *   different  id='3': val is 'cc', expected 'dd'",
            "topic ticdc-*test_wrong* at 127.0.0.1:*, golden folder *",
        ]
    )
    assert set(Topics(kafka.bootstrap).existing()) == before


@pytest.mark.slow
def test_topics_hold_the_messages_also_where_rules_lead_to_several(
    tried: pytest.Pytester, kafka: EmbeddedKafka
) -> None:
    tried.makepyfile(test_routed=ROUTED)
    tried.runpytest_inprocess(f"--ticdc-bootstrap={kafka.bootstrap}").assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_kafka_with_tls_and_sasl(
    tried: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)
    tried.makepyfile(test_secured=SECURED)
    with secured_kafka(tmp_path) as secured:
        client = [f"--ticdc-client={option}" for option in secured.client("${KAFKA_PASSWORD}")]
        result = tried.runpytest_inprocess(f"--ticdc-bootstrap={secured.broker.address('SAFE')}", *client)
        result.assert_outcomes(passed=1, failed=1)
        assert PASSWORD not in result.stdout.str() + result.stderr.str()
        assert not [name for name in Topics(secured.broker.bootstrap).existing() if name.startswith("ticdc-")]


@pytest.mark.slow
def test_the_page_works_with_a_broker_and_a_session_of_its_own(pytester: pytest.Pytester) -> None:
    write_page_files(pytester.path)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "ticdc_producer.testing.plugin",
        "-p",
        "no:cacheprovider",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run([*command, "test_orders.py"], capture_output=True, text=True, env=env, check=False)
    assert "4 passed" in done.stdout, done.stdout + done.stderr
