"""Messages of any number, to which the verifier applies its functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from ticdc_producer.model.dataframes import MESSAGES
from ticdc_producer.model.shapes import BatchFunction
from ticdc_producer.spark.task_results import MapInArrow
from ticdc_producer.verifier.event_lookup import rows_at

Offset: TypeAlias = tuple[str, int, int]
"""Topic, partition and offset of a message."""


class Messages(ABC):
    """Messages that were read (shape ``MESSAGES``).

    A task has the messages of a partition in the order of their offsets, and those of two tasks do not
    overlap.
    """

    @abstractmethod
    def mapped(
        self,
        function: BatchFunction,
        schema: StructType | str,
    ) -> DataFrame:
        """The result of a function on the messages of each task.

        :param schema: that of the result.
        """

    @abstractmethod
    def at(self, offsets: Sequence[Offset]) -> MapInArrow:
        """Applies functions to a few of the messages.

        :param offsets: in ascending order.
        """

    @property
    def frame(self) -> DataFrame:
        """The messages as a DataFrame."""
        return self.mapped(lambda batches: batches, MESSAGES)


@dataclass(frozen=True)
class MessageFrame(Messages):
    """Messages of a DataFrame.

    :param messages: see :class:`Messages`.
    """

    messages: DataFrame

    def mapped(
        self,
        function: BatchFunction,
        schema: StructType | str,
    ) -> DataFrame:
        return self.messages.mapInArrow(function, schema)

    def at(self, offsets: Sequence[Offset]) -> MapInArrow:
        return rows_at(self.messages, offsets).mapInArrow

    @property
    def frame(self) -> DataFrame:
        return self.messages
