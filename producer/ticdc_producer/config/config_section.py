"""The sections of a changefeed file: their base class, table filters, and the errors of models as messages.

``[filter]`` and ``column-selectors``: tiflow ``pkg/config/filter.go``, ``pkg/config/sink.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails

from ticdc_producer.config.parameters import BY_NAME
from ticdc_producer.hints import nearest
from ticdc_producer.model.parameter import Parameter

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
        """Check a value by its option's type, if its key is the key of a parameter.

        Values that protocols without the option accept are checked when the protocol is known.
        """
        parameter = cls.parameter_of(info.field_name or "")
        if parameter is None or parameter.admits(value):
            return value
        return parameter.value.check(value)

    @classmethod
    def parameter_of(cls, field: str) -> Parameter | None:
        """Return the parameter whose key a field is; its attribute has the name if the key has another."""
        alias = cls.model_fields[field].alias or ""
        return BY_NAME.get(alias) or (BY_NAME.get(field.replace("_", "-")) if alias else None)


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
    """Return keys and list indexes as one text: ``sink.dispatchers[0].partition``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def explain(
    error: ValidationError, model: type[BaseModel], rejected: Mapping[str, str] = _NOTHING, prefix: Path = ()
) -> list[Explanation]:
    """Return all errors, in the order of the model.

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
            what = f"{key!r} must hold keys" if key else "the file must hold keys"
            keys = () if detail["type"] == "dict_type" else _keys_at(model, tuple(detail["loc"]))
            return Explanation(path, what, f"allowed: {', '.join(keys)}" if keys else "")
        case "tuple_type" | "list_type":
            return Explanation(path, f"{key!r} must be a list")
        case "too_short" | "string_too_short":
            return Explanation(path, f"{key!r} is empty")
        case "string_type" if isinstance(detail["input"], bool):
            value = str(detail["input"]).lower()
            return Explanation(path, f"{key}: the value is the boolean {value}, not text", _QUOTE_IT)
    return Explanation(path, f"{key}: {_in_lower_case(detail['msg'])}{_not_this(detail['input'])}")


_QUOTE_IT = "quote it: in YAML on, off, yes, no, true and false without quotes are booleans"


def _not_this(value: object) -> str:
    """Return the wrong value as the end of a message; empty for mappings and lists."""
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
    """Return the valid keys at one path of a model."""
    current = model
    for part in loc:
        if isinstance(part, int):
            continue  # the key of the list already selected the model of its entries
        for name, field in current.model_fields.items():
            if (field.alias or name) == part:
                current = next(models_in(field.annotation), current)
    return [field.alias or name for name, field in current.model_fields.items()]


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """Yield the models in an annotation such as ``tuple[Rule, ...] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in (Union, UnionType, tuple, list, dict, Annotated):
        for part in get_args(annotation):
            yield from models_in(part)


class EventFilter(ConfigSection):
    """One entry of ``filter.event-filters``. An event that matches any entry is dropped.

    :param matcher: table filter patterns; the last one that matches decides. Their case counts, unless
        ``profile`` is ``new`` and ``case-sensitive`` is off.
    :param ignore_event: types of events (``dispatch/event_types.py``).
    :param ignore_sql: regular expressions on the text of DDL.
    :param ignore_insert_value_expr: SQL condition on the new row of inserts; the other three fields work
        the same way.
    :param ignore_update_only_columns: columns; an update is dropped if it changes no other column and no
        column of a primary or unique key.
    """

    matcher: Words
    ignore_event: Words = Field(default=(), alias="ignore-event")
    ignore_sql: Words = Field(default=(), alias="ignore-sql")
    ignore_insert_value_expr: str = Field(default="", alias="ignore-insert-value-expr")
    ignore_update_old_value_expr: str = Field(default="", alias="ignore-update-old-value-expr")
    ignore_update_new_value_expr: str = Field(default="", alias="ignore-update-new-value-expr")
    ignore_delete_value_expr: str = Field(default="", alias="ignore-delete-value-expr")
    ignore_update_only_columns: Words = Field(default=(), alias="ignore-update-only-columns")


class FilterSection(ConfigSection):
    """``[filter]``

    :param rules: table filter patterns; the last one that matches decides; a table that matches none is not
        replicated.
    :param ignore_txn_start_ts: start-ts of transactions and DDL jobs that are not replicated.
    :param event_filters: which of the remaining events are not replicated.
    """

    rules: Words = ("*.*",)
    ignore_txn_start_ts: Annotated[tuple[int, ...], Field(strict=False)] = Field(
        default=(), alias="ignore-txn-start-ts"
    )
    event_filters: Annotated[tuple[EventFilter, ...], Field(strict=False)] = Field(
        default=(), alias="event-filters"
    )

    def of_storage(self) -> FilterSection:
        """Return what TiCDC applies to storages: all but ``ignore-update-only-columns``."""
        if not any(rule.ignore_update_only_columns for rule in self.event_filters):
            return self
        rules = [rule.model_copy(update={"ignore_update_only_columns": ()}) for rule in self.event_filters]
        return self.model_copy(update={"event_filters": tuple(rules)})


class ColumnSelector(ConfigSection):
    """One entry of ``sink.column-selectors``. The first entry whose matcher accepts a table applies to it.

    :param matcher: table filter patterns.
    :param columns: column patterns; the last one that matches decides; columns that match none are left out.
    """

    matcher: Words
    columns: Words
