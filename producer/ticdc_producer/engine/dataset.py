"""The interface between the pipeline and an engine: datasets.

A dataset consists of Arrow batches of one schema, divided into parts. Functions on parts are pure: an engine
may call them again. Only ``execute`` has side effects. ``engine.local`` computes datasets in this process,
``engine.spark`` in Spark's tasks; both give the same rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, Literal, TypeAlias, TypeVar

import pyarrow as pa

from ticdc_producer.model.column_functions import Numbers, whole_groups
from ticdc_producer.model.shapes import BatchFunction

EngineName: TypeAlias = Literal["local", "spark"]
Batches: TypeAlias = Iterator[pa.RecordBatch]
Result = TypeVar("Result")


def never() -> bool:
    """Return False: nothing interrupts a part."""
    return False


class RowLimit(Exception):
    """A dataset that has more rows than a process takes."""


@dataclass(frozen=True)
class Part:
    """The part of a dataset that a function works on.

    :param index: its number, unique in the dataset that is computed.
    :param attempt: number of failed calls for this part before this one.
    :param interrupted: whether a long side effect should end.
    """

    index: int
    attempt: int = 0
    interrupted: Callable[[], bool] = never


PartFunction: TypeAlias = Callable[[Part, Batches], Batches]
Tagged: TypeAlias = tuple[str, pa.RecordBatch]
"""A batch, and the kind of its rows."""
TaggedFunction: TypeAlias = Callable[[Part, Batches], Generator[Tagged, None, Result]]
"""Yields rows of several kinds, and returns a small result."""
Sides: TypeAlias = Mapping[str, pa.RecordBatch]
"""The rows of some groups, by the name of the dataset that they are from; every name is present."""
GroupFunction: TypeAlias = Callable[[Iterator[Sides]], Generator[Tagged, None, Result]]


@dataclass(frozen=True)
class Order:
    """An order of rows.

    :param columns: the columns that are compared, in this order.
    :param numbers: returns the numbers of rows in this order, faster than a comparison of the columns; None:
        there is no such function. For ``divide`` the number of the part comes first.
    """

    columns: tuple[str, ...]
    numbers: Callable[[pa.Table], Numbers] | None = None


class Dataset(ABC):
    """Arrow batches of one schema, divided into parts.

    :ivar schema: the columns of the rows.
    """

    schema: pa.Schema

    @abstractmethod
    def map_parts(self, function: PartFunction, schema: pa.Schema) -> Dataset:
        """Apply a pure function to the batches of each part.

        :param schema: the columns of the batches that the function yields.
        """

    def map(self, function: BatchFunction, schema: pa.Schema) -> Dataset:
        """Apply a pure function, independent of the number of the part, to the batches of each part."""
        return self.map_parts(lambda _part, batches: function(batches), schema)

    def map_groups(
        self, function: Callable[[pa.RecordBatch], pa.RecordBatch], by: tuple[str, ...], schema: pa.Schema
    ) -> Dataset:
        """Apply a function to batches of whole groups.

        :param by: the columns that are equal in a group; its rows follow each other.
        """
        return self.map(lambda batches: (function(batch) for batch in whole_groups(batches, by)), schema)

    @abstractmethod
    def select(self, *names: str) -> Dataset:
        """Keep some of the columns, in this order."""

    @abstractmethod
    def shuffle(self, by: tuple[str, ...], order: Order) -> Dataset:
        """Bring rows with equal keys into one part.

        :param by: the columns of the key.
        :param order: the order of the rows in each part.
        """

    @abstractmethod
    def in_order(self, *names: str) -> Dataset:
        """Sort all rows by some columns; the parts follow each other in this order."""

    @abstractmethod
    def within(self, name: str, start: int, stop: int) -> Dataset:
        """Keep the rows of which a column is at least ``start`` and less than ``stop``."""

    @abstractmethod
    def divide(
        self,
        by: str,
        parts: int,
        order: Order,
        *,
        of_part: Mapping[str, Sequence[object]] = MappingProxyType({}),
        constant: Mapping[str, object] = MappingProxyType({}),
    ) -> Dataset:
        """Bring each row into the part whose number a column has.

        :param parts: the number of parts.
        :param order: the order of the rows in each part.
        :param of_part: columns that follow from the part, and their value in each part: an engine need not
            move them.
        :param constant: columns with one value in all rows: an engine need not move them either.
        """

    @abstractmethod
    def merged(self) -> Dataset:
        """Join small batches, and possibly parts, in order, for functions with a high cost per batch."""

    @abstractmethod
    def union(self, *others: Dataset) -> Dataset:
        """Return the rows of several datasets of one schema, in no order."""

    def reused(self) -> Dataset:
        """Return the same rows, for several readings: an engine may cache them when they are first read."""
        return self

    def is_same_as(self, _other: Dataset, _names: Sequence[str]) -> bool:
        """Return whether some columns of all rows equal those of another dataset, in order.

        The engine also returns False if it would have to move rows to compare them. Both datasets are
        ``reused``.
        """
        return False

    @abstractmethod
    def cached(self, *, in_order: bool = False) -> AbstractContextManager[Dataset]:
        """Compute the rows once for everything in the block.

        :param in_order: whether rows keep their part, and their order in the part.
        """

    @abstractmethod
    def stored(
        self,
        function: TaggedFunction[Result],
        kinds: Mapping[str, pa.Schema],
        *,
        in_order: bool = False,
        orders: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
        row_bytes: int | None = None,
    ) -> AbstractContextManager[Stored[Result]]:
        """Apply a pure function that yields rows of several kinds, and compute them once for the block.

        :param kinds: the columns of each kind; columns of one name have one type. An engine that stores rows
            of all kinds together has those of the first kind without overhead.
        :param in_order: whether rows keep their part and their order in it.
        :param orders: for a kind, the columns by which its rows are ordered, as by ``in_order``.
        :param row_bytes: most bytes of a row of this dataset; None: unknown.
        """

    @abstractmethod
    def results(
        self, function: Callable[[Part, Batches], Result], *, row_bytes: int | None = None
    ) -> list[Result]:
        """Return the results of a pure function, one per part; they are small.

        :param row_bytes: as for ``stored``.
        """

    @abstractmethod
    def execute(
        self, function: Callable[[Part, Batches], Result], *, row_bytes: int | None = None
    ) -> list[Result]:
        """Call a function with side effects once for each part, and again for a part that failed.

        :param row_bytes: as for ``stored``.
        :raises ProducerError: as raised by the function.
        """

    @abstractmethod
    def batches(self) -> Batches:
        """Yield all rows in this process, part by part; only a few batches are in memory."""

    def count(self) -> int:
        """Return the number of rows."""
        return sum(self.results(_row_count))

    @abstractmethod
    def small(self, limit: int) -> pa.Table:
        """Return all rows in this process.

        :param limit: most rows.
        :raises RowLimit: if there are more.
        """


def _row_count(_part: Part, batches: Batches) -> int:
    return sum(batch.num_rows for batch in batches)


class Stored(ABC, Generic[Result]):
    """Computed rows of several kinds, and the results of the function that computed them."""

    @property
    @abstractmethod
    def results(self) -> Sequence[Result]:
        """The results of the function, one per part."""

    @abstractmethod
    def __getitem__(self, kind: str) -> Dataset:
        """Return the rows of one kind."""


class Grouped(ABC):
    """Rows of several datasets; rows with equal keys are in one part."""

    @abstractmethod
    def stored(
        self, function: GroupFunction[Result], kinds: Mapping[str, pa.Schema]
    ) -> AbstractContextManager[Stored[Result]]:
        """Apply a pure function to whole groups, see ``Dataset.stored``."""

    @abstractmethod
    def results(self, function: Callable[[Iterator[Sides]], Result]) -> list[Result]:
        """Return the results of a pure function for the groups of each part; they are small."""

    @abstractmethod
    def map(self, function: Callable[[Iterator[Sides]], Batches], schema: pa.Schema) -> Dataset:
        """Apply a pure function to whole groups."""


class Engine(ABC):
    """The computation of datasets, in this process or in the tasks of Spark.

    :ivar parallelism: number of parts that are computed at the same time.
    """

    name: EngineName
    parallelism: int

    @abstractmethod
    def of_batches(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Dataset:
        """Return a dataset of a few given rows."""

    @abstractmethod
    def of_parts(self, count: int, source: Callable[[int], Batches], schema: pa.Schema) -> Dataset:
        """Return a dataset whose parts compute their rows themselves.

        :param source: returns the rows of a part, given its number; pure.
        """

    @abstractmethod
    def grouped(self, sides: Mapping[str, Dataset], by: str) -> Grouped:
        """Bring rows of several datasets together, those with equal keys into one part.

        A part holds a bounded share of the rows in memory at a time.

        :param by: a column of 64 bits of each dataset.
        """


def union(datasets: Sequence[Dataset]) -> Dataset:
    """Return the rows of at least one dataset, all of one schema."""
    first, *others = datasets
    return first.union(*others) if others else first
