"""The keys of a table, of its columns and of its DDLs in a ``generate`` step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from ticdc_producer.scenario.yaml_tree import StrictModel

_LONGEST_TEXT = 1 << 20
MOST_FAKED = 10_000
_SOURCES = ("values", "expression", "references", "faker")
"""Keys that define the source of values; they exclude each other."""


def _text_of(value: object) -> object:
    """Convert a number or date to text; the column's type reads it later."""
    plain = isinstance(value, int | float | date) and not isinstance(value, bool)
    return str(value) if plain else value


def _length_of(value: object) -> object:
    """Convert a single length to both minimum and maximum."""
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
Distribution: TypeAlias = Literal["uniform", "zipf", "normal", "sequence", "latest"]


class ColumnSpec(StrictModel):
    """The generation of the values of one column; defaults follow from its type."""

    distribution: Distribution = Field(
        default="uniform",
        description="uniform, zipf, normal, latest (for references) or sequence (a different number each).",
    )
    exponent: Exponent = Field(default=1.0, description="Exponent of zipf; 0 is uniform.")
    min: Scalar | None = Field(default=None, description="Smallest value, as a SQL literal.")
    max: Scalar | None = Field(default=None, description="Largest value.")
    length: Length | None = Field(
        default=None, description="Characters or bytes: a number, or [minimum, maximum]."
    )
    values: Annotated[tuple[Scalar | None, ...], Field(strict=False)] | None = Field(
        default=None, description="The only values, under the distribution; null is allowed."
    )
    expression: str | None = Field(
        default=None, min_length=1, description="Spark SQL over row, version, number and draw."
    )
    adds: str | None = Field(
        default=None,
        min_length=1,
        description="SQL of the number that an update adds, over row, transaction, place and draw.",
    )
    references: str | None = Field(
        default=None,
        pattern=r"^[^.]+(\.[^.]+){1,2}$",
        description="SCHEMA.TABLE.COLUMN, a key of a generated table; each value names an existing row.",
    )
    faker: str | None = Field(
        default=None, min_length=1, description="Provider of the faker library, such as name or address."
    )
    locale: str = Field(default="en_US", min_length=1, description="Locale of faker.")
    pool: int = Field(default=1000, ge=1, le=MOST_FAKED, description="Number of different values of faker.")
    nulls: Share | None = Field(
        default=None, description="Ratio of NULLs; default: 0.05 for nullable columns."
    )
    edges: Share = Field(default=0.0, description="Ratio of boundary values.")

    @field_validator("values")
    @classmethod
    def _some(cls, values: tuple[str | None, ...] | None) -> tuple[str | None, ...] | None:
        if values is not None and not values:
            raise ValueError("the list is empty")
        return values

    @model_validator(mode="after")
    def _fits_together(self) -> ColumnSpec:
        if self.length is not None and self.length[0] > self.length[1]:
            raise ValueError(f"length {self.length[0]} is above {self.length[1]}")
        ranged = [key for key in ("min", "max", "length") if getattr(self, key) is not None]
        sources = [key for key in _SOURCES if getattr(self, key) is not None]
        if len(sources + ranged[:1]) > 1:
            raise ValueError(f"{' and '.join([*sources, *ranged])} exclude each other")
        if self.distribution == "sequence" and (sources or self.nulls or self.edges):
            raise ValueError(f"a sequence has no {', '.join(_SOURCES)}, nulls or edges")
        if self.references and self.edges:
            raise ValueError("references have no edges")
        if not self.faker and {"locale", "pool"} & self.model_fields_set:
            raise ValueError("locale and pool require faker")
        if self.distribution == "latest" and not self.references:
            raise ValueError("distribution latest requires references")
        if self.adds and (sources or self.nulls or self.edges or self.distribution in ("sequence", "latest")):
            raise ValueError("adds can be combined with min, max, uniform, zipf and normal only")
        if (self.nulls or 0) + self.edges > 1:
            raise ValueError("nulls and edges exceed 1 together")
        return self


