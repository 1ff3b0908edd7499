"""Functions that search and compare strings, under a collation where TiDB uses one.

Rules: tidb ``pkg/expression/builtin_string.go``, ``builtin_compare.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from ticdc_producer.model.coerce_text import to_bytes, to_text
from ticdc_producer.model.collation import sort_key, untrimmed_key
from ticdc_producer.model.number_text import as_number
from ticdc_producer.model.sql_mode import SQLMode
from ticdc_producer.model.sql_value import SQLValue
from ticdc_producer.scenario.sql.compare import compare
from ticdc_producer.scenario.sql.functions.function import Function, is_binary, to_integer, value_function
from ticdc_producer.scenario.sql.functions.text import lower


def _locate(arguments: Sequence[SQLValue], _: SQLMode, collation: str) -> SQLValue:
    """``LOCATE(what, where[, from])``: a position from 1; 0 if not found."""
    what, where = arguments[0], arguments[1]
    start = to_integer(arguments[2]) - 1 if len(arguments) > 2 else 0
    if is_binary(what, where):
        sought, source = to_bytes(what), to_bytes(where)
        return source.find(sought, start) + 1 if 0 <= start <= len(source) else 0
    mark, text = to_text(what), to_text(where)
    if len(arguments) > 2:
        if not 0 <= start <= len(text) - len(mark):
            return 0
        if collation.endswith("_ci"):
            mark, text = lower(mark), lower(text)
    found = _position(mark, text[start:], collation) if mark else 1
    return start + found if found else 0


def _position(mark: str, text: str, collation: str) -> int:
    """TiDB searches the bytes of sort keys; if a match begins within a character, the next one counts.

    Source: tidb ``pkg/expression/util.go`` (``locateStringWithCollation``).
    """
    key = untrimmed_key(to_bytes(text), collation)
    left = key.find(untrimmed_key(to_bytes(mark), collation))
    if left <= 0:
        return left + 1
    for position, character in enumerate(text, start=2):
        left -= len(untrimmed_key(to_bytes(character), collation))
        if left <= 0:
            return position
    return 0


def _instr(arguments: Sequence[SQLValue], _: SQLMode, collation: str) -> SQLValue:
    """``INSTR(where, what)`` compares in lower case, not by weights."""
    if is_binary(*arguments):
        return to_bytes(arguments[0]).find(to_bytes(arguments[1])) + 1
    text, mark = map(to_text, arguments)
    if collation.endswith("_ci"):
        text, mark = lower(text), lower(mark)
    return text.find(mark) + 1


def _strcmp(arguments: Sequence[SQLValue], mode: SQLMode, collation: str) -> SQLValue:
    left, right = (part if isinstance(part, bytes) else to_text(part) for part in arguments)
    order = compare(left, right, collation, mode) or 0
    return int(order > 0) - int(order < 0)


def _field(arguments: Sequence[SQLValue], mode: SQLMode, collation: str) -> SQLValue:
    """``FIELD``: compares strings as strings, integers as integers, and a mixture as DOUBLEs."""
    sought = arguments[0]
    if sought is None:
        return 0
    others = arguments[1:]
    kinds = {_kind(value) for value in arguments if value is not None}
    for position, other in enumerate(others, start=1):
        if other is None:
            continue
        if len(kinds) == 1:
            equal = compare(sought, other, collation, mode) == 0
        else:
            equal = float(as_number(sought)[0]) == float(as_number(other)[0])
        if equal:
            return position
    return 0


def _kind(value: SQLValue) -> str:
    if isinstance(value, str | bytes):
        return "text"
    return "integer" if isinstance(value, int) else "double"


def _find_in_set(arguments: Sequence[SQLValue], _: SQLMode, collation: str) -> SQLValue:
    sought, names = to_text(arguments[0]), to_text(arguments[1])
    if not names:
        return 0
    key = sort_key(to_bytes(sought), collation)
    keys = (sort_key(to_bytes(name), collation) for name in names.split(","))
    return next((position for position, one in enumerate(keys, start=1) if one == key), 0)


def _ascii(value: SQLValue) -> SQLValue:
    return next(iter(to_bytes(value)), 0)


def _ord(value: SQLValue) -> SQLValue:
    """``ORD``: the bytes of the first character as a number."""
    if isinstance(value, bytes):
        return _ascii(value)
    return int.from_bytes(to_bytes(to_text(value)[:1]), "big")


FUNCTIONS = {
    "ASCII": value_function(_ascii, 1),
    "FIELD": Function(_field, 2, -1, accepts_null=True, collated=True),
    "FIND_IN_SET": Function(_find_in_set, 2, 2, collated=True),
    "INSTR": Function(_instr, 2, 2, collated=True),
    "LOCATE": Function(_locate, 2, 3, collated=True),
    "ORD": value_function(_ord, 1),
    "STRCMP": Function(_strcmp, 2, 2, collated=True),
}
