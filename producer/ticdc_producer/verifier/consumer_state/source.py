"""Where a consumer's tables are: what every kind of place can do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.verifier.consumer_state.expected import ExpectedTable
from ticdc_producer.verifier.consumer_state.plan import TablePlan

BatchReader: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, kw_only=True)
class Found:
    """A table of the consumer's.

    :param name: as its place spells it.
    :param columns: its columns; None where only its rows tell.
    """

    name: str
    columns: tuple[str, ...] | None


class Source(Protocol):
    """A database, a folder, or tables that Spark reads."""

    @property
    def label(self) -> str:
        """The place as it may be shown: without a password."""

    def find(self, table: ExpectedTable, name: str | None, *, alone: bool) -> Found | None:
        """The consumer's table for an expected one; None if there is none.

        :param name: as the user maps it; None: by the usual names.
        :param alone: whether no other expected table has the same name in another schema.
        :raises StateError: if the place cannot have such tables.
        :raises StateSourceError: if it cannot be reached.
        """

    def rows(self, spark: SparkSession, plan: TablePlan) -> DataFrame:
        """Its rows, of shape ``ROWS``; they are read when Spark runs."""


def usual_names(table: ExpectedTable, *, alone: bool) -> list[str]:
    """Names under which a consumer may keep a table where there is no schema to keep it in."""
    whole = table.qualified_name
    names = [whole, f"{table.schema}_{table.name}", *([table.name] if alone else [])]
    return list(dict.fromkeys([*names, *(name.lower() for name in names)]))
