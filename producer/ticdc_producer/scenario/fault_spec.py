"""``faults:`` of a scenario, and ``--inject``: how often each trap is set."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from ticdc_producer.scenario.strict_model import StrictModel

MOST_TIMES = 10_000
"""Limit because the driver chooses the positions of single faults."""


class Fault(StrictModel):
    """How often one trap is injected: a ratio of the positions where it is possible, or a number of them."""

    rate: float | None = Field(
        default=None,
        gt=0,
        le=1,
        strict=False,
        description="Ratio of the possible positions where it is injected.",
    )
    times: int | None = Field(
        default=None, ge=1, le=MOST_TIMES, description="Number of times it is injected."
    )
    window: int | None = Field(
        default=None,
        ge=2,
        le=1_000_000,
        description="Maximum number of commits that are delivered again; the largest of all traps applies.",
    )

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        """Short forms: a bare number is the rate, no value means the default."""
        if value is None:
            return {}
        return {"rate": value} if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _one_measure(self) -> Fault:
        if self.rate is not None and self.times is not None:
            raise ValueError("write either rate or times")
        return self
