"""The engine of this process: datasets are iterators of Arrow batches.

``map`` is lazy. Only a shuffle and stored rows occupy memory; above a limit they are in temporary files. A
dataset is therefore computed in bounded memory, whatever its size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from threading import Event, Lock
from types import MappingProxyType
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import (
    Batches,
    Dataset,
    Engine,
    EngineName,
    Grouped,
    GroupFunction,
    Order,
    Part,
    PartFunction,
    Result,
    RowLimit,
    Sides,
    Stored,
    TaggedFunction,
)
from ticdc_producer.engine.external_sort import RUN_ROWS, OrderedRows, RowOrder, divided_rows
from ticdc_producer.engine.spool import MemoryLimit, Spool, joined, merged
from ticdc_producer.model.column_functions import Numbers

_THREADS = 8
"""Parts whose side effects run at the same time. They spend most of their time waiting for a broker."""
_CACHED_BYTES = 32 << 20
"""Rows of a dataset that is read several times are cached up to this size. Larger datasets are recomputed."""
_GROUP_BYTES = 32 << 20
"""Rows of a grouped dataset that are in memory at once."""

Item = TypeVar("Item")
Source = Callable[[], Batches]
"""Returns the batches of a part."""


class LocalDataset(Dataset):
    """A dataset of this process.

    :param sources: one per part.
    """

    def __init__(self, sources: Sequence[Source], schema: pa.Schema) -> None:
        self.sources, self.schema = sources, schema

    def map_parts(self, function: PartFunction, schema: pa.Schema) -> LocalDataset:
        def mapped(part: Part, source: Source) -> Batches:
            return function(part, source())

        return LocalDataset(
            [partial(mapped, Part(index), source) for index, source in enumerate(self.sources)], schema
        )

    def select(self, *names: str) -> LocalDataset:
        columns = [*names]
        schema = pa.schema([self.schema.field(name) for name in columns])
        return self.map_parts(lambda _part, batches: (batch.select(columns) for batch in batches), schema)

    def shuffle(self, by: tuple[str, ...], order: Order) -> LocalDataset:
        return LocalDataset(
            [_Once(lambda: OrderedRows(self.batches(), self.schema, order.columns, _row_order(order)))],
            self.schema,
        )

    def in_order(self, *names: str) -> LocalDataset:
        return self.shuffle(names, Order(names))

    def within(self, name: str, start: int, stop: int) -> LocalDataset:
        def rows(_part: Part, batches: Batches) -> Batches:
            for batch in batches:
                numbers = batch.column(name).to_numpy()
                yield batch.filter(pa.array((numbers >= start) & (numbers < stop)))

        return self.map_parts(rows, self.schema)

    def divide(
        self,
        by: str,
        parts: int,
        order: Order,
        *,
        of_part: Mapping[str, Sequence[object]] = MappingProxyType({}),
        constant: Mapping[str, object] = MappingProxyType({}),
    ) -> LocalDataset:
        divided = _Once(
            lambda: divided_rows(self.batches(), self.schema, by, parts, order.columns, _row_order(order, by))
        )
        return LocalDataset([partial(_part, divided, number) for number in range(parts)], self.schema)

    def merged(self) -> LocalDataset:
        # Batches of more than half the rows, as the readers of topics yield them, are not copied.
        return LocalDataset([lambda: merged(self.batches(), RUN_ROWS // 2)], self.schema)

    def union(self, *others: Dataset) -> LocalDataset:
        sources = [source for dataset in (self, *others) for source in local(dataset).sources]
        return LocalDataset(sources, self.schema)

    def reused(self) -> LocalDataset:
        return _ReusedDataset(self.sources, self.schema)

    @contextmanager
    def cached(self, *, in_order: bool = False) -> Iterator[LocalDataset]:
        limit = MemoryLimit()
        spools = [_filled(Spool(self.schema, limit), source()) for source in self.sources]
        yield LocalDataset([spool.__iter__ for spool in spools], self.schema)

    @contextmanager
    def stored(
        self,
        function: TaggedFunction[Result],
        kinds: Mapping[str, pa.Schema],
        *,
        in_order: bool = False,
        orders: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
        row_bytes: int | None = None,
    ) -> Iterator[LocalStored[Result]]:
        stored: LocalStored[Result] = LocalStored(kinds, orders)
        for index, source in enumerate(self.sources):
            stored.add(function(Part(index), source()))
        yield stored

    def results(
        self, function: Callable[[Part, Batches], Result], *, row_bytes: int | None = None
    ) -> list[Result]:
        return [function(Part(index), source()) for index, source in enumerate(self.sources)]

    def execute(
        self, function: Callable[[Part, Batches], Result], *, row_bytes: int | None = None
    ) -> list[Result]:
        interrupt = Event()

        def call(index: int, source: Source) -> Result:
            return function(Part(index, interrupted=interrupt.is_set), source())

        with ThreadPoolExecutor(_THREADS) as pool:
            calls = [pool.submit(call, index, source) for index, source in enumerate(self.sources)]
            try:
                wait(calls)
            except BaseException:  # Ctrl-C: Python joins its threads at exit, and a broker may be unreachable
                interrupt.set()
                pool.shutdown(cancel_futures=True)
                raise
        return [call.result() for call in calls]

    def batches(self) -> Batches:
        return (batch for source in self.sources for batch in source() if batch.num_rows)

    def small(self, limit: int) -> pa.Table:
        rows: list[pa.RecordBatch] = []
        count = 0
        for batch in self.batches():
            rows.append(batch)
            count += batch.num_rows
            if count > limit:
                raise RowLimit(f"more than {limit} rows, which was the most that was expected")
        return pa.Table.from_batches(rows, self.schema)


class _ReusedDataset(LocalDataset):
    """A dataset that caches its rows when they are first read, up to ``_CACHED_BYTES``."""

    def __init__(self, sources: Sequence[Source], schema: pa.Schema) -> None:
        self._cached: dict[int, list[pa.RecordBatch]] = {}
        self._bytes = 0
        super().__init__([partial(self._read, index, source) for index, source in enumerate(sources)], schema)

    def _read(self, index: int, source: Source) -> Batches:
        if index in self._cached:
            yield from self._cached[index]
            return
        batches: list[pa.RecordBatch] = []
        for batch in source():
            self._bytes += batch.nbytes
            if self._bytes <= _CACHED_BYTES:
                batches.append(batch)
            yield batch
        if self._bytes <= _CACHED_BYTES:
            self._cached[index] = batches

    def reused(self) -> LocalDataset:
        return self

    def is_same_as(self, other: Dataset, names: Sequence[str]) -> bool:
        if not isinstance(other, _ReusedDataset):
            return False
        mine = self._few_rows()
        others = None if mine is None else other._few_rows()
        if mine is None or others is None:
            return False
        return bool(mine.select([*names]).equals(others.select([*names])))

    def _few_rows(self) -> pa.Table | None:
        """Return all rows; None if they are too large to be cached."""
        for _ in self.batches():
            if self._bytes > _CACHED_BYTES:
                return None
        return pa.Table.from_batches(self.batches(), self.schema)


def local(dataset: Dataset) -> LocalDataset:
    """Return the dataset as a ``LocalDataset``.

    :raises TypeError: if it belongs to another engine.
    """
    if not isinstance(dataset, LocalDataset):
        raise TypeError(f"{type(dataset).__name__} is a dataset of another engine")
    return dataset


class _Once(Generic[Item]):
    """A value that is computed once, when it is first read. Several threads may read it."""

    def __init__(self, compute: Callable[[], Iterable[Item]]) -> None:
        self._compute: Callable[[], Iterable[Item]] | None = compute
        self._items: Iterable[Item] = ()
        self._lock = Lock()

    def __call__(self) -> Iterator[Item]:
        with self._lock:
            if self._compute is not None:
                self._items, self._compute = self._compute(), None
            return iter(self._items)


def _part(divided: _Once[Iterable[pa.RecordBatch]], number: int) -> Batches:
    return chain.from_iterable(islice(divided(), number, number + 1))


def _row_order(order: Order, *first: str) -> RowOrder:
    """Return a function that orders rows.

    :param first: columns that are compared before those of the order.
    """
    return order.numbers or partial(_numbers, (*first, *order.columns))


def _numbers(columns: tuple[str, ...], rows: pa.Table) -> Numbers:
    if rows.num_rows < 2 or not columns:
        return np.arange(rows.num_rows)
    [keys] = rows.select(columns).combine_chunks().to_batches()
    numbers: Numbers = pc.sort_indices(keys, [(name, "ascending") for name in columns]).to_numpy()
    return numbers.astype(np.int64, copy=False)


def _filled(spool: Spool, batches: Batches) -> Spool:
    """Add batches to a spool, and return it."""
    for batch in batches:
        spool.add(batch)
    return spool


class LocalStored(Stored[Result]):
    """Rows that this process computed.

    :param kinds: the columns of each kind of rows.
    :param orders: for a kind, the columns by which its rows are ordered; they are in one part.
    """

    def __init__(
        self, kinds: Mapping[str, pa.Schema], orders: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    ) -> None:
        self._kinds, self._limit = kinds, MemoryLimit()
        self._ordered = {
            kind: OrderedRows([], kinds[kind], columns, _row_order(Order(columns)))
            for kind, columns in orders.items()
        }
        self._parts: list[dict[str, Spool]] = []
        self._results: list[Result] = []

    def add(self, rows: Iterator[tuple[str, pa.RecordBatch]]) -> None:
        """Add the rows and the result of a part."""
        spools = {
            kind: Spool(schema, self._limit)
            for kind, schema in self._kinds.items()
            if kind not in self._ordered
        }
        self._parts.append(spools)
        of_kind: dict[str, Spool | OrderedRows] = {**spools, **self._ordered}
        while True:
            try:
                kind, batch = next(rows)
            except StopIteration as end:
                self._results.append(end.value)
                return
            of_kind[kind].add(batch)

    @property
    def results(self) -> Sequence[Result]:
        return self._results

    def __getitem__(self, kind: str) -> LocalDataset:
        stored = [self._ordered[kind]] if kind in self._ordered else [part[kind] for part in self._parts]
        return LocalDataset([rows.__iter__ for rows in stored], self._kinds[kind])


class LocalGrouped(Grouped):
    """Rows of several datasets in one part."""

    def __init__(self, sides: Mapping[str, Dataset], by: str) -> None:
        self._sides, self._by = {name: local(side) for name, side in sides.items()}, by

    @contextmanager
    def stored(
        self, function: GroupFunction[Result], kinds: Mapping[str, pa.Schema]
    ) -> Iterator[LocalStored[Result]]:
        stored: LocalStored[Result] = LocalStored(kinds)
        stored.add(function(self._groups()))
        yield stored

    def results(self, function: Callable[[Iterator[Sides]], Result]) -> list[Result]:
        return [function(self._groups())]

    def map(self, function: Callable[[Iterator[Sides]], Batches], schema: pa.Schema) -> LocalDataset:
        return LocalDataset([lambda: function(self._groups())], schema)

    def _groups(self) -> Iterator[Sides]:
        limit = MemoryLimit()
        spools = {
            name: _filled(Spool(side.schema, limit), side.batches()) for name, side in self._sides.items()
        }
        rounds = -(-sum(spool.nbytes for spool in spools.values()) // _GROUP_BYTES)
        if rounds <= 1:
            yield {name: spool.one_batch() for name, spool in spools.items()}
            return
        for number in range(rounds):
            yield {name: self._share(spool, rounds, number) for name, spool in spools.items()}

    def _share(self, spool: Spool, rounds: int, number: int) -> pa.RecordBatch:
        shares = [
            batch.filter(pa.array(batch.column(self._by).to_numpy() % rounds == number)) for batch in spool
        ]
        return joined(shares, spool.schema)


class LocalEngine(Engine):
    """An engine that computes datasets in this process."""

    name: EngineName = "local"
    parallelism = 1

    def of_batches(self, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> LocalDataset:
        stored = [*batches]
        return LocalDataset([lambda: iter(stored)], schema)

    def of_parts(self, count: int, source: Callable[[int], Batches], schema: pa.Schema) -> LocalDataset:
        return LocalDataset([partial(source, number) for number in range(count)], schema)

    def grouped(self, sides: Mapping[str, Dataset], by: str) -> LocalGrouped:
        return LocalGrouped(sides, by)
