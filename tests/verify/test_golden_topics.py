"""What real TiCDC wrote verifies without error: every golden file as a topic of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from producer.changefeed import resolve
from producer.jobs.judge import verdict
from producer.model.record import Record
from producer.source.frame import frame
from tests.codec.golden_messages import load_messages
from tests.golden_events import GOLDEN

VARIANTS = {
    "open-protocol": ("open.max-batch-size-1", "max-batch-size=1"),
    "canal-json": ("canal-json.tidb-extension", "enable-tidb-extension=true"),
    "craft": ("craft.floatfix", "max-batch-size=16"),
    "debezium": ("debezium.tidb-extension", "enable-tidb-extension=true&output-ddl=true"),
}


def records(variant: str) -> Iterator[Record]:
    """The messages of all files of a variant, without the events that TiCDC refused."""
    for path in sorted(GOLDEN.glob(f"*/*.{variant}.jsonl")):
        if path.parent.name not in ("visible", "fuzz"):
            continue
        sent = (message for message in load_messages(path) if not message.error)
        for offset, message in enumerate(sent):
            topic = path.name.partition(".")[0]
            yield Record(topic=topic, partition=0, offset=offset, key=message.key, value=message.value)


@pytest.mark.parametrize(
    "protocol",
    [
        "open-protocol",
        *(pytest.param(name, marks=pytest.mark.slow) for name in VARIANTS if name != "open-protocol"),
    ],
)
def test_streams_of_real_ticdc_have_no_error(spark: SparkSession, protocol: str) -> None:
    variant, options = VARIANTS[protocol]
    messages = list(records(variant))
    assert len({record.topic for record in messages}) >= 16
    uri = f"kafka:///golden?protocol={protocol}&partition-num=1&{options}"
    found = verdict(resolve(uri, None, name="golden"), frame(spark, messages))
    # Each file has a topic of its own here, which is not the changefeed's.
    errors = [one for one in found.of_severity("error") if one.id != "INV-TOPIC"]
    assert not errors
    assert found.kinds["row"] > 1000
