"""The base class of the models of a changefeed file."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from ticdc_producer.config.parameters import BY_NAME

Words = Annotated[tuple[str, ...], Field(strict=False)]
"""A list of texts."""


class StrictModel(BaseModel):
    """A table of the file. Unknown keys are errors; values are never converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    @field_validator("*", mode="before")
    @classmethod
    def _check_option_type(cls, value: Any, info: ValidationInfo) -> Any:
        """Check a value by its option's type, if its key is in ``BY_NAME``."""
        alias = cls.model_fields[info.field_name or ""].alias or ""
        parameter = BY_NAME.get(alias)
        return value if parameter is None else parameter.value.check(value)
