"""Craft messages annotated byte by byte, encoded and decoded."""

from __future__ import annotations

import pytest

from tests.protocols.craft_dumps import DDL, RESOLVED, ROW, TWO_ROWS
from tests.protocols.encoding import framed, messages_of, row_batch
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import DDLEvent, EventColumn, Op, ResolvedEvent, RowEvent
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import PartitionInfo, TableInfo
from ticdc_producer.protocols.batch_options import CraftOptions
from ticdc_producer.protocols.craft.decoder import CraftDecoder
from ticdc_producer.protocols.craft.encoder import CraftEncoder
from ticdc_producer.protocols.craft.wire import (
    ByteReader,
    delta_varint_chunk,
    uvarint,
    varint,
)

T = MySQLType


def _table(name: str, columns: list[tuple[str, MySQLType]]) -> TableInfo:
    """A table whose columns have no flags, as in the published messages."""
    infos = (
        ColumnInfo(name=column, type=code, charset="utf8mb4", nullable=False) for column, code in columns
    )
    return TableInfo(schema="a", name=name, table_id=1, columns=tuple(infos))


ROW_TABLE = _table(
    "b",
    [
        ("varchar", T.VARCHAR), ("string", T.STRING), ("date", T.DATE), ("timestamp", T.TIMESTAMP),
        ("datetime", T.DATETIME), ("float", T.FLOAT), ("long", T.LONG), ("null", T.NULL),
    ],
)  # fmt: skip
NEW = [b"varchar1", b"string1", b"2021/01/02", *[b"2021/01/02 00:00:00"] * 2, b"2", b"2000", None]
OLD = [b"varchar0", b"string0", b"2021/01/01", *[b"2021/01/01 00:00:00"] * 2, b"1", b"1000", None]
ROW_TS, DDL_TS, RESOLVED_TS = 424316552636792833, 424316583965360129, 424316594097225729


def test_the_published_row_changed_event() -> None:
    (event,) = CraftDecoder().events(None, ROW)
    names = [column.name for column in ROW_TABLE.columns]
    types = ["varchar", "char", "date", "timestamp", "datetime", "float", "int", "null"]
    assert event == RowEvent(
        commit_ts=ROW_TS,
        schema="a",
        table="b",
        op=Op.UPDATE,
        columns=tuple(EventColumn(name, code, 0) for name, code in zip(names, types, strict=True)),
        before=dict(zip(names, OLD, strict=True)),
        after=dict(zip(names, NEW, strict=True)),
    )
    (message,) = messages_of(CraftEncoder(), ROW_TABLE, [(Op.UPDATE, ROW_TS, OLD, NEW)])
    assert (message.key, message.value) == (None, ROW)


def test_the_published_ddl_event() -> None:
    (event,) = CraftDecoder().events(None, DDL)
    assert event == DDLEvent(commit_ts=DDL_TS, schema="a", table="b", query="create table a", ddl_type=1)
    assert CraftEncoder().ddl(event).value == DDL


def test_the_published_resolved_event() -> None:
    assert list(CraftDecoder().events(None, RESOLVED)) == [ResolvedEvent(commit_ts=RESOLVED_TS)]
    assert CraftEncoder().resolved(RESOLVED_TS).value == RESOLVED


def _keyed_table(name: str, partitions: tuple[PartitionInfo, ...] = ()) -> TableInfo:
    return TableInfo(
        schema="a",
        name=name,
        table_id=1,
        columns=(
            ColumnInfo(name="id", type=T.LONG, nullable=False),
            ColumnInfo(name="v", type=T.VARCHAR, charset="utf8mb4"),
        ),
        indexes=(IndexInfo(id=0, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True),),
        partitions=partitions,
    )


def test_two_rows_of_two_tables_share_a_dictionary() -> None:
    encoder = CraftEncoder(CraftOptions(batch_by="partition"))
    insert = row_batch(Op.INSERT, [], [[b"1", b"x"]], commit_ts=[100])
    update = row_batch(Op.UPDATE, [[b"-2", b""]], [[b"-2", None]], commit_ts=[103], table_id=7)
    partitioned = _keyed_table("c", (PartitionInfo(id=7, name="p"),))
    rows = [encoder.rows(_keyed_table("b"), insert), encoder.rows(partitioned, update)]
    (message,) = framed(encoder, rows)
    assert message.value == TWO_ROWS
    first, second = CraftDecoder().events(None, TWO_ROWS)
    assert isinstance(first, RowEvent)
    assert isinstance(second, RowEvent)
    assert (first.op, first.table, first.table_id, first.after) == (
        Op.INSERT, "b", 0, {"id": b"1", "v": b"x"},
    )  # fmt: skip
    assert (second.commit_ts, second.table, second.table_id) == (103, "c", 7)
    assert (second.before, second.after) == ({"id": b"-2", "v": b""}, {"id": b"-2", "v": None})


@pytest.mark.parametrize(
    ("number", "unsigned", "signed"),
    [
        (0, "00", "00"),
        (63, "3f", "7e"),
        (64, "40", "8001"),
        (128, "8001", "8002"),
        (300, "ac02", "d804"),
        (2000, "d00f", "a01f"),
        (16383, "ff7f", "feff01"),
        (16384, "808001", "808002"),
        (2**63 - 1, "ffffffffffffffff7f", "feffffffffffffffff01"),
    ],
)
def test_numbers(number: int, unsigned: str, signed: str) -> None:
    assert uvarint(number).hex() == unsigned
    assert varint(number).hex() == signed
    assert varint(-number - 1) == bytes([varint(number)[0] + 1]) + varint(number)[1:]


def test_differences_wrap_at_64_bits() -> None:
    falling = bytes.fromhex("64ffffffffffffffffff01")
    assert ByteReader(falling, 0, len(falling)).delta_uvarints(2) == [100, 99]
    signed = delta_varint_chunk([5, -5])
    assert signed.hex() == "0a13"
    assert ByteReader(signed, 0, len(signed)).delta_varints(2) == [5, -5]
