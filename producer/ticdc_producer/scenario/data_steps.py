"""The keys ``data`` and ``changes`` of a step, and the plans of changes that Spark reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from ticdc_producer.engine import SMALL_EVENTS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.file_steps import DumpPlan
from ticdc_producer.scenario.generate.table_spec import MOST_EVENTS
from ticdc_producer.scenario.yaml_tree import StrictModel

if TYPE_CHECKING:
    from ticdc_producer.scenario.frames.frame import Frame


def _columns_of(value: object) -> object:
    """Convert a single name to a tuple."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


_NAME_SCHEMA = {"type": "string", "minLength": 1}
_ORDER = {"anyOf": [_NAME_SCHEMA, {"type": "array", "items": _NAME_SCHEMA, "minItems": 1, "maxItems": 2}]}
OrderColumns: TypeAlias = Annotated[
    tuple[str, ...],
    Field(strict=False, min_length=1, max_length=2),
    BeforeValidator(_columns_of),
    WithJsonSchema(_ORDER),
]
"""One or two names of columns, or one name without a list."""


class Data(StrictModel):
    """Changes of one table from any source that Spark reads."""

    table: str = Field(min_length=1, description="Table that a step before created and left empty.")
    transactions: int = Field(
        ge=1, le=MOST_EVENTS, description="Number of transactions; transaction numbers are below it."
    )
    format: str = Field(min_length=1, description="Spark's name: parquet, csv, json, orc, jdbc, …")
    path: str | None = Field(
        default=None, min_length=1, description="File, folder or URI; relative to the scenario's folder."
    )
    schema_: str | None = Field(
        default=None, alias="schema", min_length=1, description="Columns and Spark types: n INT, op STRING, …"
    )
    options: dict[str, str] = Field(default_factory=dict, description="Options of the Spark source.")
    op: str = Field(
        default="op", min_length=1, description="Column with the operation: insert, update or delete."
    )
    order: OrderColumns = Field(
        description="Column with the transaction number, and optionally one with the position in it."
    )
    before: str | None = Field(
        default=None, min_length=1, description="Struct column with the old row of updates."
    )

    @model_validator(mode="after")
    def _has_source(self) -> Data:
        if self.path is None and not self.options:
            raise ValueError("the source of the data is missing: write path, or options of the format")
        return self


class Changes(StrictModel):
    """Row changes and statements in the rows of a DataFrame."""

    path: str = Field(
        min_length=1, description="Parquet file or folder of the rows; relative to the scenario's folder."
    )
    table: str | None = Field(
        default=None,
        min_length=1,
        description="Table that all rows change; default: the columns txn, statement, op, schema, table, "
        "before and after say what each row does.",
    )
    op: str = Field(
        default="op", min_length=1, description="Column with the operation: insert, update or delete."
    )
    order: OrderColumns | None = Field(
        default=None,
        description="Column with the transaction number, and optionally one with the position in it; "
        "required with table.",
    )
    before: str | None = Field(
        default=None, min_length=1, description="Struct column with the old row of updates."
    )
    canonical: bool = Field(
        default=False,
        description="The images are maps of a column's name to the bytes of its value, as docs/design.md has "
        "them; not with table.",
    )

    @model_validator(mode="after")
    def _of_one_table_or_all(self) -> Changes:
        if self.table is not None and self.order is None:
            raise ValueError("the order of the changes is missing: write order")
        if self.table is not None and self.canonical:
            raise ValueError("canonical requires a frame of several tables: leave out table")
        names = [name for name in ("op", "order", "before") if name in self.model_fields_set]
        if self.table is None and names:
            raise ValueError(f"{names[0]} requires table: without it the columns have fixed names")
        return self


class PlannedChanges(Protocol):
    """Changes that are not read before a run computes them.

    :ivar first_commit: number of their first commit.
    """

    @property
    def first_commit(self) -> int: ...

    @property
    def what(self) -> str:
        """The step in words, as an engine that cannot run it names it; empty if each engine can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlan:
    """A ``data`` step, bound to its table and to its commits.

    :param source: the source that Spark loads.
    :param op: as of the step, like ``order`` and ``before``.
    :param first_commit: commit number of transaction 0.
    :param transactions: number of transactions.
    """

    file: str
    line: int
    table: TableInfo
    source: Data
    op: str
    order: tuple[str, ...]
    before: str | None
    first_commit: int
    transactions: int

    @property
    def tables(self) -> tuple[TableInfo, ...]:
        """The tables that the step changes."""
        return (self.table,)

    @property
    def what(self) -> str:
        """The step in words, as an engine that cannot run it names it."""
        return "a `data` step"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPlan:
    """The change log of a user: a DataFrame of Spark in the shape ``CHANGE_LOG``.

    :param tables: the tables that it may change.
    :param first_commit: commit number of transaction 0.
    """

    frame: Frame
    tables: tuple[TableInfo, ...]
    first_commit: int
    what: str = f"a change log of more than {SMALL_EVENTS:,} rows"


def location_of(path: str, file: str) -> str:
    """Return the absolute path of data that a scenario file names; a URI stays as it is."""
    return path if "://" in path else str((Path(file).parent / path).absolute())


SourcePlan: TypeAlias = DataPlan | LogPlan | DumpPlan
"""A plan of changes that only Spark reads."""
