"""The files of a small golden folder as bytes (``docs/design.md#commands-and-files``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ticdc_producer.model.json_value import json_line


def lines(objects: Iterable[Mapping[str, Any]]) -> bytes:
    """A ``.jsonl`` file: one object per line."""
    return "".join(json_line(one) + "\n" for one in objects).encode()


def schema_lines(schemas: Mapping[int, str]) -> bytes:
    """``schemas.jsonl``, the Avro schemas.

    :param schemas: by the schema id in the messages.
    """
    return lines({"id": number, "schema": schema} for number, schema in sorted(schemas.items()))
