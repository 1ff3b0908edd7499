"""Topics of tests: names that Kafka accepts and that are unique per test."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.config.sink_uri import check_topic
from ticdc_producer.testing.topic import own_topics, topic_name

TEXTS = st.text(max_size=300)


@given(TEXTS, TEXTS)
def test_any_test_has_a_topic_that_kafka_accepts(test: str, routed: str) -> None:
    name = topic_name(test, run="0123abcd", worker="gw12")
    for topic in own_topics([routed, "default"], "default", name).values():
        assert check_topic(topic) == topic


@given(st.tuples(TEXTS, TEXTS).filter(lambda pair: pair[0] != pair[1]))
def test_no_two_tests_share_a_topic(tests: tuple[str, str]) -> None:
    first, second = (topic_name(test, run="r", worker="") for test in tests)
    # Kafka's metrics replace dots by underscores.
    assert first.replace(".", "_") != second.replace(".", "_")


def test_runs_and_workers_have_their_own() -> None:
    names = {topic_name("t.py::t", run=run, worker=worker) for run in "ab" for worker in ("", "gw0", "gw1")}
    assert len(names) == 6
    assert all("t-py-t" in name for name in names)
    assert topic_name("t.py::t", run="ab", worker="gw1").startswith("ticdc-ab-gw1-")


def test_topics_of_a_scenario_have_distinct_names() -> None:
    topics = own_topics(["a.b", "a_b", "main"], "main", "mine")
    assert topics["main"] == "mine"
    assert len({topic.replace(".", "_") for topic in topics.values()}) == 3
