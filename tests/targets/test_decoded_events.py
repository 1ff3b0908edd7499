"""Rows that a protocol decodes to columns are those that its decoder returns message by message."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden_events import GOLDEN
from tests.protocols.encoding import alone, framed, one_by_one
from tests.protocols.golden_messages import Compared, encode_rows
from tests.protocols.random_codecs import CODECS
from tests.protocols.random_tables import History, histories
from ticdc_producer.errors import UnreadableValue
from ticdc_producer.model.event import Message, Record
from ticdc_producer.protocols.canal_json.batch_decoder import CanalJSONBatchDecoder
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.rows.changes import OF_CHANGES, OF_ERRORS, ChangeReader
from ticdc_producer.rows.columns import type_of_name
from ticdc_producer.targets.decode import decoded_events
from ticdc_producer.targets.decoded_events import DecodedEvents
from ticdc_producer.targets.record_batches import record_batches
from ticdc_producer.testing.strategies import damaged
from ticdc_producer.verifier.event_layouts import EventLayout, LayoutBatch

DECODER = CanalJSONDecoder()
FILES = sorted(
    path
    for path in GOLDEN.rglob("*.jsonl")
    if re.search(r"\.(new-)?canal-json(\.[^/]*)?\.jsonl$", path.name) and ".claims." not in path.name
)


def _values(file: Path) -> list[bytes]:
    """The values of golden messages, or the claim-check objects."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    texts = [line.get("value") or line.get("content") for line in lines]
    return [b64decode(text) for text in texts if text]


def _both_ways(messages: list[tuple[bytes | None, bytes | None]]) -> tuple[DecodedEvents, DecodedEvents]:
    """The events with as many columns as possible, and as the decoder returns them."""
    records = [
        Record(topic="t", partition=1, offset=7 + number, key=key, value=value)
        for number, (key, value) in enumerate(messages)
    ]
    (batch,) = record_batches(records)
    columns = decoded_events(batch, DECODER, CanalJSONBatchDecoder(least=1), row_ids=True)
    return columns, decoded_events(batch, DECODER, None, row_ids=True)


def _check(columns: DecodedEvents, decoded: DecodedEvents) -> None:
    events = decoded.batch
    assert columns.batch.equals(events)
    assert columns.all_row_ids.tolist() == decoded.all_row_ids.tolist()
    columns.batch.validate(full=True)
    _check_layouts(LayoutBatch(events, layout_numbers=columns.layout_numbers), LayoutBatch(events))
    rows = events.filter(pc.equal(events.column("kind"), "row"))
    names = {(row["schema"], row["table"]) for row in rows.select(["schema", "table"]).to_pylist()}
    for schema, table in sorted(names):
        of_table = rows.filter(
            pc.and_(pc.equal(rows.column("schema"), schema), pc.equal(rows.column("table"), table))
        )
        reader = _reader(schema, table, of_table.column("columns").to_pylist())
        _check_changes([*reader.changes(iter([columns]))], [*reader(iter([events]))])


def _check_layouts(mine: LayoutBatch, others: LayoutBatch) -> None:
    """What rows of columns are known to share is what all events have, each by itself."""
    for name in ("kind", "op", "tables"):
        assert getattr(mine, name).tolist() == getattr(others, name).tolist()
    for own, other in ((mine.old, others.old), (mine.new, others.new)):
        assert own.name_hashes.tolist() == other.name_hashes.tolist()
        assert own.hashes.tolist() == other.hashes.tolist()
    assert [*map(_content, mine.layouts())] == [*map(_content, others.layouts())]


def _content(layout: EventLayout) -> tuple[object, ...]:
    names = (layout.schema, layout.table, layout.deletes, layout.columns, layout.before, layout.after)
    return layout.rows.tolist(), *names


def _check_changes(columns: list[pa.RecordBatch], events: list[pa.RecordBatch]) -> None:
    assert len(columns) == len(events)
    for mine, other in zip(columns, events, strict=True):
        assert mine.equals(other)
        mine.validate(full=True)


def _reader(schema: str, table: str, described: list[list[dict[str, Any]]]) -> ChangeReader:
    types = {column["name"]: column["type"] for columns in described for column in columns}
    fields = [pa.field(name, type_of_name(kind)) for name, kind in types.items()]
    return ChangeReader(
        schema=schema,
        table=table,
        columns=pa.schema([*fields, *OF_CHANGES, *OF_ERRORS]),
        zone="UTC",
        on_error="rows",
    )


