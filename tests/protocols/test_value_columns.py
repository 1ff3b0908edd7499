"""A column of JSON strings has the canonical texts that the parser of its type returns one by one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.model.mysql_type import TYPES, type_names
from ticdc_producer.protocols.base import BadValue
from ticdc_producer.protocols.canal_json.batch_decoder import parsed_column
from ticdc_producer.protocols.value_parsers import parser_for

TYPE_TEXTS = sorted(type_names(TYPES, unsigned=True))
EDGES = sorted({edge for spec in TYPES.values() for edge in spec.edges})
NUMBERS = st.integers(-(1 << 65), 1 << 65).map(str)
TEXTS = (
    st.sampled_from(EDGES)
    | NUMBERS
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
    | st.datetimes().map(str)
    | st.text("0123456789-+.: eE", max_size=12)
    | st.text(max_size=5)
)


@pytest.mark.parametrize("mysql_type", TYPE_TEXTS)
@given(texts=st.lists(st.none() | TEXTS, max_size=6))
def test_a_column_is_parsed_as_its_values(mysql_type: str, texts: list[str | None]) -> None:
    parse = parser_for(mysql_type)
    expected: list[bytes | None] | None
    try:
        expected = [None if text is None else parse(text) for text in texts]
    except BadValue:
        expected = None
    try:
        actual = parsed_column(texts, mysql_type).to_pylist()
    except BadValue:
        actual = None
    assert actual == expected


@pytest.mark.parametrize(("low", "high"), [("0", "255"), ("-128", "127")])
def test_the_range_of_an_integer_is_that_of_its_type(low: str, high: str) -> None:
    mysql_type = "tinyint unsigned" if low == "0" else "tinyint"
    assert parsed_column([low, high], mysql_type).to_pylist() == [low.encode(), high.encode()]
    for beyond in (str(int(low) - 1), str(int(high) + 1)):
        with pytest.raises(BadValue):
            parsed_column([low, beyond], mysql_type)
