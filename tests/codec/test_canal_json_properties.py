"""What must hold for every message: it survives the round trip, and damage is a decode error."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from producer.codec.base import RowBatch
from producer.codec.canal_json import CanalJSONDecoder, CanalJSONEncoder, CanalJSONOptions
from producer.errors import DecodeError
from producer.model.event import DDLEvent, EventColumn, Op, ResolvedEvent, RowEvent, Value
from producer.model.float_text import plain_text
from producer.model.mysql_type import MySQLType, integer_range
from producer.model.table import ColumnInfo, IndexInfo, TableInfo
from tests.codec.canal_json_messages import in_column_order
from tests.codec.golden_messages import load_messages
from tests.golden_events import GOLDEN

T = MySQLType
INTEGERS = (T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG)
NUMBERED = (T.YEAR, T.BIT, T.ENUM, T.SET)
FLOATS = (T.FLOAT, T.DOUBLE)
TEXTS = (T.VARCHAR, T.STRING, T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB)
FORMED = {
    T.NEW_DECIMAL: (b"0", b"-0.0001", b"9" * 65),
    T.DATE: (b"0000-00-00", b"2024-02-29"),
    T.DATETIME: (b"2021-00-00 00:00:00", b"9999-12-31 23:59:59.999999"),
    T.TIMESTAMP: (b"1970-01-01 00:00:01", b"2038-01-19 03:14:07.5"),
    T.DURATION: (b"-838:59:59", b"00:00:00.1"),
    T.VECTOR_FLOAT32: (b"[]", b"[1,-0,0.0000001]"),
    T.JSON: (b"null", '{"a<b": "é\\n"}'.encode()),
}


def _integers(code: MySQLType, unsigned: bool) -> st.SearchStrategy[bytes]:
    low, high = integer_range(code, unsigned=unsigned)
    edges = st.sampled_from([low, high, high // 2, high // 2 + 1])
    return (edges | st.integers(low, high)).map(lambda number: b"%d" % number)


def _floats(code: MySQLType) -> st.SearchStrategy[bytes]:
    numbers = st.floats(width=32 if code == T.FLOAT else 64, allow_nan=False, allow_infinity=False)
    return numbers.map(lambda number: plain_text(number, code))


@st.composite
def _columns(draw: st.DrawFn) -> tuple[ColumnInfo, st.SearchStrategy[bytes]]:
    name = draw(st.text(min_size=1, max_size=8))
    code = draw(st.sampled_from([*INTEGERS, *TEXTS, *FORMED, *FLOATS, *NUMBERED]))
    if code in INTEGERS:
        unsigned = draw(st.booleans())
        zerofill = unsigned and draw(st.booleans())
        column = ColumnInfo(name=name, type=code, unsigned=unsigned, zerofill=zerofill)
        return column, _integers(code, unsigned)
    if code in TEXTS:
        charset = draw(st.sampled_from(["utf8mb4", "binary"]))
        values = st.binary(max_size=12) if charset == "binary" else st.text(max_size=12).map(str.encode)
        return ColumnInfo(name=name, type=code, length=12, charset=charset), values
    if code in FORMED:
        return ColumnInfo(name=name, type=code, decimal=draw(st.integers(0, 6))), st.sampled_from(
            FORMED[code]
        )
    if code in (T.FLOAT, T.DOUBLE):
        return ColumnInfo(name=name, type=code, unsigned=draw(st.booleans())), _floats(code)
    elements = tuple(draw(st.lists(st.text(max_size=4), min_size=1, max_size=3)))
    return ColumnInfo(name=name, type=code, elements=elements), _integers(code, unsigned=False)


@st.composite
def _tables(draw: st.DrawFn) -> tuple[TableInfo, RowBatch]:
    described = draw(st.lists(_columns(), min_size=1, max_size=6, unique_by=lambda column: column[0].name))
    table = TableInfo(
        schema=draw(st.text(max_size=6)),
        name=draw(st.text(max_size=6)),
        table_id=1,
        columns=tuple(column for column, _ in described),
        indexes=(IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True),),
    )
    ops = draw(st.lists(st.sampled_from(Op), min_size=1, max_size=8))
    old = sum(op != Op.INSERT for op in ops)
    new = sum(op != Op.DELETE for op in ops)

    def image(rows: int) -> list[list[Value]]:
        return [draw(st.lists(st.none() | values, min_size=rows, max_size=rows)) for _, values in described]

    ts = draw(st.lists(st.integers(1, 2**63 - 1), min_size=len(ops), max_size=len(ops)))
    zeros = [0] * len(ops)
    return table, RowBatch(
        op=ops, commit_ts=ts, table_id=zeros, row_id=zeros, before=image(old), after=image(new)
    )


_OPTIONS = st.builds(
    CanalJSONOptions,
    enable_tidb_extension=st.booleans(),
    content_compatible=st.booleans(),
    only_output_updated_columns=st.booleans(),
    delete_only_output_handle_key_columns=st.booleans(),
    build_ts_ms=st.none() | st.integers(0, 2**40),
    legacy_delete_old=st.booleans(),
    legacy_data_before_old=st.booleans(),
)


def _images(
    table: TableInfo, batch: RowBatch
) -> list[tuple[dict[str, Value] | None, dict[str, Value] | None]]:
    names = [column.name for column in table.columns]
    old = iter([dict(zip(names, row, strict=True)) for row in zip(*batch.before, strict=True)])
    new = iter([dict(zip(names, row, strict=True)) for row in zip(*batch.after, strict=True)])
    return [
        (None if op == Op.INSERT else next(old), None if op == Op.DELETE else next(new)) for op in batch.op
    ]


@settings(max_examples=300)
@given(_tables(), _OPTIONS)
def test_rows_survive_the_round_trip(made: tuple[TableInfo, RowBatch], options: CanalJSONOptions) -> None:
    table, batch = made
    encoder, decoder = CanalJSONEncoder(options), CanalJSONDecoder()
    losses, key = encoder.losses, table.columns[0].name
    messages = list(encoder.messages(encoder.rows(table, batch)))
    assert [message.key for message in messages] == [None] * len(batch.op)
    facts = zip(batch.op, batch.commit_ts, _images(table, batch), messages, strict=True)
    for op, ts, (before, after), message in facts:
        (event,) = decoder.events(message.key, message.value)
        by_key = op == Op.DELETE and options.delete_only_output_handle_key_columns
        if before and after and options.updated_columns_only:
            before = {name: value for name, value in before.items() if value != after[name]}
        if before and by_key:
            before = {key: before[key]}
        columns = tuple(
            EventColumn(column.name, losses.told_type(column, 0), 10 if column.name == key else 0)
            for column in table.columns
            if not by_key or column.name == key
        )
        assert event == RowEvent(
            commit_ts=losses.told_commit_ts(ts),
            schema=table.schema,
            table=table.name,
            op=op,
            columns=columns,
            before=before,
            after=after,
        )


@settings(max_examples=100)
@given(_tables(), _OPTIONS)
def test_many_rows_are_written_as_each_of_them_alone(
    made: tuple[TableInfo, RowBatch], options: CanalJSONOptions
) -> None:
    table, batch = made
    encoder = CanalJSONEncoder(options)
    together = [row.value for row in encoder.rows(table, batch)]
    olds, news = iter(zip(*batch.before, strict=True)), iter(zip(*batch.after, strict=True))
    empty: tuple[list[Value], ...] = tuple([] for _ in table.columns)
    for place, (op, ts) in enumerate(zip(batch.op, batch.commit_ts, strict=True)):
        before = [[value] for value in next(olds)] if op != Op.INSERT else empty
        after = [[value] for value in next(news)] if op != Op.DELETE else empty
        alone = RowBatch(op=[op], commit_ts=[ts], table_id=[0], row_id=[0], before=before, after=after)
        assert [row.value for row in encoder.rows(table, alone)] == [together[place]]


@given(st.text(max_size=60), st.integers(0, 84), st.integers(1, 2**63 - 1))
def test_ddls_and_watermarks_survive_the_round_trip(query: str, action: int, ts: int) -> None:
    encoder, decoder = CanalJSONEncoder(CanalJSONOptions(enable_tidb_extension=True)), CanalJSONDecoder()
    ddl = DDLEvent(commit_ts=ts, schema="s", table="", query=query, ddl_type=action)
    told = encoder.losses.told_ddl_type(action)
    assert told in (0, action, 14)
    message = encoder.ddl(ddl)
    assert list(decoder.events(None, message.value)) == [
        DDLEvent(commit_ts=ts, schema="s", table="", query=query, ddl_type=told)
    ]
    watermark = encoder.resolved(ts)
    assert watermark is not None
    assert list(decoder.events(None, watermark.value)) == [ResolvedEvent(commit_ts=ts)]
    assert CanalJSONEncoder().resolved(ts) is None


def _samples() -> list[bytes]:
    """One golden message of every kind, with the extension, and a row that was too large."""
    files = ["visible/seed_t1.canal-json.tidb-extension", "visible/enum_set_bit_json.canal-json",
             "new/seed_t1.new-canal-json.tidb-extension.output-row-key"]  # fmt: skip
    found: dict[str, bytes] = {}
    for name in files:
        for message in load_messages(GOLDEN / f"{name}.jsonl"):
            assert message.value
            (event,) = CanalJSONDecoder().events(None, message.value)
            kind = event.op.word if isinstance(event, RowEvent) else type(event).__name__
            found.setdefault(f"{name} {kind}", in_column_order(message.value))
    assert len(found) >= 12
    return list(found.values())


SAMPLES = _samples()


@pytest.mark.parametrize("value", SAMPLES)
def test_every_truncation_is_a_decode_error(value: bytes) -> None:
    for cut in range(len(value)):
        with pytest.raises(DecodeError) as error:
            list(CanalJSONDecoder().events(None, value[:cut]))
        assert 0 <= error.value.byte <= cut


@pytest.mark.parametrize("value", SAMPLES)
def test_every_bit_flip_decodes_or_is_a_decode_error(value: bytes) -> None:
    refused = []
    for place, bit in itertools.product(range(len(value)), range(8)):
        damaged = bytearray(value)
        damaged[place] ^= 1 << bit
        try:
            list(CanalJSONDecoder().events(None, bytes(damaged)))
        except DecodeError as error:
            refused.append(error.byte)
    assert all(0 <= byte <= len(value) for byte in refused)
    assert len(refused) > len(value) * 2  # the members are checked, not only the JSON


@pytest.mark.parametrize("value", SAMPLES[::3])
def test_every_byte_replaced_decodes_or_is_a_decode_error(value: bytes) -> None:
    for place, byte in itertools.product(range(len(value)), b'\x00"\\{}[],:0e\xff'):
        with contextlib.suppress(DecodeError):
            list(CanalJSONDecoder().events(None, value[:place] + bytes((byte,)) + value[place + 1 :]))


@settings(max_examples=300)
@given(st.binary(max_size=80))
@example(b"")
@example(b"{}")
@example(b"null")
def test_arbitrary_bytes_are_a_decode_error(value: bytes) -> None:
    with pytest.raises(DecodeError):
        list(CanalJSONDecoder().events(None, value))


def test_no_value_is_a_decode_error() -> None:
    with pytest.raises(DecodeError):
        list(CanalJSONDecoder().events(b"key", None))
