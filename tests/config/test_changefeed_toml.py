"""The changefeed file of a run is TiCDC's: read again, it is the same changefeed."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from ticdc_producer import api
from ticdc_producer.config import Changefeed, resolve
from ticdc_producer.config.changefeed_toml import changefeed_toml, load_changefeed_toml
from ticdc_producer.targets.golden import read as golden

RULES = {
    "case-sensitive": True,
    "filter": {
        "rules": ["shop.*", "!shop.audit"],
        "ignore-txn-start-ts": [7],
        "event-filters": [
            {
                "matcher": ["shop.carts"],
                "ignore-event": ["delete"],
                "ignore-sql": ["^drop \"x'"],
            },
            {"matcher": ["shop.orders"], "ignore-insert-value-expr": "note = 'a\\b' or id > 7"},
        ],
    },
    "sink": {
        "dispatchers": [
            {"matcher": ["shop.or*", "!shop.orders_old"], "partition": "columns", "columns": ["id", "ü"]},
            {"matcher": ["shop.carts"], "dispatcher": "index-value", "index": "by_user"},
            {"matcher": ["*.*"], "partition": "ts", "topic": "{schema}_rows"},
        ],
        "column-selectors": [{"matcher": ["shop.users"], "columns": ["*", "!secret"]}],
    },
}
CHANGEFEEDS: list[tuple[str, dict[str, Any]]] = [
    ("kafka:///t", {}),
    ("kafka:///t?protocol=canal-json&enable-tidb-extension=true&time-zone=Asia/Shanghai&profile=new", RULES),
    (
        "kafka:///t?protocol=open-protocol&max-batch-size=3&output-row-id=false&partition-num=7",
        {"sink": {"open": {"output-old-value": False}, "only-output-updated-columns": True}},
    ),
    ("kafka:///t?protocol=debezium&output-ddl=true", {"sink": {"debezium": {"output-old-value": False}}}),
    (
        "kafka:///t?protocol=simple&max-message-bytes=4000",
        {"sink": {"kafka-config": {"output-raw-change-event": True}}, "force-replicate": True},
    ),
    ("kafka:///t?protocol=avro&avro-decimal-handling-mode=string&enable-tidb-extension=true", {}),
    (
        "kafka://localhost:9092/t?protocol=avro&sasl-mechanism=PLAIN&sasl-user=u&sasl-password=p%40ss",
        {"sink": {"schema-registry": "http://u:pass@localhost"}},
    ),
    (
        "file:///tmp/rows?protocol=csv",
        {"sink": {"csv": {"delimiter": "|", "output-old-value": True}, "date-separator": "month"}},
    ),
]


def read_again(path: Path, text: str) -> Changefeed:
    """The changefeed of the file and of the sink URI in its first line."""
    path.write_text(text, "utf-8")
    sink_uri = text.splitlines()[0].removeprefix("# sink URI: ")
    registry = {"sink": {"schema-registry": "http://localhost"}} if "localhost" in sink_uri else {}
    return resolve(sink_uri, load_changefeed_toml(path), scenario=registry)


def without_credentials(changefeed: Changefeed) -> Changefeed:
    left_out = {"client": {}, "schema_registry": "", "warnings": (), "sets_partition_num": True}
    return changefeed.model_copy(update=left_out)


@pytest.mark.parametrize(("sink_uri", "config"), CHANGEFEEDS, ids=[uri for uri, _ in CHANGEFEEDS])
def test_it_is_the_same_changefeed(tmp_path: Path, sink_uri: str, config: dict[str, Any]) -> None:
    changefeed = resolve(sink_uri, config)
    text = changefeed_toml(changefeed)
    again = read_again(tmp_path / "changefeed.toml", text)
    assert without_credentials(again) == without_credentials(changefeed)
    assert "pass" not in text
    assert "p@ss" not in text


def test_rules_stay_as_the_user_wrote_them() -> None:
    written = tomllib.loads(changefeed_toml(resolve("kafka:///t", RULES)))
    assert written["sink"]["dispatchers"] == RULES["sink"]["dispatchers"]
    assert written["filter"] == RULES["filter"]
    assert written["sink"]["protocol"] == "open-protocol"
    assert written["sink"]["kafka-config"] == {"partition-num": 3}


def test_a_folder_has_the_changefeed_of_its_run(tmp_path: Path) -> None:
    rules = "changefeed.sink.dispatchers=[{matcher: ['test.*'], partition: index-value}]"
    api.run("seed_t1", out=tmp_path / "out", overrides=[rules])
    changefeed = read_again(tmp_path / "again.toml", (tmp_path / "out/changefeed.toml").read_text("utf-8"))
    assert changefeed == golden.changefeed(tmp_path / "out", golden.manifest(tmp_path / "out"))
    assert changefeed.dispatchers[0].rule == "index-value"
