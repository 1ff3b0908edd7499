"""Functions that search and compare strings.

Rules: tidb ``pkg/expression/builtin_string.go``, ``builtin_compare.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import zip_longest

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.collation import sort_key, untrimmed_key
from ticdc_producer.model.values.number_text import as_float, check_number
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.compare import compare
from ticdc_producer.scenario.sql.expression.eval_type import E
from ticdc_producer.scenario.sql.functions.function import (
    MAX_PACKET,
    Arguments,
    Function,
    is_binary,
    text_type,
    to_integer,
    too_long,
    value_function,
)
from ticdc_producer.scenario.sql.functions.text import lower


def _translate(*arguments: SQLValue) -> SQLValue:
    """Return ``TRANSLATE(text, from, to)``; a character of ``from`` without one in ``to`` is left out.

    The first of equal characters counts. Source: tidb ``buildTranslateMap4UTF8``.
    """
    if is_binary(*arguments):
        octets = _translated(*(to_bytes(argument).decode("latin1") for argument in arguments))
        return octets.encode("latin1")
    return _translated(*map(to_text, arguments))


def _translated(text: str, characters: str, others: str) -> str:
    pairs = zip_longest(characters, others[: len(characters)])
    return text.translate({ord(character): other for character, other in reversed([*pairs])})


def _weight_string(arguments: Sequence[SQLValue], mode: SQLMode, collation: str) -> SQLValue:
    """Return ``WEIGHT_STRING``: the sort key of a text, as bytes; NULL for a number.

    ``AS CHAR(n)`` cuts a text, or fills it with blanks; ``AS BINARY(n)`` does so with its bytes and zeros.
    """
    value, *size = arguments  # the length, and whether it is one of bytes
    as_bytes = len(size) == 2 and bool(to_integer(size[1]))
    if isinstance(value, int | float | Decimal) and not as_bytes:
        return None
    text = value if isinstance(value, str | bytes) else to_text(value)
    if not size:
        return sort_key(to_bytes(text), collation) if isinstance(value, str) else to_bytes(text)
    length = max(to_integer(size[0]), 0)
    if length * (1 if as_bytes else 4) > MAX_PACKET:
        too_long("cast_as_binary" if as_bytes else "weight_string", mode)
        return None
    if as_bytes:
        return to_bytes(text)[:length].ljust(length, b"\0")
    return sort_key(to_bytes(to_text(text)[:length].ljust(length)), collation)


def _weight_text(arguments: Arguments) -> Arguments:
    """Return the argument in brackets.

    :raises ScenarioError: for several.
    """
    if len(arguments) != 1:
        raise ScenarioError("SQL does not parse: WEIGHT_STRING() takes one expression")
    return arguments


def _weight_operands(node: exp.Expr) -> Arguments:
    """Return the text and, of ``AS``, the length and whether it is one of bytes."""
    to = node.args.get("to")
    if not to:
        return (node.this,)
    is_binary = to.this in (exp.DType.BINARY, exp.DType.VARBINARY)
    length = to.expressions[0].name if to.expressions else "1"
    return node.this, exp.Literal.number(length), exp.Literal.number(int(is_binary))


def _locate(arguments: Sequence[SQLValue], _: SQLMode, collation: str) -> SQLValue:
    """Return ``LOCATE(what, where[, from])``: a position from 1; 0 if the text does not contain it."""
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
    position = _position(mark, text[start:], collation) if mark else 1
    return start + position if position else 0


def _position(mark: str, text: str, collation: str) -> int:
    """Return the position of the first match from 1; 0 without a match.

    TiDB searches the bytes of sort keys. If a match begins within a character, the next one counts.

    Source: tidb ``pkg/expression/util.go`` (``locateStringWithCollation``).
    """
    key = untrimmed_key(to_bytes(text), collation)
    remaining = key.find(untrimmed_key(to_bytes(mark), collation))
    if remaining <= 0:
        return remaining + 1
    for position, character in enumerate(text, start=2):
        remaining -= len(untrimmed_key(to_bytes(character), collation))
        if remaining <= 0:
            return position
    return 0


def _instr(arguments: Sequence[SQLValue], _: SQLMode, collation: str) -> SQLValue:
    """Return ``INSTR(where, what)``, which compares in lower case, not by weights."""
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
    """Return ``FIELD``: it compares strings as strings, integers as integers, and a mixture as DOUBLEs."""
    sought = arguments[0]
    if sought is None:
        return 0
    others = arguments[1:]
    kinds = {_kind(value) for value in arguments if value is not None}
    if len(kinds) > 1:
        check_number(sought, mode)
    for position, other in enumerate(others, start=1):
        if other is None:
            continue
        if len(kinds) == 1:
            equal = compare(sought, other, collation, mode) == 0
        else:
            check_number(other, mode)
            equal = as_float(sought) == as_float(other)
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
    return next((position for position, candidate in enumerate(keys, start=1) if candidate == key), 0)


def _ascii(value: SQLValue) -> SQLValue:
    return next(iter(to_bytes(value)), 0)


def _ord(value: SQLValue) -> SQLValue:
    """Return ``ORD``: the bytes of the first character as a number."""
    if isinstance(value, bytes):
        return _ascii(value)
    return int.from_bytes(to_bytes(to_text(value)[:1]), "big")


FUNCTIONS = {
    "ASCII": value_function(_ascii, 1, takes_bytes=True, type=E.INTEGER),
    "FIELD": Function(_field, 2, -1, accepts_null=True, collated=True, type=E.INTEGER),
    "FIND_IN_SET": Function(_find_in_set, 2, 2, collated=True, type=E.INTEGER),
    "INSTR": Function(_instr, 2, 2, collated=True, type=E.INTEGER),
    "LOCATE": Function(
        _locate,
        2,
        3,
        collated=True,
        integers=(2,),
        type=E.INTEGER,
        syntax={exp.StrPosition: ("substr", "this")},
    ),
    "ORD": value_function(_ord, 1, type=E.INTEGER),
    "STRCMP": Function(_strcmp, 2, 2, collated=True, type=E.INTEGER),
    "TRANSLATE": value_function(_translate, 3, type=text_type),
    "WEIGHT_STRING": Function(
        _weight_string,
        1,
        3,
        arguments=_weight_text,
        collated=True,
        type=E.BYTES,
        syntax={exp.WeightString: _weight_operands},
    ),
}
