"""Events and rows as text, for examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ticdc_producer.model.column import ColumnFlag

_MAX_VALUE, _MAX_QUERY = 40, 120


def readable(value: bytes | None) -> str:
    """A value for display: its text, or hex if it is not UTF-8; cut to 40 characters."""
    if value is None:
        return "NULL"
    try:
        text = bytes(value).decode()
    except UnicodeDecodeError:
        text = f"0x{bytes(value).hex().upper()}"
    return text[:_MAX_VALUE]


def readable_pairs(image: Mapping[str, bytes | None]) -> str:
    """Names and values for display, by name: ``id=3, name=ann``."""
    return ", ".join(f"{name}={readable(image[name])}" for name in sorted(image))


def image_of(
    pairs: Iterable[tuple[str, bytes | None]] | Mapping[str, bytes | None] | None,
) -> dict[str, bytes | None]:
    """An image as a dict; Arrow represents it as a list of pairs."""
    return dict(pairs or ())


def event_summary(row: Mapping[str, Any]) -> str:
    """An event in one line: handle key, query, or error code of a message that does not decode."""
    if row["kind"] == "ddl":
        return str(row["query"] or "")[:_MAX_QUERY]
    if row["kind"] != "row":
        return str(row.get("error") or "")
    image = image_of(row["before"] if row["op"] == "delete" else row["after"])
    handle = [column["name"] for column in row["columns"] or () if column["flag"] & ColumnFlag.HANDLE_KEY]
    return readable_pairs({name: image.get(name) for name in handle})
