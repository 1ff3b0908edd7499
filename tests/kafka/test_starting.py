"""A broker that starts in the background."""

from __future__ import annotations

import pytest

from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.kafka.embedded.broker import StartingKafka


@pytest.mark.parametrize("error", [BrokerError("no jars"), RuntimeError("a bug")])
def test_every_error_of_the_start_is_raised_where_the_broker_is_needed(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def start(_broker: EmbeddedKafka) -> None:
        raise error

    monkeypatch.setattr(EmbeddedKafka, "start", start)
    with pytest.raises(type(error), match=str(error)):
        StartingKafka().running()
