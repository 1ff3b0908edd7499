"""Finds equal values without comparing all pairs: keys of groups, and indexes of values.

Equality is that of ``compare``, which depends on the types of both sides. So an index has one table of keys
for each way of comparing. It is created when it is first needed. JSON documents have one equality more, that
of the keys by which TiDB groups and joins rows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import copysign

from ticdc_producer.model.values.coerce_text import to_bytes
from ticdc_producer.model.values.collation import sort_key
from ticdc_producer.model.values.json_document import JsonScalar, JsonValue, json_of, json_type
from ticdc_producer.model.values.number_text import as_float, as_number
from ticdc_producer.model.values.sql_value import (
    Bits,
    DateTimeValue,
    Duration,
    ErrorMember,
    JsonText,
    Quotient,
    SQLValue,
    VectorText,
)

_TEXT, _BYTES, _NUMBER, _DATETIME, _DURATION, _JSON, _VECTOR = (
    "text",
    "bytes",
    "number",
    "datetime",
    "duration",
    "json",
    "vector",
)
_QUOTIENT = "quotient"
"""Equal ones may have different doubles: that of a division has more digits than that of a sum."""


def distinct_key(value: SQLValue, collation: str) -> Hashable:
    """Return a key that two values of one column share if they are equal. NULLs are equal.

    Vectors are equal by their bytes here: ``[0]`` is not ``[-0]``. Source: tidb ``HashChunkSelected``.
    """
    if value is None:
        return None
    kind = _kind(value)
    if kind in (_NUMBER, _QUOTIENT):
        return as_number(value)[0]
    if kind == _VECTOR:
        return kind, str(value)
    if isinstance(value, ErrorMember):
        return kind, value.number  # no member, not even an empty one
    return kind, _key(value, kind, collation)


class ValueIndex:
    """The positions of values that may equal another value.

    :param values: NULL equals nothing.
    :param collation: of comparisons between texts.
    """

    def __init__(self, values: Iterable[SQLValue], collation: str) -> None:
        self._collation = collation
        self._by_kind: dict[str, list[tuple[int, SQLValue]]] = {}
        self._keys: dict[tuple[str, str], dict[Hashable, list[int]]] = {}
        self._texts: dict[str, list[int]] = {}
        for position, value in enumerate(values):
            if value is not None:
                self._by_kind.setdefault(_kind(value), []).append((position, value))

    def candidates(self, sought: SQLValue, *, strict: bool = False) -> list[int]:
        """Return all positions whose values equal a value, and possibly others, in ascending order.

        :param strict: whether texts that are no number are among them where the comparison is one of
            numbers, because it fails.
        """
        if sought is None:
            return []
        kind = _kind(sought)
        positions: list[int] = []
        failing: list[int] = []
        for stored in self._by_kind:
            method = _method(kind, stored)
            positions += self._of_kind(stored, sought, method)
            if strict and method == _NUMBER:
                failing += self._no_numbers(stored)
        if failing:
            return sorted({*positions, *failing})
        return positions if len(self._by_kind) == 1 else sorted(positions)

    def _no_numbers(self, stored: str) -> list[int]:
        if stored not in self._texts:
            self._texts[stored] = [at for at, value in self._by_kind[stored] if not _is_number(value)]
        return self._texts[stored]

    def _of_kind(self, stored: str, sought: SQLValue, method: str) -> Sequence[int]:
        if not method or (method == _NUMBER and not _is_number(sought)):
            return [position for position, _ in self._by_kind[stored]]
        keys = self._keys.get((stored, method))
        if keys is None:
            keys = self._keys[stored, method] = {}
            for position, value in self._by_kind[stored]:
                keys.setdefault(_key(value, method, self._collation), []).append(position)
        return keys.get(_key(sought, method, self._collation), ())


def _is_number(value: SQLValue) -> bool:
    """Return whether a comparison with a number is one of numbers, and no error in strict mode."""
    return not isinstance(value, str | bytes) or as_number(value)[1]


def _kind(value: SQLValue) -> str:
    if isinstance(value, JsonText):
        return _JSON
    if isinstance(value, VectorText):
        return _VECTOR
    if isinstance(value, DateTimeValue):
        return _DATETIME
    if isinstance(value, Duration):
        return _DURATION
    if isinstance(value, str):
        return _TEXT
    if isinstance(value, bytes) and not isinstance(value, Bits):
        return _BYTES
    return _QUOTIENT if isinstance(value, Quotient) else _NUMBER


def _method(first: str, second: str) -> str:
    """Return how values of two kinds are compared; empty where only ``compare`` can decide."""
    if first == second:
        return "" if first == _QUOTIENT else first
    kinds = {first, second}
    if _JSON in kinds and _VECTOR not in kinds:
        return _JSON
    if kinds == {_TEXT, _BYTES}:
        return _BYTES
    return _NUMBER if kinds <= {_TEXT, _BYTES, _NUMBER} else ""


def _key(value: SQLValue, method: str, collation: str) -> Hashable:
    if method == _JSON:
        return _json_key(json_of(value))
    if method == _TEXT:
        return sort_key(to_bytes(value), collation)
    if method == _BYTES:
        return to_bytes(value)
    if isinstance(value, VectorText) and method == _VECTOR:
        return value.elements
    if isinstance(value, DateTimeValue) and method == _DATETIME:
        return value.fields
    if isinstance(value, Duration) and method == _DURATION:
        return value.microseconds
    return as_float(value)  # equal numbers have equal doubles; ``compare`` checks the converse


def _json_key(document: JsonValue) -> Hashable:
    """Return the key of a document in groups and joins, where an integer may equal its double.

    The integer must be one of those that a double holds. Source: tidb ``BinaryJSON.HashValue``.
    """
    if isinstance(document, list):
        return "array", tuple(_json_key(element) for element in document)
    if isinstance(document, dict):
        return "object", frozenset((name, _json_key(member)) for name, member in document.items())
    if isinstance(document, bool) or document is None:
        return "constant", str(document)
    if isinstance(document, JsonScalar):
        return document.kind, str(document)
    if isinstance(document, str):
        return "string", document
    is_double = float(document) == document
    return "number" if is_double else json_type(document), document, copysign(1, document)
