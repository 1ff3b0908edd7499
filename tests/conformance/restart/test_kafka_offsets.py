"""The restart level with offsets that a consumer commits to a Kafka."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.restart.bugs import RestartBug, SourceChange, python
from tests.conformance.restart.test_restarts import case
from ticdc_producer.cli import main
from ticdc_producer.conformance.process import Testee
from ticdc_producer.conformance.restart.conversation import Restarter, RestartResult
from ticdc_producer.conformance.restart.plan import Life, Stop
from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.client import Cluster
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.targets.kafka.consumer_group import ConsumerGroups

TO_KAFKA = (
    SourceChange(
        right='        self.next = dict(request["committed"])\n',
        wrong='        self.next = dict(request["committed"])\n        self.kafka = request["kafka"]\n',
    ),
    SourceChange(
        right="        points.committed = offsets\n",
        wrong="""        from confluent_kafka import Consumer as Client, TopicPartition
        address = {"bootstrap.servers": self.kafka["bootstrap"], "group.id": self.kafka["group"]}
        names = ((name.rpartition("/"), offset) for name, offset in offsets.items())
        parts = [TopicPartition(topic, int(number), offset) for (topic, _, number), offset in names]
        client = Client(address)
        client.commit(offsets=parts, asynchronous=False)
        client.close()
""",
    ),
)
"""The example commits to Kafka, and its answers say nothing of offsets."""
RIGHT = RestartBug(name="commits to Kafka", language="python", changes=TO_KAFKA)
EARLY = RestartBug(
    name="commits to Kafka before the effects",
    language="python",
    changes=(
        *TO_KAFKA,
        SourceChange(
            right="        for step in sorted(ready, key=order):\n",
            wrong="        self.commit(points)\n        for step in sorted(ready, key=order):\n",
        ),
    ),
)
STOPPED = (Life(stop=Stop(step=13, point=1)),)
"""At the last resolved event, which releases two rows, after the first thing that it makes durable."""


def result(command: str, kafka: EmbeddedKafka, lives: tuple[Life, ...] | None) -> RestartResult:
    async def run() -> RestartResult:
        restarter = Restarter(Testee(command, 60), reset=lives is None, kafka=kafka.bootstrap)
        try:
            return await restarter.run(replace(case("truncated"), lives=lives, max_stops=1))
        finally:
            await restarter.close()

    return asyncio.run(run())


def test_a_killed_consumer_goes_on_at_the_offsets_that_kafka_has(
    kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    outcome = result(python(tmp_path, RIGHT), kafka, STOPPED)
    assert (outcome.status, outcome.restarts) == ("passed", 1), outcome.reasons
    assert outcome.case.log[1].startswith("life 2 reads fuzz/0@7-")


def test_offsets_that_kafka_has_before_the_rows_are_written_lose_them(
    kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    outcome = result(python(tmp_path, EARLY), kafka, STOPPED)
    assert outcome.status == "failed"
    assert "is stopped in fuzz/0@9 after commit 1" in outcome.case.log[0]
    assert outcome.case.log[1] == "life 2 reads nothing"
    assert any("missing" in reason for reason in outcome.reasons)


@pytest.mark.slow
def test_the_right_consumer_survives_a_stop_at_every_point(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    assert result(python(tmp_path / "right", RIGHT), kafka, None).status == "passed"
    assert result(python(tmp_path / "early", EARLY), kafka, None).status == "failed"


@pytest.mark.slow
def test_the_command_finds_and_replays_it(
    kafka: EmbeddedKafka, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = python(tmp_path, EARLY)
    usual = ["conformance", "--level", "restart", "--testee", command, "--kafka", kafka.bootstrap, "--reset"]
    drawn = ["--fuzz", "--seed", "1", "--examples", "30", "--protocol", "canal-json"]
    assert main([*usual, *drawn, "--save", str(tmp_path / "saved")]) == 1
    replay = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("replay: "))
    assert main(shlex.split(replay.removeprefix("replay: "))[1:]) == 1
    assert "after commit 1" in capsys.readouterr().out


def test_a_topic_with_fewer_partitions_is_an_error(kafka: EmbeddedKafka) -> None:
    groups = ConsumerGroups(kafka.bootstrap)
    group = groups.new_group({"group-of-many": 9})
    assert groups.committed(group, [("group-of-many", 8)]) == {}
    ConsumerGroups(kafka.bootstrap).new_group({"group-of-many": 9})
    with pytest.raises(BrokerError, match="exists with 9 partitions, not 10"):
        ConsumerGroups(kafka.bootstrap).new_group({"group-of-many": 10})


@pytest.mark.slow
def test_a_broker_that_has_just_started_has_no_offsets_of_a_new_group() -> None:
    with EmbeddedKafka() as broker:
        groups = ConsumerGroups(broker.bootstrap)
        assert groups.committed(groups.new_group({"new": 1}), [("new", 0)]) == {}


def test_an_unreachable_kafka_is_an_error() -> None:
    brokers = Cluster("127.0.0.1:1", {"socket.connection.setup.timeout.ms": "1000"})
    with pytest.raises(BrokerError, match="the topic fuzz cannot be created"):
        ConsumerGroups(brokers).new_group({"fuzz": 1})


@pytest.mark.slow
def test_the_command_reports_an_unreachable_kafka(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual = ["conformance", "--level", "restart", "--filter", "*.canal-json.restart.truncated"]
    assert main([*usual, "--testee", python(tmp_path, RIGHT), "--kafka", "127.0.0.1:1"]) == 3
    assert "cannot be created" in capsys.readouterr().err
