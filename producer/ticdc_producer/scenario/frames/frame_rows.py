"""The rows of a large frame as a dataset, on both engines; and what the driver has to know of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine import SMALL_EVENTS
from ticdc_producer.engine.choose import translate_worker_errors
from ticdc_producer.engine.dataset import Batches, Dataset, Engine, Order, Part
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.hints import nearest
from ticdc_producer.model.column_functions import first_of_groups
from ticdc_producer.scenario.frames.commit_sizes import CommitSizes, are_in_order
from ticdc_producer.scenario.frames.frame import Frame
from ticdc_producer.scenario.frames.plain_table import plain_schema, plain_table
from ticdc_producer.scenario.frames.rows import COLUMNS

Statement: TypeAlias = tuple[int, int, str, str]
"""Number of its transaction or its commit-ts, position in it, SQL text, and the database of a sent DDL."""

MOST_STATEMENTS = 5_000
MOST_TABLES = 10_000
_LARGE = "a DataFrame of more than 100,000 rows"
_OF_RECORDINGS = ("resolved", "row_id")


@dataclass(frozen=True)
class FrameColumnNames:
    """The columns of a frame that has no table of its own.

    :param actual: the names of the frame, by the fixed ones.
    :param canonical: whether the images have canonical values, and the statements are DDLs as they were sent.
    """

    actual: Mapping[str, str]
    canonical: bool = False

    @classmethod
    def of(cls, names: Sequence[str], *, canonical: bool = False) -> FrameColumnNames:
        """Return the columns of a frame.

        :raises ScenarioError: for an unknown or a duplicate column, and if there is not one of ``txn`` and
            ``commit_ts``.
        """
        actual: dict[str, str] = {}
        for name in names:
            lower = name.lower()
            if lower not in COLUMNS:
                what = f"column {name!r} of the DataFrame is unknown"
                raise ScenarioError(what, column=name, hint=nearest(name, COLUMNS))
            if lower in actual:
                raise ScenarioError(f"column {name!r} is not unique", column=name)
            if lower in _OF_RECORDINGS and not canonical:
                what = f"a DataFrame of more than {SMALL_EVENTS:,} rows cannot have a column {name!r}"
                raise ScenarioError(what, column=name)
            actual[lower] = name
        if ("commit_ts" in actual) == ("txn" in actual):
            both = "commit_ts" in actual
            what = "the DataFrame has both txn and commit_ts" if both else "the DataFrame has no column txn"
            raise ScenarioError(what, column="txn", hint="txn or commit_ts says which rows commit together")
        return cls(actual, canonical)

    @property
    def number(self) -> str:
        """``commit_ts`` or ``txn``."""
        return "commit_ts" if "commit_ts" in self.actual else "txn"


class FrameForm(Protocol):
    """The columns of a frame whose rows have to get those of a frame with several tables.

    :ivar before: the column of the row before an update; empty: there is none, and that before a delete has
        the key alone.
    """

    @property
    def number(self) -> str:
        """``commit_ts`` or ``txn``."""

    @property
    def before(self) -> str:
        """The column of the row before an update; empty: there is none."""

    def rows(self, engine: Engine, frame: Frame, only: Collection[str] | None = None, /) -> Dataset:
        """Return the rows with the columns of a frame with several tables, in no order.

        :param only: the columns of the table that are needed, in lower case; None: all.
        """


FrameColumns: TypeAlias = "FrameColumnNames | FrameForm"


def frame_rows(
    engine: Engine,
    frame: Frame,
    columns: FrameColumns,
    names: Sequence[str],
    only: Collection[str] | None = None,
) -> Dataset:
    """Return some columns of a frame under their fixed names, those that it has, in no order.

    Values have plain types (``plain_table``); the numbers are ``int64``.

    :param only: the columns of images that are needed, in lower case; None: all. Images may have others.
    :raises ScenarioError: for a column of another type.
    """
    if not isinstance(columns, FrameColumnNames):
        flat = columns.rows(engine, frame, only)
        return flat.select(*(name for name in names if name in flat.schema.names))
    wanted = [name for name in names if name in columns.actual]
    rows = frame.dataset(engine, [columns.actual[name] for name in wanted])
    schema = pa.schema(
        [
            pa.field(name, pa.int64() if name in (*_INTEGERS, *_OF_RECORDINGS) else kind.type)
            for name, kind in zip(wanted, plain_schema(rows.schema), strict=True)
        ]
    )
    for column in schema:
        if column.name in _TEXTS and not (pa.types.is_string(column.type) or pa.types.is_null(column.type)):
            what = f"column {column.name!r} must be a text column, not {column.type}"
            raise ScenarioError(what, column=column.name)
    return rows.map(partial(_plain, schema), schema)


_TEXTS = ("statement", "op", "schema", "table")
_INTEGERS = ("txn", "commit_ts", "seq")


def _plain(schema: pa.Schema, batches: Batches) -> Batches:
    for batch in batches:
        table = plain_table(pa.Table.from_batches([batch]))
        columns = []
        for column, target in zip(table.columns, schema, strict=True):
            if target.name in _INTEGERS:
                column = checked_integers(target.name, column)
            if target.name in _OF_RECORDINGS:
                column = _as_integers(target.name, column)
            columns.append(column.combine_chunks().cast(target.type))
        arrays = [column.chunk(0) if isinstance(column, pa.ChunkedArray) else column for column in columns]
        yield pa.record_batch(arrays, schema=schema)


def checked_integers(name: str, column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column of numbers.

    :raises ScenarioError: if it has none, or NULL.
    """
    integers = _as_integers(name, column)
    if integers.null_count:
        raise ScenarioError(f"{name!r} is NULL in {integers.null_count:,} rows of a part", column=name)
    return integers


