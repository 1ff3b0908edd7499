"""The form of one table in a ``generate`` step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from pydantic import Field, model_validator

from ticdc_producer.scenario.generate.column_form import ColumnForm, Exponent, Share
from ticdc_producer.scenario.strict_model import Part

MOST_EVENTS = 2_000_000_000
"""Row changes of a step: the product of two numbers up to it still is a long."""
ROWS_PER_LOAD = 1000
"""Rows that one transaction inserts of those that come first."""

Weight: TypeAlias = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Rows: TypeAlias = Annotated[int, Field(ge=0, le=MOST_EVENTS)]


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


class TableForm(Part):
    """One of several tables; what is left out is as the step says."""

    table: str = Field(min_length=1, description="Table that a step before created and left empty.")
    share: Weight | None = Field(
        default=None, description="Weight with which its rows are picked; 1 without it, 0: never."
    )
    rows: Rows | None = Field(default=None, description="As in the step.")
    mix: Mix | None = Field(default=None, description="As in the step.")
    hot_keys: Exponent | None = Field(default=None, description="As in the step.")
    updates: Annotated[tuple[str, ...], Field(strict=False)] | None = Field(
        default=None, description="As in the step."
    )
    key_changes: Share | None = Field(default=None, description="As in the step.")
    columns: dict[str, ColumnForm] = Field(
        default_factory=dict, description="Columns by name, before those of the step."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWork:
    """What a step asks of one table, all defaults filled in."""

    table: str
    share: float
    rows: int
    mix: Mix
    hot_keys: float
    updates: tuple[str, ...]
    key_changes: float
    columns: dict[str, ColumnForm]


def load_commits(rows: int) -> int:
    """Transactions that insert the rows of a table which come first."""
    return -(-rows // ROWS_PER_LOAD)
