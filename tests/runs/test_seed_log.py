"""The documentation sample (docs/documentation-sample.md): its messages in the format of its log."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

import ticdc_producer
from ticdc_producer.config import resolve
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder
from ticdc_producer.runs.targets.first_messages import FirstMessages
from ticdc_producer.targets.decode import event_decoder

OLDER_FORMS = (
    "kafka:///seed_t1?protocol=open-protocol&partition-num=2"
    "&legacy-no-flag=true&legacy-varchar-base64=true&output-row-id=false"
)
OVERRIDES = (
    "changefeed.sink.delete-only-output-handle-key-columns=true",
    "changefeed.sink.open.output-old-value=false",
)
INSERT = (
    r'[partition=1] [key="{\"ts\":415508878783938562,\"scm\":\"test\",\"tbl\":\"t1\",\"t\":1}"] '
    r'[value="{\"u\":{\"id\":{\"t\":3,\"h\":true,\"v\":1},\"val\":{\"t\":15,\"v\":\"YWE=\"}}}"]'
)
DELETE = (
    r'[partition=1] [key="{\"ts\":415508881418485761,\"scm\":\"test\",\"tbl\":\"t1\",\"t\":1}"] '
    r'[value="{\"d\":{\"id\":{\"t\":3,\"h\":true,\"v\":1}}}"]'
)


def test_the_older_forms_print_as_the_seeds_log_and_verify(spark: SparkSession, tmp_path: Path) -> None:
    report = ticdc_producer.run("seed_t1", sink_uri=OLDER_FORMS, overrides=OVERRIDES, out=tmp_path / "seed")
    assert report.ok
    lines = [line.split(". ", 1)[1] for line in report.preview]
    assert INSERT in lines
    assert DELETE in lines
    decoded = [row for row in ticdc_producer.decode(folder=tmp_path / "seed") if row["kind"] == "row"]
    values = {bytes(dict(row["after"])["val"]) for row in decoded if row["after"]}
    assert values == {b"aa", b"bb", b"cc", b"dd", b"ee"}


def test_what_does_not_decode_is_not_in_the_log() -> None:
    good = OpenEncoder().resolved(7)
    sent = [(b"junk", b""), (good.key, good.value), (good.key[:-1], good.value)]
    rows = [
        {"topic": "t", "partition": 0, "offset": offset, "key": key, "value": value}
        for offset, (key, value) in enumerate(sent)
    ]
    changefeed = resolve("kafka:///t")
    decode = event_decoder("open-protocol", changefeed.codec_options())
    lines = FirstMessages.of(pa.Table.from_pylist(rows, MESSAGES), decode).log_lines(changefeed)
    assert [line[:17] for line in lines] == ["1. [partition=0] "]