def _as_integers(name: str, column: pa.ChunkedArray | pa.Array) -> pa.Array:
    kind = column.type  # Spark reads UINT64 as DECIMAL(20, 0)
    is_integer = pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0)
    if not (is_integer or pa.types.is_null(kind)):
        raise ScenarioError(f"column {name!r} must be an integer column, not {column.type}", column=name)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise ScenarioError(f"column {name!r}: {error}", column=name) from None


@dataclass
class FrameSummary:
    """The summary of a large frame on the driver.

    :ivar first: smallest number of a transaction; None: there are no rows.
    :ivar last: largest number.
    :ivar tables: schema and name, in lower case, of the tables that rows change.
    :ivar sizes: of the transactions, by part.
    :ivar unordered: tables of which two rows have one position; None: they are not known.
    """

    first: int | None = None
    last: int | None = None
    tables: set[tuple[str, str]] = field(default_factory=set)
    sizes: list[CommitSizes] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    unordered: set[str] | None = None

    def add(self, other: FrameSummary) -> None:
        """Add what is known of other rows.

        :raises UnsupportedSQL: if there are more statements or tables than this process holds.
        """
        for number in (other.first, other.last):
            if number is not None:
                self.first = number if self.first is None else min(self.first, number)
                self.last = number if self.last is None else max(self.last, number)
        self.tables |= other.tables
        self.sizes += other.sizes
        self.statements += other.statements
        for count, limit, what in (
            (len(self.statements), MOST_STATEMENTS, "statements"),
            (len(self.tables), MOST_TABLES, "tables"),
        ):
            if count > limit:
                hint = "the rows of a large DataFrame are row changes, and a few DDL statements"
                raise UnsupportedSQL(f"{_LARGE} has at most {limit:,} {what}", hint=hint)


def summary_of(engine: Engine, frame: Frame, columns: FrameColumns) -> FrameSummary:
    """Return what the driver has to know of a frame, from one pass over its small columns.

    :raises ScenarioError: for a number that is NULL, and for numbers ``txn`` with gaps.
    """
    names = (columns.number, "seq", "statement", "schema", "table", "resolved")
    rows, summary = frame_rows(engine, frame, columns, names, only=()), FrameSummary()
    for of_part in rows.results(partial(_summary, columns.number)):
        summary.add(of_part)
    counts = isinstance(columns, FrameColumnNames) and columns.number == "txn"
    if counts and summary.first is not None and summary.last is not None:
        _check_gaps(rows.select("txn"), summary.first, summary.last)
    return summary


def _summary(number: str, _part: Part, batches: Batches) -> FrameSummary:
    summary, sizes = FrameSummary(), CommitSizes()
    for batch in map(without_resolved, batches):
        if batch.num_rows:
            summary.add(_of_batch(number, batch))
            sizes.add(*(column.to_numpy() for column in positions(number, batch)))
    summary.sizes.append(sizes)
    return summary


def positions(number: str, batch: pa.RecordBatch) -> tuple[pa.Array, pa.Array]:
    """Return the numbers of the transactions of rows, and their positions in them.

    :param number: ``commit_ts`` or ``txn``.
    """
    zero = pa.scalar(0, pa.int64())
    seq = batch.column("seq") if "seq" in batch.schema.names else pa.repeat(zero, batch.num_rows)
    return batch.column(number), seq


def names_without_order(
    frame: Frame, columns: FrameColumns, summary: FrameSummary, names: Collection[str]
) -> Collection[str]:
    """Return the tables of which two rows have one position in one transaction.

    :param names: of tables, in lower case, without the schema.
    """
    if are_in_order(summary.sizes):
        return ()
    if summary.unordered is None:
        wanted = (columns.number, "seq", "statement", "table", "resolved")
        rows = frame_rows(summary_engine(frame), frame, columns, wanted, only=())
        of_names = rows.map(partial(_positions_of, columns.number, pa.array(sorted(names))), _POSITIONS)
        by_position = of_names.shuffle(_POSITION, Order(_POSITION))
        with translate_worker_errors():
            summary.unordered = {name for part in by_position.results(_with_one_position) for name in part}
    return summary.unordered


