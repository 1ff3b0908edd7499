"""A broker that starts in the background."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.embedded.broker import StartingKafka


def test_an_error_of_the_start_is_raised_where_the_broker_is_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(tmp_path))
    monkeypatch.setenv("TICDC_PRODUCER_MAVEN_URL", "no-url")
    starting = StartingKafka()
    with pytest.raises(BrokerError, match="TICDC_PRODUCER_MAVEN_URL is 'no-url'"):
        starting.running()
    starting.stop()
