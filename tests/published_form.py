"""Checks the output of a command with a JSON Schema of ``schemas/``."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from ticdc_producer.resources import bundled_dir


def schema(name: str) -> Any:
    """A schema by its file's name."""
    return json.loads((bundled_dir("schemas") / name).read_text("utf-8"))


def strict(schema: Any) -> Any:
    """The schema with additional keys forbidden, so that all keys of this tool are documented."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return closed | {key: strict(value) for key, value in schema.items()}


def check(output: Any, schema: Any) -> None:
    """:raises jsonschema.ValidationError: if the output does not match the schema, or has another key."""
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(output, schema)
    jsonschema.validate(output, strict(schema))
