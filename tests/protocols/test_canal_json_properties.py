"""Properties of every message: damage decodes to something or raises a decode error."""

from __future__ import annotations

import contextlib
import itertools

import pytest

from tests.golden_events import GOLDEN
from tests.protocols.canal_json_messages import in_column_order
from tests.protocols.golden_messages import load_messages
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import RowEvent
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder


def _samples() -> list[bytes]:
    """A golden message of every kind, with the TiDB extension, and a row that was too large."""
    files = ["visible/seed_t1.canal-json.tidb-extension", "visible/enum_set_bit_json.canal-json",
             "new/seed_t1.new-canal-json.tidb-extension.output-row-key"]  # fmt: skip
    samples: dict[str, bytes] = {}
    for name in files:
        for message in load_messages(GOLDEN / f"{name}.jsonl"):
            assert message.value
            (event,) = CanalJSONDecoder().events(None, message.value)
            kind = event.op.label if isinstance(event, RowEvent) else type(event).__name__
            samples.setdefault(f"{name} {kind}", in_column_order(message.value))
    assert len(samples) >= 12
    return list(samples.values())


SAMPLES = _samples()


@pytest.mark.parametrize("value", SAMPLES)
def test_every_truncation_is_a_decode_error(value: bytes) -> None:
    for cut in range(len(value)):
        with pytest.raises(DecodeError) as error:
            list(CanalJSONDecoder().events(None, value[:cut]))
        assert 0 <= error.value.byte <= cut


@pytest.mark.parametrize("value", SAMPLES)
def test_every_bit_flip_decodes_or_is_a_decode_error(value: bytes) -> None:
    rejected = []
    for offset, bit in itertools.product(range(len(value)), range(8)):
        damaged = bytearray(value)
        damaged[offset] ^= 1 << bit
        try:
            list(CanalJSONDecoder().events(None, bytes(damaged)))
        except DecodeError as error:
            rejected.append(error.byte)
    assert all(0 <= byte <= len(value) for byte in rejected)
    assert len(rejected) > len(value) * 2  # the members are checked, not only the JSON


@pytest.mark.parametrize("value", SAMPLES[::3])
def test_every_byte_replaced_decodes_or_is_a_decode_error(value: bytes) -> None:
    for offset, byte in itertools.product(range(len(value)), b'\x00"\\{}[],:0e\xff'):
        with contextlib.suppress(DecodeError):
            list(CanalJSONDecoder().events(None, value[:offset] + bytes((byte,)) + value[offset + 1 :]))


def test_no_value_is_a_decode_error() -> None:
    with pytest.raises(DecodeError):
        list(CanalJSONDecoder().events(b"key", None))
