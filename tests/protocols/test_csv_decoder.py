"""The decoder of CSV: golden files give golden values, and every malformed line an error with a code."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden_events import GOLDEN, GoldenRow
from tests.protocols.golden_messages import Compared, events_of, load_messages, row_messages
from tests.protocols.test_csv_golden import FILES, IDS, UNQUOTED, VARIANTS
from ticdc_producer.errors import DecodeError
from ticdc_producer.model.event import Op, RowEvent
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.csv.decoder import CSVColumn, CSVDecoder, described_columns
from ticdc_producer.protocols.csv.encoder import CSVEncoder
from ticdc_producer.protocols.csv.options import CSVOptions
from ticdc_producer.protocols.storage_files import schema_file

KEY = b"d/t/1"


def _columns(table: TableInfo) -> list[CSVColumn]:
    """The columns of a schema file, without those that no row contains."""
    sent = {column.name for column in table.sent_columns}
    return [column for column in described_columns(schema_file(table, 1)) if column.name in sent]


def _expected(row: GoldenRow, options: CSVOptions) -> RowEvent:
    fidelity, table = CSVEncoder(options).fidelity, row.table
    projections = [fidelity.full_projection(column) for column in table.sent_columns]

    def image(values: Sequence[bytes | None] | None) -> dict[str, bytes | None] | None:
        if values is None:
            return None
        pairs = zip(table.sent_columns, projections, values, strict=True)
        return {column.name: reduce(value) for column, reduce, value in pairs}

    no_old = row.op == Op.UPDATE and not options.output_old_value
    return RowEvent(
        commit_ts=fidelity.visible_commit_ts(row.commit_ts, row.op),
        schema=table.schema,
        table=table.name,
        op=row.op,
        columns=(),
        before=None if no_old else image(row.before),
        after=image(row.after),
    )


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_lines_give_golden_values(path: Path, variant: str, compared: Compared) -> None:
    events, options = events_of(path), VARIANTS[variant]
    for message in load_messages(path):
        if message.error:
            continue
        rows = [row for seq in message.events if isinstance(row := events[seq], GoldenRow)]
        decoder = CSVDecoder(options, {KEY.decode(): _columns(rows[0].table)})
        decoded = [event for event in decoder.events(KEY, message.value) if isinstance(event, RowEvent)]
        for event, row in zip(decoded, rows, strict=True):
            names = [(column.name, column.type, column.flag) for column in event.columns]
            fidelity = CSVEncoder(options).fidelity
            assert names == [
                (column.name, fidelity.visible_type(column, flag), fidelity.visible_flag(flag))
                for column, flag in zip(row.table.sent_columns, row.table.sent_flags, strict=True)
            ]
            assert _without_columns(event) == _expected(row, options)
    compared("csv, decoded", len(load_messages(path)))


def _without_columns(event: RowEvent) -> RowEvent:
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    return RowEvent(**{**fields, "columns": ()})


TABLE = {KEY.decode(): [CSVColumn("id", "int", primary=True), CSVColumn("v", "varchar")]}
LINE = b'"I","t","d",1,"a"\r\n'


def _decoded(value: bytes, options: CSVOptions | None = None) -> list[RowEvent]:
    events = CSVDecoder(options or CSVOptions(), TABLE).events(KEY, value)
    return [event for event in events if isinstance(event, RowEvent)]


def test_a_quoted_null_is_a_text() -> None:
    null, text = _decoded(b'"I","t","d",1,\\N\r\n"I","t","d",1,"\\N"\r\n')
    assert null.after == {"id": b"1", "v": None}
    assert text.after == {"id": b"1", "v": rb"\N"}


def test_quotes_delimiters_and_line_ends_in_a_text() -> None:
    (row,) = _decoded(b'"I","t","d",1,"a""b,\r\nc"\r\n')
    assert row.after == {"id": b"1", "v": b'a"b,\r\nc'}


def test_without_quotes_escaped_text_survives_the_round_trip() -> None:
    (row,) = _decoded(b"I|;t|;d|;1|;a\\|b\\;\\\\\\r\\n\\\\N\n", UNQUOTED)
    assert row.after == {"id": b"1", "v": b"a|b;\\\r\n\\N"}
    (null,) = _decoded(b"I|;t|;d|;1|;NULL\n", UNQUOTED)
    assert null.after == {"id": b"1", "v": None}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (LINE[:-1], "CSV-RECORD"),
        (LINE.replace(b'"a"', b'"a'), "CSV-RECORD"),
        (LINE.replace(b'"a"', b'"a"b'), "CSV-RECORD"),
        (LINE.replace(b'"a"', b'"a",2'), "CSV-FIELDS"),
        (LINE.replace(b'"a"', b"a"), "CSV-QUOTE"),
        (LINE.replace(b",1,", b',"1",'), "CSV-QUOTE"),
        (LINE.replace(b",1,", b",1.5,"), "CSV-VALUE"),
        (LINE.replace(b",1,", b",9999999999,"), "CSV-RANGE"),
        (LINE.replace(b'"I"', b'"X"'), "CSV-OP"),
        (LINE.replace(b'"I"', b"I"), "CSV-NAME"),
        (LINE.replace(b'"t"', b'"\xff"'), "CSV-NAME"),
    ],
)
def test_each_malformed_line_has_a_code(line: bytes, code: str) -> None:
    with pytest.raises(DecodeError) as error:
        _decoded(LINE + line)
    assert error.value.code == code


def test_a_directory_without_a_schema_file() -> None:
    with pytest.raises(DecodeError, match="CSV-TABLE"):
        list(CSVDecoder(CSVOptions(), TABLE).events(b"d/t/2", LINE))


OLD = CSVOptions(include_commit_ts=True, output_old_value=True)
PAIR = b'"D","t","d",5,true,1,"a"\r\n"I","t","d",5,true,1,"b"\r\n'


def test_with_old_values_two_lines_are_an_update() -> None:
    (row,) = _decoded(PAIR, OLD)
    assert (row.op, row.before, row.after) == (Op.UPDATE, {"id": b"1", "v": b"a"}, {"id": b"1", "v": b"b"})
    first, second = PAIR.splitlines(keepends=True)
    for wrong in (first, second, second + first, first + second.replace(b"true", b"false")):
        with pytest.raises(DecodeError, match="CSV-PAIR"):
            _decoded(wrong, OLD)


@given(cut=st.integers(1, len(PAIR) - 1), bit=st.integers(0, 8 * len(PAIR) - 1))
def test_truncated_or_damaged_lines_raise_only_decode_errors(cut: int, bit: int) -> None:
    with pytest.raises(DecodeError):
        _decoded(PAIR[:cut], OLD)
    damaged = bytearray(PAIR)
    damaged[bit // 8] ^= 1 << bit % 8
    with suppress(DecodeError):
        _decoded(bytes(damaged), OLD)


def test_round_trip_of_any_text_with_and_without_quotes() -> None:
    path = GOLDEN / "visible" / "strings.csv.jsonl"
    row = next(row for row in events_of(path).values() if isinstance(row, GoldenRow))
    width = len(row.table.sent)
    # Without quotes a text equal to the text of NULL reads as NULL.
    texts = [b'"', b"\\", b"\r\n", b",", b"|;", b"\\N", b"NUL", b"", b"\xff", b"a\\\\r"]
    for options in (CSVOptions(), UNQUOTED):
        decoder = CSVDecoder(options, {KEY.decode(): _columns(row.table)})
        for text in texts:
            written = replace(row, after=(b"1", *[text] * (width - 1)))
            (message,) = row_messages(CSVEncoder(options), [written])
            (event,) = decoder.events(KEY, message.value)
            assert isinstance(event, RowEvent)
            assert list((event.after or {}).values())[1:] == [text] * (width - 1)
    assert CSVEncoder(UNQUOTED).fidelity.full_projection(row.table.sent_columns[1])(b"NULL") is None
    assert CSVEncoder().fidelity.full_projection(row.table.sent_columns[1])(b"NULL") == b"NULL"
