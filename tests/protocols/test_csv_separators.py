"""Separators of CSV: whatever texts the options allow, a file can be divided into its rows and fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.protocols.csv.options import CSVField, CSVOptions, CSVRecords
from ticdc_producer.protocols.csv.values import quoted_text

COLLISIONS: list[tuple[dict[str, str], str]] = [
    ({"terminator": ""}, "terminator"),
    ({"terminator": ","}, "terminator"),
    ({"terminator": '"\n'}, "terminator"),
    ({"terminator": "0"}, "terminator"),
    ({"delimiter": "-"}, "delimiter"),
    ({"delimiter": "ue"}, "delimiter"),
    ({"quote": "1"}, "quote"),
    ({"null": "a,b"}, "null"),
    ({"null": '"'}, "null"),
    ({"null": "|", "delimiter": "||"}, "null"),
    ({"null": "\n"}, "null"),
    ({"null": "0"}, "null"),
    ({"null": "-1.5e+20"}, "null"),
    ({"quote": "", "terminator": "\\\n"}, "quote"),
    ({"quote": "", "delimiter": "n"}, "delimiter"),
    ({"quote": "", "delimiter": "→"}, "delimiter"),
    ({"quote": "", "terminator": "|"}, "terminator"),
    ({"quote": "", "null": "a\\"}, "null"),
    ({"quote": "", "null": "\\\\\\"}, "null"),
]


@pytest.mark.parametrize(("options", "parameter"), COLLISIONS)
def test_separators_that_make_a_file_unreadable_are_rejected(options: dict[str, str], parameter: str) -> None:
    with pytest.raises(ChangefeedError) as error:
        CSVOptions(**options)  # type: ignore[arg-type]  # all values are texts
    assert error.value.parameter == parameter


def _options(**texts: str) -> CSVOptions | None:
    try:
        return CSVOptions(**texts)  # type: ignore[arg-type]  # all values are texts
    except ChangefeedError:
        return None


ALPHABET = ",|;@\"'N\\\r\n 1-tan→"
SEPARATORS = st.builds(
    _options,
    delimiter=st.sampled_from([",", "|", "|@|", "||", "\t", "→", "|;"]) | st.text(ALPHABET, max_size=3),
    terminator=st.sampled_from(["\r\n", "\n", "|\n", ",\n", ",|", ";"]) | st.text(ALPHABET, max_size=3),
    quote=st.sampled_from(['"', "'", "", "|", "\\"]) | st.text(ALPHABET, max_size=1),
    null=st.sampled_from(["\\N", "", "NULL", "|", "I", "a\\", "\\\\", "\\r"]) | st.text(ALPHABET, max_size=3),
)  # fmt: skip
FIELDS = st.lists(st.none() | st.integers(-2, 20) | st.text(ALPHABET, max_size=4), min_size=1, max_size=4)


def _written(field: str | int | None, options: CSVOptions) -> bytes:
    if field is None:
        return options.null.encode()
    return b"%d" % field if isinstance(field, int) else quoted_text(field, options)


def _row(fields: list[str | int | None], options: CSVOptions) -> bytes:
    operation = quoted_text("I", options)
    texts = [operation, *(_written(field, options) for field in fields)]
    return options.delimiter.encode().join(texts) + options.terminator.encode()


def _read(field: str | int | None, options: CSVOptions) -> CSVField:
    if field is None:
        return CSVField(None)
    text = str(field).encode()
    if not options.quote and isinstance(field, str) and quoted_text(field, options) == options.null.encode():
        return CSVField(None)  # docs/limitations.md: the bytes are the same
    return CSVField(text, quoted=bool(options.quote) and isinstance(field, str))


@given(SEPARATORS.filter(bool), st.lists(FIELDS, min_size=1, max_size=4))
def test_rows_and_fields_are_those_that_were_written(
    options: CSVOptions, rows: list[list[str | int | None]]
) -> None:
    ends = len(options.delimiter) > 1 and not options.quote
    if ends:  # docs/limitations.md: a text that ends with a part of the delimiter
        rows = [[field for field in row if not _ends_with_part(field, options.delimiter)] for row in rows]
    lines = [_row(row, options) for row in rows]
    records = CSVRecords(options)
    assert list(records.split(b"".join(lines))) == lines
    expected = [[_read("I", options), *(_read(field, options) for field in row)] for row in rows]
    assert [records.fields(line) for line in lines] == expected


def _ends_with_part(field: str | int | None, delimiter: str) -> bool:
    return isinstance(field, str) and field.endswith(tuple(delimiter[:n] for n in range(1, len(delimiter))))
