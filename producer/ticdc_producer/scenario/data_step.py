"""A ``data`` step: changes of one table, read from the user's file or database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.table_spec import MOST_EVENTS
from ticdc_producer.scenario.strict_model import StrictModel


def _columns_of(value: object) -> object:
    """A single name becomes a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


_NAME = {"type": "string", "minLength": 1}
_ORDER = {"anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1, "maxItems": 2}]}


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
    order: Annotated[
        tuple[str, ...],
        Field(strict=False, min_length=1, max_length=2),
        BeforeValidator(_columns_of),
        WithJsonSchema(_ORDER),
    ] = Field(description="Column with the transaction number, and optionally one with the position in it.")
    before: str | None = Field(
        default=None, min_length=1, description="Struct column with the old row of updates."
    )

    @model_validator(mode="after")
    def _has_source(self) -> Data:
        if self.path is None and not self.options:
            raise ValueError("the source of the data is missing: write path, or options of the format")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlan:
    """A ``data`` step, bound to its table and to its commits.

    :param location: path or URI that Spark loads; empty if the options give the source.
    :param first_commit: commit number of transaction 0.
    """

    file: str
    line: int
    spec: Data
    table: TableInfo
    location: str
    first_commit: int


def bind_data(spec: Data, table: TableInfo, *, first_commit: int, file: str, line: int) -> DataPlan:
    """Make the plan of a step; its data are not read before Spark runs.

    :param first_commit: commit number of transaction 0.
    :param file: the scenario file; a relative path is relative to its folder.
    """
    location = spec.path or ""
    if location and "://" not in location:
        location = str((Path(file).parent / location).absolute())
    return DataPlan(
        file=file, line=line, spec=spec, table=table, location=location, first_commit=first_commit
    )
