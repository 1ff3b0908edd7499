"""Spark's own cluster manager: executors encode and send, and one of two workers may be killed meanwhile."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.kafka_topic import read_topic
from tests.runs.standalone_cluster import HOST, ROOT, SPARK, cluster, environment
from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.targets.kafka.topics import Topics

TRANSACTIONS = 15_000
"""Each has four changes."""


def _uri(kafka: EmbeddedKafka, topic: str) -> str:
    return f"kafka://{kafka.bootstrap}/{topic}?protocol=open-protocol&partition-num=4"


def _run(uri: str) -> list[str]:
    overrides = ["--set", f"steps[1].generate.transactions={TRANSACTIONS}"]
    return [
        str(ROOT / "producer" / "ticdc_producer" / "__main__.py"),
        "run",
        "sysbench",
        *overrides,
        "--sink-uri",
        uri,
    ]


def wait_for_messages(kafka: EmbeddedKafka, topic: str, process: subprocess.Popen[str]) -> None:
    """Wait for the first message."""
    cluster, deadline = Topics(kafka.bootstrap), time.monotonic() + 600
    while time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        with suppress(BrokerError):  # a topic that was made a moment ago has no leader yet
            if topic in cluster.existing() and any(cluster.ends({topic: 4}).values()):
                return
    raise AssertionError("nothing was written")


def _submit(master: str, uri: str) -> list[str]:
    settings = {
        "spark.driver.memory": "1g",
        "spark.driver.host": HOST,
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
    }
    conf = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    return [str(SPARK / "bin" / "spark-submit"), "--master", master, *conf, *_run(uri)]


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_nothing(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    with ExitStack() as running:
        spark = running.enter_context(cluster(tmp_path, workers=2))
        job = subprocess.Popen(
            _submit(spark.url, _uri(kafka, "cluster")),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for_messages(kafka, "cluster", job)
        spark.workers[0].kill()
        out, errors = job.communicate(timeout=1800)
    assert job.returncode == 0, errors[-3000:]
    assert any(line.startswith("verified") for line in out.splitlines())

    alone = [sys.executable, *_run(_uri(kafka, "alone"))]
    subprocess.run(alone, env=environment(), capture_output=True, timeout=1800, check=True)
    disturbed, whole = (read_topic(kafka.bootstrap, topic) for topic in ("cluster", "alone"))
    assert {number: len(messages) for number, messages in disturbed.items()} == {
        number: len(messages) for number, messages in whole.items()
    }
    assert disturbed == whole
