"""Every MySQL type has an answer everywhere: in codecs, coercion, keys, generated volume and strategies.

An answer is a value that survives, or a refusal that is listed here.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.protocols.encoding import alone, framed, one_by_one
from tests.protocols.expected_events import expected_row
from tests.protocols.golden_messages import encode_rows
from tests.protocols.random_codecs import CODECS, Codec
from tests.protocols.random_tables import TABLE_ID, insert
from ticdc_producer.errors import ProducerError
from ticdc_producer.model.column import ColumnInfo, IndexInfo
from ticdc_producer.model.event import RowEvent, Value
from ticdc_producer.model.mysql_type import STRINGS, TYPES, MySQLType, bare_name, type_names
from ticdc_producer.model.row_key import encode_part
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import coerce, read
from ticdc_producer.protocols.csv.decoder import CSVDecoder, described_columns
from ticdc_producer.protocols.csv.encoder import CSVEncoder
from ticdc_producer.protocols.csv.options import CSVOptions
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.protocols.storage_files import schema_file
from ticdc_producer.scenario.generate.domain import (
    boundary_texts,
    canonical_of,
    default_range,
    has_ordinals,
    reject_type,
)
from ticdc_producer.scenario.generate.draw import ordinal_texts
from ticdc_producer.testing.random_tables import COLUMN_TYPES
from ticdc_producer.testing.random_values import values

T = MySQLType
VERSION = "test/t/1"
ALL_CODECS = {
    **CODECS,
    "csv": Codec(
        st.just(CSVOptions()),
        CSVEncoder,
        lambda options, table: CSVDecoder(options, {VERSION: described_columns(schema_file(table, 1))}),
        frozenset(),
    ),
}
NOT_IN_SQL = {T.NEW_DATE: "no SQL creates a column of this type; TiDB reads it as DATE"}
NOT_GENERATED = {T.VECTOR_FLOAT32: "generated volume has no vectors"}
OPTIONS = {"debezium-avro": {"avro_bigint_unsigned_handling_mode": "string"}}
"""Options without which TiCDC refuses a value."""
NOT_DISTINGUISHED = {("csv", "VAR_STRING varbinary"): "schema files name VAR_STRING and no charset"}
SIZES = {T.NEW_DECIMAL: (12, 4), T.BIT: (64, -1), **dict.fromkeys(STRINGS, (12, -1))}
"""Length and decimals, where a column of the type has them."""


def _columns() -> list[ColumnInfo]:
    """A column of every type, with each sign and charset that it can have."""
    columns = []
    for code, spec in TYPES.items():
        length, decimal = SIZES.get(T(code), (-1, 3 if spec.has_fsp else -1))
        column = ColumnInfo(
            name="v",
            type=T(code),
            length=length,
            decimal=decimal,
            elements=("a", "b,c'") if code == T.ENUM else ("a", "b") if code == T.SET else (),
        )
        signs = {"never": (False,), "optional": (False, True), "always": (True,)}[spec.unsigned]
        charsets = ("utf8mb4",) if spec.bears_charset else ("binary",)
        charsets += ("binary",) if spec.bytes_name else ()
        for charset in charsets:
            collation = "utf8mb4_bin" if charset == "utf8mb4" else "binary"
            columns += [
                replace(column, unsigned=sign, charset=charset, collation=collation) for sign in signs
            ]
    return columns


COLUMNS = _columns()


def _id(column: ColumnInfo) -> str:
    return f"{column.type.name} {column.type_name}"


each_column = pytest.mark.parametrize("column", COLUMNS, ids=_id)


def edges(column: ColumnInfo) -> list[Value]:
    """Canonical values at the bounds of a column; those that it cannot hold belong to the other sign."""
    values: list[Value] = [None]
    for text in boundary_texts(column):
        try:
            values.append(canonical_of(column, text))
        except ProducerError:
            assert column.unsigned or column.type in NOT_IN_SQL
    return values


def test_a_code_is_a_type_or_has_no_values() -> None:
    assert set(MySQLType) - set(TYPES) == {T.UNSPECIFIED, T.NULL, T.GEOMETRY}


NO_NULL = {("maxwell", T.VECTOR_FLOAT32)}
"""Protocols and types whose NULL TiCDC cannot send."""


def test_names_of_types_are_distinct() -> None:
    """But for those that SQL does not distinguish."""
    shared = {"date", "varbinary"}
    names = [bare_name(code, binary=binary, unsigned=False) for code in TYPES for binary in (False, True)]
    for name in set(names) - shared:
        assert len({code for code in TYPES if name in type_names([code])}) == 1


@pytest.mark.parametrize("protocol", sorted(BUILT_IN))
@each_column
def test_a_codec_returns_the_values(protocol: str, column: ColumnInfo) -> None:
    if (protocol, _id(column)) in NOT_DISTINGUISHED:
        return
    codec = ALL_CODECS[protocol]
    number = ColumnInfo(name="id", type=T.LONG, nullable=False)
    key = IndexInfo(id=1, name="PRIMARY", offsets=(0,), unique=True, primary=True, clustered=True)
    table = TableInfo(schema="test", name="t", table_id=TABLE_ID, columns=(number, column), indexes=(key,))
    sent = [value for value in edges(column) if value is not None or (protocol, column.type) not in NO_NULL]
    rows = [insert(table, 1 << 20, (b"%d" % n, value)) for n, value in enumerate(sent)]
    options = BUILT_IN[protocol].typed(OPTIONS.get(protocol, {}))
    encoder, decoder = codec.encoder(options), codec.decoder(options, table)
    encoded = one_by_one(encode_rows(encoder, rows))
    assert [str(encoding.refusal) for encoding in encoded if encoding.refusal] == []
    events = [
        event
        for message in framed(encoder, alone(encoded))
        for event in decoder.events(VERSION.encode() if protocol == "csv" else message.key, message.value)
    ]
    assert len(events) == len(rows) > 0
    for event, row in zip(events, rows, strict=True):
        assert isinstance(event, RowEvent)
        expected = expected_row(row, encoder.fidelity)
        assert (event.columns, event.after) == (expected.columns, expected.after)


@each_column
def test_coercion_reads_what_it_writes(column: ColumnInfo) -> None:
    values = [value for value in edges(column) if value is not None]
    assert bool(values) == (column.type not in NOT_IN_SQL)
    for value in values:
        assert coerce(column, read(column, value)) == value


@each_column
def test_the_implicit_default_is_a_value(column: ColumnInfo) -> None:
    if column.type not in NOT_IN_SQL and not column.zero.startswith(b"0000"):  # strict mode has no zero date
        assert coerce(column, read(column, column.zero)) == column.zero


@each_column
def test_keys_sort_like_values(column: ColumnInfo) -> None:
    values = [value for value in edges(column) if value is not None]
    keys = {encode_part(column, value) for value in values}
    assert len(keys) == len(set(values))
    if TYPES[column.type].key in ("integer", "double", "decimal"):
        assert sorted(values, key=float) == sorted(values, key=lambda value: encode_part(column, value))


@each_column
def test_volume_is_generated_or_refused(column: ColumnInfo) -> None:
    try:
        reject_type(column)
    except ProducerError:
        assert column.type in NOT_GENERATED
        return
    assert column.type not in NOT_GENERATED
    if has_ordinals(column) and TYPES[column.type].family != "float" and column.type not in NOT_IN_SQL:
        low, high = default_range(column)
        ordinals = np.array([low, high], np.int64 if high < 1 << 63 else np.uint64)
        for text in ordinal_texts(column, ordinals).to_pylist():
            assert coerce(column, read(column, text)) == text


@each_column
def test_strategies_draw_values(column: ColumnInfo) -> None:
    known = {(kind.code, kind.charset) for kind in COLUMN_TYPES}
    assert ((column.type, column.charset) in known) == (column.type not in NOT_IN_SQL)
    if column.type in NOT_IN_SQL:
        return

    @settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
    @given(values(column))
    def check(value: bytes) -> None:
        encode_part(column, value)

    check()
