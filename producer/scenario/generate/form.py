"""The form of a ``generate`` step."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from producer.scenario.part import Part

MOST_EVENTS = 2_000_000_000
"""Row changes of a step: the product of two numbers up to it still is a long."""
MOST_ROWS_PER_TRANSACTION = 100_000
_LONGEST_TEXT = 1 << 20


def _text_of(value: object) -> object:
    """A number or date as the user wrote it: the column's own rules read it later."""
    plain = isinstance(value, int | float | date) and not isinstance(value, bool)
    return str(value) if plain else value


def _length_of(value: object) -> object:
    """One length stands for both ends."""
    if isinstance(value, int):
        return (value, value)
    return tuple(value) if isinstance(value, list) else value


_SCALAR: dict[str, Any] = {"type": ["string", "number"]}
_SIZE: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": _LONGEST_TEXT}
_LENGTH = {"anyOf": [_SIZE, {"type": "array", "items": _SIZE, "minItems": 2, "maxItems": 2}]}

Scalar: TypeAlias = Annotated[str, BeforeValidator(_text_of), WithJsonSchema(_SCALAR)]
Length: TypeAlias = Annotated[
    tuple[Annotated[int, Field(ge=0, le=_LONGEST_TEXT)], Annotated[int, Field(ge=0, le=_LONGEST_TEXT)]],
    BeforeValidator(_length_of),
    WithJsonSchema(_LENGTH),
]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Exponent: TypeAlias = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
Weight: TypeAlias = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Distribution: TypeAlias = Literal["uniform", "zipf", "normal", "sequence"]


class Mix(Part):
    """How often each operation comes, in any unit."""

    insert: Weight = Field(default=0, description="Weight of inserts, which are at least as many as deletes.")
    update: Weight = Field(default=0, description="Weight of updates.")
    delete: Weight = Field(default=0, description="Weight of deletes.")

    @model_validator(mode="after")
    def _some(self) -> Mix:
        if self.insert + self.update + self.delete == 0:
            raise ValueError("the weights are all 0")
        if self.delete > self.insert:
            raise ValueError("more deletes than inserts would leave no rows; insert as many")
        return self


class Statement(Part):
    """One statement that every transaction runs on a row of its own."""

    does: Literal["update", "replace"] = Field(description="update, or replace: delete and insert again.")
    columns: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        default=(), description="Columns that an update changes."
    )

    @model_validator(mode="after")
    def _updates_something(self) -> Statement:
        if (self.does == "update") != bool(self.columns):
            raise ValueError("an update names columns, a replace does not")
        return self


class ColumnForm(Part):
    """What the values of one column are like; what is left out follows from its type."""

    distribution: Distribution = Field(
        default="uniform", description="uniform, zipf, normal, or sequence: a number of its own for each."
    )
    exponent: Exponent = Field(default=1.0, description="Of zipf; 0 is uniform.")
    min: Scalar | None = Field(default=None, description="Smallest value, as SQL would write it.")
    max: Scalar | None = Field(default=None, description="Largest value.")
    length: Length | None = Field(
        default=None, description="Characters or bytes: a number, or [least, most]."
    )
    values: Annotated[tuple[Scalar | None, ...], Field(strict=False)] | None = Field(
        default=None, description="The only values, under the distribution; null is one like the others."
    )
    expression: str | None = Field(
        default=None, min_length=1, description="Spark SQL over row, version, number and draw."
    )
    adds: str | None = Field(
        default=None,
        min_length=1,
        description="Spark SQL of what an update adds, over row, transaction, place and draw.",
    )
    nulls: Share | None = Field(default=None, description="Ratio of NULLs; 0.05 where the column takes them.")
    edges: Share = Field(default=0.0, description="Ratio of boundary values.")

    @field_validator("values")
    @classmethod
    def _some(cls, values: tuple[str | None, ...] | None) -> tuple[str | None, ...] | None:
        if values is not None and not values:
            raise ValueError("there are none")
        return values

    @model_validator(mode="after")
    def _fits_together(self) -> ColumnForm:
        if self.length is not None and self.length[0] > self.length[1]:
            raise ValueError(f"length {self.length[0]} is above {self.length[1]}")
        ranged = [key for key in ("min", "max", "length") if getattr(self, key) is not None]
        sources = [key for key in ("values", "expression") if getattr(self, key) is not None]
        if len(sources + ranged[:1]) > 1:
            raise ValueError(f"{' and '.join([*sources, *ranged])} exclude each other")
        if self.distribution == "sequence" and (sources or self.nulls or self.edges):
            raise ValueError("a sequence has no values, expression, nulls or edges")
        if self.adds and (sources or self.nulls or self.edges or self.distribution == "sequence"):
            raise ValueError("adds stands with min, max, uniform, zipf and normal only")
        if (self.nulls or 0) + self.edges > 1:
            raise ValueError("nulls and edges are more than all values")
        return self


class Generate(Part):
    """Transactions of generated changes of one table."""

    table: str = Field(min_length=1, description="Table that a step before created and left empty.")
    transactions: int = Field(ge=1, le=MOST_EVENTS, description="How many.")
    rows_per_transaction: int = Field(
        default=1, ge=1, le=MOST_ROWS_PER_TRANSACTION, description="Row changes in each."
    )
    changes_per_row: int = Field(
        default=1, ge=1, le=1000, description="So many changes in succession of a transaction hit one row."
    )
    rows: int = Field(
        default=0, ge=0, le=MOST_EVENTS, description="Rows inserted first, up to 1000 a transaction."
    )
    mix: Mix = Field(
        default_factory=lambda: Mix(insert=20, update=70, delete=10), description="Shares of the operations."
    )
    each: Annotated[tuple[Statement, ...], Field(strict=False, max_length=1000)] | None = Field(
        default=None, description="Statements of each transaction, instead of a mix."
    )
    hot_keys: Exponent = Field(
        default=0.0, description="Zipf exponent with which rows are picked; 0 picks all alike."
    )
    updates: Annotated[tuple[str, ...], Field(strict=False)] | None = Field(
        default=None, description="Columns that every update changes; without it a hash chooses."
    )
    key_changes: Share = Field(default=0.0, description="Ratio of updates that change the keys, too.")
    columns: dict[str, ColumnForm] = Field(default_factory=dict, description="Columns by name.")

    @model_validator(mode="after")
    def _fits_together(self) -> Generate:
        if self.rows + self.transactions * self.rows_per_transaction > MOST_EVENTS:
            raise ValueError(f"more than {MOST_EVENTS} row changes")
        if self.each is not None:
            instead = {"mix", "updates", "rows_per_transaction", "changes_per_row", "key_changes"}
            both = sorted(key.replace("_", "-") for key in instead & self.model_fields_set)
            if both or not self.each or not self.rows:
                raise ValueError("each stands with rows, and without " + (", ".join(both) or "an empty list"))
        elif self.rows == 0 and self.mix.insert == self.mix.delete:
            raise ValueError("there are no rows to begin with; say how many in rows, or insert more")
        return self
