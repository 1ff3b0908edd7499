"""The files of ``snapshot/`` in a golden folder: the tables at the start-ts, with which a consumer starts.

Each table is in three files: as SQL that MySQL, TiDB and this tool load; as Parquet, typed by the table; and
as the JSON lines that ``state/`` has, in the form in which the changefeed sends its rows. ``events.jsonl``
has the tables and rows as a reader of the messages would decode them: ``verify`` starts with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Part
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import MAX_EVENTS, Kind
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, NUMBERED, STRINGS
from ticdc_producer.model.shapes import EXPECTED_EVENTS, ExpectedBatch
from ticdc_producer.model.table import TableInfo
from ticdc_producer.oracle.folder_content import SNAPSHOT
from ticdc_producer.oracle.scenario import tables_at_start
from ticdc_producer.pipeline.row_images import column_values
from ticdc_producer.protocols.arrow_text import concat, contents, map_values, surrounded, text_array
from ticdc_producer.rows.columns import conversion, converted, type_of_column
from ticdc_producer.scenario.sql.text.spelling import quoted_name, quoted_text
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.simulate import Simulation
from ticdc_producer.simulate.state import TableSnapshot, snapshot_events
from ticdc_producer.targets.golden.expectations import EVENT_FILES, EVENTS
from ticdc_producer.targets.golden.json_lines import event_lines
from ticdc_producer.targets.golden.parquet import disk_errors, write_part
from ticdc_producer.targets.golden.write import MAX_JSON_LINES, table_file

FOLDER = SNAPSHOT
_ROWS_OF_INSERT = 500
_NUMBERS = INTEGERS | NUMBERED
"""Types whose canonical values are SQL literals: BIT, ENUM and SET are numbers."""
_ROWS_AT_ONCE = 1 << 16
_TUPLES = pa.schema([("row", pa.binary())])
_SETTINGS = """SET NAMES utf8mb4;
SET time_zone = '+00:00';
SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
SET foreign_key_checks = 0;
"""
_ESCAPES = (
    (b"\\", b"\\\\"), (b"'", b"''"), (b"\0", b"\\0"), (b"\n", b"\\n"), (b"\r", b"\\r"), (b"\x1a", b"\\Z"),
)  # fmt: skip
"""Characters of a text, and how its literal has them: each row is a line."""
_AUTO_RANDOM = "/*T! SET allow_auto_random_explicit_insert = 1 */;\n"


def write_snapshot(folder: Path, simulation: Simulation, tables: Sequence[TableSnapshot]) -> None:
    """Write the tables at the start-ts of a simulation.

    :param folder: the golden folder.
    :param tables: with their rows in order.
    """
    for of_table in tables:
        name = table_file(of_table.table.schema, of_table.table.name)
        with disk_errors(folder):
            _write_sql(folder / FOLDER / f"{name}.sql", of_table)
            _write_parquet(folder / FOLDER / f"{name}.parquet", of_table)
    rows = snapshot_events(simulation.job, simulation.engine, tables)
    _write_events(folder, _creates(simulation.job), rows)


def regrouped(batches: Batches, size: int) -> Batches:
    """Yield the same rows in batches of one size but for the last one: an engine's batches have any size."""
    pending: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        pending.append(batch)
        count += batch.num_rows
        if count >= size:
            rows = pa.concat_batches(pending)
            whole = count - count % size
            yield from (rows.slice(start, size) for start in range(0, whole, size))
            pending, count = [rows.slice(whole)], count - whole
    if count:
        yield pa.concat_batches(pending)


def _write_events(folder: Path, creates: pa.RecordBatch, rows: Dataset) -> None:
    """Write ``events.jsonl``, or ``events.parquet`` for many rows; this process numbers them."""
    numbered = _numbered(regrouped(rows.batches(), _ROWS_AT_ONCE))
    if rows.count() <= MAX_JSON_LINES:
        with (folder / FOLDER / EVENTS).open("wb") as file:
            file.writelines(event_lines(batch) for batch in chain([creates], numbered))
        return
    (folder / FOLDER / EVENT_FILES).mkdir()
    write_part(Part(0), chain([creates], numbered), folder / FOLDER / EVENT_FILES, EXPECTED_EVENTS)


