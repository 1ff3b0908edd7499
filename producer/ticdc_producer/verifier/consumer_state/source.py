"""The interface of the sources of a consumer's tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.verifier.consumer_state.plan import ExpectedTable, TablePlan

BatchReader: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True, kw_only=True)
class FoundTable:
    """A table of the consumer.

    :param name: its name in the source.
    :param columns: its columns; None: unknown before its rows are read.
    """

    name: str
    columns: tuple[str, ...] | None


class StateSource(Protocol):
    """A source of tables: a database, a folder, or tables that Spark reads."""

    @property
    def label(self) -> str:
        """The location of the source without passwords, for messages."""

    def find(self, table: ExpectedTable, name: str | None, *, unique_name: bool) -> FoundTable | None:
        """Find the consumer's table for an expected table; None if it does not exist.

        :param name: name given by the user; None: one of the default names.
        :param unique_name: whether no other expected table has the same name in another schema.
        :raises StateError: if the source cannot contain such tables.
        :raises StateSourceError: if the source cannot be reached.
        """

    def rows(self, spark: SparkSession, plan: TablePlan) -> DataFrame:
        """The rows of a table, in the shape ``COMPARABLE_ROWS`` and in no order; Spark reads them lazily."""


def default_names(table: ExpectedTable, *, unique_name: bool) -> list[str]:
    """Names that a consumer may give a table in a source without schemas."""
    whole = table.qualified_name
    names = [whole, f"{table.schema}_{table.name}", *([table.name] if unique_name else [])]
    return list(dict.fromkeys([*names, *(name.lower() for name in names)]))
