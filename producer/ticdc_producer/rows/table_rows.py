"""Rows that were read, as an object that DataFrame libraries take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ticdc_producer.engine.local import LocalDataset, local
from ticdc_producer.hints import shortened
from ticdc_producer.installation import missing_part
from ticdc_producer.model.html_table import html_table
from ticdc_producer.model.shapes import MESSAGES
from ticdc_producer.rows.changes import ChangeReader
from ticdc_producer.rows.columns import table_name, table_schema, undamaged
from ticdc_producer.rows.origin import Origin
from ticdc_producer.rows.state import StateReader, one_part

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

_FIRST = 10
"""Rows that a notebook displays."""
_WIDTH = 80
"""Characters of a value that a notebook displays."""
_HINT = "give a schema in which the column has another type; a string holds every value"


class Rows:
    """Rows that each use reads again, batch by batch.

    pyarrow, Polars, DuckDB and pandas 3 take the object itself (``__arrow_c_stream__``).

    :param title: what a row is, for notebooks.
    :param rows: the rows, in the order of the messages.
    """

    def __init__(self, title: str, rows: LocalDataset) -> None:
        self._title, self._rows = title, rows

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self._rows.schema

    def __repr__(self) -> str:
        """Return the title and the columns; no row is read."""
        return f"{self._title}: {', '.join(self.schema.names)}"

    def to_reader(self) -> pa.RecordBatchReader:
        """Return a reader that reads the rows while it is read."""
        return pa.RecordBatchReader.from_batches(self.schema, self._rows.batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as a stream of the Arrow C interface."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """Return all rows in memory, as an Arrow table.

        :raises ProducerError: if the messages cannot be read.
        """
        return pa.Table.from_batches(self._rows.batches(), self.schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return all rows in memory, as a DataFrame of pandas; integers have pandas' nullable types.

        :raises ProducerError: if the messages cannot be read.
        :raises MissingPartError: without pandas.
        """
        with _optional_parts():
            import pandas as pd

        # Without them an integer column with NULL would be float64, which does not hold every integer.
        integers = {
            pa.int8(): pd.Int8Dtype(),
            pa.int16(): pd.Int16Dtype(),
            pa.int32(): pd.Int32Dtype(),
            pa.int64(): pd.Int64Dtype(),
        }
        return self.to_arrow().to_pandas(types_mapper=integers.get)

    def to_spark(self, spark: SparkSession | None = None) -> DataFrame:
        """Return a DataFrame of Spark, whose tasks read the messages.

        :param spark: the session; None: the active one, else a local one.
        :raises MissingPartError: without Spark.
        """
        with _optional_parts():
            from ticdc_producer.engine.spark import SparkEngine
            from ticdc_producer.spark.session import spark_session

        sources = self._rows.sources
        engine = SparkEngine(spark_session() if spark is None else spark)
        return engine.of_parts(len(sources), lambda part: sources[part](), self.schema).frame

    def _repr_html_(self) -> str:
        """Return the first rows as a table of a notebook."""
        rows = [*islice(self._dicts(), _FIRST + 1)]
        title = f"{self._title}, the first {_FIRST} rows" if len(rows) > _FIRST else self._title
        names = self.schema.names
        return html_table(title, names, ([_cell(row[name]) for name in names] for row in rows[:_FIRST]))

    def _dicts(self) -> Iterator[dict[str, Any]]:
        for batch in self._rows.batches():
            yield from batch.slice(0, _FIRST + 1).to_pylist()


@contextmanager
def _optional_parts() -> Iterator[None]:
    """Raise the error that names the extra, if an import of the block needs one that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_part(error) or error from None


def _cell(value: object) -> str:
    return shortened("NULL" if value is None else str(value), _WIDTH)


def message_rows(read: Origin, target: str) -> Rows:
    """Return the messages (shape ``MESSAGES``).

    :param target: where they are.
    """
    return Rows(f"Messages of {target}", read.messages.select(*MESSAGES.names))


def event_rows(read: Origin, target: str) -> Rows:
    """Return the events (shape ``DECODED``); a message that does not decode is a row of kind ``error``.

    :param target: where the messages are.
    """
    return Rows(f"Events of {target}", read.events)


def state_rows(read: Origin, target: str, table: str, at: int | None, schema: pa.Schema | None) -> Rows:
    """Return the rows of a table, as the messages leave them.

    :param target: where the messages are.
    :param table: ``SCHEMA.TABLE``.
    :param at: TSO up to which changes count; None: all do.
    :param schema: columns of the table with their types; None: all columns.
    :raises ProducerError: for a table that the messages do not have, or of which no handle key is known.
    """
    name = table_name(table)
    columns = table_schema(read, *name).columns if schema is None else schema
    state = StateReader.of(read, ChangeReader.of(read, name, columns, "fail", _HINT), at, "at")
    decoder = read.decoder
    rows = one_part(read.messages).map(lambda batches: state(undamaged("fail")(decoder(batches))), columns)
    return Rows(f"Rows of {table} in {target}", local(rows))
