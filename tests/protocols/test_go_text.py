"""Strings and floats compared with the output of Go (``go_text_vectors.txt``)."""

from __future__ import annotations

import struct
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols import bytes_in_json, go_json
from ticdc_producer.protocols import go_json as go_float
from ticdc_producer.protocols.arrow_text import concat

VECTORS = [
    line.split(" ")
    for line in Path(__file__).with_name("go_text_vectors.txt").read_text("ascii").splitlines()
]
STRINGS = [[bytes.fromhex(part) for part in line[1:]] for line in VECTORS if line[0] == "S"]
FLOATS = [line for line in VECTORS if line[0] in ("D", "F")]


def _literals(values: list[bytes | None]) -> list[bytes]:
    """A column as Go's ``encoding/json`` prints it."""
    fragments = go_json.STRINGS.literals(pa.array(values, pa.binary()))
    return list(concat(fragments, len(values)).to_pylist())


def test_vectors_exist() -> None:
    assert len(STRINGS) == 600
    assert len(FLOATS) == 3707


def test_json_strings_as_go_prints_them() -> None:
    assert _literals([raw for raw, *_ in STRINGS]) == [json for _, _, json, _ in STRINGS]
    assert [_literals([raw])[0] for raw, *_ in STRINGS] == [json for _, _, json, _ in STRINGS]


def test_quoted_bytes_as_go_prints_them() -> None:
    raw = [raw for raw, *_ in STRINGS]
    assert [b'"' + bytes_in_json.quote(value) + b'"' for value in raw] == [
        quoted for _, quoted, _, _ in STRINGS
    ]
    assert _literals([bytes_in_json.quote(value) for value in raw]) == [json for *_, json in STRINGS]


@pytest.mark.parametrize("letter", ["D", "F"])
def test_floats_as_go_prints_them(letter: str) -> None:
    code, form = (MySQLType.DOUBLE, ">d") if letter == "D" else (MySQLType.FLOAT, ">f")
    for _, bits, json, plain in (line for line in FLOATS if line[0] == letter):
        (number,) = struct.unpack(form, bytes.fromhex(bits))
        if number == 0:
            continue  # TiKV turns minus zero into zero: the canonical text is 0
        text = plain_text(number, code)
        assert text == plain.encode(), bits
        assert go_float.number(text) == json.encode(), bits


@given(st.binary(max_size=64))
def test_every_byte_string_survives_quoting(value: bytes) -> None:
    assert bytes_in_json.unquote(bytes_in_json.quote(value).decode()) == value


@given(st.text(max_size=40))
def test_unquote_returns_bytes_or_fails_at_a_position(text: str) -> None:
    try:
        assert isinstance(bytes_in_json.unquote(text), bytes)
    except ValueError as error:
        (position,) = error.args
        if not 0 <= position <= len(text):
            raise


@pytest.mark.parametrize(
    "text", ['"', "\n", "\\'", "\\x4", "\\ud800", "\\U00110000", "\\Uffffffff", "\\400", "\\"]
)
def test_texts_that_go_cannot_unquote_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="0"):
        bytes_in_json.unquote(text)


@given(st.lists(st.none() | st.binary(max_size=20)))
def test_a_column_is_printed_like_its_single_values(values: list[bytes | None]) -> None:
    assert _literals(values) == [_literals([value])[0] for value in values]
