"""Events on their way between two tasks: none is lost or changed, and a part stays whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.engine.shuffle_codec import PACKED_ROWS, PARTS, packed, unpacked
from ticdc_producer.verifier.comparison import ComparedEvents

NAMES = st.text(st.characters(codec="utf-8"), max_size=4)
EVENTS = st.lists(
    st.tuples(NAMES, NAMES, st.integers(-(1 << 63), (1 << 63) - 1), st.integers(0, 5)), max_size=60
)


def compared(rows: list[tuple[str, str, int, int]]) -> ComparedEvents:
    schema, table, key, kind = zip(*rows, strict=True) if rows else ((), (), (), ())
    numbers = np.arange(len(rows))
    return ComparedEvents(
        topic=pa.array(["topic"] * len(rows), pa.string()),
        schema=pa.array(schema, pa.string()),
        table=pa.array(table, pa.string()),
        partition=numbers % 3,
        position=numbers,
        commit_ts=numbers * 7,
        key=np.array(key, np.int64),
        key_check=-numbers,
        kind=np.array(kind, np.int64),
        identity=numbers,
        shape=numbers,
        wire=numbers,
        expected=numbers % 2 == 0,
    )


def contents(parts: list[ComparedEvents]) -> list[tuple[object, ...]]:
    columns = [
        [value for part in parts for value in getattr(part, field.name).tolist()]
        for field in fields(parts[0])
    ]
    return sorted(zip(*columns, strict=True), key=lambda row: row[4])


def shuffled(packed_rows: list[pa.RecordBatch], size: int) -> Iterator[pa.RecordBatch]:
    """Packed rows as Spark passes them on: sorted by part, in batches that may cut a part."""
    table = pa.Table.from_batches(packed_rows, PACKED_ROWS).sort_by("part").combine_chunks()
    return iter(table.to_batches(max_chunksize=size))


@given(EVENTS, st.integers(1, 5), st.integers(1, 20))
def test_all_events_arrive_in_whole_parts(
    rows: list[tuple[str, str, int, int]], parts: int, size: int
) -> None:
    events = compared(
        [(schema.replace("\0", "?"), table.replace("\0", "?"), *rest) for schema, table, *rest in rows]
    )
    sent = [
        packed_row
        for start in range(parts)
        for packed_row in packed_rows(events.take(np.arange(len(rows))[start::parts]))
    ]
    received = [*unpacked(shuffled(sent, size), SIDES)]
    arrived = [ComparedEvents.of(sides["right"]) for sides in received]
    assert not any(sides["left"].num_rows for sides in received)
    assert contents([*arrived, compared([])]) == contents([events])


def test_a_task_has_whole_parts_of_a_few_mebibytes_at_once() -> None:
    """Three rows of each part, from three tasks, with 600 KiB of names each."""
    events = compared([("s" * (200 << 10), f"t{key}", key, 1) for key in range(40)])
    sent = [packed_row for _ in range(3) for packed_row in packed_rows(events)]
    received = [ComparedEvents.of(sides["right"]) for sides in unpacked(shuffled(sent, 7), SIDES)]
    parts = [{*(part.key % PARTS).tolist()} for part in received]
    assert 1 < len(parts) < len(set().union(*parts)) == sum(map(len, parts)) == 40
    assert contents(received) == contents([events] * 3)


SIDES = {"left": pa.schema([("key", pa.int64())]), "right": ComparedEvents.arrow_schema()}


def packed_rows(events: ComparedEvents) -> list[pa.RecordBatch]:
    return [*packed([events.to_batch()], ComparedEvents.arrow_schema(), "key", 1)]


def test_rows_with_images_arrive() -> None:
    schema = pa.schema([("key", pa.int64()), ("image", pa.map_(pa.string(), pa.binary()))])
    rows = [{"key": key, "image": [("a", b"1"), ("b", None)]} for key in (5, 6, 5 + PARTS)]
    batch = pa.RecordBatch.from_pylist([*rows, {"key": 7, "image": None}], schema)
    sent = [*packed([batch], schema, "key", 0)]
    arrived = [
        row for sides in unpacked(shuffled(sent, 2), {"only": schema}) for row in sides["only"].to_pylist()
    ]
    assert sorted(arrived, key=lambda row: row["key"]) == sorted(
        batch.to_pylist(), key=lambda row: row["key"]
    )


def test_a_packed_row_has_only_the_texts_of_its_events() -> None:
    """With all texts in all packed rows a topic of thousands of tables would not fit into memory."""
    tables = [("test", f"table_{number}", number, 1) for number in range(2000)]
    (sent,) = packed_rows(compared(tables))
    assert sent.num_rows == PARTS
    assert max(len(text) for text in sent.column("texts").to_pylist()) < 60


def test_a_separator_in_a_name_is_replaced() -> None:
    (sides,) = unpacked(packed_rows(compared([("a\0b", "\0", 1, 1)])), SIDES)
    assert ComparedEvents.of(sides["right"]).tables[1] == [("a\ufffdb", "\ufffd")]


def test_rows_with_long_names_are_packed_soon() -> None:
    """A packed row has at most 16 MiB, and the row that exceeds them."""
    parts = [compared([("s" * (7 << 20), "t", number, 1)]).to_batch() for number in range(7)]
    sent = [*packed(parts, ComparedEvents.arrow_schema(), "key", 0)]
    assert [packed_row.num_rows for packed_row in sent] == [3, 3, 1]
