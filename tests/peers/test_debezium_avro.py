"""Debezium in Avro: a published Avro converter of Kafka Connect reads what TiCDC's JSON has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.golden_events import GoldenRow
from tests.peers.software import Accepted, Software, bytes_of
from tests.protocols.debezium_events import events_of
from tests.protocols.golden_messages import load_messages, row_messages
from tests.protocols.test_debezium_avro import (
    PATHS,
    WATERMARKS,
    Registry,
    is_other_than_utf8,
    is_refused,
    of_json,
)
from ticdc_producer.model.table import TableInfo

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name.split(".")[0])
def test_connect_reads_the_values_of_ticdcs_json(software: Software, path: Path) -> None:
    events, registries = events_of(path), dict[TableInfo, Registry]()
    for message in load_messages(path):
        row = events[message.events[0]]
        if not isinstance(row, GoldenRow) or message.error:
            continue
        if is_refused(row) or is_other_than_utf8(message.value or b""):
            continue
        if row.table not in registries:
            registries[row.table] = Registry([row.table], WATERMARKS)
        registry = registries[row.table]
        (ours,) = row_messages(registry.encoder, [row])
        assert ours.value is not None
        schema = registry.by_id[int.from_bytes(ours.value[1:5], "big")]
        answer = software.ask("connect-avro", key=None, value=ours.value, columns=schema)
        assert isinstance(answer, Accepted), answer
        read, sent = json.loads(bytes_of(answer.content["value"])), json.loads(message.value or b"")
        columns = {field["field"]: field for field in sent["schema"]["fields"][0]["fields"]}
        for name in ("before", "after"):
            image, other = sent["payload"].get(name), read["payload"][name]
            assert (other and _numbers(other, columns)) == (image and _numbers(image, columns))
        of_image = {field["field"]: field for field in read["schema"]["fields"][0]["fields"]}
        for name, column in columns.items():
            if column["tidb_type"] != "decimal":
                assert of_image[name].get("name") == column.get("name")
                assert of_image[name].get("parameters", {}) == column.get("parameters", {})
        assert read["payload"]["op"] == sent["payload"]["op"]


def _numbers(image: Mapping[str, object], columns: Mapping[str, Mapping[str, str]]) -> dict[str, object]:
    """An image with its DECIMAL, FLOAT and DOUBLE values as numbers of 64 bits."""
    return {name: of_json(columns[name]["tidb_type"], value) for name, value in image.items()}
