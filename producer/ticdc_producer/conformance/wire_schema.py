"""The published JSON Schema of all lines: ``python -m ticdc_producer.conformance.wire_schema``."""

from __future__ import annotations

import json
import sys

import msgspec

from ticdc_producer.conformance.restart.wire import RestartAnswer, RestartDeliver, RestartRows, RestartStart
from ticdc_producer.conformance.wire import (
    DECIMAL_TEXT,
    LARGE,
    Answer,
    ApplyRequest,
    Hello,
    Request,
    StorageRequest,
)

_OPTION_VALUE: dict[str, object] = {"type": ["boolean", "integer", "string", "null"]}


_OF_RESTARTS = (RestartStart, RestartDeliver, RestartRows, RestartAnswer)


def wire_schema() -> dict[str, object]:
    """Return the JSON Schema. A line matches one of the definitions."""
    references, definitions = msgspec.json.schema_components(
        [Hello, Request, ApplyRequest, StorageRequest, Answer, *_OF_RESTARTS],
        schema_hook=lambda _object: _OPTION_VALUE,
        ref_template="#/$defs/{name}",
    )
    for name in LARGE:
        integer = definitions["Event"]["properties"][name]
        text = {"type": "string", "pattern": DECIMAL_TEXT}
        forms = integer.pop("anyOf", None) or [{"type": integer.pop("type")}]
        integer["anyOf"] = [*forms, text]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Conformance runner and testee",
        "description": "One JSON object per line: Hello and requests to the testee, Hello and answers back.",
        "anyOf": list(references),
        "$defs": definitions,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(wire_schema(), indent=2, ensure_ascii=False) + "\n")
