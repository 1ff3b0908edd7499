"""Properties of every message: limits, batch keys, and damage that is a decode error."""

from __future__ import annotations

import contextlib
import itertools

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.golden_events import GOLDEN
from tests.protocols.craft_dumps import DDL, RESOLVED, ROW, TWO_ROWS
from tests.protocols.encoding import Change, encode_changes, framed, one_by_one
from tests.protocols.golden_messages import load_messages
from ticdc_producer.errors import DecodeError, EncodeError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Op, RowEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.batch_options import CraftOptions
from ticdc_producer.protocols.craft.decoder import CraftDecoder
from ticdc_producer.protocols.craft.encoder import CraftEncoder

GOLDEN_SAMPLE = [
    message.value
    for name in ("canal_types_params", "enum_set_bit_json", "partition", "strings", "vector")
    for message in load_messages(GOLDEN / "visible" / f"{name}.craft.floatfix.jsonl")[:8]
    if message.value is not None and len(message.value) < 600
]
SAMPLE = [ROW, DDL, RESOLVED, TWO_ROWS, *GOLDEN_SAMPLE]


TABLE = TableInfo(
    schema="s",
    name="t",
    table_id=1,
    columns=(ColumnInfo(name="v", type=MySQLType.BLOB, charset="utf8mb4"),),
)


def _events_per_message(options: CraftOptions, values: list[bytes], batch_keys: str) -> list[int]:
    encoder = CraftEncoder(options)
    (rows,) = encode_changes(encoder, TABLE, [(Op.INSERT, 5, (), (value,)) for value in values])
    return [
        message.events
        for message in framed(encoder, [rows.with_column("batch_key", pa.array(list(batch_keys)))])
    ]


@pytest.mark.parametrize(
    ("limit", "events"),
    [
        (0, [1, 1, 1, 1, 1]),
        (60, [1, 1, 1, 1, 1]),  # a row is estimated at 32 + 1 + 1 and 1 + 10 + 16 for its column: 61
        (61, [2, 2, 1]),  # equal to the limit: one more row
        (121, [2, 2, 1]),
        (122, [3, 2]),
    ],
)
def test_a_message_ends_after_the_row_that_exceeds_the_limit(limit: int, events: list[int]) -> None:
    options = CraftOptions(max_message_bytes=limit)
    assert _events_per_message(options, [b"0123456789"] * 5, "aaaaa") == events


def test_rows_of_one_dispatch_key_share_a_message() -> None:
    assert _events_per_message(CraftOptions(), [b""] * 5, "aabba") == [2, 2, 1]
    assert _events_per_message(CraftOptions(batch_by="partition"), [b""] * 5, "aabba") == [5]


def test_a_delete_without_a_handle_key_to_send_is_rejected() -> None:
    encoder = CraftEncoder(CraftOptions(delete_only_output_handle_key_columns=True))
    changes: list[Change] = [(Op.INSERT, 1, (), (b"a",)), (Op.DELETE, 2, (b"a",), ())]
    insert, delete = one_by_one(encode_changes(encoder, TABLE, changes))
    assert insert.refusal is None
    with pytest.raises(EncodeError) as error:
        framed(encoder, [delete.alone])
    assert (error.value.table, error.value.commit_ts) == ("s.t", 2)


def test_every_truncation_is_a_decode_error() -> None:
    for value in SAMPLE:
        for cut in range(len(value)):
            with pytest.raises(DecodeError) as error:
                list(CraftDecoder().events(None, value[:cut]))
            assert 0 <= error.value.byte <= cut


def test_every_byte_too_many_is_a_decode_error() -> None:
    for value, byte in itertools.product(SAMPLE, range(256)):
        with pytest.raises(DecodeError):
            list(CraftDecoder().events(None, value + bytes([byte])))


@pytest.mark.parametrize("sample", range(len(SAMPLE)))
def test_every_bit_flip_decodes_or_is_a_decode_error(sample: int) -> None:
    value = SAMPLE[sample]
    for byte, bit in itertools.product(range(len(value)), range(8)):
        damaged = bytearray(value)
        damaged[byte] ^= 1 << bit
        _decodes_or_is_refused(bytes(damaged))


@settings(max_examples=3 * settings().max_examples)
@given(
    st.sampled_from(SAMPLE),
    st.lists(st.tuples(st.integers(0, 599), st.integers(0, 255)), min_size=1, max_size=4),
)
def test_replaced_bytes_decode_or_are_a_decode_error(value: bytes, changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(value)
    for offset, byte in changes:
        damaged[offset % len(value)] = byte
    _decodes_or_is_refused(bytes(damaged))


def _decodes_or_is_refused(value: bytes) -> None:
    with contextlib.suppress(DecodeError):
        for event in CraftDecoder().events(None, value):
            if isinstance(event, RowEvent):
                image = event.before if event.after is None else event.after
                assert image is not None
                assert [column.name for column in event.columns] == list(image)
