"""The columns of a table, as far as its definition or the messages describe them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import ArgumentError
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.rows.column_types import type_of_column, type_of_name
from ticdc_producer.rows.origin import Origin

_FORM = "SCHEMA.TABLE"
_DESCRIBED = ["name", "type", "flag"]


@dataclass(frozen=True)
class DescribedTable:
    """The columns of a table.

    :param columns: in the order of the messages, or of the table if its definition is known.
    :param key: those of the handle key; empty if they are not known.
    """

    columns: pa.Schema
    key: tuple[pa.Field, ...]


def table_name(text: str | None) -> tuple[str, str]:
    """Return schema and table of ``SCHEMA.TABLE``.

    :raises ArgumentError: if it is missing or malformed.
    """
    schema, _, table = (text or "").partition(".")
    if not schema or not table:
        what = "the option 'rows' requires the option 'table'" if text is None else f"{text!r} is no table"
        raise ArgumentError(what, argument="table", hint=_FORM)
    return schema, table


def table_schema(origin: Origin, schema: str, table: str) -> DescribedTable:
    """Return the columns of a table: those of its definition, else those of its first events.

    :raises ArgumentError: if no message has the table.
    """
    known = origin.tables.get(f"{schema}.{table}")
    if known is not None:
        columns = [pa.field(column.name, type_of_column(column)) for column in known.columns]
        return _with_key(columns, known.key)
    names: set[str] = set()
    for batch in _sampled(origin):
        of_table = _rows_of(batch, schema, table, names)
        if of_table.num_rows:
            described = of_table.column("columns").flatten().flatten()
            distinct = pa.table(described, _DESCRIBED).group_by(_DESCRIBED, use_threads=False)
            columns = distinct.aggregate([]).to_pylist()
            types = {column["name"]: type_of_name(column["type"]) for column in columns}
            key = {column["name"] for column in columns if column["flag"] & ColumnFlag.HANDLE_KEY}
            return _with_key([pa.field(name, kind) for name, kind in types.items()], key)
    hint = nearest(f"{schema}.{table}", names) if names else "name its columns with a schema"
    raise ArgumentError(f"no message has a row of the table {schema}.{table}", argument="table", hint=hint)


def _with_key(columns: Sequence[pa.Field], key: Collection[str]) -> DescribedTable:
    return DescribedTable(pa.schema([*columns]), tuple(column for column in columns if column.name in key))


def _sampled(origin: Origin) -> Iterator[pa.RecordBatch]:
    """Yield the first events of each part, and then all events."""
    sources = origin.events.sources
    yield from chain.from_iterable(islice(source(), 1) for source in sources)
    yield from chain.from_iterable(source() for source in sources)


def _rows_of(batch: pa.RecordBatch, schema: str, table: str, names: set[str]) -> pa.RecordBatch:
    """Return the row events of a table, and add the names of all tables."""
    rows = batch.filter(pc.equal(batch.column("kind"), "row"))
    full = pc.binary_join_element_wise(rows.column("schema"), rows.column("table"), ".")
    names.update(full.unique().to_pylist())
    return rows.filter(
        pc.and_(pc.equal(rows.column("schema"), schema), pc.equal(rows.column("table"), table))
    )
