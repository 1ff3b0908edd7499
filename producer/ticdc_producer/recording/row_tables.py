"""The tables whose definition follows from the columns of their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.errors import RecordingError
from ticdc_producer.model.column import ColumnFlag, ColumnInfo, IndexInfo
from ticdc_producer.model.column_functions import distinct_rows
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.mysql_type import STRINGS, WITH_FSP, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.recording.definitions import SCHEMA_HINT, CreatedNames, EarlierTable
from ticdc_producer.recording.summary import FirstRow, TableName
from ticdc_producer.replica.stream_ddl import StreamDDL
from ticdc_producer.rows.changes import sends_base64
from ticdc_producer.scenario.sql.definition.create_text import create_table_text
from ticdc_producer.verifier.event_layouts import DescribedColumn
from ticdc_producer.verifier.history.sides import described_column

_DIGITS, _BITS, _LENGTH, _LONGEST = 65, 64, 255, 16_383
"""The last one is the length of the longest VARCHAR in utf8mb4."""
Size: TypeAlias = tuple[int, int, int]
"""The most digits of a fraction, bytes and characters of a value."""
Sizes: TypeAlias = dict[tuple[str, str, str], Size]
"""By schema, table and column."""


@dataclass(frozen=True)
class RowTables:
    """The tables with rows before which no DDL names them.

    Lengths and fraction digits that a message lacks are the smallest that fit the values.

    :param begin: TSO after which rows are recorded; None: all are.
    """

    rows: Mapping[TableName, FirstRow]
    fidelity: Fidelity
    begin: int | None

    @classmethod
    def of(
        cls,
        rows: Mapping[TableName, FirstRow],
        known: Iterable[TableName],
        ddls: Sequence[StreamDDL],
        created: CreatedNames,
        fidelity: Fidelity,
        begin: int | None,
    ) -> RowTables:
        """Return the tables.

        :param known: tables whose definition is known.
        """
        visible = fidelity.visible_name
        names, until = {(visible(schema), visible(table)) for schema, table in known}, dict[TableName, int]()
        for ddl in ddls:
            until.setdefault((ddl.schema, ddl.table), ddl.commit_ts)
        unknown = {
            name: row
            for name, row in rows.items()
            if name not in names
            and name[0].lower() not in created.databases
            and row.commit_ts < until.get(name, row.commit_ts + 1)
        }
        return cls(unknown, fidelity, begin)

    def tables(self, changes: Dataset) -> tuple[list[EarlierTable], frozenset[TableName]]:
        """Return the tables, and the names of those without a recorded row whose definition does not follow.

        :param changes: shape ``events.CHANGES``.
        :raises RecordingError: for a recorded row of a table whose definition does not follow.
        """
        if not self.rows:
            return [], frozenset()
        sizes: Sizes = {}
        for of_part in changes.results(self._sizes):
            _add(sizes, of_part)
        tables, unknown = [], set()
        for name, row in self.rows.items():
            try:
                tables.append(EarlierTable(*name, create_table_text(self._table(name, row, sizes))))
            except RecordingError:
                if self.begin is None or row.last_ts > self.begin:
                    raise
                unknown.add(name)
        return tables, frozenset(unknown)

    def _sizes(self, _part: Part, batches: Batches) -> Sizes:
        sizes: Sizes = {}
        for batch in batches:
            firsts, positions = distinct_rows([batch.column(name) for name in ("schema", "table")])
            for position, first in enumerate(firsts.tolist()):
                name = batch.column("schema")[first].as_py() or "", batch.column("table")[first].as_py()
                if name in self.rows:
                    own = batch.filter(pa.array(positions == position))
                    for images in (own.column("before"), own.column("after")):
                        _add(sizes, {(*name, column): size for column, size in _sizes_of(images)})
        return sizes

    def _table(self, name: TableName, row: FirstRow, sizes: Mapping[tuple[str, str, str], Size]) -> TableInfo:
        if sends_base64(self.fidelity):
            what = f"the rows of {'.'.join(name)} do not say which of its columns hold bytes"
            raise RecordingError(what, where=row.origin, hint=SCHEMA_HINT).about("schema")
        shows_null = bool(self.fidelity.visible_flag(ColumnFlag.NULLABLE))
        columns = tuple(
            _column(name, row, column, sizes.get((*name, column.name), (0, 0, 0)), shows_null=shows_null)
            for column in row.columns
        )
        flags = [column.flag for column in row.columns]
        key = tuple(offset for offset, flag in enumerate(flags) if flag & ColumnFlag.HANDLE_KEY)
        primary = any(flags[offset] & ColumnFlag.PRIMARY_KEY for offset in key)
        others = tuple(
            IndexInfo(id=offset + 2, name=columns[offset].name, offsets=(offset,), unique=unique)
            for offset, flag in enumerate(flags)
            for unique in [bool(flag & ColumnFlag.UNIQUE_KEY)]
            if offset not in key and (unique or flag & ColumnFlag.MULTIPLE_KEY)
        )
        taken = {index.name.lower() for index in others}
        free = next(name for name in chain(["key"], map("key_{}".format, count(2))) if name not in taken)
        first = IndexInfo(id=1, name=free, offsets=key, unique=True, primary=primary, clustered=primary)
        indexes = (*((first,) if key else ()), *others)
        return TableInfo(schema=name[0], name=name[1], table_id=0, columns=columns, indexes=indexes)


def _add(sizes: Sizes, others: Sizes) -> None:
    for column, size in others.items():
        before = sizes.get(column, size)
        sizes[column] = max(size[0], before[0]), max(size[1], before[1]), max(size[2], before[2])


def _sizes_of(images: pa.MapArray) -> Iterator[tuple[str, Size]]:
    """Yield the columns of images, with the sizes of their values.

    >>> images = pa.array([[("v", "1.25"), ("w", "ä")], None], pa.map_(pa.string(), pa.binary()))
    >>> [*_sizes_of(images)]
    [('v', (2, 4, 4)), ('w', (0, 2, 1))]
    """
    flat = images.filter(images.is_valid())
    texts = flat.items
    lengths = pc.fill_null(pc.binary_length(texts), 0)
    points = pc.find_substring(texts, ".")
    fractions = pc.if_else(pc.greater_equal(points, 0), pc.subtract(pc.subtract(lengths, points), 1), 0)
    characters = pc.utf8_length(texts.cast(pa.string(), safe=False))  # may be bytes, which do not count
    sizes = {"fraction": fractions, "bytes": lengths, "characters": characters}
    table = pa.table({"name": flat.keys, **{name: pc.fill_null(size, 0) for name, size in sizes.items()}})
    grouped = table.group_by("name").aggregate([(name, "max") for name in sizes])
    of_name = zip(*(grouped.column(f"{name}_max").to_pylist() for name in sizes), strict=True)
    yield from zip(grouped.column("name").to_pylist(), of_name, strict=True)


def _column(
    table: TableName, row: FirstRow, column: DescribedColumn, most: Size, *, shows_null: bool
) -> ColumnInfo:
    known = described_column(column)
    members = known is not None and known.type in (MySQLType.ENUM, MySQLType.SET) and not known.elements
    if known is None or members:
        lacks = f"the members of column {column.name!r}" if members else f"the type of column {column.name!r}"
        what = f"no message creates {'.'.join(table)}, and its rows do not have {lacks}"
        raise RecordingError(what, where=row.origin, hint=SCHEMA_HINT).about("schema")
    code, in_key = known.type, bool(column.flag & ColumnFlag.HANDLE_KEY)
    (fraction, nbytes, characters), charset = most, known.charset
    size, decimal = -1, -1
    if code == MySQLType.NEW_DECIMAL:
        size, decimal = _DIGITS, fraction
    elif code in WITH_FSP:
        decimal = fraction
    elif code in STRINGS:
        size = max(nbytes, 1) if known.binary else max(characters, _LENGTH)
        charset = "latin1" if size > _LONGEST and not known.binary else charset  # TiDB's has any character
    elif code == MySQLType.BIT:
        size = _BITS
    return replace(
        known,
        length=size,
        decimal=decimal,
        charset=charset,
        collation="binary" if known.binary else f"{charset}_bin",
        nullable=not in_key and (not shows_null or bool(column.flag & ColumnFlag.NULLABLE)),
    )
