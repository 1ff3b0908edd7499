"""What a testee told against what a message tells."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ticdc_producer.conformance.wire import Event, EventValue, Image

FLOATS = frozenset({"float", "double"})
_ALWAYS = ("kind", "commit_ts", "schema", "table", "op", "query", "handle_key_only")
_IF_TOLD = ("columns", "table_id", "ddl_type")
_LONGEST = 80


def differences(
    expected: Sequence[Event], told: Sequence[Event], floats: frozenset[str] = FLOATS
) -> list[str]:
    """One sentence per difference; none if the testee is right.

    Columns, table ids and DDL types that the testee leaves out are not compared.

    :param floats: SQL types whose values are compared as numbers: ``1e21`` is as good as its digits.
    """
    found = [
        f"event {place}: {text}"
        for place, (right, other) in enumerate(zip(expected, told, strict=False))
        for text in _of_event(right, other, floats)
    ]
    if len(expected) != len(told):
        found.append(f"{len(told)} events, expected {len(expected)}")
    return found


def _of_event(right: Event, told: Event, floats: frozenset[str]) -> Iterator[str]:
    for name in _ALWAYS:
        one, other = getattr(right, name), getattr(told, name)
        if (one or None) != (other or None):  # a DDL of a database has no table, or an empty one
            yield sentence(name, other, one)
    for name in _IF_TOLD:
        one, other = getattr(right, name), getattr(told, name)
        if None not in (one, other) and _by_name(one) != _by_name(other):
            yield sentence(name, other, one)
    numbers = {name: bare_type(kind) for name, kind, _ in right.columns or () if bare_type(kind) in floats}
    yield from _of_image("before", right.before, told.before, numbers)
    yield from _of_image("after", right.after, told.after, numbers)


def bare_type(kind: str) -> str:
    """A type without its parameters and without UNSIGNED."""
    return kind.partition(" ")[0].partition("(")[0]


def _by_name(told: Any) -> Any:
    """Columns in no order: a consumer may keep them as a map."""
    return sorted(told) if isinstance(told, list) else told


def _of_image(
    name: str, right: Image | None, told: Image | None, numbers: Mapping[str, str]
) -> Iterator[str]:
    """:param numbers: SQL type of the columns whose values are compared as numbers."""
    if right is None or told is None:
        if right is not told:
            yield sentence(name, told, right)
        return
    for column in [*right, *(column for column in told if column not in right)]:
        place = f"{name}[{json.dumps(column, ensure_ascii=False)}]"
        if column not in told:
            yield f"{place} is missing"
        elif column not in right:
            yield f"{place} is not in the message"
        elif right[column] != told[column] and not same_number(
            numbers.get(column), right[column], told[column]
        ):
            yield sentence(place, told[column], right[column])


def same_number(kind: str | None, right: EventValue, told: EventValue) -> bool:
    """Whether two values are the same number.

    :param kind: SQL type of a column whose values are numbers; None: its values are not.
    """
    if kind is None or not isinstance(right, str) or not isinstance(told, str):
        return False
    try:
        one, other = float(right), float(told)
        return one == other or (kind == "float" and _single(one) == _single(other))
    except (ValueError, OverflowError):
        return False


def _single(number: float) -> bytes:
    return struct.pack("<f", number)


def sentence(name: str, told: Any, right: Any) -> str:
    """A difference."""
    return f"{name} is {shown(told)}, expected {shown(right)}"


def shown(what: Any) -> str:
    """A value, or the start of a long one."""
    text = json.dumps(msgspec.to_builtins(what), ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"
