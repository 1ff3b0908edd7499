"""The base class of the sections of a changefeed file, and the errors of models as messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails

from ticdc_producer.config.parameters import BY_NAME
from ticdc_producer.hints import nearest

Words = Annotated[tuple[str, ...], Field(strict=False)]
"""A list of texts."""


class ConfigSection(BaseModel):
    """A section of the file. Unknown keys are errors; values are never converted."""

    # A section is built as part of the file that contains it: its own validator is built if it is used alone.
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, defer_build=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _check_option_type(cls, value: Any, info: ValidationInfo) -> Any:
        """Check a value by its option's type, if its key is in ``BY_NAME``."""
        alias = cls.model_fields[info.field_name or ""].alias or ""
        parameter = BY_NAME.get(alias)
        return value if parameter is None else parameter.value.check(value)


Path: TypeAlias = tuple[str | int, ...]
_MAX_VALUE_CHARS = 60
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Explanation:
    """One error in a nested structure.

    :param path: keys and list indexes from the root to the wrong value.
    :param what: the message.
    :param hint: what to do about it.
    """

    path: Path
    what: str
    hint: str = ""

    @property
    def key(self) -> str:
        """The path as users write it: ``sink.dispatchers[0].partition``."""
        return spell(self.path)


def spell(path: Path) -> str:
    """Keys and list indexes as one text: ``sink.dispatchers[0].partition``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def explain(
    error: ValidationError, model: type[BaseModel], rejected: Mapping[str, str] = _NOTHING, prefix: Path = ()
) -> list[Explanation]:
    """All errors, in the order of the model.

    :param model: the validated model; it has the valid keys of each level.
    :param rejected: dotted keys, without list indexes, that are known and not supported, with the reason.
    :param prefix: path of the validated structure in a larger one.
    """
    return [_explain_one(detail, model, rejected, prefix) for detail in error.errors(include_url=False)]


def _explain_one(
    detail: ErrorDetails, model: type[BaseModel], rejected: Mapping[str, str], prefix: Path
) -> Explanation:
    path = prefix + tuple(detail["loc"])
    key = spell(path)
    match detail["type"]:
        case "extra_forbidden":
            return _unknown_key(path, tuple(detail["loc"]), model, rejected)
        case "missing":
            return Explanation(path, f"{key!r} is missing")
        case "value_error":
            cause = detail["ctx"]["error"]
            return Explanation(path, f"{key}: {cause}" if key else str(cause))
        case "model_type" | "dict_type" | "model_attributes_type":
            return Explanation(path, f"{key!r} must hold keys")
        case "tuple_type" | "list_type":
            return Explanation(path, f"{key!r} must be a list")
        case "too_short" | "string_too_short":
            return Explanation(path, f"{key!r} is empty")
    return Explanation(path, f"{key}: {_in_lower_case(detail['msg'])}{_not_this(detail['input'])}")


def _not_this(value: object) -> str:
    """The wrong value as the end of a message; empty for mappings and lists."""
    if value is None:
        return ", and it is empty"
    return f", not {value!r}"[:_MAX_VALUE_CHARS] if isinstance(value, str | int | float) else ""


def _in_lower_case(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _unknown_key(path: Path, loc: Path, model: type[BaseModel], rejected: Mapping[str, str]) -> Explanation:
    dotted = ".".join(part for part in loc if isinstance(part, str))
    if dotted in rejected:
        return Explanation(path, f"{spell(path)!r} is not supported", rejected[dotted])
    allowed = _keys_at(model, loc[:-1])
    return Explanation(path, f"unknown key {spell(path)!r}", nearest(str(loc[-1]), allowed))


def _keys_at(model: type[BaseModel], loc: Path) -> list[str]:
    """The valid keys at one path of a model."""
    current = model
    for part in loc:
        if isinstance(part, int):
            continue  # the key of the list already selected the model of its entries
        for name, field in current.model_fields.items():
            if (field.alias or name) == part:
                current = next(_models_in(field.annotation), current)
    return [field.alias or name for name, field in current.model_fields.items()]


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Models in an annotation such as ``tuple[Rule, ...] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, UnionType, tuple, list, dict, Annotated):
        for part in get_args(annotation):
            yield from _models_in(part)
