"""The keys of one table in a ``generate`` step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pydantic import Field, model_validator

from ticdc_producer.scenario.generate.column_spec import ColumnSpec, Exponent, Share
from ticdc_producer.scenario.strict_model import StrictModel

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
    """Number of transactions that insert the first rows of a table."""
    return -(-rows // ROWS_PER_LOAD)
