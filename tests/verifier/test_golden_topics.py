"""Messages of real TiCDC verify without errors; every golden file is a topic of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.golden_events import GOLDEN
from tests.protocols.golden_messages import GoldenMessage, load_messages
from ticdc_producer.config import resolve
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.model.event import Record
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.runs.verification import verify_messages
from ticdc_producer.targets.record_batches import record_batches
from ticdc_producer.verifier.messages import Messages

VARIANTS = {
    "open-protocol": ("open.max-batch-size-1", "max-batch-size=1"),
    "canal-json": ("canal-json.tidb-extension", "enable-tidb-extension=true"),
    "craft": ("craft.floatfix", "max-batch-size=16"),
    "debezium": ("debezium.tidb-extension", "enable-tidb-extension=true&output-ddl=true"),
}


def sent(variant: str) -> dict[str, list[GoldenMessage]]:
    """The messages of all files of a variant by topic, without the events that TiCDC rejected."""
    files = [path for folder in ("visible", "fuzz") for path in GOLDEN.glob(f"{folder}/*.{variant}.jsonl")]
    return {
        path.name.partition(".")[0]: [message for message in load_messages(path) if not message.error]
        for path in sorted(files)
    }


def records(topics: dict[str, list[GoldenMessage]]) -> Iterator[Record]:
    for topic, messages in topics.items():
        for offset, message in enumerate(messages):
            yield Record(topic=topic, partition=0, offset=offset, key=message.key, value=message.value)


@pytest.mark.parametrize(
    "protocol",
    [
        "open-protocol",
        *(pytest.param(name, marks=pytest.mark.slow) for name in VARIANTS if name != "open-protocol"),
    ],
)
def test_streams_of_real_ticdc_have_no_error(protocol: str) -> None:
    variant, options = VARIANTS[protocol]
    topics = sent(variant)
    assert len(topics) >= 16
    uri = f"kafka:///golden?protocol={protocol}&partition-num=1&{options}"
    rows = LocalEngine().of_batches(record_batches(records(topics)), MESSAGES)
    verdict = verify_messages(LocalEngine(), resolve(uri, None, name="golden"), Messages(rows)).verdict
    # The topic of a file is not the changefeed's topic.
    errors = [finding for finding in verdict.of_severity("error") if finding.id != "INV-TOPIC"]
    assert not errors
    events = sum(len(message.events) for messages in topics.values() for message in messages)
    assert sum(verdict.kinds[kind] for kind in ("row", "ddl", "resolved")) == events
