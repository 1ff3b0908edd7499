"""``faults:`` of a scenario, and ``--inject``: which traps are set, how often."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from ticdc_producer.scenario.strict_model import Part

MOST_TIMES = 10_000
"""Single faults are placed on the driver."""


class Fault(Part):
    """How often one trap is set: a share of the places where it can be, or a number of them."""

    rate: float | None = Field(
        default=None, gt=0, le=1, strict=False, description="Share of the places where it can be set."
    )
    times: int | None = Field(default=None, ge=1, le=MOST_TIMES, description="How many times it is set.")
    window: int | None = Field(
        default=None,
        ge=2,
        le=1_000_000,
        description="Commits that are delivered again at most; the largest of a scenario counts.",
    )

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        """A bare number is a rate, nothing at all the default."""
        if value is None:
            return {}
        return {"rate": value} if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _one_measure(self) -> Fault:
        if self.rate is not None and self.times is not None:
            raise ValueError("write either rate or times")
        return self
