"""What a row is: a message, an event, or a change of a row of one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from pyspark_ticdc.duplicates import ResolvedTS, without_duplicates
from pyspark_ticdc.options import GivenOptions
from ticdc_producer.errors import ArgumentError
from ticdc_producer.hints import nearest
from ticdc_producer.model.shapes import DECODED, MESSAGES, BatchFunction
from ticdc_producer.rows.changes import OF_CHANGES, OF_ERRORS, ChangeReader
from ticdc_producer.rows.columns import OnError, table_name, table_schema, undamaged
from ticdc_producer.rows.origin import Origin
from ticdc_producer.rows.state import StateReader
from ticdc_producer.spark.arrow_schema import arrow_schema

OriginOf: TypeAlias = Callable[[GivenOptions], Origin]
_HINT = "read it as another type with .schema(…), or set the option on-error=rows"
_SHAPES = {"messages": MESSAGES, "events": DECODED}


def check_rows(options: GivenOptions) -> None:
    """Check the options that say what a row is.

    :raises ArgumentError: for options that have no effect, or that lack another one.
    """
    kind = str(options.values["rows"])
    if kind in _SHAPES:
        if options.values["table"] is not None:
            what = f"the option 'table' has no effect with rows={kind}"
            raise ArgumentError(what, argument="table", hint="set rows=changes")
    else:
        table_name(_text(options, "table"))
    if kind != "state" and options.values.get("state-at") is not None:
        what = f"the option 'state-at' has no effect with rows={kind}"
        raise ArgumentError(what, argument="state-at", hint="set rows=state")
    if kind == "state" and on_error(options) == "rows":
        what = "rows=state cannot be combined with on-error=rows"
        raise ArgumentError(what, argument="on-error", hint="a row needs all of its changes")
    if kind == "messages" and options.values["duplicates"] == "drop":
        what = "the option 'duplicates' has no effect with rows=messages"
        raise ArgumentError(what, argument="duplicates", hint="messages are not decoded")


def check_stream(options: GivenOptions) -> None:
    """Check the rows of a streaming query.

    :raises ArgumentError: for rows that only a batch query has.
    """
    check_rows(options)
    if options.values["rows"] == "state":
        what = "a stream has no rows=state"
        raise ArgumentError(what, argument="rows", hint="read rows=changes, and merge them into a table")


def columns_of(options: GivenOptions, origin: OriginOf) -> StructType:
    """Return the columns of the rows that options name.

    :param origin: returns what the options name; called if the columns depend on it.
    :raises ProducerError: for invalid options, and a table of which no message has a row.
    """
    check_rows(options)
    kind = str(options.values["rows"])
    if kind in _SHAPES:
        shape: StructType = from_arrow_schema(_SHAPES[kind])
        return shape
    columns = [*table_schema(origin(options), *table_name(_text(options, "table"))).columns]
    if kind != "state":
        columns += [*OF_CHANGES, *(OF_ERRORS if on_error(options) == "rows" else ())]
    of_table: StructType = from_arrow_schema(pa.schema(columns))
    return of_table


def row_function(
    options: GivenOptions, read: Origin, columns: StructType, before: Callable[[], ResolvedTS] = dict
) -> BatchFunction:
    """Return the function from messages to the rows that options name.

    :param columns: those that Spark expects.
    :param before: returns the resolved-ts of the partitions before the first message.
    :raises ProducerError: for options that do not fit the messages, and columns that the rows do not have.
    """
    check_rows(options)
    kind = options.values["rows"]
    if kind == "messages":
        return selected(columns, MESSAGES)
    drop = options.values["duplicates"] == "drop"
    if drop:
        _check_resolved(read)
    if kind == "changes" and not drop:
        changes, events_of = _changes(options, read, columns), read.events_decoder
        return lambda batches: changes.changes(events_of(batches))
    steps = [read.decoder, undamaged(on_error(options))]
    if drop:
        steps.append(without_duplicates(before))
    steps.append(_last_step(options, read, columns))

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for step in steps:
            batches = step(batches)
        return batches

    return rows


def _last_step(options: GivenOptions, read: Origin, columns: StructType) -> BatchFunction:
    """Return the function from events to rows."""
    if options.values["rows"] == "events":
        return selected(columns, DECODED)
    changes = _changes(options, read, columns)
    return changes if options.values["rows"] == "changes" else _state(options, read, changes)


def _state(options: GivenOptions, read: Origin, changes: ChangeReader) -> StateReader:
    at = options.values.get("state-at")
    return StateReader.of(read, changes, None if at is None else int(at), "state-at")


def _changes(options: GivenOptions, read: Origin, columns: StructType) -> ChangeReader:
    schema = arrow_schema(columns)
    return ChangeReader.of(read, table_name(_text(options, "table")), schema, on_error(options), _HINT)


def _check_resolved(read: Origin) -> None:
    if not read.fidelity.resolved:
        what = f"duplicates=drop needs resolved events, which {read.changefeed.protocol} does not send"
        raise ArgumentError(what, argument="duplicates", hint="with these options of the changefeed")


def on_error(options: GivenOptions) -> OnError:
    """Return the option ``on-error``."""
    return "rows" if options.values["on-error"] == "rows" else "fail"


def _text(options: GivenOptions, name: str) -> str | None:
    value = options.values[name]
    return None if value is None else str(value)


def selected(columns: StructType, available: pa.Schema) -> BatchFunction:
    """Return the function that selects columns, in Spark's Arrow types.

    :param columns: by name, in their order.
    :raises ArgumentError: for a column that is not available.
    """
    for name in columns.names:
        if name not in available.names:
            what = f"the rows have no column {name!r}"
            raise ArgumentError(what, argument="schema", hint=nearest(name, available.names))
    schema = arrow_schema(columns)

    def select(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.select(schema.names).cast(schema)

    return select
