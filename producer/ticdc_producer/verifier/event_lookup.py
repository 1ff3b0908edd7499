"""Looks up the events and rows that are examples, in DataFrames of any size."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from ticdc_producer.spark.task_results import MapInArrow
from ticdc_producer.verifier.table_state import MAX_EXAMPLES, STATE, expected_state
from ticdc_producer.verifier.violations import EventID

LOCATION = ("topic", "partition", "offset", "index")
_TYPES = ("string", "int", "long", "int")


def events_at(frame: DataFrame, events: Iterable[EventID]) -> dict[EventID, dict[str, Any]]:
    """The decoded or expected events at some positions.

    :param frame: shape ``DECODED`` or ``EXPECTED_EVENTS``, in any order.
    """
    wanted = sorted(set(events))
    if not wanted:
        return {}
    rows = rows_at(frame, wanted).toArrow().to_pylist()
    return {tuple(row[name] for name in LOCATION): row for row in rows}


def rows_at(frame: DataFrame, keys: Sequence[tuple[Any, ...]]) -> DataFrame:
    """The rows at some positions.

    :param frame: with the columns of ``LOCATION``, or the first three of them.
    :param keys: their values.
    """
    names = LOCATION[: len(keys[0])]
    schema = ", ".join(f"`{name}` {kind}" for name, kind in zip(names, _TYPES, strict=False))
    wanted = frame.sparkSession.createDataFrame(keys, schema)
    return frame.join(sf.broadcast(wanted), [*names], "left_semi")


def rows_with(state: MapInArrow, contents: Collection[int]) -> list[dict[str, Any]]:
    """Rows of a state (shape ``table_state.STATE``) with some contents, at most as many as are listed.

    :param state: applies functions to the rows.
    """
    if not contents:
        return []

    def chosen(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = expected_state(batch, 0)
            yield batch.take(pa.array(rows.position[np.isin(rows.content, list(contents))]))

    rows = state(chosen, from_arrow_schema(STATE)).limit(MAX_EXAMPLES)
    found: list[dict[str, Any]] = rows.toArrow().to_pylist()
    return found