_PLAIN = re.compile(r"\.(new-)?canal-json(\.tidb-extension)?\.jsonl$")
"""The files of the variants that have all rows; the others are in the slow half."""


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(path, id=path.name, marks=() if _PLAIN.search(path.name) else pytest.mark.slow)
        for path in FILES
    ],
)
def test_golden_rows_are_those_of_the_decoder(file: Path, compared: Compared) -> None:
    columns, decoded = _both_ways([(None, value) for value in _values(file)])
    _check(columns, decoded)
    rows = pc.sum(pc.equal(decoded.batch.column("kind"), "row")).as_py() or 0
    assert sum(map(len, columns.rows)) == rows or "claim-check" in file.name
    compared("rows as columns", sum(map(len, columns.rows)))


@given(histories(), CODECS["canal-json"].options, st.data())
def test_random_rows_are_those_of_the_decoder(history: History, options: Any, data: st.DataObject) -> None:
    """Messages with claim-check objects, and damaged ones, are left to the decoder."""
    encoder = CODECS["canal-json"].encoder(options)
    rows = [row for row in one_by_one(encode_rows(encoder, history.rows)) if row.refusal is None]
    messages: list[Message] = framed(encoder, alone(rows)) if rows else []
    messages += [message for message in [encoder.resolved(1 << 20)] if message is not None]
    values = [message.value or b"" for message in messages]
    damage = data.draw(st.lists(st.sampled_from(values), max_size=3)) if values else []
    values += [data.draw(damaged(value)) for value in damage]
    if values:
        _check(*_both_ways([(None, value) for value in data.draw(st.permutations(values))]))


def test_few_rows_of_a_table_are_left_to_the_decoder() -> None:
    """The columns of each group of rows cost time of their own."""
    file = next(path for path in FILES if path.name == "seed_t1.canal-json.jsonl")
    values = [(None, value) for value in _values(file)]
    assert CanalJSONBatchDecoder(least=16).rows(values) == []
    assert sum(map(len, CanalJSONBatchDecoder(least=16).rows(values * 16))) == 16 * sum(
        map(len, CanalJSONBatchDecoder(least=1).rows(values))
    )


def test_messages_are_not_parsed_twice_where_columns_save_nothing() -> None:
    file = next(path for path in FILES if path.name == "seed_t1.canal-json.jsonl")
    values = [(None, value) for value in _values(file)]
    decoder = CanalJSONBatchDecoder(least=16)
    assert decoder.rows(values * 2) == []
    decoded = [bool(decoder.rows(values * 16)) for _ in range(5)]
    assert decoded == [False, *[True] * 4], "as many as 15 calls of that size"


@pytest.mark.parametrize("as_columns", [True, False])
def test_the_first_value_that_its_type_cannot_hold_is_named(as_columns: bool) -> None:
    """Also if the columns of a later value come first."""
    right, wrong = "2020-01-01", "0000-00-00"
    rows = [("INSERT", right), ("UPDATE", right), ("UPDATE", wrong), ("INSERT", wrong)]
    columns, decoded = _both_ways([(None, _row(kind, moment)) for kind, moment in rows])
    reader = ChangeReader(
        schema="test",
        table="t",
        columns=pa.schema([("id", pa.int32()), ("d", pa.date32()), *OF_CHANGES]),
        zone="UTC",
        on_error="fail",
    )
    with pytest.raises(UnreadableValue) as raised:
        list(reader.changes(iter([columns])) if as_columns else reader(iter([decoded.batch])))
    assert raised.value.offset == 7 + 2


def _row(kind: str, moment: str) -> bytes:
    message = {
        "id": 0, "database": "test", "table": "t", "pkNames": ["id"], "isDdl": False, "type": kind,
        "es": 1000, "ts": 1000, "sql": "",
        "sqlType": {"id": 4, "d": 91}, "mysqlType": {"id": "int", "d": "date"},
        "old": [{"id": "1", "d": "2019-01-01"}] if kind == "UPDATE" else None,
        "data": [{"id": "1", "d": moment}],
    }  # fmt: skip
    return json.dumps(message, separators=(",", ":")).encode()


def test_canal_json_has_a_batch_decoder() -> None:
    """The other protocols are decoded message by message."""
    assert [name for name, spec in BUILT_IN.items() if spec.batch_decoder is not None] == ["canal-json"]


def test_a_few_messages_of_other_events_leave_no_rows_out() -> None:
    """A partition may begin with a few DDLs and resolved events, in a batch of their own."""
    file = next(file for file in FILES if file.name.startswith("ints."))
    rows = [(None, value) for value in _values(file) if b'"isDdl":false,"type":"INSERT"' in value]
    others = [(None, value) for value in _values(file) if b'"isDdl":true' in value]
    decoder = CanalJSONBatchDecoder(least=1)
    assert rows
    assert others
    assert not decoder.rows(others)
    many = rows * (16 * len(others))
    assert sum(map(len, decoder.rows(many))) == len(many)