_POSITIONS = pa.schema([("number", pa.int64()), ("seq", pa.int64()), ("table", pa.string())])
_POSITION = ("number", "seq", "table")


def _positions_of(number: str, names: pa.Array, batches: Batches) -> Batches:
    """Yield the positions of the row changes of some tables."""
    for batch in map(without_resolved, batches):
        table = pc.utf8_lower(batch.column("table").cast(pa.string()))
        rows = pa.record_batch([*positions(number, batch), table], schema=_POSITIONS)
        yield rows.filter(pc.is_in(table, names))


def _with_one_position(_part: Part, batches: Batches) -> set[str]:
    """Return the tables of rows with one position, which follow each other."""
    names, last = set[str](), None
    for batch in batches:
        if batch.num_rows:
            known = batch if last is None else pa.concat_batches([last, batch])
            same = pa.array(~first_of_groups(known, _POSITION))
            names.update(pc.unique(known.column("table").filter(same)).to_pylist())
            last = batch.slice(batch.num_rows - 1)
    return names


def without_resolved(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows of a frame that are no resolved events."""
    if "resolved" not in batch.schema.names or batch.column("resolved").null_count == batch.num_rows:
        return batch
    return batch.filter(batch.column("resolved").is_null())


def _of_batch(number: str, batch: pa.RecordBatch) -> FrameSummary:
    bounds = pc.min_max(batch.column(number)).as_py()
    summary = FrameSummary(bounds["min"], bounds["max"])
    names = batch.schema.names
    if "statement" in names and batch.column("statement").null_count < batch.num_rows:
        stated = batch.filter(batch.column("statement").is_valid()).slice(0, MOST_STATEMENTS + 1)
        positions = stated.column("seq").to_pylist() if "seq" in names else [0] * stated.num_rows
        texts = stated.column("statement").to_pylist()
        schemas = stated.column("schema").to_pylist() if "schema" in names else [None] * stated.num_rows
        numbers = stated.column(number).to_pylist()
        of_rows = zip(numbers, positions, texts, schemas, strict=True)
        summary.statements = [(*first, schema or "") for *first, schema in of_rows]
    if "table" in names:
        changes = batch.filter(batch.column("statement").is_null()) if "statement" in names else batch
        keys = table_names(changes)
        for name in pc.unique(keys.drop_null()).to_pylist():
            schema, _, table = name.partition("\0")
            summary.tables.add((schema, table))
    return summary


def table_names(batch: pa.RecordBatch) -> pa.Array:
    """Return schema and table of each row in lower case, with a zero byte between; NULL without a table."""
    table = pc.utf8_lower(batch.column("table").cast(pa.string()))
    if "schema" not in batch.schema.names:
        return pc.binary_join_element_wise("", table, "\0")
    schema = pc.fill_null(pc.utf8_lower(batch.column("schema").cast(pa.string())), "")
    return pc.binary_join_element_wise(schema, table, "\0")


def _check_gaps(numbers: Dataset, first: int, last: int) -> None:
    """Check that the numbers of transactions have no gaps, so that they are the order of the commits."""
    missing = last - first + 1 - distinct(numbers, "txn").count()
    if missing:
        what = f"the column txn of {_LARGE} has no gaps, and {missing:,} numbers are missing"
        hint = f"number the transactions from {first} on, or give their commit_ts"
        raise ScenarioError(what, column="txn", hint=hint)


def distinct(rows: Dataset, name: str) -> Dataset:
    """Return each value of a column of numbers once.

    :param rows: of this column alone.
    """
    once = rows.map(partial(_unique, name), rows.schema)
    return once.shuffle((name,), Order((name,))).map(partial(_first, name), rows.schema)


def _unique(name: str, batches: Batches) -> Batches:
    for batch in batches:
        yield pa.record_batch([pc.unique(batch.column(name))], schema=batch.schema)


def _first(name: str, batches: Batches) -> Batches:
    """Yield the first of equal numbers, which follow each other."""
    last: pa.RecordBatch | None = None
    for batch in batches:
        if batch.num_rows:
            known = batch if last is None else pa.concat_batches([last, batch])
            first = first_of_groups(known, (name,))[known.num_rows - batch.num_rows :]
            yield batch.filter(pa.array(first))
            last = batch.slice(batch.num_rows - 1)


def summary_engine(frame: Frame) -> Engine:
    """Return the engine that reads what the driver has to know: this process, if it can read the frame."""
    if frame.is_local:
        return LocalEngine()
    from ticdc_producer.engine.spark import SparkEngine
    from ticdc_producer.spark.session import spark_session

    return SparkEngine(spark_session())


def located(rows: Dataset, file: str, line: int) -> Dataset:
    """Return the same dataset, whose errors have a location."""
    return rows.map(partial(_located, file, line), rows.schema)


def _located(file: str, line: int, batches: Batches) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except ScenarioError as error:
        raise error.at(file, line) from None
