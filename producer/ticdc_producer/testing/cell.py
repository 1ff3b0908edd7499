"""A value as a test compares it: canonical text where it is text."""

from __future__ import annotations

from typing import TypeAlias

from ticdc_producer.model.event import Value

Cell: TypeAlias = str | bytes | None
"""Canonical text of a value; bytes where it is not UTF-8; None for NULL."""
Rows: TypeAlias = list[dict[str, Cell]]


def cell(value: Value) -> Cell:
    """The text of a value as the pipeline holds it."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
