"""The values that tests compare: canonical text, or bytes."""

from __future__ import annotations

from typing import TypeAlias

from ticdc_producer.model.event import Value

Cell: TypeAlias = str | bytes | None
"""Canonical text of a value; bytes if it is not UTF-8; None for NULL."""
Rows: TypeAlias = list[dict[str, Cell]]


def cell(value: Value) -> Cell:
    """The cell of a value of the event stream."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value
