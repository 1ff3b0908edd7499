"""Whether what a command prints is of the form that ``schemas/`` publishes."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from ticdc_producer.resources import shipped_folder


def schema(name: str) -> Any:
    """A schema by its file's name."""
    return json.loads((shipped_folder("schemas") / name).read_text("utf-8"))


def strict(schema: Any) -> Any:
    """The schema without room for keys that it does not name: none of ours shall be undocumented."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return closed | {key: strict(value) for key, value in schema.items()}


def check(output: Any, schema: Any) -> None:
    """:raises jsonschema.ValidationError: if the output is not of that form, or has a key beside it."""
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(output, schema)
    jsonschema.validate(output, strict(schema))
