"""A ``data`` step: changes of one table that lie in a file or a database of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from ticdc_producer.model.table import TableInfo
from ticdc_producer.scenario.generate.table_form import MOST_EVENTS
from ticdc_producer.scenario.strict_model import Part


def _columns_of(value: object) -> object:
    """One name stands for a list of one."""
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


_NAME = {"type": "string", "minLength": 1}
_ORDER = {"anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1, "maxItems": 2}]}


class Data(Part):
    """Changes of one table from any source that Spark reads."""

    table: str = Field(min_length=1, description="Table that a step before created and left empty.")
    transactions: int = Field(
        ge=1, le=MOST_EVENTS, description="How many; the numbers in order are below it."
    )
    format: str = Field(min_length=1, description="Of Spark: parquet, csv, json, orc, jdbc and others.")
    path: str | None = Field(
        default=None, min_length=1, description="File, folder or URI; relative to the scenario's folder."
    )
    schema_: str | None = Field(
        default=None, alias="schema", min_length=1, description="Spark's types: n INT, op STRING, …"
    )
    options: dict[str, str] = Field(default_factory=dict, description="Options of the source.")
    op: str = Field(default="op", min_length=1, description="Column that says insert, update or delete.")
    order: Annotated[
        tuple[str, ...],
        Field(strict=False, min_length=1, max_length=2),
        BeforeValidator(_columns_of),
        WithJsonSchema(_ORDER),
    ] = Field(description="Column with the number of the transaction, and one with the place in it.")
    before: str | None = Field(
        default=None, min_length=1, description="Struct column with the old row of updates."
    )

    @model_validator(mode="after")
    def _has_a_place(self) -> Data:
        if self.path is None and not self.options:
            raise ValueError("where the data are is missing: a path, or options of the format")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPlan:
    """A ``data`` step, bound to its table and to its place in the history.

    :param location: what Spark is to load; empty where options say it.
    :param first_commit: number of transaction 0.
    """

    file: str
    line: int
    form: Data
    table: TableInfo
    location: str
    first_commit: int


def bind_data(form: Data, table: TableInfo, *, first_commit: int, file: str, line: int) -> DataPlan:
    """The plan of a step; its data are looked at when Spark runs."""
    location = form.path or ""
    if location and "://" not in location:
        location = str((Path(file).parent / location).absolute())
    return DataPlan(
        file=file, line=line, form=form, table=table, location=location, first_commit=first_commit
    )
