"""Base class of the models of a scenario file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


def _kebab(field: str) -> str:
    return field.replace("_", "-")


class StrictModel(BaseModel):
    """A mapping of the file. Unknown keys are errors; values are not converted between types."""

    # A mapping is built as part of the file that contains it: its own validator is built if it is used alone.
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, alias_generator=_kebab, defer_build=True
    )