MOST_EVENTS = 2_000_000_000
"""Maximum number of row changes of a step: the product of two such numbers fits a long."""
ROWS_PER_LOAD = 1000
"""Maximum number of rows per transaction of the rows that are inserted first."""

Weight: TypeAlias = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Rows: TypeAlias = Annotated[int, Field(ge=0, le=MOST_EVENTS)]


class Mix(StrictModel):
    """Weights of the operations, in any unit."""

    insert: Weight = Field(default=0, description="Weight of inserts; at least that of deletes.")
    update: Weight = Field(default=0, description="Weight of updates.")
    delete: Weight = Field(default=0, description="Weight of deletes.")

    @model_validator(mode="after")
    def _some(self) -> Mix:
        if self.insert + self.update + self.delete == 0:
            raise ValueError("the weights are all 0")
        if self.delete > self.insert:
            raise ValueError("more deletes than inserts would leave no rows; increase insert")
        return self


class TableSpec(StrictModel):
    """One of several tables; keys that are not set have the values of the step."""

    table: str = Field(min_length=1, description="Table that an earlier step created and left empty.")
    share: Weight | None = Field(
        default=None, description="Weight with which its rows are picked; default 1; 0: never."
    )
    rows: Rows | None = Field(default=None, description="As in the step.")
    mix: Mix | None = Field(default=None, description="As in the step.")
    hot_keys: Exponent | None = Field(default=None, description="As in the step.")
    updates: Annotated[tuple[str, ...], Field(strict=False)] | None = Field(
        default=None, description="As in the step."
    )
    key_changes: Share | None = Field(default=None, description="As in the step.")
    columns: dict[str, ColumnSpec] = Field(
        default_factory=dict, description="Columns by name; they override those of the step."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedTableSpec:
    """The settings of one table, with all defaults."""

    table: str
    share: float
    rows: int
    mix: Mix
    hot_keys: float
    updates: tuple[str, ...]
    key_changes: float
    columns: dict[str, ColumnSpec]


def load_commits(rows: int) -> int:
    """Return the number of transactions that insert the first rows of a table."""
    return -(-rows // ROWS_PER_LOAD)


MOST_DDLS = 100
"""Maximum number of DDLs of a step: values of added columns are drawn for every event."""


class DDLMix(StrictModel):
    """The frequency of the DDLs of a table, and the weights of the kinds of DDL, in any unit."""

    every: int = Field(ge=1, description="Transactions between two DDLs.")
    add_column: Weight = Field(default=0, description="Weight of ADD COLUMN.")
    drop_column: Weight = Field(default=0, description="Weight of DROP COLUMN of an added column.")
    add_index: Weight = Field(default=0, description="Weight of ADD INDEX.")
    drop_index: Weight = Field(default=0, description="Weight of DROP INDEX of an added index.")
    rename_table: Weight = Field(default=0, description="Weight of RENAME TABLE.")
    truncate_table: Weight = Field(
        default=0,
        description="Weight of TRUNCATE TABLE; a truncated row is inserted again at its next change.",
    )

    @model_validator(mode="after")
    def _check_weights(self) -> DDLMix:
        if not any(self.weights().values()):
            raise ValueError("the weights are all 0")
        for kind in ("column", "index"):
            if self.weights()[f"drop-{kind}"] and not self.weights()[f"add-{kind}"]:
                raise ValueError(f"drop-{kind} requires a weight of add-{kind}")
        return self

    def weights(self) -> dict[str, float]:
        """Return the weights by the key of the scenario."""
        return {
            "add-column": self.add_column,
            "drop-column": self.drop_column,
            "add-index": self.add_index,
            "drop-index": self.drop_index,
            "rename-table": self.rename_table,
            "truncate-table": self.truncate_table,
        }

    def count(self, transactions: int) -> int:
        """Return the number of DDLs; a transaction follows the last DDL."""
        return (transactions - 1) // self.every
