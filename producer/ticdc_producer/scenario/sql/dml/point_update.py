"""UPDATE of rows by a unique key, whose assigned values TiDB casts before the column converts them.

A WHERE that compares all columns of one unique key with literals, and nothing else, has a plan without an
optimizer. This plan casts to the type of the column, and such a cast ignores what another UPDATE, or INSERT,
refuses: a negative number in a BIGINT UNSIGNED wraps. Later versions of TiDB do not cast for unsigned columns
(pingcap/tidb#67212).

Rules: tidb ``pkg/planner/core/point_get_plan.go`` (``tryUpdatePointPlan``, ``getNameValuePairs``,
``tryWhereIn2BatchPointGet``, ``buildOrderedList``), ``pkg/expression/builtin_cast.go``. Index hints have no
effect here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TypeAlias

from sqlglot import exp

from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import FLOATS, INTEGERS, STRINGS, MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.coerce import STRICT, coerce
from ticdc_producer.model.values.number_text import check_integer, check_number, is_text, whole_number
from ticdc_producer.model.values.sql_value import (
    BinaryLiteral,
    Bits,
    JsonText,
    Member,
    SQLMode,
    SQLValue,
    Unsigned,
)
from ticdc_producer.scenario.sql.expression.cast import cast
from ticdc_producer.scenario.sql.expression.cast_type import CastType
from ticdc_producer.scenario.sql.expression.compare import as_boolean
from ticdc_producer.scenario.sql.expression.evaluate import evaluate
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.store.lookup import equal_text_or_integer

T = MySQLType
_WHOLE = INTEGERS | {T.YEAR, T.BIT}
_MEMBERS = frozenset({T.ENUM, T.SET})
_MAX_UNSIGNED = (1 << 64) - 1
_LITERALS = (exp.Literal, exp.HexString, exp.BitString, exp.Boolean, exp.Introducer, exp.National)
_Equality: TypeAlias = tuple[exp.Expr, exp.Expr]
"""A column and the literal that it is compared with."""


class KeyCondition:
    """The comparisons of a unique key's columns with literals, which are all that a WHERE has.

    :param equalities: offsets of columns and the literals that they equal.
    """

    def __init__(self, equalities: Sequence[tuple[int, exp.Expr]]) -> None:
        self._equalities = equalities

    def is_exact(self, table: TableInfo, mode: SQLMode) -> bool:
        """Return whether the columns can have the values of the literals of this statement, unchanged."""
        return all(_is_exact(table, offset, literal, mode) for offset, literal in self._equalities)


def key_condition(tree: exp.Expr, table: TableInfo) -> KeyCondition | None:
    """Return the condition of an UPDATE of one table that finds its rows by a unique key; None for others."""
    where = tree.args.get("where")
    if where is None or tree.args.get("order") or any(column.generated for column in table.columns):
        return None
    if any(assignment.find(exp.Query, exp.Exists) for assignment in tree.expressions):
        return None
    is_list = isinstance(where.this, exp.In)
    if is_list and tree.args.get("limit"):
        return None
    comparisons = _listed(where.this) if is_list else [list(_compared(where.this))]
    offsets = {column.name.lower(): offset for offset, column in enumerate(table.columns)}
    equalities = []
    for comparison in comparisons:
        named = [(offsets.get(_name(column), -1), literal) for column, literal in comparison]
        if not _is_unique_key(table, [offset for offset, _ in named]):
            return None
        equalities += named
    is_constant = all(isinstance(literal, _LITERALS) for _, literal in equalities)
    return KeyCondition(equalities) if equalities and is_constant else None


def _compared(condition: exp.Expr) -> Iterable[_Equality]:
    """Yield what AND joins. TiDB looks into no parentheses; anything but ``column = literal`` has no name."""
    if isinstance(condition, exp.And):
        yield from _compared(condition.this)
        yield from _compared(condition.expression)
    elif isinstance(condition, exp.EQ) and isinstance(condition.this, exp.Column):
        yield condition.this, condition.expression
    elif isinstance(condition, exp.EQ):
        yield condition.expression, condition.this
    else:
        yield condition, condition


def _listed(condition: exp.Expr) -> list[list[_Equality]]:
    """Return the comparisons of ``column IN (1, 2)`` and ``(a, b) IN ((1, 2), (3, 4))``, one per element."""
    columns = _elements(condition.this)
    return [list(zip(columns, _elements(row), strict=False)) for row in condition.expressions]


def _elements(node: exp.Expr) -> list[exp.Expr]:
    node = node.this if isinstance(node, exp.Paren) else node
    return node.expressions if isinstance(node, exp.Tuple) else [node]


def _name(node: exp.Expr) -> str:
    return node.name.lower() if isinstance(node, exp.Column) else ""


def _is_unique_key(table: TableInfo, offsets: list[int]) -> bool:
    """Return whether columns are those of a unique key; next to the handle TiDB accepts no other column."""
    key = table.clustered_key
    handle = None if key is None or len(key.offsets) > 1 else key.offsets[0]
    if handle is not None and handle in offsets and table.columns[handle].type in INTEGERS:
        return len(offsets) == 1
    return any(
        index.unique and sorted(index.offsets) == sorted(offsets) and all(n < 0 for n in index.lengths)
        for index in table.indexes
    )


def _is_exact(table: TableInfo, offset: int, literal: exp.Expr, mode: SQLMode) -> bool:
    column = table.columns[offset]
    if equal_text_or_integer(column, literal) is not None:
        return True
    scope = Scope(mode, table, [None] * len(table.columns))
    value = evaluate(literal, scope)
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, BinaryLiteral)
    if is_number and column.type in STRINGS | _MEMBERS:
        return False
    if column.type == T.BIT and isinstance(value, str):
        return False
    try:
        scope.row[offset] = coerce(column, value, STRICT)
        equality = exp.EQ(this=exp.column(column.name), expression=literal.copy())
        return as_boolean(evaluate(equality, scope), STRICT) is True
    except ScenarioError:
        return False


def cast_to_column(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> SQLValue:
    """Return an assigned value in the type of a column, which may still have to fit its size.

    :raises ScenarioError: in strict mode, for a value that the type cannot have.
    """
    if value is None:
        return None
    if column.type in _WHOLE and not (column.type == T.YEAR and is_text(value)):
        return _whole(column, value, mode)
    if column.type in FLOATS or column.type == T.NEW_DECIMAL:
        check_number(value, mode)
        if column.unsigned and type(value) is int:
            return Unsigned(value & _MAX_UNSIGNED)
        return 0 if is_text(value) and not value.strip() else value
    if isinstance(value, Bits) and column.type in STRINGS:
        return BinaryLiteral(value)
    if column.type in _MEMBERS and type(value) in (int, Unsigned):
        return str(value)  # which may be the name of a member
    if mode.strict:
        return value
    # A value that is not a date is NULL here; INSERT stores the zero date.
    if column.type == T.DATE:
        return cast(value, CastType("DATE"), mode)
    if column.type in (T.DATETIME, T.TIMESTAMP):
        return cast(value, CastType("DATETIME", (max(column.decimal, 0),)), mode)
    if column.type == T.DURATION and not isinstance(value, str | bytes):
        return cast(value, CastType("TIME", (max(column.decimal, 0),)), mode)
    return value


def _whole(column: ColumnInfo, value: SQLValue, mode: SQLMode) -> SQLValue:
    """Return a number in two's complement; ``coerce`` refuses one that 64 bits do not have."""
    if isinstance(value, BinaryLiteral | Member):
        return Unsigned(value.number)
    if isinstance(value, float | Decimal | JsonText):
        return value
    check_integer(value, mode)
    number = whole_number(value)
    if abs(number) > _MAX_UNSIGNED:
        return number
    bits = number & _MAX_UNSIGNED
    if column.unsigned:
        return Unsigned(bits)
    return bits - (1 << 64) if bits >> 63 else bits