def _numbered(batches: Batches) -> Batches:
    """Yield events with offsets and indexes in their order."""
    first = 0
    for batch in batches:
        numbers = first + np.arange(batch.num_rows)
        first += batch.num_rows
        columns = {"offset": numbers // MAX_EVENTS, "index": (numbers % MAX_EVENTS).astype(np.int32)}
        arrays = [
            pa.array(columns[field.name]) if field.name in columns else batch.column(field.name)
            for field in EXPECTED_EVENTS
        ]
        yield pa.record_batch(arrays, schema=EXPECTED_EVENTS)


def _creates(job: Job) -> ExpectedBatch:
    """Return the definitions of the tables as DDL events (shape ``EXPECTED_EVENTS``)."""
    rows = [
        {
            "topic": table.topic,
            "partition": 0,
            "offset": number,
            "index": 0,
            "kind": Kind.DDL.label,
            "commit_ts": table.ts,
            "schema": table.schema,
            "table": table.table,
            "query": table.create,
            "ddl_type": 0,
        }
        for number, table in enumerate(tables_at_start(job))
    ]
    events: ExpectedBatch = pa.RecordBatch.from_pylist(rows, EXPECTED_EVENTS)
    return events


def _write_sql(path: Path, of_table: TableSnapshot) -> None:
    """Write the statements that make a table. Parts make the rows, and this process writes them."""
    table = of_table.table
    random = any(column.auto_random for column in table.columns)
    head = _SETTINGS + _AUTO_RANDOM * random
    head += f"CREATE DATABASE IF NOT EXISTS {quoted_name(table.schema)};\n{of_table.definition.create};\n"
    names = ", ".join(quoted_name(column.name) for _, column in _written(table))
    insert = f"INSERT INTO {quoted_name(table.schema)}.{quoted_name(table.name)} ({names}) VALUES\n"
    tuples = of_table.rows.map(partial(_tuples, table), _TUPLES)
    with path.open("wb") as file:
        file.write(head.encode("utf-8", "surrogateescape"))
        for batch in regrouped(tuples.batches(), _ROWS_OF_INSERT):
            values = pa.ListArray.from_arrays([0, batch.num_rows], batch.column(0))
            file.write(insert.encode() + pc.binary_join(values, b",\n")[0].as_py() + b";\n")


def _written(table: TableInfo) -> list[tuple[int, ColumnInfo]]:
    """Return the columns that an INSERT names, with their indexes in row images."""
    return [(index, column) for index, column in enumerate(table.sent_columns) if not column.generated]


def _tuples(table: TableInfo, batches: Batches) -> Batches:
    """Yield the rows of INSERT statements.

    :param batches: shape ``simulate.state.LOCATED_ROWS``.
    """
    for batch in batches:
        every = np.arange(batch.num_rows)
        parts: list[bytes | pa.Array] = [b"("]
        for number, (index, column) in enumerate(_written(table)):
            parts += [b", "] if number else []
            parts.append(_literals(column, column_values(batch.column("row"), every, index)))
        yield pa.record_batch([concat([*parts, b")"], batch.num_rows)], schema=_TUPLES)


def _literals(column: ColumnInfo, values: pa.Array) -> pa.Array:
    """Return SQL literals of the canonical values of a column."""
    if column.type in _NUMBERS:
        return pc.fill_null(values, b"NULL")
    if column.type in STRINGS | LOBS and column.binary:
        return _hexadecimal(values)
    texts = values
    for special, escaped in _ESCAPES:
        texts = pc.replace_substring(texts, special, escaped)
    literals = concat(surrounded(b"'", texts, b"'"), len(texts), null=b"NULL")
    try:
        values.cast(pa.string())
    except pa.ArrowInvalid:  # a text may hold bytes that are not UTF-8
        return map_values(values, _quoted)
    return literals


def _quoted(value: bytes) -> bytes:
    """Return the literal of a text, which may not be UTF-8."""
    try:
        return quoted_text(value.decode()).encode()
    except UnicodeDecodeError:
        return b"x'" + value.hex().encode() + b"'"


def _hexadecimal(values: pa.Array) -> pa.Array:
    """Return literals of bytes.

    >>> _hexadecimal(pa.array([b"a\\xff", None, b""])).to_pylist()
    [b"x'61ff'", b'NULL', b"x''"]
    """
    filled = pc.fill_null(values, b"")
    sizes = pc.binary_length(filled).to_numpy(zero_copy_only=False).astype(np.int64)
    digits = text_array(contents(filled).hex().encode(), sizes * 2)
    literals = concat((b"x'", digits, b"'"), len(values))
    return pc.if_else(values.is_valid(), literals, pa.scalar(b"NULL"))


def _write_parquet(path: Path, of_table: TableSnapshot) -> None:
    """Write the rows of a table in its types; a column with a value that its type cannot hold has texts."""
    import pyarrow.parquet as pq

    table = of_table.table
    unfit = frozenset[int]().union(*of_table.rows.results(partial(_unfit_columns, table)))
    kinds = {
        index: pa.string() if index in unfit else type_of_column(column)
        for index, column in enumerate(table.sent_columns)
    }
    schema = pa.schema([(column.name, kinds[index]) for index, column in enumerate(table.sent_columns)])
    typed: Dataset = of_table.rows.map(partial(_typed, table, schema), schema)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in regrouped(typed.batches(), _ROWS_AT_ONCE):
            writer.write_batch(batch)


def _unfit_columns(table: TableInfo, _part: Part, batches: Batches) -> frozenset[int]:
    """Return the indexes of the columns with a value that their type cannot hold."""
    unfit: set[int] = set()
    for batch in batches:
        every = np.arange(batch.num_rows)
        for index, column in enumerate(table.sent_columns):
            values = column_values(batch.column("row"), every, index)
            convert = conversion(column.name, type_of_column(column), "UTC", column)
            if index not in unfit and converted(values, convert).rejected:
                unfit.add(index)
    return frozenset(unfit)


def _typed(table: TableInfo, schema: pa.Schema, batches: Batches) -> Batches:
    for batch in batches:
        every = np.arange(batch.num_rows)
        columns = [
            converted(
                column_values(batch.column("row"), every, index),
                conversion(column.name, schema.field(index).type, "UTC", column),
            ).values
            for index, column in enumerate(table.sent_columns)
        ]
        yield pa.record_batch(columns, schema=schema)
