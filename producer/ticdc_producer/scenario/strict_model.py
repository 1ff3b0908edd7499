"""What all mappings of a scenario file have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


def _kebab(field: str) -> str:
    return field.replace("_", "-")


class Part(BaseModel):
    """A mapping of the file. Unknown keys are errors, values are never converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=_kebab)
