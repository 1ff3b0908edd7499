"""The keys of a column in a ``generate`` step."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from ticdc_producer.scenario.strict_model import StrictModel

_LONGEST_TEXT = 1 << 20
MOST_FAKED = 10_000
_SOURCES = ("values", "expression", "references", "faker")
"""Keys that define the source of values; they exclude each other."""


def _text_of(value: object) -> object:
    """A number or date as text; the column's type reads it later."""
    plain = isinstance(value, int | float | date) and not isinstance(value, bool)
    return str(value) if plain else value


def _length_of(value: object) -> object:
    """A single length is both minimum and maximum."""
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
    """How the values of one column are generated; defaults follow from its type."""

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
