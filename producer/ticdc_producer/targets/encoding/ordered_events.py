"""The ordered events that are encoded: rows of a DataFrame, or drawn where they are encoded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

BatchFunction: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class OrderedEvents(ABC):
    """An event stream (shape ``EVENT_STREAM``), one Spark partition per Kafka partition."""

    @property
    @abstractmethod
    def spark(self) -> SparkSession:
        """The session in which the events are computed."""

    @abstractmethod
    def mapped(self, function: BatchFunction, schema: StructType | str, columns: Sequence[str]) -> DataFrame:
        """The result of a function that is called with the events of each partition.

        :param schema: that of the result.
        :param columns: the columns of the events that the function needs.
        """


@dataclass(frozen=True)
class EventFrame(OrderedEvents):
    """The events of a DataFrame."""

    frame: DataFrame

    @property
    def spark(self) -> SparkSession:
        return self.frame.sparkSession

    def mapped(self, function: BatchFunction, schema: StructType | str, columns: Sequence[str]) -> DataFrame:
        return self.frame.select(*columns).mapInArrow(function, schema)
